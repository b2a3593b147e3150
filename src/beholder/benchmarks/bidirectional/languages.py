"""The same study in two languages: how scores change, and whether the order of systems does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beholder import stats
from beholder.benchmarks.bidirectional.pairs import (
    DIRECTIONS,
    Direction,
    TextPair,
    by_system,
    having,
    ordered,
)
from beholder.benchmarks.bidirectional.scores import with_holm
from beholder.benchmarks.bidirectional.table import (
    DIRECTION,
    SYSTEM,
    Column,
    Table,
    estimate,
    interval_cells,
)


def language_table(pairs: Sequence[TextPair], note: str) -> Table:
    """Mean F1 in the first language and in each other one, over the pictures that have both."""
    languages = ordered(pair.language for pair in pairs)
    rows: list[dict[str, Any]] = []
    for dataset in ordered(pair.dataset for pair in pairs):
        some = [pair for pair in pairs if pair.dataset == dataset]
        for other in languages[1:]:
            for direction in DIRECTIONS:
                family = [
                    {"direction": direction, "dataset": dataset, "system": system}
                    | {"from": languages[0], "to": other}
                    | _change(own, direction, languages[0], other)
                    for system, own in by_system(some).items()
                ]
                family = [row for row in family if row["n"]]
                rows += with_holm(_ranked(family), "p")
    return Table(
        "languages",
        "Change between languages",
        (
            DIRECTION,
            Column("dataset", "Data set", "text"),
            SYSTEM,
            Column("from", "From", "text"),
            Column("to", "To", "text"),
            Column("n", "Pictures", "count"),
            Column("before", "F1 before", interval=True),
            Column("after", "F1 after", interval=True),
            Column("change", "Change", "signed", interval=True),
            Column("p", "p, paired", "p"),
            Column("p_holm", "p (Holm)", "p"),
            Column("rank_before", "Rank before", "count"),
            Column("rank_after", "Rank after", "count"),
        ),
        tuple(rows),
        (
            note,
            "A picture counts for a system when it has F1 in both languages; several texts about it"
            " are averaged. Change is the mean of the differences, with a sign-flip test.",
            *_order_notes(rows),
        ),
    )


def _change(
    pairs: Sequence[TextPair], direction: Direction, first: str, second: str
) -> dict[str, Any]:
    means: list[dict[str, float]] = []
    for language in (first, second):
        values: dict[str, list[float]] = {}
        for pair, value in having([p for p in pairs if p.language == language], direction, "f1"):
            values.setdefault(pair.image, []).append(value)
        means.append({image: sum(found) / len(found) for image, found in values.items()})
    images = [image for image in means[0] if image in means[1]]
    before, after = ([mean[image] for image in images] for mean in means)
    row: dict[str, Any] = {"n": len(images), "p": None}
    if not images:
        return row
    found = stats.paired_difference(after, before)
    return row | {
        **estimate("before", before),
        **estimate("after", after),
        "change": found.mean,
        **interval_cells("change", found.interval),
        "p": found.p_value,
    }


def _ranked(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows with the rank of each system among them, 1 the best; equal means share a rank."""
    return [
        row
        | {
            f"rank_{when}": 1 + sum(other[when] > row[when] for other in rows)
            for when in ("before", "after")
        }
        for row in rows
    ]


def _order_notes(rows: Sequence[dict[str, Any]]) -> list[str]:
    notes = []
    for direction in DIRECTIONS:
        moved = [
            row["system"]
            for row in rows
            if row["direction"] == direction and row["rank_before"] != row["rank_after"]
        ]
        if any(row["direction"] == direction for row in rows):
            told = f"changes place for {', '.join(dict.fromkeys(moved))}" if moved else "stays"
            notes.append(f"{direction.upper()}: the order of systems {told}.")
    return notes
