"""Ratings of texts from 1 to 10."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar

import msgspec

from beholder.kinds.annotation.agreement import cells, of_numbers
from beholder.kinds.annotation.label_studio import Field
from beholder.kinds.annotation.records import AnnotationUnit, Judged, Row
from beholder.kinds.annotation.tasks.base import JudgmentPart, Task, unit_of
from beholder.records import Item
from beholder.run.reliability import Reliability

LOWEST, HIGHEST = 1, 10
RATING = "rating"
Rating = Annotated[int, msgspec.Meta(ge=LOWEST, le=HIGHEST)]


class RatingTask(Task):
    """One rating, 1 to 10, higher is better.

    Class attributes:
        rated: What is rated, in Label Studio and in messages.
    """

    rated: ClassVar[str]
    unanswered: ClassVar[str] = "not rated"

    def parts(self, unit: AnnotationUnit) -> list[JudgmentPart]:
        """The rating."""
        return [
            JudgmentPart(
                RATING, Rating, f"the {self.rated}", (Field(RATING, self.rated, "rating"),)
            )
        ]

    def close(self, given: int | None, expected: int) -> bool:
        """Whether two ratings are at most one level apart."""
        return given is not None and abs(given - expected) <= 1

    def context(self, unit: AnnotationUnit, order: Sequence[int]) -> Mapping[str, object]:
        """The scale."""
        return {"ratings": range(LOWEST, HIGHEST + 1)}

    def agreement(self, judged: Judged, annotators: Sequence[str]) -> list[Reliability]:
        """Alpha, ICC and correlation."""
        return [of_numbers(cells(self, RATING, judged, annotators))]


class TextRatingTask(RatingTask):
    """Texts one by one: what systems wrote, and what people wrote about the same pictures."""

    name: ClassVar[str] = "ratings"
    title: ClassVar[str] = "Rate a description"
    summary: ClassVar[str] = "rows: 1 to 10 for each candidate and each first reference"
    next_step: ClassVar[str] = "beholder score {file} -m \"dcscore(direction='both')\" -o RUN"
    rated: ClassVar[str] = "text"

    def units(self, rows: Sequence[Item]) -> list[AnnotationUnit]:
        """Each candidate, and each first reference once per picture."""
        found = [unit_of(item, item.candidate, name=f"{item.id}/candidate") for item in rows]
        references: dict[tuple[tuple[str, ...], str], AnnotationUnit] = {}
        for item in rows:
            for text in item.references[:1]:
                unit = unit_of(item, text, name=f"{item.id}/reference", row={})
                references.setdefault((item.source, text), unit)
        return [*found, *references.values()]

    def results(self, judged: Judged) -> Iterator[Row]:
        """Rows with all ratings: ``rating`` of the candidate, ``human_rating`` of the reference.

        ``annotators`` and ``human_annotators`` name the annotators in the same order.
        """
        human = {(one.unit.source, one.unit.texts[0]): one.by for one in judged if not one.unit.row}
        for one in judged:
            row = one.unit.row
            if not row:
                continue
            judgments, names = dict(row.get("judgments", {})), {}
            given = [(RATING, "annotators", one.by)]
            for text in row.get("references", ())[:1]:
                by = human.get((one.unit.source, text), {})
                given.append(("human_rating", "human_annotators", by))
            for label, who, by in given:
                if by:
                    judgments[label] = [state[RATING] for state in by.values()]
                    names[who] = list(by)
            yield {**row, "judgments": judgments, **names}

    def left_out(self, judged: Judged) -> str:
        """Ratings of references whose candidates have no rating: they have no row."""
        rated = {
            (one.unit.source, text)
            for one in judged
            for text in one.unit.row.get("references", ())[:1]
        }
        n = sum(
            len(one.by)
            for one in judged
            if not one.unit.row and (one.unit.source, one.unit.texts[0]) not in rated
        )
        return f"{n:,} ratings of references are left out: no candidate is rated" if n else ""

    def next_command(self, judged: Judged) -> str:
        """``bidirectional`` compares ratings of both sides; ``agree`` reads those of candidates."""
        if any(not one.unit.row for one in judged):
            return self.next_step
        needs = any(one.unit.row.get("references") for one in judged)
        return f"beholder agree {{file}} --label rating -m {'accord' if needs else 'length'}"
