"""Ranking: several texts about one picture, put in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from beholder.data.reviews import reviews_row
from beholder.data.row import shorten
from beholder.errors import ItemError
from beholder.kinds.annotation.agreement import of_rankings
from beholder.kinds.annotation.records import AnnotationUnit, Judgments, ShownPicture, State
from beholder.kinds.annotation.tasks.base import DataKind, Region, Task, one_value, region
from beholder.records import Reviews
from beholder.run.reliability import Reliability

ORDER = "order"
NOT_RANKED = "not ranked: move a text, or say that the order is right as it is"


class RankTask(Task):
    """The part ``order`` holds the places of the texts in the data, from 0, best first."""

    name: ClassVar[str] = "ranking"
    title: ClassVar[str] = "Rank descriptions"
    data: ClassVar[DataKind] = "reviews"
    next_step: ClassVar[str] = "beholder rank {file} -s vcs"
    shuffles: ClassVar[bool] = True

    def units(self, rows: Sequence[Reviews]) -> list[AnnotationUnit]:
        """One a set of texts."""
        return [
            AnnotationUnit(
                one.full_id,
                (one.source,),
                one.texts,
                () if one.image is None else (ShownPicture(one.image),),
                reviews_row(one),
            )
            for one in rows
        ]

    def check_name(self, unit: AnnotationUnit, part: str) -> None:
        """The order."""
        if part != ORDER:
            raise ItemError(f"{part!r}: expected {ORDER}")

    def check_value(self, unit: AnnotationUnit, part: str, value: Any) -> None:
        """Each text once."""
        whole = isinstance(value, list) and all(type(one) is int for one in value)
        if not whole or sorted(value) != list(range(len(unit.texts))):
            raise ItemError(
                f"order: expected each number from 0 to {len(unit.texts) - 1} once,"
                f" got {shorten(value)}"
            )

    def missing(self, unit: AnnotationUnit, state: State) -> str | None:
        """The order, where nobody has said that it is one."""
        return None if ORDER in state else NOT_RANKED

    def agreement(
        self, judged: Sequence[Judgments], annotators: Sequence[str]
    ) -> list[Reliability]:
        """Kendall's W and Spearman within sets, means over sets; intervals resample pictures."""
        rankings = [
            (one.unit.source, [ranks_of(state) for state in one.by.values()]) for one in judged
        ]
        return [of_rankings("ranks", rankings, annotators)]

    def results(self, judged: Sequence[Judgments]) -> Iterator[dict[str, Any]]:
        """Rows that ``rank`` reads, with the ranks of each annotator."""
        for one in judged:
            ranks = {name: ranks_of(state) for name, state in one.by.items()}
            yield {**one.unit.row, "ranks": {**one.unit.row.get("ranks", {}), **ranks}}

    def regions(self, unit: AnnotationUnit, state: State) -> list[dict[str, Any]]:
        """A ranker over the numbers of the texts."""
        if ORDER not in state:
            return []
        return [region(ORDER, "texts", "ranker", [str(one) for one in state[ORDER]])]

    def parts_of(self, unit: AnnotationUnit, regions: Sequence[Region]) -> dict[str, Any]:
        """The order."""
        given = one_value(regions, ORDER, "ranker")
        if given is None:
            return {}
        if not isinstance(given, list) or not all(str(one).isdecimal() for one in given):
            raise ItemError(f"order: expected numbers of texts, got {shorten(given)}")
        return {ORDER: [int(one) for one in given]}


def ranks_of(state: State) -> list[int]:
    """The rank of each text, 1 is best."""
    order = state[ORDER]
    return [order.index(place) + 1 for place in range(len(order))]
