"""Studies made in tests, and annotators who finish units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from annotated_data import DATA_OF
from beholder.kinds.annotation.assignment import AnnotationDesign
from beholder.kinds.annotation.load import units_of
from beholder.kinds.annotation.records import DONE, Act
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks import task_named
from beholder.options import DataOptions


def study_of(
    folder: Path,
    task: str,
    annotators: Sequence[str] = ("anna", "ben"),
    *,
    database: str | None = None,
    limit: int | None = None,
    **design: Any,
) -> AnnotationStudy:
    """A study of made-up data, or of their first ``limit`` rows, in ``folder / "study"``."""
    folder.mkdir(parents=True, exist_ok=True)
    named = task_named(task)
    units, _ = units_of(
        named, str(DATA_OF[task](folder)), DataOptions(limit=limit)
    )
    return AnnotationStudy.make(
        folder / "study",
        named,
        units,
        AnnotationDesign(tuple(annotators), **design),
        media=folder,
        database=database,
    )


def finish(
    study: AnnotationStudy, annotator: str, unit: str, parts: Mapping[str, Any]
) -> None:
    """Judge a unit as a page does: part by part, then done."""
    position = study.positions()[unit]
    client = f"test-{annotator}-{position}"
    acts = [*parts.items(), (DONE, True)]
    first = study.last(annotator, client) + 1
    for number, (part, value) in enumerate(acts, start=first):
        assert study.save(
            annotator, position, Act(client, number, part, value)
        ).accepted
