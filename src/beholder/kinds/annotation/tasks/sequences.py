"""Sequences of pictures: ratings of a whole sequence, or of each step and what breaks there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, ClassVar

import msgspec

from beholder.data import read_frames, read_storylines, storyline_row
from beholder.data.read import good_rows
from beholder.errors import ConfigError, DataError
from beholder.judges.operations.rating import BREAK_KINDS, BreakKind
from beholder.kinds.annotation.agreement import cells, of_kinds, of_numbers
from beholder.kinds.annotation.label_studio import Field
from beholder.kinds.annotation.records import AnnotationUnit, Judged, Row, ShownPicture
from beholder.kinds.annotation.tasks.base import MAX_PARTS, JudgmentPart, Task
from beholder.kinds.annotation.tasks.ratings import HIGHEST, LOWEST, RATING, Rating, RatingTask
from beholder.options import DataOptions
from beholder.records import Frame, Storyline
from beholder.run.reliability import Reliability


class StepJudgment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The judgment of a step.

    Attributes:
        rating: 1 (does not follow) to 10; None while only breaks are named.
        breaks: What breaks, in the order of ``BREAK_KINDS``; may be empty.
    """

    rating: Rating | None
    breaks: tuple[BreakKind, ...]

    def __post_init__(self) -> None:
        if self.breaks != tuple(kind for kind in BREAK_KINDS if kind in self.breaks):
            raise ValueError(f"breaks: expected some of {', '.join(BREAK_KINDS)} in this order")


class _SequenceTask(Task):
    """Tasks on sequences; their templates draw the pictures."""

    shows_pictures: ClassVar[bool] = False

    def read(
        self, data: str, options: DataOptions, bad: list[DataError], pictures: str | None
    ) -> Iterator[Storyline]:
        """Sequences, whose pictures may be named by id."""
        collection: list[Frame] = []
        if pictures is not None:
            frames = read_frames(pictures, media_root=options.media_root)
            whole = DataOptions(skip_bad_rows=options.skip_bad_rows)
            collection = list(good_rows(frames, whole, bad, name=pictures))
        found = read_storylines(data, collection, media_root=options.media_root)
        return good_rows(found, options, bad, name=data)

    def units(self, rows: Sequence[Storyline]) -> list[AnnotationUnit]:
        """One per sequence, with the pictures and what is known of each."""
        return [
            AnnotationUnit(
                one.id,
                (one.id,),
                (),
                tuple(ShownPicture(frame.image, _known(frame)) for frame in one.frames),
                storyline_row(one),
            )
            for one in rows
        ]


class SequenceRatingTask(_SequenceTask, RatingTask):
    """Sequences of pictures, each as a whole."""

    name: ClassVar[str] = "sequences"
    title: ClassVar[str] = "Rate a sequence of pictures"
    summary: ClassVar[str] = "sequences of pictures: 1 to 10 for each whole sequence"
    next_step: ClassVar[str] = "beholder narrate judge SEQUENCES --by sight --judge people:{file}"
    rated: ClassVar[str] = "sequence"

    def results(self, judged: Judged) -> Iterator[Row]:
        """The ratings of each sequence by annotator: a judge ``people:FILE`` of ``narrate``."""
        for one in judged:
            ratings = {name: state[RATING] for name, state in one.by.items()}
            yield {"id": one.unit.id, "ratings": ratings}


class StepTask(_SequenceTask):
    """A part is the number of a step from 0, its value a ``StepJudgment``."""

    name: ClassVar[str] = "steps"
    title: ClassVar[str] = "Rate the steps of a sequence"
    summary: ClassVar[str] = "sequences of pictures: 1 to 10 for each step, and what breaks"
    next_step: ClassVar[str] = "beholder narrate transitions SEQUENCES --judge people:{file}"
    unanswered: ClassVar[str] = "steps not rated"

    def units(self, rows: Sequence[Storyline]) -> list[AnnotationUnit]:
        """One per sequence of two pictures or more."""
        for one in rows:
            if not 2 <= len(one.frames) <= MAX_PARTS:
                raise ConfigError(
                    f"sequence {one.id!r} has {len(one.frames)} pictures: steps need 2 to"
                    f" {MAX_PARTS:,}"
                )
        return super().units(rows)

    def parts(self, unit: AnnotationUnit) -> list[JudgmentPart]:
        """A rating and breaks per step; Label Studio counts from 1."""
        return [
            JudgmentPart(
                str(n - 1),
                StepJudgment,
                str(n),
                (
                    Field(f"step-{n}", "sequence", "rating", key=RATING),
                    Field(f"breaks-{n}", "sequence", "choices", key="breaks"),
                ),
            )
            for n in range(1, len(unit.pictures))
        ]

    def is_whole(self, value: object) -> bool:
        """Whether a step has a rating."""
        return isinstance(value, Mapping) and value[RATING] is not None

    def close(self, given: Mapping[str, Any] | None, expected: Mapping[str, Any]) -> bool:
        """Whether the same breaks are named, and the ratings are at most one level apart."""
        if given is None or set(given["breaks"]) != set(expected["breaks"]):
            return False
        return bool(abs(given[RATING] - expected[RATING]) <= 1)

    def context(self, unit: AnnotationUnit, order: Sequence[int]) -> Mapping[str, object]:
        """The scale, and the kinds of break with their keys."""
        keys = dict(zip(BREAK_KINDS, "lthp", strict=True))
        return {"ratings": range(LOWEST, HIGHEST + 1), "break_keys": keys}

    def agreement(self, judged: Judged, annotators: Sequence[str]) -> list[Reliability]:
        """Agreement on the ratings of all steps, and on each kind of break."""
        ratings = cells(self, "rating of a step", judged, annotators, itemgetter(RATING))
        breaks = [
            cells(self, f"break of {kind}", judged, annotators, partial(_breaks, kind))
            for kind in BREAK_KINDS
        ]
        return [of_numbers(ratings), *(of_kinds(one, 2) for one in breaks)]

    def results(self, judged: Judged) -> Iterator[Row]:
        """The steps of each sequence by annotator: a judge ``people:FILE`` of ``narrate``."""
        for one in judged:
            parts = self.parts(one.unit)
            steps = {name: [state[own.name] for own in parts] for name, state in one.by.items()}
            yield {"id": one.unit.id, "steps": steps}


def _breaks(kind: str, step: Mapping[str, Any]) -> bool:
    return kind in step["breaks"]


def _known(frame: Frame) -> str:
    facts = (None if frame.date is None else str(frame.date), frame.place, frame.caption)
    return " \N{MIDDLE DOT} ".join(fact for fact in facts if fact)
