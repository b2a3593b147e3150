"""A finished run as Parquet: ``scores.parquet`` (long table) and ``units.parquet`` (findings)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from beholder.files import replacing
from beholder.records import ItemFailure
from beholder.run.asked import Asked
from beholder.run.store import Store
from beholder.run.subjects import SubjectKind

S = TypeVar("S")
T = TypeVar("T")

_ROWS_A_GROUP = 50_000

SCORES, UNITS = "scores.parquet", "units.parquet"

_UNITS = pa.schema(
    [
        ("item", pa.string()),
        ("metric", pa.string()),
        ("side", pa.string()),
        ("reference_index", pa.int32()),
        ("kind", pa.string()),
        ("text", pa.string()),
        ("spans", pa.list_(pa.list_(pa.int32()))),
        ("score", pa.float64()),
        ("verdict", pa.string()),
        ("detail", pa.string()),
    ]
)


def export(store: Store, asked: Sequence[Asked]) -> None:
    """Write both tables of a run into its folder, whole or not at all.

    Args:
        store: The run's store.
        asked: What to write.
    """
    kinds = {one.kind.name: (one.kind, one.n) for one in asked}
    groups = sorted(
        {
            key
            for kind, n in kinds.values()
            for _, s in _subjects(store, kind, n)
            for key in kind.group(s)
        }
    )
    schema = pa.schema(
        [
            ("item", pa.string()),
            ("metric", pa.string()),
            ("name", pa.string()),
            ("value", pa.float64()),
            ("status", pa.string()),
            ("reason", pa.string()),
            *((f"group.{key}", pa.string()) for key in groups),
        ]
    )
    _write(store.folder / SCORES, schema, _score_rows(store, asked, groups))
    _write(store.folder / UNITS, _UNITS, _unit_rows(store, asked))


def tables_stand(folder: Path) -> bool:
    """Whether both tables of a run are there and whole enough to be opened."""
    for name in (SCORES, UNITS):
        if not (folder / name).is_file():  # a pipe would be waited for
            return False
        try:
            pq.read_metadata(folder / name)
        except (OSError, pa.ArrowException):  # cut, junk: it is written again
            return False
    return True


def _score_rows(
    store: Store, asked: Sequence[Asked], groups: list[str]
) -> Iterator[dict[str, Any]]:
    for one in asked:
        kind = one.kind
        found: Iterator[tuple[int, Mapping[str, float] | ItemFailure]]
        failures = ((p, f) for p, f in store.failures(one.name) if p < one.n)
        found = merge(store.values(one.name, one.n), failures, key=itemgetter(0))
        for subject, outcome in _with_subjects(store, one, found):
            base: dict[str, Any] = {"item": kind.id(subject), "metric": one.name}
            labels = kind.group(subject)
            base |= {f"group.{key}": labels.get(key) for key in groups}
            if isinstance(outcome, ItemFailure):
                yield base | {"status": "failed", "reason": outcome.message}
            else:
                for name, value in outcome.items():
                    yield base | {"name": name, "value": value, "status": "scored"}


def _unit_rows(store: Store, asked: Sequence[Asked]) -> Iterator[dict[str, Any]]:
    for one in asked:
        for subject, units in _with_subjects(store, one, store.units(one.name)):
            for unit in units:
                yield {
                    "item": one.kind.id(subject),
                    "metric": one.name,
                    "side": unit.side,
                    "reference_index": unit.reference_index,
                    "kind": unit.kind,
                    "text": unit.text,
                    "spans": [list(span) for span in unit.spans],
                    "score": unit.score,
                    "verdict": unit.verdict,
                    "detail": json.dumps(unit.detail, ensure_ascii=False),
                }


def _with_subjects(
    store: Store, asked: Asked, rows: Iterable[tuple[int, T]]
) -> Iterator[tuple[Any, T]]:
    """Rows that are ordered by position, each with its subject; neither side is held in memory."""
    subjects = _subjects(store, asked.kind, asked.n)
    for position, row in rows:
        subject = next((subject for place, subject in subjects if place == position), None)
        if subject is None:
            return  # beyond the subjects asked for
        yield subject, row


def _subjects(store: Store, kind: SubjectKind[S], n: int) -> Iterator[tuple[int, S]]:
    return islice(store.subjects(kind), n)


def _write(path: Path, schema: pa.Schema, rows: Iterator[dict[str, Any]]) -> None:
    with (
        replacing(path) as unfinished,
        pq.ParquetWriter(unfinished, schema, compression="zstd") as writer,
    ):
        while chunk := list(islice(rows, _ROWS_A_GROUP)):
            writer.write_table(pa.Table.from_pylist(chunk, schema=schema))
