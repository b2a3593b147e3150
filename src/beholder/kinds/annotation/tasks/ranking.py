"""Ranking: several texts about one picture, put in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from beholder.data.read import good_rows
from beholder.data.reviews import read_reviews, reviews_row
from beholder.data.row import shorten
from beholder.errors import DataError, ItemError
from beholder.kinds.annotation.agreement import of_rankings
from beholder.kinds.annotation.records import (
    AnnotationUnit,
    Judged,
    Row,
    ShownPicture,
    State,
)
from beholder.kinds.annotation.tasks.base import JudgmentPart, Task
from beholder.records import Reviews
from beholder.run.reliability import Reliability

if TYPE_CHECKING:
    from beholder.data.notes import RowNotes
    from beholder.options import DataOptions

ORDER = "order"


class RankTask(Task):
    """The part ``order`` lists the places of the texts in the data, from 0, best first."""

    name: ClassVar[str] = "ranking"
    title: ClassVar[str] = "Rank descriptions"
    summary: ClassVar[str] = (
        "sets of texts about a picture: an order without ties"
    )
    next_step: ClassVar[str] = "beholder rank {file} -s vcs"
    next_without_references: ClassVar[str] = "beholder rank {file} -s length"
    unanswered: ClassVar[str] = "not ranked"
    scripts: ClassVar[tuple[str, ...]] = ("annotate_ranking.js",)

    def read(
        self,
        data: str,
        options: DataOptions,
        errors: list[DataError],
        pictures: str | None,
        notes: RowNotes | None = None,
    ) -> Iterator[Reviews]:
        """Read sets of texts."""
        options.check_only(
            ("limit", "skip_bad_rows", "media_root"),
            f"{data} is read as sets of texts, whose columns have fixed names",
        )
        sets_of_texts = read_reviews(
            data, media_root=options.media_root, notes=notes
        )
        return good_rows(sets_of_texts, options, errors, name=data)

    def units(self, rows: Sequence[Reviews]) -> list[AnnotationUnit]:
        """Return one unit per set of texts."""
        return [
            AnnotationUnit(
                reviews.full_id,
                (reviews.source,),
                reviews.texts,
                ()
                if reviews.image is None
                else (ShownPicture(reviews.image),),
                reviews_row(reviews),
            )
            for reviews in rows
        ]

    def parts(self, unit: AnnotationUnit) -> list[JudgmentPart]:
        """Return one part, the order."""
        words = "move a text, or confirm that the order is right"
        return [JudgmentPart(ORDER, list[int], words)]

    def n_shuffled(self, unit: AnnotationUnit) -> int:
        """Return the number of texts: all are shuffled."""
        return len(unit.texts)

    def check(self, unit: AnnotationUnit, name: str, value: Any) -> None:
        """Check that the order has each text once."""
        super().check(unit, name, value)
        if (
            name == ORDER
            and value is not None
            and sorted(value) != [*range(len(unit.texts))]
        ):
            raise ItemError(
                f"order: expected each number from 0 to {len(unit.texts) - 1} once,"
                f" got {shorten(value)}"
            )

    def agreement(
        self, judged: Judged, annotators: Sequence[str]
    ) -> list[Reliability]:
        """Return Kendall's W and Spearman, means over sets; intervals resample pictures."""
        rankings = [
            (
                judgments.unit.source,
                [_ranks(state) for state in judgments.by.values()],
            )
            for judgments in judged
        ]
        return [of_rankings("ranks", rankings, annotators)]

    def results(self, judged: Judged) -> Iterator[Row]:
        """Yield rows for ``rank``, with the ranks of each annotator."""
        for judgments in judged:
            ranks = {
                name: _ranks(state) for name, state in judgments.by.items()
            }
            yield {
                **judgments.unit.row,
                "ranks": {**judgments.unit.row.get("ranks", {}), **ranks},
            }


def _ranks(state: State) -> list[int]:
    """Return the rank of each text, in the order of the data; 1 is best."""
    order = state[ORDER]
    return [order.index(place) + 1 for place in range(len(order))]
