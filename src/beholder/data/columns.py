"""Columns under the names of our fields: mapped ones, numbered references, columns not used."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from beholder.data.headings import (
    HEADINGS,
    ITEM_FIELDS,
    NUMBERED,
    choose_columns,
    close_column,
    find_columns,
    fold_heading,
    map_option,
)
from beholder.data.row import columns_of
from beholder.errors import ConfigError, DataError
from beholder.records import ROW_FIELDS, Item

_FIELDS = (
    *(
        name
        for name in Item.__dataclass_fields__
        if name != "id_is_row_number"
    ),
    "language",
    *ROW_FIELDS,
)
_OUTER = ("group", "judgments", "meta")
"""Fields that hold named values: ``judgments.overall`` is one of them."""
_GROUPS = {
    fold_heading(heading): field
    for field, tiers in ITEM_FIELDS.items()
    for tier in tiers
    for group in tier
    for heading in HEADINGS[group]
}
"""Field of an item by folded heading."""


def field_of(name: str) -> str:
    """Return the field that a mapping names by its name, a heading, or as ``judgments.NAME``.

    Raises:
        ConfigError: The field is unknown.
    """
    outer, dot, inner = name.partition(".")
    if name in _FIELDS or (outer in _OUTER and inner):
        return name
    if not dot and (field := _GROUPS.get(fold_heading(name))):
        return field
    close = get_close_matches(outer, [*_FIELDS, *_GROUPS], n=1)
    hint = f"; did you mean {close[0]}{dot}{inner}?" if close else ""
    raise ConfigError(
        f"--map {name}=...: expected FIELD=COLUMN with one of {', '.join(_FIELDS)}, or a value in"
        f" one, such as judgments.overall or group.system{hint}"
    )


def check_mapped(columns: Mapping[str, str]) -> None:
    """Check that each key of a mapping names a field, and no two name the same.

    Raises:
        ConfigError: A field is unknown or named twice, or a column is empty.
    """
    fields: dict[str, str] = {}
    for field, column in columns.items():
        if not column:
            raise ConfigError(
                f"--map {field}=: name a column, as {field}=COLUMN"
            )
        earlier = fields.setdefault(field_of(field), field)
        if earlier != field:
            raise ConfigError(
                f"--map {earlier} and --map {field} name the same field; keep one"
            )


def text_columns(
    header: Iterable[str], columns: Mapping[str, str]
) -> Collection[str]:
    """Return the columns of a table that may hold the candidate, as mapped or by their headings."""
    names = tuple(header)
    for field, column in columns.items():
        if fold_heading(field) in ("text", "candidate") or (
            _GROUPS.get(fold_heading(field)) == "candidate"
        ):
            close = close_column(column, names)
            return () if close is None else (close,)
    return choose_columns(names, "item").get("candidate", ())


def rename_columns(
    rows: Iterable[tuple[int, Any]],
    columns: Mapping[str, str],
    name: str,
    *,
    columns_elsewhere: set[str] | None = None,
    is_optional: bool = False,
) -> Iterator[tuple[int, Any]]:
    """Yield rows with the names of our fields; numbered references become a list.

    Args:
        rows: Rows with their numbers.
        columns: Column by field, as mapped by the user. ``a.b`` is a value in an object, ``a[].b``
            one in each object of a list.
        name: Name of the data in messages.
        columns_elsewhere: Columns that another file of the command has, which may be missing here;
            receives those of this one.
        is_optional: Whether all columns may be missing, because another file may have them.

    Yields:
        A row each; an error (not raised) stands for one that has references in two forms.

    Raises:
        DataError: No row has a column that was named; names those there are.
    """
    # A mapped column replaces what a row has under the field's own name. A
    # column that no row has is an error, but only at the end: rows of JSON
    # need not have the same fields.
    columns = {field_of(field): column for field, column in columns.items()}
    missing_columns = dict(columns)
    columns_elsewhere = (
        set() if columns_elsewhere is None else columns_elsewhere
    )
    all_columns: dict[str, Any] = {}
    for number, row in rows:
        if not isinstance(row, Mapping):
            yield number, row
            continue
        values = {
            field: find_value(row, column) for field, column in columns.items()
        }
        if missing_columns:
            for field, value in values.items():
                if value is not MISSING:
                    missing_columns.pop(field, None)
                    columns_elsewhere.add(columns[field])
            all_columns = {**row, **all_columns}
        used = {
            close_column(column, row)
            for field, column in columns.items()
            if values[field] is not MISSING
        }
        other_fields = _nested(
            {str(key): value for key, value in row.items() if key not in used}
        )
        for field, column in columns.items():
            if values[field] is MISSING:
                continue
            outer, _, inner = field.partition(".")
            if (
                not isinstance(other_fields.get(outer) or {}, Mapping)
                and inner
            ):
                reason = f"is not an object, so --map {field}={column} cannot add to it"
                yield number, DataError(name, reason, line=number, field=outer)
                break
            value = values[field]
            if field == "candidate":
                value = unwrap_text(value)
            _set_value(other_fields, outer, inner, value)
        else:
            yield number, _gather_references(other_fields, name, number)
    missing_columns = {
        field: column
        for field, column in missing_columns.items()
        if column not in columns_elsewhere
    }
    if missing_columns and all_columns and not is_optional:
        field, column = next(iter(missing_columns.items()))
        raise DataError(
            name,
            f"no row has the column {column!r} (--map {field}={column}); {columns_of(all_columns)}",
        )


def unwrap_text(value: Any) -> Any:
    """Return the text of a list of one text, at any depth; other values unchanged."""
    inner = value
    while isinstance(inner, list) and len(inner) == 1:
        inner = inner[0]
    return inner if isinstance(inner, str) else value


_LIST_STEP = re.compile(r"(.*)\[(-?\d{1,9})?\]", re.DOTALL)
"""A step of a path into a list: ``a[]``, or one entry as ``a[0]``."""

MISSING = object()
"""Stands for a value that a row does not have."""


def find_value(row: Mapping[Any, Any], path: str) -> Any:
    """Return the value of a column, or of a path such as ``a.b`` or ``a[].b``; else ``MISSING``.

    ``a[0].b`` is the value in the first entry of a list, ``a[-1].b`` in the last one. A path may
    begin with the list that the rows are in: ``assets[].title`` is ``title`` of a row.
    """
    if (column := close_column(path, row)) is not None:
        return row[column]
    head, dot, rest = path.partition(".")
    match = _LIST_STEP.fullmatch(head)
    key, place = match.groups("") if match else (head, None)
    is_list = place == ""
    if key not in row:
        return find_value(row, rest) if is_list and dot else MISSING
    value = row[key]
    if place:
        entries = value if isinstance(value, list) else []
        is_there = -len(entries) <= int(place) < len(entries)
        value = entries[int(place)] if is_there else MISSING
    if not dot:
        return value
    if is_list:
        parts = value if isinstance(value, list) else [value]
        values = [
            find_value(part, rest)
            for part in parts
            if isinstance(part, Mapping)
        ]
        values = [part for part in values if part is not MISSING]
        return values or MISSING
    return find_value(value, rest) if isinstance(value, Mapping) else MISSING


def _nested(row: dict[str, Any]) -> dict[str, Any]:
    """Move columns such as ``group.system`` into objects, in place, and return the row."""
    dotted = [
        name
        for name in row
        if name.partition(".")[0] in _OUTER and name.partition(".")[2]
    ]
    for name in dotted:
        outer, _, inner = name.partition(".")
        if isinstance(row.get(outer) or {}, Mapping):
            _set_value(row, outer, inner, row.pop(name))
    return row


def as_number(cell: str) -> float | str:
    """Return a text as a number if it is a finite one, else unchanged."""
    try:
        number = float(cell)
    except ValueError:
        return cell
    return (
        number if math.isfinite(number) else cell
    )  # nan marks a missing answer


def _set_value(
    row: dict[str, Any], outer: str, inner: str, value: Any
) -> None:
    if not inner:
        row[outer] = value
    # An empty cell is no value, unless the column is the field itself.
    elif value is not None and value != "":
        parsed = (
            as_number(value)
            if outer == "judgments" and isinstance(value, str)
            else value
        )
        row[outer] = {**(row.get(outer) or {}), inner: parsed}


def _gather_references(
    row: dict[str, object], name: str, number: int
) -> dict[str, object] | DataError:
    numbered: dict[int, str] = {}
    for column in row:
        match = NUMBERED.match(column)
        if match is None:
            continue
        # "ref_1" and "reference 1" have one number: which one counts is the
        # user's decision.
        earlier = numbered.setdefault(int(match[1]), column)
        if earlier != column:
            reason = f"both {earlier!r} and {column!r} could be it; keep one of them"
            return DataError(name, reason, line=number, field="references")
    if not numbered:
        return row
    # A list beside numbered columns: again the user decides.
    for list_field in find_columns(row, ("references",)):
        if row.get(list_field) is not None:
            reason = (
                f"both {list_field!r} and {numbered[min(numbered)]!r} could be it; keep one form,"
                f" or say which with {map_option('references', list_field)}"
            )
            return DataError(name, reason, line=number, field="references")
    texts = [row.pop(numbered[place]) for place in sorted(numbered)]
    row["references"] = [
        text for text in texts if text is not None and text != ""
    ]
    return row
