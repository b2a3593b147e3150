"""Coarse pairs: which of two texts about one picture is better, in three respects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import combinations
from typing import Any, ClassVar

from beholder.data.marks import SCORE_OF
from beholder.data.row import to_row
from beholder.errors import ConfigError, ItemError
from beholder.kinds.annotation.agreement import of_order, rows_of
from beholder.kinds.annotation.records import AnnotationUnit, Judgments, State
from beholder.kinds.annotation.tasks.base import (
    DataKind,
    Region,
    Task,
    one_choice,
    pictures_of,
    region,
    whole_number,
)
from beholder.records import Item
from beholder.run.reliability import Reliability

QUESTIONS: dict[str, str] = {
    "mistakes": "Which makes fewer mistakes?",
    "omissions": "Which leaves out less?",
    "overall_quality": "Which is better as a whole?",
}
"""What is asked, by the name of the judgment."""

LEVELS = ("#1 much better", "#1 slightly better", "equal", "#2 slightly better", "#2 much better")
assert set(QUESTIONS) == set(SCORE_OF)


class PairTask(Task):
    """Five points on three questions; a value is a place in ``LEVELS``, of the first text as #1."""

    name: ClassVar[str] = "pairs"
    title: ClassVar[str] = "Compare two descriptions"
    data: ClassVar[DataKind] = "items"
    next_step: ClassVar[str] = "beholder agree {file} -m posh"
    together: ClassVar[bool] = False
    shuffles: ClassVar[bool] = True

    def units(self, rows: Sequence[Item]) -> list[AnnotationUnit]:
        """Each two texts of different systems about one picture; or a row's two texts."""
        found = [_of_row(item) for item in rows if "candidate_b" in item.meta]
        by_source: dict[tuple[str, ...], list[Item]] = {}
        for item in rows:
            if "candidate_b" not in item.meta:
                by_source.setdefault(item.source, []).append(item)
        for items in by_source.values():
            for a, b in combinations(items, 2):
                if a.group.get("system") != b.group.get("system") or "system" not in a.group:
                    found.append(_of_two(a, b))
        if not found:
            raise ConfigError(
                "pairs need two texts about one picture: rows of the same images (or references)"
                " by different group.system, or rows with candidate_b"
            )
        return found

    def check_name(self, unit: AnnotationUnit, part: str) -> None:
        """A known question."""
        if part not in QUESTIONS:
            raise ItemError(f"{part!r}: expected {', '.join(QUESTIONS)}")

    def check_value(self, unit: AnnotationUnit, part: str, value: Any) -> None:
        """One of five points."""
        whole_number(value, 0, len(LEVELS) - 1, part)

    def missing(self, unit: AnnotationUnit, state: State) -> str | None:
        """The questions without an answer."""
        left = [words for part, words in QUESTIONS.items() if part not in state]
        return f"not answered: {' '.join(left)}" if left else None

    def agreement(
        self, judged: Sequence[Judgments], annotators: Sequence[str]
    ) -> list[Reliability]:
        """Ordinal alpha and weighted kappa, a question each."""

        def answers(question: str) -> Callable[[State], float]:
            return lambda state: float(state[question])

        levels = range(len(LEVELS))
        sources = [one.unit.source for one in judged]
        return [
            of_order(name, rows_of(judged, annotators, answers(name)), annotators, levels, sources)
            for name in QUESTIONS
        ]

    def results(self, judged: Sequence[Judgments]) -> Iterator[dict[str, Any]]:
        """A row per judgment, which ``agree`` takes by the coarse protocol: 2 is #1 much better."""
        for one in judged:
            row = one.unit.row
            a, b = row["a"], row.get("b")
            models = (
                {}
                if b is None
                else {
                    f"model{n}": own.get("group", {}).get("system", "")
                    for n, own in ((1, a), (2, b))
                }
            )
            for name, state in one.by.items():
                labels = {question: 2 - state[question] for question in QUESTIONS}
                yield {
                    **{key: a[key] for key in ("references", "images", "video") if a.get(key)},
                    "id": f"{one.unit.id}/{name}",
                    "dataset": "docent_coarse",
                    "candidate": one.unit.texts[0],
                    "candidate_b": one.unit.texts[1],
                    "judgments": {**labels, **models},
                    "annotator": name,
                }

    def regions(self, unit: AnnotationUnit, state: State) -> list[dict[str, Any]]:
        """A choice a question."""
        return [
            region(name, "pair", "choices", [LEVELS[state[name]]])
            for name in QUESTIONS
            if name in state
        ]

    def parts_of(self, unit: AnnotationUnit, regions: Sequence[Region]) -> dict[str, Any]:
        """The points that were chosen."""
        chosen = {name: one_choice(regions, name, LEVELS) for name in QUESTIONS}
        return {name: level for name, level in chosen.items() if level is not None}


def _of_row(item: Item) -> AnnotationUnit:
    texts = (item.candidate, str(item.meta["candidate_b"]), *item.references[:1])
    return AnnotationUnit(item.id, item.source, texts, pictures_of(item), {"a": to_row(item)})


def _of_two(a: Item, b: Item) -> AnnotationUnit:
    texts = (a.candidate, b.candidate, *a.references[:1])
    rows = {"a": to_row(a), "b": to_row(b)}
    return AnnotationUnit(f"{a.id} | {b.id}", a.source, texts, pictures_of(a), rows)
