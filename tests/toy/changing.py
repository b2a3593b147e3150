"""A judge that keeps its identity when its answers change, as a model on a server may."""

from __future__ import annotations

from pathlib import Path

from beholder.backends import BACKENDS
from beholder.backends.scripted import Scripted


class Changing(Scripted):
    """Answers by a file of rules, whose content is no part of its identity."""

    def __init__(self, answer: str) -> None:
        super().__init__(answer)
        self.variant = ""


if "changing" not in BACKENDS.names():
    BACKENDS.register("changing")(Changing)


def changing(rules: Path) -> str:
    """The spec of such a judge."""
    return f"changing:{rules}"
