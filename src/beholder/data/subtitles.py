"""WebVTT and SRT: timed descriptions of a video, as one text with the time of each part.

Both are lists of cues: a line ``START --> END`` and the text below it. In WebVTT a blank line ends
a cue; in SRT the text continues after one, up to the next cue. Markup in angle brackets, voices and
positions are left out, and so are notes, styles and regions of WebVTT. Character references such as
``&amp;`` are decoded.

The reader is our own: ``webvtt-py`` 0.6 does not decode character references, refuses SRT without
cue numbers, and skips cues whose times it cannot read.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from beholder.data.row import shorten
from beholder.errors import DataError

_STAMP = r"((?:\d+:)?\d+:\d+(?:[.,]\d+)?)"
_TIMES = re.compile(rf"\s*{_STAMP}\s*-->\s*{_STAMP}")
_MARKUP = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
_REFERENCE = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_NO_CUES = re.compile(r"NOTE(?:\s|$)|(?:STYLE|REGION)\s*$")


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
        DataError: It has none, the times of one cannot be read, or one ends before it begins.
    """
    found = []
    for times, texts in _timed(lines, name):
        start, end = (_seconds(stamp) for stamp in times.groups())
        if end < start:
            raise DataError(name, f"a cue ends before it begins: {times.string.strip()}")
        text = _REFERENCE.sub(lambda one: html.unescape(one[0]), _MARKUP.sub("", " ".join(texts)))
        if text.strip():
            found.append(Cue(start, end, " ".join(text.split())))
    if not found:
        raise DataError(name, "has no cues: expected lines START --> END with text below them")
    return found


def subtitle_row(found: list[Cue], name: str) -> dict[str, object]:
    """One row: the texts of all cues, and their times in ``meta``."""
    return {
        "id": name,
        "candidate": " ".join(cue.text for cue in found),
        "meta": {"cues": [[cue.start, cue.end, cue.text] for cue in found]},
    }


def _timed(lines: Iterable[str], name: str) -> list[tuple[re.Match[str], list[str]]]:
    """The times of each cue, and the lines of its text."""
    webvtt = ".vtt" in Path(name).suffixes
    found: list[tuple[re.Match[str], list[str]]] = []
    alone = False  # whether the block before is one number: of the next cue, or text of the last
    for block in _blocks(lines):
        if webvtt and _NO_CUES.match(block[0]):
            continue
        timed = [
            (place, times) for place, line in enumerate(block) if (times := _TIMES.match(line))
        ]
        if not timed and any("-->" in line for line in block[:2]):
            raise DataError(name, f"cannot read the times of a cue: {shorten(' '.join(block[:2]))}")
        if found and not webvtt:
            if alone and timed and timed[0][0] == 0:
                found[-1][1].pop()
            found[-1][1].extend(block[: max(timed[0][0] - 1, 0)] if timed else block)
            alone = len(block) == 1 and _is_number(block[0])
        ends = [*(place for place, _ in timed[1:]), len(block)]
        for (place, times), end in zip(timed, ends, strict=False):
            texts = block[place + 1 : end]
            if not webvtt and end < len(block) and texts and _is_number(texts[-1]):
                texts.pop()
            found.append((times, texts))
    return found


def _is_number(line: str) -> bool:
    return line.strip().isdecimal()


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
