"""The same pictures described twice: how scores and rates change from one data set to another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from beholder import stats
from beholder.kinds.bidirectional.pairs import (
    DIRECTIONS,
    Direction,
    TextPair,
    by_system,
    having,
    ordered,
)
from beholder.kinds.bidirectional.scores import with_holm
from beholder.tables import (
    DIRECTION,
    SYSTEM,
    Column,
    Table,
    estimate,
    interval_cells,
)

CHANGING = ("f1", "hallucination_rate", "omission_rate")


def change_cells(
    first: Sequence[TextPair], second: Sequence[TextPair], direction: Direction, value: str
) -> dict[str, Any]:
    """The mean of a value before and after over the pictures that both have, and its change.

    Several texts about one picture are averaged. Of the cells only ``n`` and ``p`` stand where no
    picture has both.
    """
    means: list[dict[str, float]] = []
    for pairs in (first, second):
        values: dict[str, list[float]] = {}
        for pair, found in having(pairs, direction, value):
            values.setdefault(pair.image, []).append(found)
        means.append({image: sum(found) / len(found) for image, found in values.items()})
    images = [image for image in means[0] if image in means[1]]
    before, after = ([mean[image] for image in images] for mean in means)
    row: dict[str, Any] = {"n": len(images), "p": None}
    if not images:
        return row
    change = stats.paired_difference(after, before)
    return row | {
        **estimate("before", before),
        **estimate("after", after),
        "change": change.mean,
        **interval_cells("change", change.interval),
        "p": change.p_value,
    }


def dataset_table(pairs: Sequence[TextPair]) -> Table:
    """F1 and rates of each system in two data sets of the same pictures.

    Such are captions as models write them and captions of the length of people's.
    """
    rows: list[dict[str, Any]] = []
    for language in ordered(pair.language for pair in pairs):
        some = [pair for pair in pairs if pair.language == language]
        for first, second in combinations(ordered(pair.dataset for pair in some), 2):
            for direction in DIRECTIONS:
                for value in CHANGING:
                    family = [
                        {"direction": direction, "value": value, "language": language}
                        | {"system": system, "from": first, "to": second}
                        | change_cells(
                            [pair for pair in own if pair.dataset == first],
                            [pair for pair in own if pair.dataset == second],
                            direction,
                            value,
                        )
                        for system, own in by_system(some).items()
                    ]
                    rows += with_holm([row for row in family if row["n"]], "p")
    return Table(
        "datasets",
        "Change between data sets of the same pictures",
        (
            DIRECTION,
            Column("value", "Value", "measure"),
            Column("language", "Language", "text"),
            SYSTEM,
            Column("from", "From", "text"),
            Column("to", "To", "text"),
            Column("n", "Pictures", "count"),
            Column("before", "Before", interval=True),
            Column("after", "After", interval=True),
            Column("change", "Change", "signed", interval=True),
            Column("p", "p, paired", "p"),
            Column("p_holm", "p (Holm)", "p"),
        ),
        tuple(rows),
        (
            "A picture counts for a system when it has the value in both data sets; several texts"
            " about it are averaged. Change is the mean of the differences, with a sign-flip test;"
            " Holm corrects over the systems of a direction and value.",
        ),
    )
