"""Readings: does a text have a grave error, and what should it say?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, get_args

import msgspec

from beholder.errors import ConfigError
from beholder.kinds.annotation.agreement import cells, of_order
from beholder.kinds.annotation.records import (
    CANNOT,
    AnnotationUnit,
    Judged,
    Row,
    State,
)
from beholder.kinds.annotation.tasks.base import JudgmentPart, Task, unit_of
from beholder.records import Item
from beholder.run.reliability import Reliability

LEVEL = "level"
FINAL = "final"
Level = Literal["none", "minor", "grave"]
"""Levels of error, from the mildest."""

FinalText = Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)]


class ReadingTask(Task):
    """The gravest error of a text; optionally the text as it should be.

    Texts are read in the order of the data. ``meta.readers`` of a row is the number of its readers.
    """

    name: ClassVar[str] = "reading"
    title: ClassVar[str] = "Does the text have a grave error?"
    summary: ClassVar[str] = (
        "rows with a candidate, as `beholder accept start` orders them: grave, minor or no error"
    )
    unanswered: ClassVar[str] = "not answered"
    in_order: ClassVar[bool] = True

    def units(self, rows: Sequence[Item]) -> list[AnnotationUnit]:
        """Return one unit per row."""
        return [unit_of(item, item.candidate) for item in rows]

    def n_readers(self, unit: AnnotationUnit) -> int:
        """Return the number of readers that the row of a unit asks for; 1 by default.

        Raises:
            ConfigError: The row asks for another value than a whole number from 1.
        """
        n = unit.row.get("meta", {}).get("readers", 1)
        # With 0 readers no one would see the text, and nothing would say so.
        if not str(n).isdecimal() or int(n) < 1:
            raise ConfigError(
                f"row {unit.id!r}: readers: expected a whole number from 1, got {n!r}"
            )
        return int(n)

    def parts(self, unit: AnnotationUnit) -> list[JudgmentPart]:
        """Return two parts: the level of error, and the edited text, which may be missing."""
        return [
            JudgmentPart(LEVEL, Level, "the level of error"),
            JudgmentPart(FINAL, FinalText, "the text"),
        ]

    def missing(self, unit: AnnotationUnit, state: State) -> str | None:
        """Return that the level is open, or None; an edited text is not required."""
        if state.get(LEVEL) is not None:
            return None
        return f"{self.unanswered}: {self.part(unit, LEVEL).words}"

    def differences(
        self, unit: AnnotationUnit, state: State, expected: State
    ) -> list[str]:
        """Return the level if two judgments differ in it; edits are a matter of taste."""
        kept = (LEVEL, CANNOT)
        verdict = {part: state[part] for part in kept if part in state}
        right = {part: expected[part] for part in kept if part in expected}
        return super().differences(unit, verdict, right)

    def agreement(
        self, judged: Judged, annotators: Sequence[str]
    ) -> list[Reliability]:
        """Return ordinal alpha, and for two readers weighted kappa, of the levels."""
        levels = get_args(Level)
        table = cells(
            self, "level", judged, annotators, levels.index, part=LEVEL
        )
        return [of_order(table, range(len(levels)))]

    def results(self, judged: Judged) -> Iterator[Row]:
        """Yield rows with the gravest level, the level of each reader, and the final text.

        The final text is that of the first reader who edited it; ``text`` is the former one.
        """
        levels = get_args(Level)
        for judgments in judged:
            by_reader: dict[str, Any] = {
                who: state[LEVEL] for who, state in judgments.by.items()
            }
            text = judgments.unit.texts[0]
            edits = [
                state[FINAL]
                for state in judgments.by.values()
                if state.get(FINAL)
            ]
            yield {
                **judgments.unit.row,
                "candidate": edits[0] if edits else text,
                "text": text,
                LEVEL: max(by_reader.values(), key=levels.index),
                "levels": by_reader,
            }
