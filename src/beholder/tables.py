"""Named tables: what a study says, for a terminal, a page, CSV, JSON or LaTeX.

A study gives ``Table``s and writes none of them itself: ``report.study_tables`` draws any, and
``write_csv`` and ``plain`` keep all digits. The record of a row describes its table, once: see
``heading`` and ``Table.from_records``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias, get_type_hints

from msgspec import UNSET, Struct

from beholder import stats
from beholder.base import files
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
        kind: Format of its values; ``percent`` values are shares of 1, a ``cell`` is a text
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
        notes: Sentences that one must know to read it.
        by: Key of the column whose values head groups of rows; empty for none.
        heads: Text beside the head of a group, by its value.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    by: str = ""
    heads: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_records(
        cls,
        name: str,
        title: str,
        record_type: type,
        rows: Iterable[object],
        notes: Iterable[str] = (),
        *,
        by: str = "",
        before: Iterable[Column] = (),
        after: Iterable[Column] = (),
    ) -> Self:
        """Return a table with a row per record and a column per field that has a ``heading``.

        Args:
            name: Name of its file.
            title: Its heading.
            record_type: A dataclass or ``Struct``; see ``columns_of``.
            rows: Records of this type; one with further cells is given as ``record_cells`` of it.
            notes: See ``Table``.
            by: See ``Table``.
            before: Columns before those of the record.
            after: Columns after them.
        """
        columns = (*before, *record_columns(record_type), *after)
        cells = (
            row if isinstance(row, Mapping) else record_cells(row)
            for row in rows
        )
        return cls(name, title, columns, tuple(cells), tuple(notes), by)

    def with_rows(
        self, rows: Iterable[Mapping[str, Any]], notes: Iterable[str] = ()
    ) -> Self:
        """Return the table with other rows, and with further notes."""
        return replace(self, rows=tuple(rows), notes=(*self.notes, *notes))

    def shown_notes(self) -> tuple[str, ...]:
        """The notes, and why rows have no interval, each reason once, unless a column says it."""
        if any(column.key == NOTE.key for column in self.columns):
            return self.notes
        names = [
            f"{column.key}_reason"
            for column in self.columns
            if column.interval
        ]
        reasons = dict.fromkeys(
            row[name] for row in self.rows for name in names if name in row
        )
        return (*self.notes, *(f"{reason}." for reason in sorted(reasons)))

    def shown_columns(self) -> tuple[Column, ...]:
        """The columns that say something in some row; of failures, that there are some."""
        # A column of failures that are all 0 says nothing; a number of 0 elsewhere does.
        empty_values = {"failed": ("", None, 0)}
        return tuple(
            column
            for column in self.columns
            if any(
                row.get(column.key)
                not in empty_values.get(column.kind, ("", None))
                for row in self.rows
            )
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


def heading(
    text: str,
    kind: Kind = "number",
    *,
    interval: bool = False,
    scale: tuple[float, float] | None = None,
) -> Column:
    """Return the column of a record's field, which is annotated with it; its key is the field.

    For example ``mean: Annotated[float, heading("mean (1 to 10)", "hundredths")]``. The ends of an
    interval are in the value if it has them, as an ``Estimate`` does, in ``KEY_low`` and
    ``KEY_high``, in ``KEY_interval``, or in ``interval``.
    """
    return Column("", text, kind, interval, scale=scale)


@lru_cache
def record_columns(record_type: type) -> tuple[Column, ...]:
    """Return the columns of the annotated fields of a dataclass or ``Struct``, in their order."""
    hints = get_type_hints(record_type, include_extras=True)
    return tuple(
        replace(mark, key=name)
        for name, hint in hints.items()
        for mark in getattr(hint, "__metadata__", ())
        if isinstance(mark, Column)
    )


def record_cells(record: Any) -> Cells:
    """Return the fields of a record as cells, with the ends of the intervals of its columns.

    A ``reason``, of a value or beside ``interval``, is why there is no value, or no interval.
    """
    record_type: type = type(record)
    is_struct = isinstance(record, Struct)
    # ``fields`` knows dataclasses only.
    names = (
        record.__struct_fields__
        if is_struct
        else [record_field.name for record_field in fields(record)]
    )
    cells: Cells = {}
    for name in names:
        content = getattr(record, name)
        cells[name] = None if content is UNSET else content
    # Ends come from the value itself if it has an interval, else from a field beside it.
    for column in record_columns(record_type):
        key = column.key
        value: Any = cells[key]
        if hasattr(value, "interval"):
            number = value.mean if hasattr(value, "mean") else value.value
            reason = getattr(value, "reason", None)
            cells |= {
                key: number,
                **interval_cells(key, value.interval, reason),
            }
        elif column.interval and f"{key}_low" not in cells:
            interval: Any = cells.get(f"{key}_interval", cells.get("interval"))
            # A reason beside other ends, as of agreement, is the content of a column of its own.
            reason = (
                getattr(record, "reason", None)
                if "interval" in cells
                else None
            )
            cells |= interval_cells(key, interval, reason)
    return cells


def mean_cells(
    key: str, values: Sequence[float], clusters: Sequence[str] | None = None
) -> EstimateCells:
    """Mean with interval as cells ``KEY``, ``KEY_low``, ``KEY_high``; None without values."""
    return estimate_cells(
        key, stats.mean_interval(values, clusters=clusters) if values else None
    )


def estimate_cells(key: str, estimate: Estimate | None) -> EstimateCells:
    """The cells of a mean with its interval."""
    if estimate is None:
        return {key: None, **interval_cells(key, None)}
    return {
        key: estimate.mean,
        **interval_cells(key, estimate.interval, estimate.reason),
    }


def interval_cells(
    key: str,
    interval: Interval | Sequence[float] | None,
    reason: str | None = None,
) -> EstimateCells:
    """The cells of an interval.

    Args:
        key: Key of the column that it belongs to.
        interval: The interval; a pair of ends is one that was read from JSON.
        reason: Why there is none, which the table then notes.
    """
    # One that was read from JSON is a pair already.
    if isinstance(interval, Interval):
        interval = (interval.low, interval.high)
    low, high = (None, None) if interval is None else interval
    cells: EstimateCells = {f"{key}_low": low, f"{key}_high": high}
    return cells | {f"{key}_reason": reason} if reason else cells


def cell_names(table: Table) -> list[str]:
    """Keys of all cells of a row, ends of intervals behind their values."""
    names: list[str] = []
    for column in table.columns:
        names.append(column.key)
        if column.interval:
            names += [f"{column.key}_low", f"{column.key}_high"]
        if column.best:
            names.append(f"{column.key}_best")
    return names


def write_csv(table: Table, path: Path) -> None:
    """Write a table with full precision, as ``files.write_csv``; an undefined value is empty."""
    names = cell_names(table)
    files.write_csv(
        path,
        [names, *([row.get(name) for name in names] for row in table.rows)],
    )


def table_as_json(table: Table) -> Mapping[str, object]:
    """A table as JSON values, with full precision; an undefined value is null."""
    names = cell_names(table)
    return {
        "name": table.name,
        "title": table.title,
        "columns": {column.key: column.heading for column in table.columns},
        "rows": [
            {name: row.get(name) for name in names} for row in table.rows
        ],
        "notes": list(table.shown_notes()),
    }
