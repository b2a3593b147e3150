"""Judgments as files: JSONL and Label Studio's JSON, out of a study and into one."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beholder.data.row import shorten
from beholder.data.sources import read_rows
from beholder.errors import ConfigError, DataError, ItemError
from beholder.kinds.annotation.assignment import check_name
from beholder.kinds.annotation.records import DONE, REMARK, Act, AnnotationUnit, State
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks.base import one_value, region

EXPORTS = ("results", "judgments", "label-studio")
"""Forms in which a study's judgments leave it."""


def judgment_rows(study: AnnotationStudy) -> Iterator[dict[str, Any]]:
    """Every judgment that somebody began, finished or not: what ``bring_in`` reads."""
    for unit, annotator, state in study.judgments():
        yield {
            "task": study.task.name,
            "unit": unit.id,
            "annotator": annotator,
            "judgment": dict(state),
        }


def label_studio(study: AnnotationStudy) -> list[dict[str, Any]]:
    """Finished judgments as Label Studio's tasks with annotations.

    The data of a task hold the texts as ``text1``, ``text2``, ... and the pictures likewise.
    """
    tasks: dict[str, dict[str, Any]] = {}
    for one in study.judged():
        unit = one.unit
        texts = {f"text{n}": text for n, text in enumerate(unit.texts, start=1)}
        pictures = {f"picture{n}": one.image for n, one in enumerate(unit.pictures, start=1)}
        tasks[unit.id] = {
            "data": {"unit": unit.id, **texts, **pictures},
            "annotations": [
                {"annotator": name, "result": [*study.task.regions(unit, state), *_remark(state)]}
                for name, state in one.by.items()
            ],
        }
    return list(tasks.values())


def _remark(state: State) -> list[dict[str, Any]]:
    return [region(REMARK, "unit", "text", [state[REMARK]])] if state.get(REMARK) else []


@dataclass(frozen=True, slots=True)
class _Given:
    """A judgment from a file, and where it stands there."""

    where: int
    position: int
    annotator: str
    state: Mapping[str, Any]


def bring_in(study: AnnotationStudy, path: Path) -> tuple[int, int]:
    """Take judgments from a file that ``judgment_rows`` or ``label_studio`` made, or Label Studio.

    A judgment replaces that of the same annotator of the same unit, act by act, so that nothing
    that was done is lost; an equal one changes nothing. Who is unknown becomes an annotator.

    Returns:
        How many judgments the file holds, and how many of them changed something.

    Raises:
        DataError: A row is wrong, or its unit is not in the study; nothing was taken.
    """
    given = list(_read(study, path))
    if not given:
        raise DataError(str(path), "holds no judgments")
    by_annotator: dict[str, list[int]] = {}
    for one in given:
        by_annotator.setdefault(one.annotator, []).append(one.position)
    for annotator, positions in by_annotator.items():
        study.admit(annotator, positions)
    return len(given), sum(_replace(study, one) for one in given)


def _replace(study: AnnotationStudy, given: _Given) -> bool:
    now = study.state(given.annotator, given.position)
    acts: list[tuple[str, Any]] = [(part, None) for part in now if part not in given.state]
    acts += [(p, v) for p, v in given.state.items() if p != DONE and now.get(p) != v]
    if given.state.get(DONE) and not now.get(DONE):
        acts.append((DONE, True))
    client = f"import-{secrets.token_hex(12)}"
    for number, (part, value) in enumerate(acts, start=1):
        study.save(given.annotator, given.position, Act(client, number, part, value))
    return bool(acts)


def _read(study: AnnotationStudy, path: Path) -> Iterator[_Given]:
    positions = study.positions()
    for line, row in read_rows(path, str(path)):
        if isinstance(row, DataError):
            raise row
        for unit_id, annotator, told in _judgments(row, path, line):
            if unit_id not in positions:
                raise DataError(
                    str(path), f"the study has no unit {shorten(unit_id)}", line=line, field="unit"
                )
            unit = study.unit(positions[unit_id])
            try:
                check_name(annotator)
                state = _state(study, unit, told)
            except (ConfigError, ItemError) as error:
                raise DataError(str(path), str(error), line=line, field=unit_id) from error
            yield _Given(line, positions[unit_id], annotator, state)


def _judgments(row: object, path: Path, line: int) -> Iterator[tuple[str, str, Any]]:
    """Unit, annotator and what is told of each judgment in a row of either form."""
    if isinstance(row, Mapping) and isinstance(row.get("judgment"), Mapping):
        unit, annotator = row.get("unit"), row.get("annotator")
        if not isinstance(unit, str) or not isinstance(annotator, str):
            raise DataError(str(path), "needs the texts 'unit' and 'annotator'", line=line)
        yield unit, annotator, row["judgment"]
        return
    data = row.get("data") if isinstance(row, Mapping) else None
    made = row.get("annotations") if isinstance(row, Mapping) else None
    if not isinstance(data, Mapping) or not isinstance(made, list):
        raise DataError(
            str(path),
            "is neither a judgment (unit, annotator, judgment) nor a task of Label Studio (data,"
            " annotations)",
            line=line,
        )
    for annotation in made:
        if not isinstance(annotation, Mapping) or not isinstance(annotation.get("result"), list):
            raise DataError(str(path), "an annotation has no result", line=line)
        if not annotation.get("was_cancelled"):
            yield str(data.get("unit")), _who(annotation), annotation["result"]


def _who(annotation: Mapping[str, Any]) -> str:
    """Ours names the annotator; Label Studio's the user, by number or with an address."""
    user = annotation.get("annotator", annotation.get("completed_by"))
    if isinstance(user, Mapping):
        user = user.get("email", user.get("id"))
    return str(user) if isinstance(user, str | int) and str(user).strip() else "Label Studio"


def _state(study: AnnotationStudy, unit: AnnotationUnit, told: Any) -> dict[str, Any]:
    """A judgment, checked as its acts will be."""
    if isinstance(told, Mapping):
        state = {str(part): value for part, value in told.items()}
    else:
        state = _of_regions(study, unit, told)
    for part, value in state.items():
        study.task.check(unit, part, value)
    lacking = study.task.missing(unit, state) if state.get(DONE) else None
    if lacking is not None:
        raise ItemError(f"is said to be done, but: {lacking}")
    return state


def _of_regions(
    study: AnnotationStudy, unit: AnnotationUnit, told: Sequence[Any]
) -> dict[str, Any]:
    if not all(isinstance(one, Mapping) for one in told):
        raise ItemError("result: expected a list of objects")
    words = one_value(told, REMARK, "text")
    remark = {REMARK: " ".join(map(str, words))} if isinstance(words, list) and words else {}
    return {**study.task.parts_of(unit, told), **remark, DONE: True}


def exported(study: AnnotationStudy, form: str) -> str:
    """The judgments in one of ``EXPORTS``.

    Raises:
        ConfigError: There is no such form.
    """
    if form not in EXPORTS:
        raise ConfigError(f"form {form!r}: expected one of {', '.join(EXPORTS)}")
    if form == "label-studio":
        return json.dumps(label_studio(study), ensure_ascii=False, indent=1) + "\n"
    rows = study.task.results(study.judged()) if form == "results" else judgment_rows(study)
    return "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
