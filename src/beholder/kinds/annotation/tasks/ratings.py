"""Ratings from 1 to 10: of single texts, and of whole sequences of pictures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from beholder.data import storyline_row
from beholder.data.row import to_row
from beholder.errors import ItemError
from beholder.kinds.annotation.agreement import of_numbers, rows_of
from beholder.kinds.annotation.records import AnnotationUnit, Judgments, ShownPicture, State
from beholder.kinds.annotation.tasks.base import (
    DataKind,
    Region,
    Task,
    one_value,
    pictures_of,
    region,
    whole_number,
)
from beholder.records import Frame, Item, Storyline
from beholder.run.reliability import Reliability

LOWEST, HIGHEST = 1, 10
RATING = "rating"


class _RatingTask(Task):
    """One rating, 1 to 10, higher is better."""

    to_name: ClassVar[str]

    def check_name(self, unit: AnnotationUnit, part: str) -> None:
        """The rating."""
        if part != RATING:
            raise ItemError(f"{part!r}: expected {RATING}")

    def check_value(self, unit: AnnotationUnit, part: str, value: Any) -> None:
        """A whole number from 1 to 10."""
        whole_number(value, LOWEST, HIGHEST, RATING)

    def missing(self, unit: AnnotationUnit, state: State) -> str | None:
        """The rating, where there is none."""
        return None if RATING in state else "not rated"

    def agreement(
        self, judged: Sequence[Judgments], annotators: Sequence[str]
    ) -> list[Reliability]:
        """Alpha, ICC and correlation."""
        rows = rows_of(judged, annotators, lambda state: state[RATING])
        return [of_numbers(RATING, rows, annotators, [one.unit.source for one in judged])]

    def regions(self, unit: AnnotationUnit, state: State) -> list[dict[str, Any]]:
        """A rating."""
        return [region(RATING, self.to_name, RATING, state[RATING])] if RATING in state else []

    def parts_of(self, unit: AnnotationUnit, regions: Sequence[Region]) -> dict[str, Any]:
        """The rating."""
        value = one_value(regions, RATING, RATING)
        return {} if value is None else {RATING: value}


class TextRatingTask(_RatingTask):
    """Texts one by one: what systems wrote, and what people wrote about the same pictures."""

    name: ClassVar[str] = "ratings"
    title: ClassVar[str] = "Rate a description"
    data: ClassVar[DataKind] = "items"
    next_step: ClassVar[str] = "beholder score {file} -m \"dcscore(direction='both')\" -o RUN"
    to_name: ClassVar[str] = "text"

    def units(self, rows: Sequence[Item]) -> list[AnnotationUnit]:
        """Each candidate; and each first reference once for its picture."""
        found = []
        references: dict[tuple[tuple[str, ...], str], AnnotationUnit] = {}
        for item in rows:
            pictures = pictures_of(item)
            found.append(
                AnnotationUnit(
                    f"{item.id}/candidate", item.source, (item.candidate,), pictures, to_row(item)
                )
            )
            for text in item.references[:1]:
                unit = AnnotationUnit(f"{item.id}/reference", item.source, (text,), pictures)
                references.setdefault((item.source, text), unit)
        return [*found, *references.values()]

    def results(self, judged: Sequence[Judgments]) -> Iterator[dict[str, Any]]:
        """Rows with all ratings: ``rating`` of the candidate, ``human_rating`` of the reference.

        ``annotators`` and ``human_annotators`` name who gave them, in their order.
        """
        human = {(one.unit.source, one.unit.texts[0]): one.by for one in judged if not one.unit.row}
        for one in judged:
            row = one.unit.row
            if not row:
                continue
            found = {**row, "judgments": dict(row.get("judgments", {}))}
            _put(found, RATING, "annotators", one.by)
            for text in row.get("references", ())[:1]:
                of_text = human.get((one.unit.source, text), {})
                _put(found, "human_rating", "human_annotators", of_text)
            yield found

    def n_left_out(self, judged: Sequence[Judgments]) -> int:
        """Ratings of references of which no candidate is rated: they have no row to stand in."""
        rated = {
            (one.unit.source, text)
            for one in judged
            for text in one.unit.row.get("references", ())[:1]
        }
        return sum(
            len(one.by)
            for one in judged
            if not one.unit.row and (one.unit.source, one.unit.texts[0]) not in rated
        )

    def next_command(self, judged: Sequence[Judgments]) -> str:
        """``bidirectional`` compares ratings of both sides; ``agree`` takes those of candidates."""
        if any(not one.unit.row for one in judged):
            return self.next_step
        needs = any(one.unit.row.get("references") for one in judged)
        return f"beholder agree {{file}} --label rating -m {'accord' if needs else 'length'}"


def _put(row: dict[str, Any], label: str, names: str, by: Mapping[str, State]) -> None:
    if by:
        row["judgments"][label] = [state[RATING] for state in by.values()]
        row[names] = list(by)


class SequenceRatingTask(_RatingTask):
    """Sequences of pictures, each as a whole."""

    name: ClassVar[str] = "sequences"
    title: ClassVar[str] = "Rate a sequence of pictures"
    data: ClassVar[DataKind] = "storylines"
    next_step: ClassVar[str] = "beholder narrate judge SEQUENCES --by sight --judge people:{file}"
    to_name: ClassVar[str] = "sequence"

    def units(self, rows: Sequence[Storyline]) -> list[AnnotationUnit]:
        """One a sequence."""
        return [sequence_unit(storyline) for storyline in rows]

    def results(self, judged: Sequence[Judgments]) -> Iterator[dict[str, Any]]:
        """The ratings of each sequence by annotator: a judge ``people:FILE`` of ``narrate``."""
        for one in judged:
            yield {
                "id": one.unit.id,
                "ratings": {name: state[RATING] for name, state in one.by.items()},
            }


def sequence_unit(storyline: Storyline) -> AnnotationUnit:
    """A sequence with its pictures, and what is known of each."""
    return AnnotationUnit(
        storyline.id,
        (storyline.id,),
        (),
        tuple(ShownPicture(frame.image, _known(frame)) for frame in storyline.frames),
        storyline_row(storyline),
    )


def _known(frame: Frame) -> str:
    facts = (None if frame.date is None else str(frame.date), frame.place, frame.caption)
    return " \N{MIDDLE DOT} ".join(fact for fact in facts if fact)
