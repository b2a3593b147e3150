"""The built-in judge: no key, no download, no GPU; English texts only."""

from __future__ import annotations

from beholder.judges.builtin.judge import BuiltinJudge

__all__ = ["BuiltinJudge"]
