"""The built-in judge: no key, no download, no GPU; English texts only."""

from __future__ import annotations

from beholder.judges.builtin.judge import BuiltinJudge
from beholder.judges.builtin.reading import check_english, view
from beholder.judges.builtin.wording import Wording, wording

__all__ = ["BuiltinJudge", "Wording", "check_english", "view", "wording"]
