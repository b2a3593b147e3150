"""Look of verdicts: one small table for terminal, notebook, page and figures.

Metrics are free in their verdict words; each word falls under one tone. A tone is never shown by
colour alone: it has a line style, a symbol and its word as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

from beholder.records import Unit


@dataclass(frozen=True, slots=True)
class Tone:
    """Look of units with one kind of verdict.

    Attributes:
        name: Name in the page's style sheet.
        symbol: A sign beside the word.
        rich: Style in a terminal.
        rgb: Colour, apart from the others for colour-blind readers.
        line: CSS line style under the words.
        notable: Whether people should look at it first.
    """

    name: str
    symbol: str
    rich: str
    rgb: tuple[int, int, int]
    line: str
    notable: bool = True


# Colours after Okabe and Ito, "Color Universal Design" (2008).
GOOD = Tone("good", "✓", "cyan", (0, 114, 178), "solid", notable=False)
WRONG = Tone("wrong", "✗", "bold red", (213, 94, 0), "double")
MISSING = Tone("missing", "∅", "yellow", (200, 138, 0), "dashed")
UNSTATED = Tone("unstated", "?", "dark_orange", (150, 110, 90), "dotted")
MOVED = Tone("moved", "↕", "magenta", (170, 80, 140), "dotted")
NEUTRAL = Tone("other", "•", "green", (0, 128, 98), "solid", notable=False)

TONES = (WRONG, UNSTATED, MISSING, MOVED, NEUTRAL, GOOD)
"""In the order in which people should look."""

_MOST_NAMED = 5
"""Units of one verdict that are named in words."""

_BY_VERDICT: Mapping[str, Tone] = {
    **dict.fromkeys(
        (
            "match",
            "present",
            "supported",
            "correct",
            "covered",
            "met",
            "right",
        ),
        GOOD,
    ),
    **dict.fromkeys(
        ("mistake", "unmatched", "unsupported", "contradicted", "wrong"), WRONG
    ),
    "unstated": UNSTATED,
    **dict.fromkeys(
        ("omission", "missing", "absent", "not_mentioned", "not_said"), MISSING
    ),
    **dict.fromkeys(("out_of_order", "moved"), MOVED),
}


def tone(verdict: str | None) -> Tone:
    """Return the tone of a verdict; that of an unknown word is neutral."""
    return _BY_VERDICT.get(verdict or "", NEUTRAL)


def by_tone(verdicts: Iterable[str | None]) -> list[str | None]:
    """Return the distinct verdicts in the order in which people should look."""
    return sorted(
        set(verdicts),
        key=lambda verdict: (TONES.index(tone(verdict)), verdict or ""),
    )


def is_sure(unit: Unit) -> bool:
    """Return whether the judge is sure of a verdict; others are neither marked nor listed."""
    return "unsure" not in unit.detail


def count_verdicts(
    units: Iterable[Unit],
) -> dict[str | None, tuple[int, int]]:
    """Return by verdict how many units are sure and how many are not, verdicts in their order.

    Every page and table that counts units says both, so that equal units have equal counts.
    """
    counts: dict[str | None, tuple[int, int]] = {}
    for unit in units:
        n_sure, n_unsure = counts.get(unit.verdict, (0, 0))
        sure = is_sure(unit)
        counts[unit.verdict] = (n_sure + sure, n_unsure + (not sure))
    return {verdict: counts[verdict] for verdict in by_tone(counts)}


def notable(units: Iterable[Unit]) -> list[Unit]:
    """Return the units to look at, by verdict.

    Units under another unit are reported with it; uncertain units are not reported.
    """
    notable_units = [
        unit
        for unit in units
        if tone(unit.verdict).notable
        and is_sure(unit)
        and "under" not in unit.detail
    ]
    order = by_tone(unit.verdict for unit in notable_units)
    return sorted(notable_units, key=lambda unit: order.index(unit.verdict))


def in_words(units: Iterable[Unit]) -> list[str]:
    """Return the units to look at as lines of text, one for each verdict."""
    lines = []
    for verdict, group in groupby(
        notable(units), key=lambda unit: unit.verdict
    ):
        # A few texts name the finding; the rest is a number.
        texts = [unit.text for unit in group]
        omitted = (
            f" and {len(texts) - _MOST_NAMED:,} more"
            if len(texts) > _MOST_NAMED
            else ""
        )
        lines.append(
            f"{label(verdict)}: {'; '.join(texts[:_MOST_NAMED])}{omitted}"
        )
    return lines


def strength(unit: Unit) -> float:
    """Return the strength of a unit's colour, 0..1: clear findings are stronger.

    A good unit grows with its score, any other with what is missing to 1.
    """
    if unit.score is None:
        return 0.5
    score = min(1.0, max(0.0, unit.score))
    return score if tone(unit.verdict) is GOOD else 1.0 - score


def label(verdict: str | None) -> str:
    """Return a verdict as people read it."""
    return (verdict or "no verdict").replace("_", " ")
