"""The task: which tone does a description have?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal, get_args

from beholder.kinds.annotation.agreement import cells, of_kinds
from beholder.kinds.annotation.records import AnnotationUnit, Judged, Row
from beholder.kinds.annotation.tasks import Task
from beholder.kinds.annotation.tasks.base import JudgmentPart, unit_of
from beholder.records import Item
from beholder.run.reliability import Reliability

Tone = Literal["neutral", "warm", "ironic"]
TONES = get_args(Tone)


class ToneTask(Task):
    """The part ``tone`` is one of three."""

    name: ClassVar[str] = "tone"
    title: ClassVar[str] = "Which tone?"
    summary: ClassVar[str] = "rows: the tone of each description"
    next_step: ClassVar[str] = "beholder agree {file} --label warm -m length"
    package: ClassVar[str] = "tones"
    scripts: ClassVar[tuple[str, ...]] = ("tone.js",)

    def units(self, rows: Sequence[Item]) -> list[AnnotationUnit]:
        """One per item."""
        return [unit_of(row, row.candidate) for row in rows]

    def parts(self, unit: AnnotationUnit) -> list[JudgmentPart]:
        """The tone."""
        return [JudgmentPart("tone", Tone, "the tone")]

    def context(
        self, unit: AnnotationUnit, order: Sequence[int]
    ) -> Mapping[str, object]:
        """The tones."""
        return {"tones": TONES}

    def agreement(
        self, judged: Judged, annotators: Sequence[str]
    ) -> list[Reliability]:
        """Nominal alpha and kappa."""
        return [
            of_kinds(
                cells(self, "tone", judged, annotators, TONES.index),
                len(TONES),
            )
        ]

    def results(self, judged: Judged) -> Iterator[Row]:
        """Rows whose judgment ``warm`` is the share of annotators who find the text warm."""
        for judgment in judged:
            tones = [state["tone"] for state in judgment.by.values()]
            yield {
                **judgment.unit.row,
                "judgments": {"warm": tones.count("warm") / len(tones)},
            }
