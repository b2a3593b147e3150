"""A judge that grades texts by the number they begin with, and that changes when a file does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from beholder.backends import BACKENDS, Answer, Capabilities, Request, Sample
from beholder.backends.base import DescribedBackend

GRADED_TEXTS: list[str] = []
"""Every text that was graded, in order."""


class Drifting(DescribedBackend):
    """Grades ``Grade 4: ...`` with 4, less ``shift``.

    The file has ``shift``, ``odd`` (texts of odd length are shifted alone), ``model``,
    ``fingerprint``, ``fails`` (texts with it fail), and ``stops_after`` (questions until it is
    interrupted).
    """

    def __init__(self, path: str) -> None:
        self.name = f"drifting:{path}"
        self._path = Path(path)
        model = self._load_state().get("model", "judge-1")
        self.able = Capabilities(model, structure="schema", images=True)

    def _load_state(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads(self._path.read_text("utf-8"))
        return content

    async def chat(self, request: Request) -> Answer:
        """Return the grade."""
        state = self._load_state()
        text = str(request.messages[1].parts[0])
        candidate = text.partition("<candidate>")[2].partition("</")[0].strip()
        if state.get("stops_after") == len(GRADED_TEXTS):
            raise KeyboardInterrupt
        GRADED_TEXTS.append(candidate)
        if state.get("fails", "\0") in candidate:
            return Answer((Sample("no", "stop"),), self.able.model)
        match = re.search(r"\d", candidate)
        assert match is not None, candidate
        grade = int(match[0])
        if not state.get("odd") or len(candidate) % 2:
            grade = max(1, grade - state.get("shift", 0))
        names = ("overall", "mistakes", "omissions")
        grades = json.dumps({"reason": "r"} | dict.fromkeys(names, grade))
        return Answer(
            (Sample(grades, "stop"),),
            self.able.model,
            fingerprint=state.get("fingerprint"),
        )


if "drifting" not in BACKENDS.names():
    BACKENDS.register("drifting")(Drifting)
