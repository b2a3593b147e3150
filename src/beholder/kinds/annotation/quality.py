"""Control of annotators: units with a known answer, disputes, and each one's competence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Literal

import msgspec
from scipy.stats import binomtest

from beholder.data.sources import read_rows
from beholder.errors import DataError, ItemError
from beholder.kinds.annotation.agreement import mean_of
from beholder.kinds.annotation.records import (
    DONE,
    REMARK,
    AnnotationUnit,
    Gold,
    Judged,
    State,
    read_as,
)
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks import Task
from beholder.records import Interval
from beholder.run.reliability import Coefficient, Reliability

_USES = {"gold": "gold units right", "attention": "attention checks passed"}


class _GoldRow(msgspec.Struct, frozen=True):
    """A row of ``--gold``: like a row of exported judgments, whose other fields are not read."""

    unit: str
    judgment: State
    use: Literal["training", "gold", "attention"] = "gold"
    feedback: str = ""


def with_gold(task: Task, units: Sequence[AnnotationUnit], path: Path) -> list[AnnotationUnit]:
    """Units with the right judgments of a file.

    Args:
        task: The task.
        units: The units of the study.
        path: JSONL of ``unit``, ``judgment``, ``use`` and ``feedback``.

    Raises:
        DataError: A row is wrong, names no unit, or its judgment is not complete.
    """
    by_id = {unit.id: unit for unit in units}
    for line, row in read_rows(path, str(path)):
        if isinstance(row, DataError):
            raise row
        try:
            given = read_as(row, _GoldRow, "gold")
            if given.unit not in by_id:
                raise ItemError(f"the study has no unit {given.unit[:60]!r}")
            unit = by_id[given.unit]
            judgment = {k: v for k, v in given.judgment.items() if k not in (DONE, REMARK)}
            for part, value in judgment.items():
                task.check(unit, part, value)
            if missing := task.unfinished(unit, judgment):
                raise ItemError(missing)
        except ItemError as error:
            raise DataError(str(path), str(error), line=line) from error
        by_id[unit.id] = replace(unit, gold=Gold(judgment, given.use, given.feedback))
    return list(by_id.values())


def disputed(study: AnnotationStudy) -> list[int]:
    """Positions of the units whose finished judgments differ, in the order of the data."""
    return [
        study.positions()[one.unit.id]
        for one in study.judged()
        if any(study.task.differences(one.unit, a, b) for a, b in combinations(one.by.values(), 2))
    ]


def answers_shown(
    study: AnnotationStudy, annotator: str, position: int, state: State
) -> list[dict[str, object]]:
    """Other judgments that a page shows: the right one once a unit is done, all to an adjudicator.

    Args:
        study: The study.
        annotator: Who sees the page.
        position: The unit.
        state: The annotator's own judgment.
    """
    unit = study.unit(position)
    if annotator == study.adjudicator:
        by = next((one.by for one in study.judged() if one.unit.id == unit.id), {})
        letters = zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", by.values(), strict=False)
        return [{"label": letter, "judgment": own} for letter, own in letters]
    if unit.gold is None or unit.gold.use == "attention" or not state.get(DONE):
        return []
    facts = {"label": "right", "judgment": unit.gold.judgment, "feedback": unit.gold.feedback}
    return [{**facts, "wrong": study.task.differences(unit, state, unit.gold.judgment)}]


def competence(
    task: Task, judged: Judged, gold: Judged, annotators: Sequence[str]
) -> list[Reliability]:
    """How often each annotator agrees with known answers and with the other annotators.

    Intervals of known answers are Wilson's; those of agreement resample pictures. Answers agree if
    the task finds no difference; ratings may be one level apart. Training does not count.

    Args:
        task: The task.
        judged: Finished judgments of units without a known answer.
        gold: Finished judgments of units with one.
        annotators: All annotators.
    """
    found = []
    for use, what in _USES.items():
        own = [one for one in gold if one.unit.gold is not None and one.unit.gold.use == use]
        right = {
            name: [
                not task.differences(one.unit, one.by[name], one.unit.gold.judgment)
                for one in own
                if one.unit.gold is not None and name in one.by
            ]
            for name in annotators
        }
        shares = [_share(name, answers) for name, answers in right.items() if answers]
        if shares:
            raters = tuple(one.name for one in shares)
            found.append(Reliability(what, raters, len(own), 0, tuple(shares)))
    shares = [one for name in annotators if (one := _with_others(task, judged, name)) is not None]
    if shares:
        shared = sum(len(one.by) > 1 for one in judged)
        raters = tuple(one.name for one in shares)
        what = "answers that another annotator gave, too"
        found.append(Reliability(what, raters, shared, len(judged) - shared, tuple(shares)))
    return found


def _share(name: str, answers: Sequence[bool]) -> Coefficient:
    found = binomtest(sum(answers), len(answers)).proportion_ci(method="wilson")
    return Coefficient(name, sum(answers) / len(answers), Interval(found.low, found.high))


def _with_others(task: Task, judged: Judged, name: str) -> Coefficient | None:
    """The share of comparisons with another annotator in which an annotator gave the same."""
    pairs = [
        (float(not task.differences(one.unit, one.by[name], state)), one.unit.source)
        for one in judged
        for other, state in one.by.items()
        if name in one.by and other != name
    ]
    return mean_of(name, pairs, "") if pairs else None
