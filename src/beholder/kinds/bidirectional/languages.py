"""The same study in two languages: how scores change, and whether the order of systems does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beholder.kinds.bidirectional.changes import change_cells
from beholder.kinds.bidirectional.pairs import (
    DIRECTIONS,
    TextPair,
    by_system,
    ordered,
)
from beholder.kinds.bidirectional.scores import with_holm
from beholder.tables import (
    DIRECTION,
    SYSTEM,
    Column,
    Table,
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
                    | change_cells(
                        [pair for pair in own if pair.language == languages[0]],
                        [pair for pair in own if pair.language == other],
                        direction,
                        "f1",
                    )
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
