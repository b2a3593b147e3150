"""Judgments as files: exported, imported, and right judgments of gold units."""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec

from beholder.base.grouping import group_by_key
from beholder.data.row import RowError, from_row
from beholder.data.sources import read_rows
from beholder.errors import ConfigError, DataError, ItemError
from beholder.kinds.annotation.assignment import check_name
from beholder.kinds.annotation.records import (
    DONE,
    REMARK,
    Act,
    AnnotationUnit,
    Gold,
    Row,
    State,
    half_pair,
    read_as,
)
from beholder.kinds.annotation.study import IMPORTED, AnnotationStudy
from beholder.kinds.annotation.tasks import Task
from beholder.run.inputs import rebase_path

EXPORTS = ("results", "judgments")
"""Forms in which a study's judgments are exported."""


class JudgmentRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of a file of judgments.

    Attributes:
        task: Name of the task; not read.
        unit: Id of the unit.
        annotator: The annotator.
        judgment: The judgment by its parts, finished or not.
    """

    task: Any = None
    unit: str
    annotator: str
    judgment: State

    def __post_init__(self) -> None:
        check_name(self.annotator)


class GoldRow(msgspec.Struct, frozen=True):
    """A row of ``--gold``: like a row of exported judgments, whose other fields are not read.

    Attributes:
        unit: Id of the unit.
        judgment: The right judgment.
        use: When annotators see the unit, and whether they get feedback.
        feedback: Why it is right, for annotators.
        row: Row of a unit that is added to those of the data, such as one with a planted error.
    """

    unit: str
    judgment: State
    use: Literal["training", "gold", "attention"] = "gold"
    feedback: str = ""
    row: Row | None = None


R = TypeVar("R", JudgmentRow, GoldRow)


def _read_rows(
    path: Path,
    kind: type[R],
    task: Task,
    units: Iterable[str],
    unit_named: Callable[[str], AnnotationUnit],
) -> Iterator[tuple[R, AnnotationUnit]]:
    """Yield the rows of a file with their units, checked as a study checks what it saves.

    Args:
        path: JSONL file.
        kind: Record of a row.
        task: Checks each part of a judgment.
        units: Ids of the units that rows may name.
        unit_named: Returns the unit of an id.

    Raises:
        DataError: A row is not valid, or names a unit that the study does not have.
    """
    # Each kind of problem is reported with the line, and with the unit if it could be read.
    unit_ids = set(units)
    for line, row in read_rows(path, str(path)):
        if isinstance(row, DataError):
            raise row
        name = None
        try:
            judgment_row = read_as(row, kind, "judgment")
            # Fails on halves of surrogate pairs, wherever they are: JSON files may contain them,
            # but no database stores them.
            msgspec.json.encode(judgment_row)
            name = judgment_row.unit
            if isinstance(judgment_row, GoldRow) and judgment_row.row:
                unit = _planted_unit(task, judgment_row, name in unit_ids)
            elif name not in unit_ids:
                raise ItemError(f"the study has no unit {name[:60]!r}")
            else:
                unit = unit_named(name)
            for part, value in judgment_row.judgment.items():
                task.check(unit, part, value)
            is_done = kind is GoldRow or judgment_row.judgment.get(DONE)
            if is_done and (
                missing := task.unfinished(unit, judgment_row.judgment)
            ):
                raise ItemError(f"the judgment is not complete: {missing}")
        except UnicodeEncodeError as error:
            reason = str(half_pair("judgment", error))
            raise DataError(str(path), reason, line=line) from error
        except (ConfigError, ItemError) as error:
            raise DataError(
                str(path), str(error), line=line, field=name
            ) from error
        yield judgment_row, unit


def _planted_unit(task: Task, gold: GoldRow, is_taken: bool) -> AnnotationUnit:
    """Return the unit of a row that a gold file adds.

    Raises:
        ItemError: The row is not valid, or the data have a unit of that id.
    """
    if is_taken:
        raise ItemError("the data have a unit of that id; choose another id")
    try:
        item = from_row(gold.row, default_id=gold.unit)
    except RowError as error:
        raise ItemError(f"row: {error}") from error
    (unit,) = task.units([item])
    return replace(unit, id=gold.unit)


def with_gold(
    task: Task,
    units: Sequence[AnnotationUnit],
    path: Path,
    media: Path | None = None,
) -> list[AnnotationUnit]:
    """Return units with the right judgments of a file, and the units that the file adds.

    Args:
        task: The task.
        units: The units of the study.
        path: JSONL of ``unit``, ``judgment``, ``use``, ``feedback`` and ``row``.
        media: Folder of the study's pictures; those of added rows are relative to the file.

    Raises:
        DataError: A row is not valid, names an unknown unit, or its judgment is not complete.
    """
    by_id = {unit.id: unit for unit in units}
    for row, unit in _read_rows(path, GoldRow, task, by_id, by_id.__getitem__):
        # Exported judgments may serve as gold; remarks would then count as answers.
        judgment = {
            part: value
            for part, value in row.judgment.items()
            if part not in (DONE, REMARK)
        }
        gold = Gold(judgment, row.use, row.feedback)
        pictures = unit.pictures
        if row.row and media is not None:
            pictures = tuple(
                replace(
                    shown, image=rebase_path(shown.image, path.parent, media)
                )
                for shown in pictures
                if shown.image is not None
            )
        by_id[unit.id] = replace(unit, gold=gold, pictures=pictures)
    return list(by_id.values())


def import_rows(study: AnnotationStudy, path: Path) -> tuple[int, int]:
    """Import judgments from a file.

    A judgment replaces that of the same annotator on the same unit, act by act, so that undo still
    works; an equal one changes nothing. An unknown annotator is added to the study.

    Returns:
        The number of judgments in the file, and how many of them changed something.

    Raises:
        DataError: A row is wrong, or its unit is not in the study; nothing was imported.
    """
    # Read everything first: a row that is not valid must leave the study as it was.
    positions = study.positions()
    rows = [
        row
        for row, _ in _read_rows(
            path,
            JudgmentRow,
            study.task,
            positions,
            lambda name: study.unit(positions[name]),
        )
    ]
    if not rows:
        raise DataError(str(path), "contains no judgments")
    shares = group_by_key((row.annotator, positions[row.unit]) for row in rows)
    for annotator, share in shares.items():
        study.admit(annotator, share)
    return len(rows), sum(
        _replace_judgment(
            study, positions[row.unit], row.annotator, row.judgment
        )
        for row in rows
    )


def _replace_judgment(
    study: AnnotationStudy, position: int, annotator: str, state: State
) -> bool:
    """Save the acts that turn the present judgment into another; return whether there are any."""
    # First parts that disappear, then new values, `done` last: it needs a complete judgment.
    now = study.state(annotator, position)
    acts: list[tuple[str, Any]] = [
        (part, None) for part in now if part not in state
    ]
    acts += [(p, v) for p, v in state.items() if p != DONE and now.get(p) != v]
    if state.get(DONE) and not now.get(DONE):
        acts.append((DONE, True))
    client = f"{IMPORTED}{secrets.token_hex(12)}"
    for number, (part, value) in enumerate(acts, start=1):
        study.save(annotator, position, Act(client, number, part, value))
    return bool(acts)


def export_rows(study: AnnotationStudy, form: str) -> list[Row]:
    """Return the judgments of a study in one of the forms ``EXPORTS``, as rows of JSON values."""
    if form == "results":
        rows: Iterable[object] = study.task.results(study.settled())
    else:
        # Judgments that are not finished belong to a copy of the study, too.
        name = study.task.full_name
        rows = (
            JudgmentRow(task=name, unit=unit.id, annotator=who, judgment=state)
            for unit, who, state in study.judgments()
        )
    return list(map(msgspec.to_builtins, rows))


def study_readings(folder: Path) -> dict[str, Any]:
    """Return all judgments of a study as plain values, for kinds of work that read studies.

    ``annotators`` are the names in order, ``adjudicator`` a name or None, ``assigned`` the numbers
    of annotators by unit without the adjudicator, and ``rows`` the judgments: ``unit``,
    ``annotator``, ``judgment``, ``done``, ``gold`` (the right judgment or None) and ``seconds``
    since the annotator finished the unit before (None for the first).

    Raises:
        RunError: The folder contains no study, or its database cannot be used.
    """
    study = AnnotationStudy.open(folder)
    names = list(study.annotators())
    seconds = {name: study.seconds_between(name) for name in names}
    done = {name: study.done(name) for name in names}
    positions = study.positions()
    rows = [
        {
            "unit": unit.id,
            "annotator": who,
            "judgment": dict(state),
            "done": positions[unit.id] in done[who],
            "gold": None if unit.gold is None else dict(unit.gold.judgment),
            "seconds": seconds[who].get(positions[unit.id]),
        }
        for unit, who, state in study.judgments()
    ]
    task, adjudicator = study.task.full_name, study.design.adjudicator
    ids = {position: name for name, position in positions.items()}
    assigned = Counter(
        ids[position]
        for name in names
        if name != adjudicator
        for position in study.assigned(name)
    )
    study.close()
    return {
        "task": task,
        "annotators": names,
        "adjudicator": adjudicator,
        "assigned": dict(assigned),
        "rows": rows,
    }
