"""Categories of pictures: scores and rates in each, and each against a random sample."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beholder.kinds.bidirectional.pairs import (
    DIRECTIONS,
    Direction,
    TextPair,
    by_system,
    having,
    strata,
)
from beholder.kinds.bidirectional.rates import RATE_COLUMNS, RATE_NOTES, rate_cells
from beholder.kinds.bidirectional.scores import difference_cells, with_holm
from beholder.tables import (
    DIRECTION,
    SET_COLUMNS,
    SYSTEM,
    Column,
    Table,
    estimate,
)

REST = "rest"
_CATEGORY = Column("category", "Category", "text")


def category_table(
    pairs: Sequence[TextPair], categories: Sequence[str], random: str | None
) -> Table:
    """F1 per category, direction and system, against the random sample.

    Args:
        pairs: All pairs.
        categories: The categories, without the random sample.
        random: Category of the random sample; ``rest`` takes all other pictures; None makes no
            comparison.
    """
    rows: list[dict[str, Any]] = []
    for place, some in strata(pairs):
        for direction in DIRECTIONS:
            family = [
                {"direction": direction, **place, "category": name, "system": system}
                | _against(own, direction, name, random)
                for name in categories
                for system, own in by_system(some).items()
                if any(pair.category == name for pair in own)
            ]
            rows += with_holm(family, "p")
    against = f"the random sample ({random!r})"
    if random == REST:
        against = "all other pictures"
    compared = () if random is None else (
        f"Differences are the category minus {against}, of the same system; Welch's unpaired t"
        " test, two-sided at 0.05, as published; Holm corrects over all tests of a direction.",
    )  # fmt: skip
    return Table(
        "categories",
        "Categories",
        (
            DIRECTION,
            *SET_COLUMNS,
            _CATEGORY,
            SYSTEM,
            Column("n", "Texts", "count"),
            Column("n_images", "Pictures", "count"),
            Column("mean", "F1", interval=True),
            Column("n_b", "Texts against", "count"),
            Column("difference", "Difference", "signed", interval=True),
            Column("t", "Welch t"),
            Column("p", "p", "p"),
            Column("p_holm", "p (Holm)", "p"),
            Column("significant", "p < 0.05", "mark"),
            Column("g", "Hedges' g", "signed", interval=True),
        ),
        tuple(rows),
        compared,
    )


def _against(
    pairs: Sequence[TextPair], direction: Direction, category: str, random: str | None
) -> dict[str, Any]:
    found = having(pairs, direction, "f1")
    own = [row for row in found if row[0].category == category]
    images = [pair.image for pair, _ in own]
    row = {
        "n": len(own),
        "n_images": len(set(images)),
        **estimate("mean", [value for _, value in own], images),
        "p": None,
    }
    if random is None or not own:
        return row
    if random == REST:
        others = [r for r in found if r[0].category and r[0].category != category]
    else:
        others = [r for r in found if r[0].category == random]
    return row | difference_cells(own, others) if others else row


def category_rate_table(pairs: Sequence[TextPair], categories: Sequence[str]) -> Table:
    """Hallucination and omission per category: each system, and all together."""
    rows = []
    for place, some in strata(pairs):
        for direction in DIRECTIONS:
            for name in categories:
                inside = [pair for pair in some if pair.category == name]
                systems = by_system(inside)
                groups = {"all": inside, **systems} if len(systems) > 1 else systems
                rows += [
                    {"direction": direction, **place, "category": name, "system": system}
                    | rate_cells(own, direction)
                    for system, own in groups.items()
                ]
    return Table(
        "category_rates",
        "Hallucination and omission by category",
        (DIRECTION, *SET_COLUMNS, _CATEGORY, SYSTEM, *RATE_COLUMNS),
        tuple(rows),
        RATE_NOTES,
    )
