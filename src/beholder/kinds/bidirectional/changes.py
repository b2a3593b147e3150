"""The same pictures described twice: changes from one data set or language to another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations

from beholder import stats
from beholder.kinds.bidirectional.pairs import (
    DIRECTIONS,
    Cells,
    PairGroup,
    TextPair,
    by,
    directions,
    each,
    grouped,
    holm,
    ordered,
    scores_of,
    systems,
)
from beholder.tables import DIRECTION, SYSTEM, Column, Table, estimate, interval_cells

CHANGING = ("f1", "hallucination_rate", "omission_rate")
_BETWEEN = (SYSTEM, Column("from", "From", "text"), Column("to", "To", "text"))
_CHANGE = (
    Column("change", "Change", "signed", interval=True),
    Column("p", "p, paired", "p"),
    Column("p_holm", "p (Holm)", "p"),
)


def dataset_table(pairs: Sequence[TextPair]) -> Table:
    """F1 and rates of each system in two data sets of the same pictures.

    For example, captions as models write them and captions as long as people's.
    """

    def between(group: PairGroup) -> Iterator[PairGroup]:
        for first, second in combinations(ordered(pair.dataset for pair in group.pairs), 2):
            yield group.part(group.pairs, **{"from": first, "to": second})

    return Table(
        "datasets",
        "Change between data sets of the same pictures",
        (
            DIRECTION,
            Column("value", "Value", "measure"),
            Column("language", "Language", "text"),
            *_BETWEEN,
            Column("n", "Pictures", "count"),
            Column("before", "Before", interval=True),
            Column("after", "After", interval=True),
            *_CHANGE,
        ),
        grouped(
            pairs,
            (by("language"), between, directions, each("value", CHANGING)),
            _change("dataset"),
            family=(systems,),
            finish=holm("p"),
        ),
        (
            "A picture counts for a system when it has the value in both data sets; several texts"
            " about it are averaged. Change is the mean of the differences, with a sign-flip test;"
            " Holm corrects over the systems of a direction and value.",
        ),
    )


def language_table(pairs: Sequence[TextPair], note: str) -> Table:
    """Mean F1 in the first language and in each other one, over the pictures that have both."""
    first, *others = ordered(pair.language for pair in pairs)

    def between(group: PairGroup) -> Iterator[PairGroup]:
        for other in others:
            yield group.part(group.pairs, **{"from": first, "to": other})

    rows = grouped(
        pairs,
        (by("dataset"), between, directions),
        _change("language"),
        family=(systems,),
        finish=lambda family: holm("p")(_ranked(family)),
    )
    return Table(
        "languages",
        "Change between languages",
        (
            DIRECTION,
            Column("dataset", "Data set", "text"),
            *_BETWEEN,
            Column("n", "Pictures", "count"),
            Column("before", "F1 before", interval=True),
            Column("after", "F1 after", interval=True),
            *_CHANGE,
            Column("rank_before", "Rank before", "count"),
            Column("rank_after", "Rank after", "count"),
        ),
        rows,
        (
            note,
            "A picture counts for a system when it has F1 in both languages; several texts about it"
            " are averaged. Change is the mean of the differences, with a sign-flip test.",
            *_order_notes(rows),
        ),
    )


def _change(key: str) -> Callable[[PairGroup], Iterator[Cells]]:
    """Mean before and after over the pictures that have the value in both, and its change.

    Args:
        key: Field of pairs whose value changes between the places ``from`` and ``to``.
    """

    def means(group: PairGroup, when: str) -> dict[str, float]:
        values: dict[str, list[float]] = {}
        pairs = [pair for pair in group.pairs if getattr(pair, key) == group.place[when]]
        for image, value in scores_of(pairs, group.direction, group.value):
            values.setdefault(image, []).append(value)
        return {image: sum(found) / len(found) for image, found in values.items()}

    def cells(group: PairGroup) -> Iterator[Cells]:
        first, second = means(group, "from"), means(group, "to")
        images = [image for image in first if image in second]
        if images:
            before, after = ([mean[image] for image in images] for mean in (first, second))
            change = stats.paired_difference(after, before)
            yield {
                "n": len(images),
                "p": change.p_value,
                **estimate("before", before),
                **estimate("after", after),
                "change": change.mean,
                **interval_cells("change", change.interval),
            }

    return cells


def _ranked(rows: list[Cells]) -> list[Cells]:
    """Rows with the rank of each system, 1 the best; equal means share a rank."""
    for key in ("before", "after"):
        means = [mean if isinstance(mean := row[key], float) else 0.0 for row in rows]
        for row, own in zip(rows, means, strict=True):
            row[f"rank_{key}"] = 1 + sum(mean > own for mean in means)
    return rows


def _order_notes(rows: Sequence[Cells]) -> Iterator[str]:
    for direction in DIRECTIONS:
        own = [row for row in rows if row["direction"] == direction]
        moved = [str(row["system"]) for row in own if row["rank_before"] != row["rank_after"]]
        if own:
            told = f"changes place for {', '.join(dict.fromkeys(moved))}" if moved else "stays"
            yield f"{direction.upper()}: the order of systems {told}."
