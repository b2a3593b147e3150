"""A finished run as Parquet: ``scores.parquet`` (long table) and ``units.parquet`` (findings)."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from beholder.base.files import write_atomically
from beholder.run.place import named_schema
from beholder.run.store import Store
from beholder.run.subjects import ScheduledAsker, SubjectKind
from beholder.run.summary import OutcomeColumns, read_columns

SUBJECTS_AT_ONCE = 8192
"""Subjects whose scores make a row group."""
UNITS_AT_ONCE = 20_000
"""Units that are written at once, which bounds the memory."""

SCORES, UNITS = "scores.parquet", "units.parquet"

UNIT_SCHEMA = named_schema("units")


_PLAIN_FIELDS = (
    "side",
    "reference_index",
    "kind",
    "text",
    "score",
    "verdict",
    "spans",
)
_UNIT_FIELDS = (*_PLAIN_FIELDS, "detail")
_get_unit_fields = itemgetter(*_UNIT_FIELDS)
_JSON = json.JSONEncoder(ensure_ascii=False)


@dataclass(frozen=True)
class SubjectLabels:
    """Ids and groups of subjects, as columns.

    Attributes:
        ids: Id per position.
        groups: Per group column the value at each position, or null.
    """

    ids: pa.Array
    groups: Mapping[str, pa.Array]

    @classmethod
    def from_subjects(
        cls, kind: SubjectKind[Any], subjects: Iterable[Any]
    ) -> SubjectLabels:
        """Collect the labels of subjects of one kind, in order."""
        ids: list[str] = []
        groups: dict[str, list[str | None]] = {}
        for place, subject in enumerate(subjects):
            ids.append(kind.id(subject))
            group = kind.group(subject)
            # A column that starts late is null for the subjects before.
            for key in group.keys() - groups.keys():
                groups[key] = [None] * place
            for key, column in groups.items():
                column.append(group.get(key))
        columns = {
            key: pa.array(groups[key], pa.string()) for key in sorted(groups)
        }
        return cls(pa.array(ids, pa.string()), columns)


def export(store: Store, schedule: Sequence[ScheduledAsker]) -> None:
    """Write both tables of a run into its folder, whole or not at all.

    Args:
        store: The run's store.
        schedule: Subjects and askers to write.
    """
    kinds = {entry.kind.name: (entry.kind, entry.n) for entry in schedule}
    labels = {
        name: SubjectLabels.from_subjects(
            kind, (subject for _, subject in islice(store.subjects(kind), n))
        )
        for name, (kind, n) in kinds.items()
    }
    schema = score_schema(
        key
        for subject_labels in labels.values()
        for key in subject_labels.groups
    )
    scores = (
        table
        for entry in schedule
        for table in score_tables(
            entry.name,
            read_columns(store, entry.name, entry.n),
            labels[entry.kind.name],
            schema,
        )
    )
    _write_tables(store.folder / SCORES, schema, scores)
    units = (
        table
        for entry in schedule
        for table in unit_tables(
            entry.name,
            store.unit_fields(entry.name, entry.n),
            labels[entry.kind.name].ids,
        )
    )
    with _pause_collector():
        _write_tables(store.folder / UNITS, UNIT_SCHEMA, units)


@contextmanager
def _pause_collector() -> Iterator[None]:
    """Pause the garbage collector: units contain no cycles, and its search took half the time."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def are_tables_readable(folder: Path) -> bool:
    """Return whether both tables of a run exist and can be opened."""
    for name in (SCORES, UNITS):
        if not (folder / name).is_file():  # a pipe would be waited for
            return False
        try:
            pq.read_metadata(folder / name)
        except (OSError, pa.ArrowException):  # cut, junk: it is written again
            return False
    return True


def score_schema(groups: Iterable[str]) -> pa.Schema:
    """The columns of ``scores.parquet`` for data with these group columns."""
    columns = [
        pa.field(f"group.{key}", pa.string()) for key in sorted(set(groups))
    ]
    return pa.schema([*named_schema("scores"), *columns])


def score_tables(
    metric: str,
    columns: OutcomeColumns,
    labels: SubjectLabels,
    schema: pa.Schema,
) -> Iterator[pa.Table]:
    """Yield rows of ``scores.parquet``: per subject, in order, one per value or one for a failure.

    Args:
        metric: Canonical name of the asker.
        columns: Its outcomes.
        labels: Of the subjects.
        schema: Of ``score_schema``.

    Yields:
        A table per some thousand subjects.
    """
    names = pa.array([*columns.values, None], pa.string())
    failed_positions = np.fromiter(
        columns.failures, np.int64, len(columns.failures)
    )
    # The last position with an outcome; subjects behind it have no row yet.
    last = max([-1, *columns.positions[-1:], *failed_positions[-1:]])
    for start in range(0, int(last) + 1, SUBJECTS_AT_ONCE):
        low, high = np.searchsorted(
            columns.positions, (start, start + SUBJECTS_AT_ONCE)
        )
        first, end = np.searchsorted(
            failed_positions, (start, start + SUBJECTS_AT_ONCE)
        )
        cells = [column[low:high] for column in columns.values.values()]
        values = (
            np.stack(cells, axis=1) if cells else np.zeros((high - low, 0))
        )
        # Scores come first and failures behind them; ``order`` merges both by position.
        row, name = np.nonzero(np.isfinite(values))
        block_failures = failed_positions[first:end]
        positions = np.concatenate(
            [columns.positions[low:high][row], block_failures]
        )
        order = np.argsort(positions, kind="stable")
        scored = order < len(row)
        subject_positions = pa.array(positions[order])
        # Nulls: failures take the last name (None), scores the last reason (None).
        reasons = [
            columns.failures[int(position)] for position in block_failures
        ]
        name_indices = np.concatenate(
            [name, np.full(len(block_failures), len(cells))]
        )[order]
        numbers = np.concatenate(
            [values[row, name], np.zeros(len(block_failures))]
        )[order]
        reason_indices = np.concatenate(
            [
                np.full(len(row), len(block_failures)),
                np.arange(len(block_failures)),
            ]
        )[order]
        table_columns = {
            "item": labels.ids.take(subject_positions),
            "metric": pa.repeat(metric, len(order)),
            "name": names.take(pa.array(name_indices)),
            "value": pa.array(numbers, mask=~scored),
            "status": pa.array(["failed", "scored"]).take(
                pa.array(scored.astype(np.int8))
            ),
            "reason": pa.array([*reasons, None], pa.string()).take(
                pa.array(reason_indices)
            ),
        } | {
            f"group.{key}": column.take(subject_positions)
            for key, column in labels.groups.items()
        }
        # Subjects of this asker may be without group columns that others have.
        nulls = pa.nulls(len(order), pa.string())
        yield pa.table(
            [table_columns.get(key, nulls) for key in schema.names],
            schema=schema,
        )


def unit_tables(
    metric: str,
    positioned_units: Iterable[tuple[int, list[Mapping[str, Any]]]],
    ids: pa.Array,
) -> Iterator[pa.Table]:
    """Yield rows of ``units.parquet``, in order of subjects.

    Args:
        metric: Canonical name of the asker.
        positioned_units: Position and fields of units (those of ``records.Unit``), in order.
        ids: Id per position.

    Yields:
        A table per some ten thousand units.
    """
    for places, units in _split_chunks(positioned_units):
        # One loop over the units and then whole columns: faster than a table row by row.
        by_field = zip(*map(_get_unit_fields, units), strict=True)
        columns: dict[str, tuple[Any, ...]] = dict(
            zip(_UNIT_FIELDS, by_field, strict=True)
        )
        arrays = {
            name: pa.array(columns[name], UNIT_SCHEMA.field(name).type)
            for name in _PLAIN_FIELDS
        }
        arrays |= {
            "item": ids.take(pa.array(places, pa.int64())),
            "metric": pa.repeat(metric, len(units)),
            "detail": pa.array(
                map(_JSON.encode, columns["detail"]), pa.string()
            ),
        }
        yield pa.table(
            [arrays[name] for name in UNIT_SCHEMA.names], schema=UNIT_SCHEMA
        )


def _split_chunks(
    positioned_units: Iterable[tuple[int, list[Mapping[str, Any]]]],
) -> Iterator[tuple[list[int], list[Mapping[str, Any]]]]:
    positions: list[int] = []
    chunk_units: list[Mapping[str, Any]] = []
    for position, units in positioned_units:
        # A chunk ends with a subject, so its size varies with the units of the last one.
        positions += [position] * len(units)
        chunk_units += units
        if len(chunk_units) >= UNITS_AT_ONCE:
            yield positions, chunk_units
            positions, chunk_units = [], []
    if chunk_units:
        yield positions, chunk_units


def _write_tables(
    path: Path, schema: pa.Schema, tables: Iterable[pa.Table]
) -> None:
    with (
        write_atomically(path) as unfinished,
        pq.ParquetWriter(unfinished, schema, compression="zstd") as writer,
    ):
        for table in tables:
            writer.write_table(table)
