"""Tools whose judge is handed to them."""

from __future__ import annotations

from pathlib import Path

from beholder.asking.tools import Tool
from beholder.judges import Judge
from beholder.metrics import Tools


class OneJudge(Tools):
    """Tools with one judge, whatever its spec."""

    def __init__(self, judge: Judge, folder: Path | None = None) -> None:
        super().__init__(folder=folder)
        self._judge = judge

    def get(self, kind: str, spec: str) -> Tool:
        return self._judge if kind == "judge" else super().get(kind, spec)
