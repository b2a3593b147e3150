"""Coarse pairs: which of two texts about one picture is better, in three respects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Annotated, ClassVar

import msgspec

from beholder.base.grouping import group_by_key
from beholder.data.marks import SCORE_OF
from beholder.data.row import to_row
from beholder.errors import ConfigError
from beholder.kinds.annotation.agreement import cells, of_order
from beholder.kinds.annotation.records import AnnotationUnit, Judged, Row
from beholder.kinds.annotation.tasks.base import JudgmentPart, Task, unit_of
from beholder.records import Item
from beholder.run.reliability import Reliability

QUESTIONS: dict[str, str] = {
    "mistakes": "Which makes fewer mistakes?",
    "omissions": "Which leaves out less?",
    "overall_quality": "Which is better overall?",
}
"""The questions, by the name of the judgment."""

LEVELS = (
    "#1 much better",
    "#1 slightly better",
    "equal",
    "#2 slightly better",
    "#2 much better",
)
assert set(QUESTIONS) == set(SCORE_OF)
Level = Annotated[int, msgspec.Meta(ge=0, le=len(LEVELS) - 1)]


class PairTask(Task):
    """Three questions on a scale of five; a value is a place in ``LEVELS``, #1 the first text."""

    name: ClassVar[str] = "pairs"
    title: ClassVar[str] = "Compare two descriptions"
    summary: ClassVar[str] = (
        "rows of several systems, or with 'candidate_b': which text is better?"
    )
    next_step: ClassVar[str] = "beholder agree {file} -m posh"
    next_without_references: ClassVar[str] = "beholder agree {file} -m length"
    together: ClassVar[bool] = False

    def units(self, rows: Sequence[Item]) -> list[AnnotationUnit]:
        """Return pairs of texts: those of a row, and of different systems about one picture.

        Raises:
            ConfigError: There is no pair.
        """
        # Rows with `candidate_b` are pairs already. Of the others, rows about the same picture
        # are paired unless they are known to be of the same system.
        units = [
            _unit_of_row(item) for item in rows if "candidate_b" in item.meta
        ]
        items_by_source = (
            (item.source, item)
            for item in rows
            if "candidate_b" not in item.meta
        )
        for items in group_by_key(items_by_source).values():
            for a, b in combinations(items, 2):
                if (
                    a.group.get("system") != b.group.get("system")
                    or "system" not in a.group
                ):
                    units.append(_unit_of_two(a, b))
        if not units:
            raise ConfigError(
                "pairs need two texts about one picture: rows of the same images (or references)"
                " by different group.system, or rows with candidate_b"
            )
        return units

    def count_unshown(self, rows: Sequence[Item]) -> Mapping[str, int]:
        """Return the number of rows without a text of another system about their picture."""
        paired_ids = {
            row["id"] for unit in self.units(rows) for row in unit.row.values()
        }
        n = sum(item.id not in paired_ids for item in rows)
        return {"rows without a second text about their picture": n}

    def parts(self, unit: AnnotationUnit) -> list[JudgmentPart]:
        """Return a part per question."""
        return [
            JudgmentPart(name, Level, f'"{words}"')
            for name, words in QUESTIONS.items()
        ]

    def n_shuffled(self, unit: AnnotationUnit) -> int:
        """Return 2: the two texts are shuffled, the reference stays last."""
        return 2

    def context(
        self, unit: AnnotationUnit, order: Sequence[int]
    ) -> Mapping[str, object]:
        """Return the questions, and the levels as shown with the value of each."""
        # Values count from the first text of the data. An annotator who sees the second text as
        # #1 gets the same words with mirrored values.
        levels = list(enumerate(LEVELS))
        if order[0] == 1:
            levels = [
                (len(LEVELS) - 1 - value, words) for value, words in levels
            ]
        return {"questions": QUESTIONS, "levels": levels}

    def agreement(
        self, judged: Judged, annotators: Sequence[str]
    ) -> list[Reliability]:
        """Return ordinal alpha and weighted kappa for each question."""
        tables = [
            cells(self, name, judged, annotators, part=name)
            for name in QUESTIONS
        ]
        return [of_order(table, range(len(LEVELS))) for table in tables]

    def results(self, judged: Judged) -> Iterator[Row]:
        """Yield a row per judgment in the coarse protocol of ``agree``: 2 means #1 much better."""
        for judgments in judged:
            a, b = judgments.unit.row["a"], judgments.unit.row.get("b")
            models = {}
            if b is not None:
                models = {"model1": _system(a), "model2": _system(b)}
            for name, state in judgments.by.items():
                labels = {
                    question: 2 - state[question] for question in QUESTIONS
                }
                yield {
                    **{
                        key: a[key]
                        for key in ("references", "images", "video")
                        if a.get(key)
                    },
                    "id": f"{judgments.unit.id}/{name}",
                    "dataset": "docent_coarse",
                    "candidate": judgments.unit.texts[0],
                    "candidate_b": judgments.unit.texts[1],
                    "judgments": {**labels, **models},
                    "annotator": name,
                }


def _system(row: Row) -> str:
    """Return the system of a row; empty if it has none."""
    return str(row.get("group", {}).get("system", ""))


def _unit_of_row(item: Item) -> AnnotationUnit:
    """Return the unit of a row with two texts."""
    texts = (
        item.candidate,
        str(item.meta["candidate_b"]),
        *item.references[:1],
    )
    return unit_of(item, *texts, row={"a": to_row(item)})


def _unit_of_two(a: Item, b: Item) -> AnnotationUnit:
    """Return the unit of two rows about one picture."""
    rows = {"a": to_row(a), "b": to_row(b)}
    texts = (a.candidate, b.candidate, *a.references[:1])
    return unit_of(a, *texts, name=f"{a.id} | {b.id}", row=rows)
