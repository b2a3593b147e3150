"""Named tables: what a study says, for a terminal, a page, CSV, JSON or LaTeX.

A study gives ``Table``s and writes none of them itself: ``report.study_tables`` draws any, and
``write_csv`` and ``plain`` keep all digits.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

from msgspec import UNSET, Struct, convert, structs

from beholder import files, stats
from beholder.records import Estimate, Interval

Kind: TypeAlias = Literal[
    "text",
    "direction",
    "count",
    "failed",
    "number",
    "tenths",
    "hundredths",
    "signed",
    "percent",
    "p",
    "mark",
    "cell",
    "measure",
]


Cells: TypeAlias = dict[str, object]
"""Values of a row by column key."""
EstimateCells: TypeAlias = dict[str, str | float | None]
"""The cells of a value with its interval, or with the reason why it has none."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        key: Name in rows and in the CSV header.
        heading: Words above it.
        kind: How its values are shown; ``percent`` values are shares of 1, a ``cell`` is a text
            made of numbers, a ``measure`` the name of a value, ``failed`` a count that should be 0.
        interval: Whether rows hold ``KEY_low`` and ``KEY_high``, too.
        best: Whether rows hold ``KEY_best``, too: whether the value is among the best of its
            column, which is shown as a star.
        scale: Ends of the scale that the values lie on; a page draws them on it. None for no
            drawing.
    """

    key: str
    heading: str
    kind: Kind = "number"
    interval: bool = False
    best: bool = False
    scale: tuple[float, float] | None = None


@dataclass(frozen=True)
class Table:
    """A table of a study.

    Attributes:
        name: Name of its file.
        title: Its heading.
        columns: Its columns.
        rows: Values by column key; None where something is not defined.
        notes: What one must know to read it, a sentence each.
        by: Key of the column whose values head groups of rows; empty for none.
        heads: What is said beside the head of a group, by its value.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    by: str = ""
    heads: Mapping[str, str] = field(default_factory=dict)

    def of(
        self, rows: Iterable[Mapping[str, Any]], notes: Iterable[str] = (), **facts: object
    ) -> Self:
        """This table with rows, further notes, and facts for the words in braces of its notes."""
        told = (note.format(**facts) if facts else note for note in self.notes)
        return replace(self, rows=tuple(rows), notes=(*told, *notes))

    def shown_notes(self) -> tuple[str, ...]:
        """The notes, and why rows have no interval, each reason once, unless a column says it."""
        if any(column.key == NOTE.key for column in self.columns):
            return self.notes
        names = [f"{column.key}_reason" for column in self.columns if column.interval]
        reasons = dict.fromkeys(row[name] for row in self.rows for name in names if name in row)
        return (*self.notes, *(f"{reason}." for reason in sorted(reasons)))

    def shown_columns(self) -> tuple[Column, ...]:
        """The columns that say something in some row; of failures, that there are some."""
        none = {"failed": ("", None, 0)}
        return tuple(
            c
            for c in self.columns
            if any(row.get(c.key) not in none.get(c.kind, ("", None)) for row in self.rows)
        )


@dataclass(frozen=True, slots=True)
class Omitted:
    """A part of a study that the run has no data for."""

    title: str
    reason: str


SYSTEM = Column("system", "System", "text")
FAILED = Column("n_failed", "failed", "failed")
METRIC = Column("metric", "metric", "text")
VALUE = Column("value", "value", "text")
N = Column("n", "n", "count")
NOTE = Column("reason", "note", "text")


def declared(file: Path) -> dict[str, Table]:
    """Tables without rows by name: a TOML file has the title, columns, notes and ``by`` of each.

    Its section ``shared`` has lists of columns by name; in a table, a name stands for its list.
    """
    found = tomllib.loads(file.read_text(encoding="utf-8"))
    shared = found.pop("shared", {})
    for name, table in found.items():
        given = (shared[one] if isinstance(one, str) else [one] for one in table["columns"])
        table |= {"name": name, "columns": [*chain.from_iterable(given)]}
    return convert(found, dict[str, Table])


def estimate(
    key: str, values: Sequence[float], clusters: Sequence[str] | None = None
) -> EstimateCells:
    """Mean with interval as cells ``KEY``, ``KEY_low``, ``KEY_high``; None without values."""
    return estimate_cells(key, stats.mean_interval(values, clusters=clusters) if values else None)


def estimate_cells(key: str, found: Estimate | None) -> EstimateCells:
    """The cells of a mean with its interval."""
    if found is None:
        return {key: None, **interval_cells(key, None)}
    return {key: found.mean, **interval_cells(key, found.interval, found.reason)}


def interval_cells(
    key: str, interval: Interval | Sequence[float] | None, reason: str | None = None
) -> EstimateCells:
    """The cells of an interval.

    Args:
        key: Key of the column that it belongs to.
        interval: The interval; a pair of ends is one that was read from JSON.
        reason: Why there is none, which the table then notes.
    """
    if isinstance(interval, Interval):
        interval = (interval.low, interval.high)
    low, high = (None, None) if interval is None else interval
    cells: EstimateCells = {f"{key}_low": low, f"{key}_high": high}
    return cells | {f"{key}_reason": reason} if reason else cells


def record_cells(record: Struct, key: str) -> Cells:
    """The fields of a record as cells, with its ``interval`` as that of one of its values.

    A ``reason`` is why there is no value, or no interval.
    """
    cells = {name: None if v is UNSET else v for name, v in structs.asdict(record).items()}
    return cells | interval_cells(key, cells.get("interval"), cells.get("reason"))


def keys(table: Table) -> list[str]:
    """Keys of all cells of a row, ends of intervals behind their values."""
    found: list[str] = []
    for column in table.columns:
        found.append(column.key)
        if column.interval:
            found += [f"{column.key}_low", f"{column.key}_high"]
        if column.best:
            found.append(f"{column.key}_best")
    return found


def write_csv(table: Table, path: Path) -> None:
    """Write a table with full precision, as ``files.write_csv``; an undefined value is empty."""
    names = keys(table)
    files.write_csv(path, [names, *([row.get(name) for name in names] for row in table.rows)])


def plain(table: Table) -> Mapping[str, object]:
    """A table as JSON values, with full precision; an undefined value is null."""
    names = keys(table)
    return {
        "name": table.name,
        "title": table.title,
        "columns": {column.key: column.heading for column in table.columns},
        "rows": [{name: row.get(name) for name in names} for row in table.rows],
        "notes": list(table.shown_notes()),
    }
