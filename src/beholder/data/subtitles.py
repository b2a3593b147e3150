"""WebVTT and SRT: timed descriptions of a video, as one text with the time of each part.

Both are lists of cues: a line ``START --> END`` and the text below it up to a blank line. Markup in
angle brackets, voices and positions are left out; notes, styles and regions of WebVTT, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from beholder.errors import DataError

_TIMES = re.compile(r"\s*((?:\d+:)?\d+:\d+[.,]\d+)\s*-->\s*((?:\d+:)?\d+:\d+[.,]\d+)")
_MARKUP = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
_NO_CUES = ("NOTE", "STYLE", "REGION")


@dataclass(frozen=True)
class Cue:
    """A part of a timed text.

    Attributes:
        start: Seconds from the beginning.
        end: Seconds, after ``start``.
        text: What is said, in one line.
    """

    start: float
    end: float
    text: str


def cues(lines: Iterable[str], name: str) -> list[Cue]:
    """The cues of a file with a text, in its order.

    Raises:
        DataError: It has none, or one ends before it begins.
    """
    found = []
    for block in _blocks(lines):
        if block[0].startswith(_NO_CUES):
            continue
        for place, line in enumerate(block):
            times = _TIMES.match(line)
            if times is None:
                continue
            start, end = map(_seconds, times.groups())
            if end < start:
                raise DataError(name, f"a cue ends before it begins: {line.strip()}")
            text = _MARKUP.sub("", " ".join(block[place + 1 :]))
            if text.strip():
                found.append(Cue(start, end, " ".join(text.split())))
            break
    if not found:
        raise DataError(name, "has no cues: expected lines START --> END with text below them")
    return found


def subtitle_row(found: list[Cue], name: str) -> dict[str, Any]:
    """One row: the texts of all cues, and their times in ``meta``."""
    return {
        "id": name,
        "candidate": " ".join(cue.text for cue in found),
        "meta": {"cues": [[cue.start, cue.end, cue.text] for cue in found]},
    }


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    block: list[str] = []
    for line in lines:
        if line.strip():
            block.append(line.rstrip("\r\n"))
        elif block:
            yield block
            block = []
    if block:
        yield block


def _seconds(stamp: str) -> float:
    total = 0.0
    for part in stamp.replace(",", ".").split(":"):
        total = 60 * total + float(part)
    return total
