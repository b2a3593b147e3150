"""Easy, medium and hard pictures: shares per category and per system."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from beholder.kinds.bidirectional.pairs import (
    DIRECTIONS,
    TextPair,
    having,
    ordered,
    strata,
)
from beholder.tables import (
    DIRECTION,
    SET_COLUMNS,
    Column,
    Table,
    estimate,
)

LEVELS = ("easy", "medium", "hard")
BY = ("f1", "recall")


def difficulty_table(
    pairs: Sequence[TextPair], cuts: tuple[float, float] | None, categories: Sequence[str]
) -> Table:
    """Shares of easy, medium and hard texts.

    Args:
        pairs: All pairs.
        cuts: Below the first is hard, from the second on is easy; None takes the tertiles of a
            direction over all pictures and systems.
        categories: The categories to give shares of.
    """
    rows = []
    for place, some in strata(pairs):
        for by in BY:
            for direction in DIRECTIONS:
                found = having(some, direction, by)
                if not found:
                    continue
                low, high = cuts or tertiles([value for _, value in found])
                for kind, name, own in _groups(found, categories):
                    rows.append(
                        {"direction": direction, "by": by, **place, "kind": kind, "name": name}
                        | {"hard_below": low, "easy_from": high, **_shares(own, low, high)}
                    )
    where = "given" if cuts else "the tertiles over all pictures and systems of a direction"
    return Table(
        "difficulty",
        "Difficulty",
        (
            DIRECTION,
            Column("by", "By", "text"),
            *SET_COLUMNS,
            Column("kind", "Group", "text"),
            Column("name", "", "text"),
            Column("n", "Texts", "count"),
            Column("n_images", "Pictures", "count"),
            *(Column(level, level.capitalize(), "percent", interval=True) for level in LEVELS),
            Column("hard_below", "Hard below"),
            Column("easy_from", "Easy from"),
        ),
        tuple(rows),
        (f"Cuts are {where}.", "Intervals resample pictures."),
    )


def tertiles(values: Sequence[float]) -> tuple[float, float]:
    """The two cuts that part values into thirds (linear interpolation)."""
    low, high = np.quantile(values, [1 / 3, 2 / 3])
    return float(low), float(high)


def level(value: float, low: float, high: float) -> str:
    """Hard below ``low``, easy from ``high`` on."""
    return "hard" if value < low else "easy" if value >= high else "medium"


def _groups(
    found: Sequence[tuple[TextPair, float]], categories: Sequence[str]
) -> list[tuple[str, str, list[tuple[TextPair, float]]]]:
    parts = [
        ("category", name, [row for row in found if row[0].category == name]) for name in categories
    ]
    parts += [
        ("system", name, [row for row in found if row[0].system == name])
        for name in ordered(pair.system for pair, _ in found)
    ]
    return [part for part in parts if part[2]]


def _shares(found: Sequence[tuple[TextPair, float]], low: float, high: float) -> dict[str, Any]:
    levels = [level(value, low, high) for _, value in found]
    images = [pair.image for pair, _ in found]
    row: dict[str, Any] = {"n": len(found), "n_images": len(set(images))}
    for name in LEVELS:
        row |= estimate(name, [float(one == name) for one in levels], images)
    return row
