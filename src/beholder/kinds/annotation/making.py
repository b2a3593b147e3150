"""The rows of a new study: units, annotators and their assignments."""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from beholder.errors import ConfigError
from beholder.kinds.annotation.assignment import AnnotationDesign, Assignment
from beholder.kinds.annotation.database import TASK_LENGTH, tables
from beholder.kinds.annotation.records import AnnotationUnit
from beholder.kinds.annotation.tasks import Task

_LATER = ("gold", "adjudicator", "participants", "completion_code")
"""Fields that the digest contains only if they are set: older studies have none of them."""


def check_units(task: Task, units: Sequence[AnnotationUnit]) -> None:
    """Refuse units that no study can keep.

    Raises:
        ConfigError: The name of the task is too long, or two units have the same id.
    """
    if len(task.full_name) > TASK_LENGTH:
        raise ConfigError(
            f"the name {task.full_name!r} of the task has more than {TASK_LENGTH} characters;"
            " give its package or its entry point a shorter one"
        )
    seen: set[str] = set()
    for unit in units:
        if unit.id in seen:
            raise ConfigError(f"two units of the study have the id {unit.id!r}; ids must differ")
        seen.add(unit.id)


def digest_of(task: Task, units: Sequence[AnnotationUnit], design: AnnotationDesign) -> str:
    """Hash of the task, the units and the design."""
    value = [task.full_name, [_set(unit) for unit in units], _set(design)]
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _set(record: Any) -> Mapping[str, object]:
    return {name: value for name, value in asdict(record).items() if value or name not in _LATER}


def insert_study(
    db: Any,
    task: Task,
    units: Sequence[AnnotationUnit],
    design: AnnotationDesign,
    assignment: Assignment,
    digest: str,
) -> str:
    """Write a new study into an open transaction and return its id."""
    study = secrets.token_hex(16)
    settings = {**_set(design), "n_seen_twice": assignment.n_seen_twice}
    row = {"id": study, "task": task.full_name, "digest": digest, "token": _token()}
    row |= {"settings": json.dumps(settings), "secret": secrets.token_hex(32)}
    _insert(db, "studies", [row])
    rows = [
        {
            "study": study,
            "position": at,
            "id": json.dumps(unit.id),  # PostgreSQL rejects texts with a NUL
            "body": json.dumps(_set(unit), ensure_ascii=False),
        }
        for at, unit in enumerate(units)
    ]
    _insert(db, "units", rows)
    shares = dict(zip(design.annotators, assignment.shares, strict=True))
    if design.adjudicator is not None:
        shares[design.adjudicator] = ()
    for place, (name, share) in enumerate(shares.items()):
        insert_annotator(db, study, name, place)
        assign_further(db, study, name, share, 0)
    return study


def insert_annotator(db: Any, study: str, name: str, place: int) -> None:
    """Add an annotator with a personal link."""
    row = {"study": study, "annotator": name, "place": place, "token": _token()}
    _insert(db, "annotators", [row])


def assign_further(db: Any, study: str, name: str, units: Sequence[int], first: int) -> None:
    """Assign units to an annotator, from a place of the share on."""
    own = {"study": study, "annotator": name}
    rows = [{**own, "place": place, "unit": unit} for place, unit in enumerate(units, start=first)]
    _insert(db, "assignments", rows)


def _token() -> str:
    return secrets.token_urlsafe(24)


def _insert(db: Any, table: str, rows: Sequence[Mapping[str, object]]) -> None:
    if rows:
        db.execute(tables().tables[f"beholder_{table}"].insert(), list(rows))
