"""A finished run as Parquet: ``scores.parquet`` (long table) and ``units.parquet`` (findings)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from heapq import merge
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from beholder.files import replacing
from beholder.records import Item, ItemFailure
from beholder.run.store import Store

T = TypeVar("T")

_ROWS_A_GROUP = 50_000

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


def export(store: Store, names: Iterable[str], n_items: int) -> None:
    """Write both tables of a run into its folder, whole or not at all.

    Args:
        store: The run's store.
        names: Canonical names of the metrics to write.
        n_items: Items of the run.
    """
    names = list(names)
    groups = sorted({key for _, item in _items(store, n_items) for key in item.group})
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
    _write(store.folder / "scores.parquet", schema, _score_rows(store, names, n_items, groups))
    _write(store.folder / "units.parquet", _UNITS, _unit_rows(store, names, n_items))


def _score_rows(
    store: Store, names: list[str], n_items: int, groups: list[str]
) -> Iterator[dict[str, Any]]:
    for metric in names:
        found: Iterator[tuple[int, dict[str, float] | ItemFailure]]
        found = merge(store.values(metric, n_items), store.failures(metric), key=itemgetter(0))
        for item, outcome in _with_items(store, n_items, found):
            base: dict[str, Any] = {"item": item.id, "metric": metric}
            base |= {f"group.{key}": item.group.get(key) for key in groups}
            if isinstance(outcome, ItemFailure):
                yield base | {"status": "failed", "reason": outcome.message}
            else:
                for name, value in outcome.items():
                    yield base | {"name": name, "value": value, "status": "scored"}


def _unit_rows(store: Store, names: list[str], n_items: int) -> Iterator[dict[str, Any]]:
    for metric in names:
        for item, units in _with_items(store, n_items, store.units(metric)):
            for unit in units:
                yield {
                    "item": item.id,
                    "metric": metric,
                    "side": unit.side,
                    "reference_index": unit.reference_index,
                    "kind": unit.kind,
                    "text": unit.text,
                    "spans": [list(span) for span in unit.spans],
                    "score": unit.score,
                    "verdict": unit.verdict,
                    "detail": json.dumps(unit.detail, ensure_ascii=False),
                }


def _with_items(
    store: Store, n_items: int, rows: Iterable[tuple[int, T]]
) -> Iterator[tuple[Item, T]]:
    """Rows that are ordered by position, each with its item; neither side is held in memory."""
    items = _items(store, n_items)
    for position, row in rows:
        item = next((item for place, item in items if place == position), None)
        if item is None:
            return  # beyond the items asked for
        yield item, row


def _items(store: Store, n_items: int) -> Iterator[tuple[int, Item]]:
    return islice(store.items(), n_items)


def _write(path: Path, schema: pa.Schema, rows: Iterator[dict[str, Any]]) -> None:
    with (
        replacing(path) as unfinished,
        pq.ParquetWriter(unfinished, schema, compression="zstd") as writer,
    ):
        while chunk := list(islice(rows, _ROWS_A_GROUP)):
            writer.write_table(pa.Table.from_pylist(chunk, schema=schema))
