"""Named tables: what a study says, for a page, a terminal or a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from beholder import stats
from beholder.records import Interval

Kind: TypeAlias = Literal[
    "text", "direction", "count", "number", "tenths", "signed", "percent", "p", "mark"
]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        key: Name in rows and in the CSV header.
        heading: Words above it.
        kind: How its values are shown; ``percent`` values are shares of 1.
        interval: Whether rows hold ``KEY_low`` and ``KEY_high``, too.
    """

    key: str
    heading: str
    kind: Kind = "number"
    interval: bool = False


@dataclass(frozen=True)
class Table:
    """A table of a study.

    Attributes:
        name: Name of its file.
        title: Its heading.
        columns: Its columns.
        rows: Values by column key; None where something is not defined.
        notes: What one must know to read it, a sentence each.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]
    notes: tuple[str, ...] = ()

    def shown_columns(self) -> tuple[Column, ...]:
        """The columns that say something in some row."""
        return tuple(
            c for c in self.columns if any(row.get(c.key) not in ("", None) for row in self.rows)
        )


@dataclass(frozen=True, slots=True)
class Omitted:
    """A part of a study that the run has no data for."""

    title: str
    reason: str


SET_COLUMNS = (Column("dataset", "Data set", "text"), Column("language", "Language", "text"))
DIRECTION = Column("direction", "Direction", "direction")
SYSTEM = Column("system", "System", "text")


def estimate(
    key: str, values: Sequence[float], clusters: Sequence[str] | None = None
) -> dict[str, float | None]:
    """Mean with interval as cells ``KEY``, ``KEY_low``, ``KEY_high``; None without values."""
    if not values:
        return {key: None, **interval_cells(key, None)}
    found = stats.mean_interval(values, clusters=clusters)
    return {key: found.mean, **interval_cells(key, found.interval)}


def interval_cells(key: str, interval: Interval | None) -> dict[str, float | None]:
    """The cells of an interval."""
    return {
        f"{key}_low": None if interval is None else interval.low,
        f"{key}_high": None if interval is None else interval.high,
    }


def write_csv(table: Table, path: Path) -> None:
    """Write a table with full precision, whole or not at all; an undefined value is empty.

    A text that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    keys: list[str] = []
    for column in table.columns:
        keys.append(column.key)
        if column.interval:
            keys += [f"{column.key}_low", f"{column.key}_high"]
    unfinished = path.with_name(f".{path.name}.part")
    with unfinished.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(keys)
        rows.writerows([_cell(row.get(key)) for key in keys] for row in table.rows)
    unfinished.replace(path)


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t", "\r"):
        return f"'{value}"
    return int(value) if isinstance(value, bool) else value
