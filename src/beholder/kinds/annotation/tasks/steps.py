"""Steps of a sequence: how well each picture follows on the one before, and what breaks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from beholder.data.row import shorten
from beholder.errors import ConfigError, ItemError
from beholder.judges.operations.rating import BREAK_KINDS
from beholder.kinds.annotation.agreement import of_kinds, of_numbers
from beholder.kinds.annotation.records import AnnotationUnit, Judgments, State
from beholder.kinds.annotation.tasks.base import (
    MAX_PARTS,
    DataKind,
    Region,
    Task,
    numbered,
    one_value,
    region,
    whole_number,
)
from beholder.kinds.annotation.tasks.ratings import HIGHEST, LOWEST, RATING, sequence_unit
from beholder.records import Storyline
from beholder.run.reliability import Reliability


class StepTask(Task):
    """A part is the number of a step from 0, its value ``{"rating", "breaks"}``.

    ``breaks`` holds the kinds in which the step breaks, in the order of ``BREAK_KINDS``; it may be
    empty. The rating is None while only breaks were named.
    """

    name: ClassVar[str] = "steps"
    title: ClassVar[str] = "Rate the steps of a sequence"
    data: ClassVar[DataKind] = "storylines"
    next_step: ClassVar[str] = "beholder narrate transitions SEQUENCES --judge people:{file}"

    def units(self, rows: Sequence[Storyline]) -> list[AnnotationUnit]:
        """One a sequence of two pictures or more."""
        for storyline in rows:
            if not 2 <= len(storyline.frames) <= MAX_PARTS:
                raise ConfigError(
                    f"sequence {storyline.id!r} has {len(storyline.frames)} pictures: steps need 2"
                    f" to {MAX_PARTS}"
                )
        return [sequence_unit(storyline) for storyline in rows]

    def check_name(self, unit: AnnotationUnit, part: str) -> None:
        """A step that there is."""
        numbered(part, _n_steps(unit), "step")

    def check_value(self, unit: AnnotationUnit, part: str, value: Any) -> None:
        """A rating from 1 to 10, and known kinds of break."""
        if not isinstance(value, Mapping) or set(value) != {RATING, "breaks"}:
            raise ItemError(f"a step has a rating and breaks, got {shorten(value)}")
        if value[RATING] is not None:
            whole_number(value[RATING], LOWEST, HIGHEST, RATING)
        breaks = value["breaks"]
        if not isinstance(breaks, list) or breaks != [k for k in BREAK_KINDS if k in breaks]:
            raise ItemError(
                f"breaks: expected some of {', '.join(BREAK_KINDS)} in this order,"
                f" got {shorten(breaks)}"
            )

    def missing(self, unit: AnnotationUnit, state: State) -> str | None:
        """Steps without a rating."""
        unrated = {RATING: None}
        steps = [state.get(str(n), unrated)[RATING] for n in range(_n_steps(unit))]
        left = [str(n) for n, rating in enumerate(steps, start=1) if rating is None]
        return f"steps not rated: {', '.join(left)}" if left else None

    def agreement(
        self, judged: Sequence[Judgments], annotators: Sequence[str]
    ) -> list[Reliability]:
        """Of ratings over all steps; and of each kind of break, named or not."""
        ratings = [
            [
                float(one.by[who][str(n)][RATING]) if who in one.by else float("nan")
                for who in annotators
            ]
            for one in judged
            for n in range(_n_steps(one.unit))
        ]
        sources = [one.unit.source for one in judged for _ in range(_n_steps(one.unit))]
        found = [of_numbers("rating of a step", ratings, annotators, sources)]
        for kind in BREAK_KINDS:
            named = [
                [
                    float(kind in one.by[who][str(n)]["breaks"]) if who in one.by else float("nan")
                    for who in annotators
                ]
                for one in judged
                for n in range(_n_steps(one.unit))
            ]
            found.append(of_kinds(f"break of {kind}", named, annotators, 2, sources))
        return found

    def results(self, judged: Sequence[Judgments]) -> Iterator[dict[str, Any]]:
        """The steps of each sequence by annotator: a judge ``people:FILE`` of ``narrate``."""
        for one in judged:
            steps = {
                name: [state[str(n)] for n in range(_n_steps(one.unit))]
                for name, state in one.by.items()
            }
            yield {"id": one.unit.id, "steps": steps}

    def regions(self, unit: AnnotationUnit, state: State) -> list[dict[str, Any]]:
        """A rating a step, and a choice of breaks where there are any; numbered from 1."""
        found = []
        for n in range(_n_steps(unit)):
            step = state.get(str(n))
            if step is not None and step[RATING] is not None:
                found.append(region(f"step-{n + 1}", "sequence", RATING, step[RATING]))
                if step["breaks"]:
                    name = f"breaks-{n + 1}"
                    found.append(region(name, "sequence", "choices", step["breaks"]))
        return found

    def parts_of(self, unit: AnnotationUnit, regions: Sequence[Region]) -> dict[str, Any]:
        """The steps that have a rating."""
        found = {}
        for n in range(_n_steps(unit)):
            rating = one_value(regions, f"step-{n + 1}", RATING)
            if rating is not None:
                breaks = one_value(regions, f"breaks-{n + 1}", "choices") or []
                found[str(n)] = {RATING: rating, "breaks": breaks}
        return found


def _n_steps(unit: AnnotationUnit) -> int:
    return len(unit.pictures) - 1
