"""Cues of WebVTT and SRT files.

Both are lists of cues: a line ``START --> END`` and the text below it. In WebVTT a blank line ends
a cue; in SRT the text continues after one, up to the next cue. Markup in angle brackets, voices and
positions are left out, and so are notes, styles and regions of WebVTT; in SRT only known tags are
markup. Character references such as ``&amp;`` are decoded. The reader is our own: ``webvtt-py`` 0.6
does not decode character references, refuses SRT without cue numbers, and skips cues whose times it
cannot read.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from beholder.data.row import RowError
from beholder.errors import DataError

_STAMP = r"((?:\d+:)?\d+:\d+(?:[.,]\d+)?)"
_TIMES = re.compile(rf"\s*{_STAMP}\s*-->\s*{_STAMP}")
_NEARLY_TIMES = re.compile(
    rf"\s*{_STAMP}\s*[-\u2013\u2014=~>\u2192\s]{{1,5}}\s*{_STAMP}\s*$"
)
"""Times with another arrow, such as ``->``: a cue that would be lost."""
_MARKUP = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
_SRT_MARKUP = re.compile(
    r"</?(?:i|b|u|s|font|c|v|lang|ruby|rt)\b[^<>]*>|\{\\[^{}]*\}",
    re.IGNORECASE,
)
_REFERENCE = re.compile(
    r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});"
)
_NO_CUES = re.compile(r"NOTE(?:\s|$)|(?:STYLE|REGION)\s*$")


@dataclass(frozen=True)
class Cue:
    """A part of a timed text.

    Attributes:
        start: Seconds from the beginning.
        end: Seconds, after ``start``.
        text: Text of the cue, in one line.
        line: Line of its times, from 1.
    """

    start: float
    end: float
    text: str
    line: int = field(default=0, compare=False)


_Line: TypeAlias = tuple[int, str]
"""Number and text of a line."""


def cues(lines: Iterable[str], name: str) -> list[Cue | DataError]:
    """Parse the cues of a WebVTT or SRT file, in its order, without empty ones.

    Returns:
        The cues, and a DataError with the line for each whose times cannot be read, that ends
        before it begins, or that begins before the one above it.

    Raises:
        DataError: The file has no cues.
    """
    webvtt = ".vtt" in map(str.lower, Path(name).suffixes)
    markup = _MARKUP if webvtt else _SRT_MARKUP
    parsed_cues: list[Cue | DataError] = []
    last_start = 0.0
    for number, times, texts in _timed(lines, webvtt):
        if times is None:
            written = texts[0].strip()[:80]
            reason = f"cannot read the times of a cue: {written}"
            parsed_cues.append(
                DataError(
                    name, f"{reason}; expected START --> END", line=number
                )
            )
            continue
        start, end = (_seconds(stamp) for stamp in times.groups())
        written = times.string.strip()
        # A cue without length is odd, but has its text.
        if end < start or start < last_start:
            why = (
                "ends before it begins"
                if end < start
                else "begins before the cue above it"
            )
            parsed_cues.append(
                DataError(name, f"a cue {why}: {written}", line=number)
            )
            continue
        last_start = start
        text = _REFERENCE.sub(
            lambda reference: html.unescape(reference[0]),
            markup.sub("", " ".join(texts)),
        )
        if text.strip():
            parsed_cues.append(Cue(start, end, " ".join(text.split()), number))
    if not parsed_cues:
        raise DataError(
            name,
            "has no cues: expected lines START --> END with text below them",
        )
    return parsed_cues


def _timed(
    lines: Iterable[str], webvtt: bool
) -> list[tuple[int, re.Match[str] | None, list[str]]]:
    """Return line, times and text lines of each cue; None for times that cannot be read."""
    timed_lines: list[tuple[int, re.Match[str] | None, list[str]]] = []
    # Whether the block before is one number: that of the next cue, or text of the last.
    is_lone_number = False
    # Blocks are lines between blank lines. In SRT a text may have blank lines,
    # so a block without times belongs to the cue before it.
    for block in _blocks(lines):
        texts_of_block = [line for _, line in block]
        if webvtt and _NO_CUES.match(texts_of_block[0]):
            continue
        # Places of times, readable or not: an arrow, or two stamps with another sign.
        timed = [
            (place, _TIMES.match(line))
            for place, line in enumerate(texts_of_block)
            if _TIMES.match(line)
            or _NEARLY_TIMES.match(line)
            or (place < 2 and "-->" in line)
        ]
        if timed_lines and not webvtt:
            # The number before the times is that of this cue, not text of the
            # last.
            if is_lone_number and timed and timed[0][0] == 0:
                timed_lines[-1][2].pop()
            timed_lines[-1][2].extend(
                texts_of_block[: max(timed[0][0] - 1, 0)]
                if timed
                else texts_of_block
            )
            is_lone_number = len(block) == 1 and _is_number(texts_of_block[0])
        ends = [*(place for place, _ in timed[1:]), len(block)]
        for (place, times), end in zip(timed, ends, strict=False):
            texts = texts_of_block[place + 1 : end]
            if (
                not webvtt
                and end < len(block)
                and texts
                and _is_number(texts[-1])
            ):
                texts.pop()
            if times is None:
                texts.insert(0, texts_of_block[place])
            timed_lines.append((block[place][0], times, texts))
    return timed_lines


def _is_number(line: str) -> bool:
    return line.strip().isdecimal()


def _blocks(lines: Iterable[str]) -> Iterator[list[_Line]]:
    for is_filled, block in groupby(
        enumerate(lines, start=1), key=lambda line: bool(line[1].strip())
    ):
        if is_filled:
            yield [(number, line.rstrip("\r\n")) for number, line in block]


def _seconds(stamp: str) -> float:
    total = 0.0
    for part in stamp.replace(",", ".").split(":"):
        total = 60 * total + float(part)
    return total


def cues_in_meta(meta: Mapping[str, Any]) -> list[Cue]:
    """Return the cues of a row, as ``.vtt`` and ``.srt`` files give them; empty without any.

    Raises:
        RowError: The field has another form.
    """
    try:
        rows = msgspec.convert(
            meta.get("cues") or [], list[tuple[float, float, str]]
        )
    except msgspec.ValidationError as error:
        raise RowError(
            f"expected a list of [START, END, TEXT]: {error}", "meta.cues"
        ) from None
    return [Cue(*row) for row in rows]


_ROLLED_SHARE = 0.5
"""Share of cues that repeat the one before, from which captions are rolled up."""


def join_cues(parsed_cues: Sequence[Cue]) -> tuple[str, int]:
    """Return the text of cues, and how many of them repeat words of the one before.

    Captions that roll up repeat in each cue what is still on the screen; their repeats are joined.
    In other files, a repeated word is said twice.
    """
    word_lists = [cue.text.split() for cue in parsed_cues]
    overlaps = [
        _count_repeated(before, after)
        for before, after in pairwise(word_lists)
    ]
    n_repeats = sum(n > 0 for n in overlaps)
    if n_repeats < 2 or n_repeats < _ROLLED_SHARE * len(overlaps):
        return " ".join(cue.text for cue in parsed_cues), 0
    joined_words = list(word_lists[0])
    for words_of_cue, n_repeated in zip(word_lists[1:], overlaps, strict=True):
        joined_words += words_of_cue[n_repeated:]
    return " ".join(joined_words), n_repeats


def _count_repeated(before: Sequence[str], after: Sequence[str]) -> int:
    """Return how many words at the beginning of a cue are the last of the one before.

    One word that both share is no repeat, unless it is all of the cue before.
    """
    for n in range(min(len(before), len(after)), 0, -1):
        if list(before[-n:]) == list(after[:n]) and (
            n > 1 or n == len(before)
        ):
            return n
    return 0
