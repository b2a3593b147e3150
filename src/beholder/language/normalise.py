"""Text before parsing: one kind of space, quote and apostrophe, mapped to the original.

The parser is trained on clean sentences. White space, control characters, typographic quotes and
line breaks would become tokens of their own, so they are evened out first; every character of the
result knows the range of the original it stands for, and all spans are given in the original.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from beholder.records import Span
from beholder.text.layout import PARAGRAPH

_SAME = {
    "\u2018": "'", "\u2019": "'", "\u201a": "'", "\u201b": "'", "\u2032": "'", "\u02bc": "'",
    "\u00b4": "'",
    "\u201c": '"', "\u201d": '"', "\u201e": '"', "\u201f": '"', "\u2033": '"', "\u00ab": '"',
    "\u00bb": '"', "\u2010": "-", "\u2011": "-", "\u2212": "-", "\u2026": "...",
    "\ufb00": "ff", "\ufb01": "fi", "\ufb02": "fl", "\ufb03": "ffi", "\ufb04": "ffl",
}  # fmt: skip
# Zero-width marks and the soft hyphen.
_GONE = frozenset("\u200b\u200c\u200d\u2060\ufeff\u00ad")
_BULLET = re.compile(
    r"\s*(?:[-*\u2022\u2023\u25aa\u25cf\u00b7]|\d{1,2}[.)]|#{1,6})\s+"
)
_CLUSTER = re.compile(r"[^\u0300-\u036f][\u0300-\u036f]*|[\u0300-\u036f]+")
_ENDS = ("", *".!?:;\"'\u201d\u0964")
_BREAK = re.compile(r"(?:\r\n|\r|\n|\u2028|\u2029)")


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph as the parser sees it.

    Attributes:
        text: The evened text.
        starts: For each character of ``text``, where its original begins.
        ends: For each character of ``text``, where its original ends.
    """

    text: str
    starts: range | tuple[int, ...]
    ends: range | tuple[int, ...]


def paragraphs(text: str) -> list[Paragraph]:
    """The paragraphs of a text, evened; those without any visible character are left out.

    A blank line ends a paragraph, and so does a paragraph separator (U+2029). Another single line
    break does so only where the text before it ends a sentence or the next line is a list entry:
    other breaks are those of a wrapped line.
    """
    evened = (_even(text, start, end) for start, end in _blocks(text))
    return [paragraph for paragraph in evened if paragraph.text]


def _blocks(text: str) -> list[Span]:
    blocks: list[Span] = []
    begin, line_start = 0, 0
    for match in _BREAK.finditer(text):
        line = text[line_start : match.start()].rstrip()
        line_start = match.end()
        ends = line[-1:] in _ENDS or match.group() == PARAGRAPH
        if ends or _BULLET.match(text, line_start):
            blocks.append((begin, match.start()))
            begin = line_start
    blocks.append((begin, len(text)))
    return blocks


def _even(text: str, start: int, end: int) -> Paragraph:
    if bullet := _BULLET.match(text, start, end):
        start = bullet.end()
    plain = text[start:end].strip(" ")
    # Most paragraphs are plain already: their places are ranges, which cost nothing.
    if plain.isascii() and plain.isprintable() and "  " not in plain:
        start = text.index(plain, start)
        places = range(start, start + len(plain) + 1)
        return Paragraph(plain, places[:-1], places[1:])
    pieces = [(" ", start, start)]
    for match in _CLUSTER.finditer(text, start, end):
        for character in _written(match.group()):
            if (character, pieces[-1][0]) != (" ", " "):
                pieces.append((character, *match.span()))
    # The first piece is a blank that swallows those at the beginning.
    pieces = pieces[1:-1] if pieces[-1][0] == " " else pieces[1:]
    characters = "".join(character for character, _, _ in pieces)
    return Paragraph(
        characters,
        tuple(s for _, s, _ in pieces),
        tuple(e for _, _, e in pieces),
    )


def _written(cluster: str) -> str:
    """Return the spelling of one character, with its combined marks, that the parser reads."""
    if cluster.isascii() and cluster.isprintable():
        return cluster
    if cluster in _SAME:
        return _SAME[cluster]
    if cluster in _GONE:
        return ""
    composed = unicodedata.normalize("NFC", cluster)
    # Control, private, unassigned and lone surrogate characters, and every kind of space.
    if unicodedata.category(composed[0])[0] in "CZ":
        return " "
    return composed
