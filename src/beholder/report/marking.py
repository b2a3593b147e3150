"""Cut a text at the borders of units, so that overlapping and nested spans can be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from beholder.base.visible import make_visible
from beholder.records import Item, Side, Span, Unit
from beholder.report.tones import is_sure


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that the same units cover.

    Attributes:
        text: The stretch.
        units: Keys of the units that cover it, widest first, so that the last is the most specific.
    """

    text: str
    units: tuple[int, ...] = ()


def pieces(text: str, spans: Iterable[tuple[int, Span]]) -> list[Piece]:
    """Cut a text at every border of a span; the pieces joined are the text.

    Args:
        text: The original text.
        spans: Pairs of a unit's key and a character range; ranges may overlap, nest and repeat.
            What lies outside the text is left out.
    """
    # A sweep over all borders: ``active`` has the spans that cover the current
    # piece, the widest first, as its entries begin with minus the length.
    starts: dict[int, list[tuple[int, int, int]]] = {}
    borders = {0, len(text)}
    for key, (start, end) in spans:
        start, end = max(0, start), min(end, len(text))
        if start < end:
            starts.setdefault(start, []).append((start - end, key, end))
            borders |= {start, end}
    ordered = sorted(borders)
    text_pieces: list[Piece] = []
    active: list[tuple[int, int, int]] = []
    for start, end in pairwise(ordered):
        active = [span for span in active if span[2] > start]
        active = sorted(active + starts.get(start, []))
        units = tuple(dict.fromkeys(key for _, key, _ in active))
        text_pieces.append(Piece(text[start:end], units))
    return text_pieces


def mark(
    text: str, units: Sequence[Unit], side: Side, reference_index: int = 0
) -> list[Piece]:
    """Return the pieces of one text of an item, with control characters made visible.

    What the judge is not sure of (``detail["unsure"]``) is not marked.

    Args:
        text: The candidate or one reference.
        units: All units of the item; a piece's keys are positions in it.
        side: Side of the text.
        reference_index: Index of the reference. A unit that names none belongs to the first.
    """
    # Keys are places in all units of the item, so that the pieces of all texts
    # share them.
    spans: list[tuple[int, Span]] = []
    for key, unit in enumerate(units):
        if stands_in(unit, side, reference_index) and is_sure(unit):
            spans += [(key, span) for span in unit.spans]
    return pieces(make_visible(text), spans)


def heights(marked: Iterable[Piece]) -> dict[int, int]:
    """Return, by unit, the largest number of marks inside its mark; its line goes below theirs."""
    height_by_key: dict[int, int] = {}
    for piece in marked:
        for height, key in enumerate(reversed(piece.units)):
            height_by_key[key] = max(height, height_by_key.get(key, 0))
    return height_by_key


@dataclass(frozen=True, slots=True)
class CutText:
    """A text of an item, cut into marks.

    Attributes:
        title: ``candidate``, ``reference`` or ``reference 2``.
        pieces: The pieces of ``mark``.
        heights: The heights of its marks.
    """

    title: str
    pieces: Sequence[Piece]
    heights: Mapping[int, int]


def marked_texts(item: Item, units: Sequence[Unit]) -> list[CutText]:
    """Return the candidate and then the references of an item, cut into marks."""
    titled_pieces = [("candidate", mark(item.candidate, units, "candidate"))]
    for index, text in enumerate(item.references):
        title = (
            "reference"
            if len(item.references) == 1
            else f"reference {index + 1}"
        )
        titled_pieces.append((title, mark(text, units, "reference", index)))
    return [CutText(title, cut, heights(cut)) for title, cut in titled_pieces]


def stands_in(unit: Unit, side: Side, reference_index: int = 0) -> bool:
    """Return whether a unit belongs to a text; one without a reference belongs to the first."""
    if unit.side != side:
        return False
    return (
        side == "candidate" or (unit.reference_index or 0) == reference_index
    )
