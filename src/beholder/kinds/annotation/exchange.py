"""Judgments as files, out of a study and into one: JSONL and Label Studio's JSON."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from beholder.base.grouping import by_key
from beholder.data.row import shorten
from beholder.data.sources import read_rows
from beholder.errors import ConfigError, DataError, ItemError
from beholder.kinds.annotation.assignment import check_name
from beholder.kinds.annotation.label_studio import Region, one_value, region
from beholder.kinds.annotation.records import (
    DONE,
    REMARK,
    Act,
    AnnotationUnit,
    State,
    read_as,
)
from beholder.kinds.annotation.study import AnnotationStudy

EXPORTS = ("results", "judgments", "label-studio")
"""Forms in which a study's judgments are exported."""


class JudgmentRow(msgspec.Struct, frozen=True):
    """A row of a file of judgments.

    Attributes:
        task: Name of the task; not read.
        unit: Id of the unit.
        annotator: The annotator.
        judgment: The judgment by its parts, finished or not.
    """

    task: Any
    unit: str
    annotator: str
    judgment: State


class _Annotation(
    msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True
):
    """One annotation of Label Studio: ours name the annotator, theirs the user."""

    annotator: Any = None
    completed_by: Any = None
    was_cancelled: Any = None
    result: Sequence[Region]

    @property
    def who(self) -> str:
        """The annotator; of a user of Label Studio the address or number."""
        user = self.completed_by if self.annotator is None else self.annotator
        if isinstance(user, Mapping):
            user = user.get("email", user.get("id"))
        return (
            str(user)
            if isinstance(user, str | int) and str(user).strip()
            else "Label Studio"
        )


class _StudioTask(msgspec.Struct, frozen=True):
    """One task of Label Studio: a unit and its annotations."""

    data: Mapping[str, Any]
    annotations: Sequence[_Annotation]


def label_studio(study: AnnotationStudy) -> Iterator[_StudioTask]:
    """Finished judgments as Label Studio's tasks with annotations.

    The data of a task have the texts as ``text1``, ``text2``, ... and the pictures likewise.
    """
    for one in study.settled():
        unit = one.unit
        texts = {
            f"text{n}": text for n, text in enumerate(unit.texts, start=1)
        }
        pictures = {
            f"picture{n}": own.image
            for n, own in enumerate(unit.pictures, start=1)
        }
        made = []
        for name, state in one.by.items():
            remark = state.get(REMARK)
            words = (
                [region(REMARK, "unit", "text", [remark])] if remark else []
            )
            result = [*study.task.regions(unit, state), *words]
            made.append(_Annotation(annotator=name, result=result))
        yield _StudioTask({"unit": unit.id, **texts, **pictures}, made)


def bring_in(study: AnnotationStudy, path: Path) -> tuple[int, int]:
    """Import judgments from a file of either form, ours or Label Studio's.

    A judgment replaces that of the same annotator on the same unit, act by act, so that undo still
    works; an equal one changes nothing. An unknown annotator is added to the study.

    Returns:
        The number of judgments in the file, and how many of them changed something.

    Raises:
        DataError: A row is wrong, or its unit is not in the study; nothing was imported.
    """
    given = list(_read(study, path))
    if not given:
        raise DataError(str(path), "contains no judgments")
    by_annotator = by_key(
        (annotator, position) for position, annotator, _ in given
    )
    for annotator, positions in by_annotator.items():
        study.admit(annotator, positions)
    return len(given), sum(_replace(study, *one) for one in given)


def _replace(
    study: AnnotationStudy, position: int, annotator: str, state: State
) -> bool:
    now = study.state(annotator, position)
    acts: list[tuple[str, Any]] = [
        (part, None) for part in now if part not in state
    ]
    acts += [(p, v) for p, v in state.items() if p != DONE and now.get(p) != v]
    if state.get(DONE) and not now.get(DONE):
        acts.append((DONE, True))
    client = f"import-{secrets.token_hex(12)}"
    for number, (part, value) in enumerate(acts, start=1):
        study.save(annotator, position, Act(client, number, part, value))
    return bool(acts)


def _read(
    study: AnnotationStudy, path: Path
) -> Iterator[tuple[int, str, State]]:
    """Position of the unit, annotator and judgment of each judgment in a file."""
    positions = study.positions()
    for line, row in read_rows(path, str(path)):
        if isinstance(row, DataError):
            raise row
        place = None
        try:
            for place, annotator, given in _judgments(row):
                if place not in positions:
                    raise ItemError(f"the study has no unit {shorten(place)}")
                check_name(annotator)
                unit = study.unit(positions[place])
                yield positions[place], annotator, _checked(study, unit, given)
        except (ConfigError, ItemError) as error:
            raise DataError(
                str(path), str(error), line=line, field=place
            ) from error


def _judgments(
    row: object,
) -> Iterator[tuple[str, str, State | Sequence[Region]]]:
    """Unit, annotator and judgment of each judgment in a row of either form."""
    if isinstance(row, Mapping) and isinstance(row.get("judgment"), Mapping):
        one = read_as({"task": None, **row}, JudgmentRow, "judgment")
        yield one.unit, one.annotator, one.judgment
    elif isinstance(row, Mapping) and "data" in row and "annotations" in row:
        task = read_as(row, _StudioTask, "task of Label Studio")
        for annotation in task.annotations:
            if not annotation.was_cancelled:
                yield (
                    str(task.data.get("unit")),
                    annotation.who,
                    annotation.result,
                )
    else:
        raise ItemError(
            "expected a judgment (unit, annotator, judgment) or a task of Label Studio (data,"
            " annotations)"
        )


def _checked(
    study: AnnotationStudy,
    unit: AnnotationUnit,
    given: State | Sequence[Region],
) -> State:
    """A judgment whose parts a study would save."""
    if isinstance(given, Mapping):
        state = given
    else:
        words = one_value(given, REMARK, "text")
        remark = (
            {REMARK: " ".join(map(str, words))}
            if isinstance(words, list) and words
            else {}
        )
        state = {**study.task.parts_of(unit, given), **remark, DONE: True}
    for part, value in state.items():
        study.task.check(unit, part, value)
    missing = study.task.unfinished(unit, state) if state.get(DONE) else None
    if missing is not None:
        raise ItemError(f"done is true, but: {missing}")
    return state


def exported(study: AnnotationStudy, form: str) -> str:
    """The judgments in one of ``EXPORTS``.

    Raises:
        ConfigError: There is no such form.
    """
    if form not in EXPORTS:
        raise ConfigError(
            f"form {form!r}: expected one of {', '.join(EXPORTS)}"
        )
    if form == "label-studio":
        tasks = msgspec.to_builtins(list(label_studio(study)))
        return json.dumps(tasks, ensure_ascii=False, indent=1) + "\n"
    if form == "results":
        rows: Iterable[object] = study.task.results(study.settled())
    else:  # finished or not
        name = study.task.full_name
        rows = (
            JudgmentRow(name, unit.id, who, state)
            for unit, who, state in study.judgments()
        )
    plain = map(msgspec.to_builtins, rows)
    return "".join(
        json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"
        for row in plain
    )
