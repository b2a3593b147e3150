"""Ratings from 1 to 10: of texts, of sequences of pictures, and of each step of a sequence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Annotated, Any, ClassVar

import msgspec

from beholder.data import read_frames, read_storylines, storyline_row
from beholder.data.notes import RowNotes
from beholder.data.read import good_rows
from beholder.errors import ConfigError, DataError
from beholder.judges.operations.rating import BREAK_KINDS, BreakKind
from beholder.kinds.annotation.agreement import cells, of_kinds, of_numbers
from beholder.kinds.annotation.records import (
    AnnotationUnit,
    Judged,
    Row,
    ShownPicture,
)
from beholder.kinds.annotation.tasks.base import (
    MAX_PARTS,
    JudgmentPart,
    Task,
    unit_of,
)
from beholder.options import DataOptions
from beholder.records import Frame, Item, Storyline
from beholder.run.reliability import Reliability

LOWEST, HIGHEST = 1, 10
RATING = "rating"
Rating = Annotated[int, msgspec.Meta(ge=LOWEST, le=HIGHEST)]


class RatingTask(Task):
    """One rating, 1 to 10, higher is better.

    Class attributes:
        rated: Name of the rated thing, in messages.
    """

    rated: ClassVar[str]
    unanswered: ClassVar[str] = "not rated"

    def parts(self, unit: AnnotationUnit) -> list[JudgmentPart]:
        """Return one part, the rating."""
        return [JudgmentPart(RATING, Rating, f"the {self.rated}")]

    def is_close(self, answer: int | None, expected: int) -> bool:
        """Return whether two ratings are at most one level apart."""
        return answer is not None and abs(answer - expected) <= 1

    def context(
        self, unit: AnnotationUnit, order: Sequence[int]
    ) -> Mapping[str, object]:
        """Return the levels of the scale."""
        return {"ratings": range(LOWEST, HIGHEST + 1)}

    def agreement(
        self, judged: Judged, annotators: Sequence[str]
    ) -> list[Reliability]:
        """Return alpha, ICC and mean pairwise correlation of the ratings."""
        return [of_numbers(cells(self, RATING, judged, annotators))]


class TextRatingTask(RatingTask):
    """Texts of systems and of people about the same pictures, rated one by one."""

    name: ClassVar[str] = "ratings"
    title: ClassVar[str] = "Rate a description"
    summary: ClassVar[str] = (
        "rows: 1 to 10 for each candidate and each first reference"
    )
    next_step: ClassVar[str] = (
        "beholder score {file} -m \"dcscore(direction='both', verify='reference')\" -o RUN"
    )
    rated: ClassVar[str] = "text"

    def describe_units(self, units: Sequence[AnnotationUnit]) -> str:
        """Return the number of units with that of references, which are rated, too."""
        n_references = sum(not unit.row for unit in units)
        words = super().describe_units(units)
        if not n_references:
            return words
        return (
            f"{words}: {len(units) - n_references:,} candidates and"
            f" {n_references:,} references"
        )

    def units(self, rows: Sequence[Item]) -> list[AnnotationUnit]:
        """Return a unit per candidate, and one per first reference of a picture."""
        # Rows of several systems share a picture and its reference, which is rated only once.
        # The row of a unit is empty for references: `results` says both apart by it.
        candidates = [
            unit_of(item, item.candidate, name=f"{item.id}/candidate")
            for item in rows
        ]
        references: dict[tuple[tuple[str, ...], str], AnnotationUnit] = {}
        for item in rows:
            for text in item.references[:1]:
                unit = unit_of(item, text, name=f"{item.id}/reference", row={})
                references.setdefault((item.source, text), unit)
        return [*candidates, *references.values()]

    def results(self, judged: Judged) -> Iterator[Row]:
        """Yield rows with all ratings: ``rating`` of the candidate, ``human_rating`` of references.

        ``annotators`` and ``human_annotators`` name the annotators in the same order.
        """
        # First collect the ratings of references by picture and text, then add them to each row
        # that has this reference.
        human = {
            (judgments.unit.source, judgments.unit.texts[0]): judgments.by
            for judgments in judged
            if not judgments.unit.row
        }
        for judged_unit in judged:
            row = judged_unit.unit.row
            if not row:
                continue
            judgments, names = dict(row.get("judgments", {})), {}
            ratings_by_label = [(RATING, "annotators", judged_unit.by)]
            for text in row.get("references", ())[:1]:
                by = human.get((judged_unit.unit.source, text), {})
                ratings_by_label.append(
                    ("human_rating", "human_annotators", by)
                )
            for label, who, by in ratings_by_label:
                if by:
                    judgments[label] = [state[RATING] for state in by.values()]
                    names[who] = list(by)
            yield {**row, "judgments": judgments, **names}

    def left_out(self, judged: Judged) -> str:
        """Return a sentence about ratings of references that no rated candidate has."""
        rated = {
            (judgments.unit.source, text)
            for judgments in judged
            for text in judgments.unit.row.get("references", ())[:1]
        }
        n = sum(
            len(judgments.by)
            for judgments in judged
            if not judgments.unit.row
            and (judgments.unit.source, judgments.unit.texts[0]) not in rated
        )
        if n == 0:
            return ""
        return (
            f"{n:,} ratings of references are left out: no candidate is rated"
        )

    def next_command(self, judged: Judged) -> str:
        """Return the command for ratings of both sides, or that for ratings of candidates alone."""
        if any(not judgments.unit.row for judgments in judged):
            return self.next_step
        has_references = any(
            judgments.unit.row.get("references") for judgments in judged
        )
        metric = "accord" if has_references else "length"
        return f"beholder agree {{file}} --label rating -m {metric}"


class StepJudgment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The judgment of a step.

    Attributes:
        rating: 1 (does not follow) to 10; None while only breaks are named.
        breaks: Kinds of break, in the order of ``BREAK_KINDS``; may be empty.
    """

    rating: Rating | None
    breaks: tuple[BreakKind, ...]

    def __post_init__(self) -> None:
        if self.breaks != tuple(
            kind for kind in BREAK_KINDS if kind in self.breaks
        ):
            raise ValueError(
                f"breaks: expected some of {', '.join(BREAK_KINDS)} in this order"
            )


class _SequenceTask(Task):
    """Tasks on sequences; their templates draw the pictures."""

    shows_pictures: ClassVar[bool] = False

    def read(
        self,
        data: str,
        options: DataOptions,
        errors: list[DataError],
        pictures: str | None,
        notes: RowNotes | None = None,
    ) -> Iterator[Storyline]:
        """Read sequences, whose pictures may be named by id in a collection."""
        options.check_only(
            ("limit", "skip_bad_rows", "media_root"),
            f"{data} is read as sequences of pictures, whose columns have fixed names",
        )
        collection: list[Frame] = []
        if pictures is not None:
            frames = read_frames(
                pictures, media_root=options.media_root, notes=notes
            )
            # `--limit` and the like are about sequences; any of them may name any picture.
            all_rows = DataOptions(skip_bad_rows=options.skip_bad_rows)
            collection = list(
                good_rows(frames, all_rows, errors, name=pictures)
            )
        storylines = read_storylines(
            data, collection, media_root=options.media_root
        )
        return good_rows(storylines, options, errors, name=data)

    def units(self, rows: Sequence[Storyline]) -> list[AnnotationUnit]:
        """Return one unit per sequence, with its pictures and their captions."""
        return [
            AnnotationUnit(
                storyline.id,
                (storyline.id,),
                (),
                tuple(
                    ShownPicture(frame.image, _caption(frame))
                    for frame in storyline.frames
                ),
                storyline_row(storyline),
            )
            for storyline in rows
        ]


class SequenceRatingTask(_SequenceTask, RatingTask):
    """Sequences of pictures, each as a whole."""

    name: ClassVar[str] = "sequences"
    title: ClassVar[str] = "Rate a sequence of pictures"
    summary: ClassVar[str] = (
        "sequences of pictures: 1 to 10 for each whole sequence"
    )
    next_step: ClassVar[str] = (
        "beholder narrate judge SEQUENCES --by sight --judge people:{file}"
    )
    rated: ClassVar[str] = "sequence"

    def results(self, judged: Judged) -> Iterator[Row]:
        """Yield each sequence's ratings by annotator, as ``--judge people:FILE`` reads them."""
        for judgments in judged:
            ratings = {
                name: state[RATING] for name, state in judgments.by.items()
            }
            yield {"id": judgments.unit.id, "ratings": ratings}


class StepTask(_SequenceTask):
    """A part is the number of a step from 0, its value a ``StepJudgment``."""

    name: ClassVar[str] = "steps"
    title: ClassVar[str] = "Rate the steps of a sequence"
    summary: ClassVar[str] = (
        "sequences of pictures: 1 to 10 for each step, and what breaks"
    )
    next_step: ClassVar[str] = (
        "beholder narrate transitions SEQUENCES --judge people:{file}"
    )
    unanswered: ClassVar[str] = "steps not rated"

    def units(self, rows: Sequence[Storyline]) -> list[AnnotationUnit]:
        """Return one unit per sequence.

        Raises:
            ConfigError: A sequence has fewer than 2 pictures, or too many.
        """
        for storyline in rows:
            if not 2 <= len(storyline.frames) <= MAX_PARTS:
                raise ConfigError(
                    f"sequence {storyline.id!r} has {len(storyline.frames)} pictures: steps need"
                    f" 2 to {MAX_PARTS:,}"
                )
        return super().units(rows)

    def parts(self, unit: AnnotationUnit) -> list[JudgmentPart]:
        """Return a part per step, whose value has a rating and breaks."""
        return [
            JudgmentPart(str(n), StepJudgment, str(n + 1))
            for n in range(len(unit.pictures) - 1)
        ]

    def is_whole(self, value: object) -> bool:
        """Return whether a step has a rating; breaks may be named before."""
        return isinstance(value, Mapping) and value[RATING] is not None

    def is_close(
        self, answer: Mapping[str, Any] | None, expected: Mapping[str, Any]
    ) -> bool:
        """Return whether the breaks are the same and the ratings at most one level apart."""
        if answer is None or set(answer["breaks"]) != set(expected["breaks"]):
            return False
        return bool(abs(answer[RATING] - expected[RATING]) <= 1)

    def context(
        self, unit: AnnotationUnit, order: Sequence[int]
    ) -> Mapping[str, object]:
        """Return the levels of the scale, and the kinds of break with their keys."""
        keys = dict(zip(BREAK_KINDS, "lthp", strict=True))
        return {"ratings": range(LOWEST, HIGHEST + 1), "break_keys": keys}

    def agreement(
        self, judged: Judged, annotators: Sequence[str]
    ) -> list[Reliability]:
        """Return the agreement on the ratings of all steps, and on each kind of break."""
        # Each kind of break is a yes-no question of its own: a step may have several.
        ratings = cells(
            self, "rating of a step", judged, annotators, itemgetter(RATING)
        )
        breaks = [
            cells(
                self,
                f"break of {kind}",
                judged,
                annotators,
                partial(_breaks, kind),
            )
            for kind in BREAK_KINDS
        ]
        return [of_numbers(ratings), *(of_kinds(table, 2) for table in breaks)]

    def results(self, judged: Judged) -> Iterator[Row]:
        """Yield each sequence's steps by annotator, as ``--judge people:FILE`` reads them."""
        for judgments in judged:
            parts = self.parts(judgments.unit)
            steps = {
                name: [state[part.name] for part in parts]
                for name, state in judgments.by.items()
            }
            yield {"id": judgments.unit.id, "steps": steps}


def _breaks(kind: str, step: Mapping[str, Any]) -> bool:
    return kind in step["breaks"]


def _caption(frame: Frame) -> str:
    """Return date, place and caption of a picture, as far as they are known."""
    facts = (
        None if frame.date is None else str(frame.date),
        frame.place,
        frame.caption,
    )
    return " \N{MIDDLE DOT} ".join(fact for fact in facts if fact)
