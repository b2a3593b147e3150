"""Columns under the names of our fields: those that the user maps, and numbered references."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from beholder.data.row import ALIASES, columns_of
from beholder.errors import ConfigError, DataError
from beholder.records import Item

_NUMBERED = re.compile(r"(?:references?|refs?)[ _-]?(\d+)\Z", re.IGNORECASE)
_FIELDS = tuple(Item.__dataclass_fields__)
_OUTER = ("group", "judgments", "meta")
"""Fields that hold named values: ``judgments.overall`` is one of them."""
_OWN_NAMES = {alias: field for field, aliases in ALIASES.items() for alias in aliases}


def field_of(name: str) -> str:
    """The field that a mapping names: by its own name, an alias, or as ``judgments.NAME``.

    Raises:
        ConfigError: There is no such field.
    """
    outer, dot, inner = name.partition(".")
    if name in _FIELDS or (outer in _OUTER and inner):
        return name
    if name in _OWN_NAMES:
        return _OWN_NAMES[name]
    close = get_close_matches(outer, [*_FIELDS, *_OWN_NAMES], n=1)
    hint = f"; did you mean {close[0]}{dot}{inner}?" if close else ""
    raise ConfigError(
        f"--map {name}=...: expected FIELD=COLUMN with one of {', '.join(_FIELDS)}, or a value in"
        f" one, such as judgments.overall or group.system{hint}"
    )


def check_mapped(columns: Mapping[str, str]) -> None:
    """Refuse what maps something else than a field of an item.

    Raises:
        ConfigError: Names it.
    """
    fields: dict[str, str] = {}
    for field, column in columns.items():
        if not column:
            raise ConfigError(f"--map {field}=: name a column, as {field}=COLUMN")
        other = fields.setdefault(field_of(field), field)
        if other != field:
            raise ConfigError(f"--map {other} and --map {field} name the same field; keep one")


def renamed(
    rows: Iterable[tuple[int, Any]], columns: Mapping[str, str], name: str
) -> Iterator[tuple[int, Any]]:
    """Rows with our names of fields; numbered references become a list.

    Args:
        rows: Rows with their numbers.
        columns: Which column holds a field, as the user says.
        name: What messages call the data.

    Yields:
        A row each; an error (not raised) stands for one that has references in two forms.

    Raises:
        DataError: No row has a column that was named; names those there are.
    """
    columns = {field_of(field): column for field, column in columns.items()}
    missing, there = dict(columns), dict[str, None]()
    for number, row in rows:
        if not isinstance(row, Mapping):
            yield number, row
            continue
        if missing:
            missing = {field: column for field, column in missing.items() if column not in row}
            there |= dict.fromkeys(map(str, row))
        taken = {column: row[column] for column in columns.values() if column in row}
        rest = {str(key): value for key, value in row.items() if key not in taken}
        for field, column in columns.items():
            if column in taken:
                outer, _, inner = field.partition(".")
                if not isinstance(rest.get(outer) or {}, Mapping) and inner:
                    reason = f"is no object, so --map {field}={column} cannot add to it"
                    yield number, DataError(name, reason, line=number, field=outer)
                    break
                _put(rest, outer, inner, taken[column])
        else:
            yield number, _gathered(rest, name, number)
    if missing and there:
        field, column = next(iter(missing.items()))
        raise DataError(
            name, f"no row has the column {column!r} (--map {field}={column}); {columns_of(there)}"
        )


def as_number(cell: str) -> float | str:
    """A text as a number if it is one."""
    try:
        return float(cell)
    except ValueError:
        return cell


def _put(row: dict[str, Any], outer: str, inner: str, value: Any) -> None:
    if not inner:
        row[outer] = value
    elif value is not None and value != "":
        read = as_number(value) if outer == "judgments" and isinstance(value, str) else value
        row[outer] = {**(row.get(outer) or {}), inner: read}


def _gathered(row: dict[str, object], name: str, number: int) -> dict[str, object] | DataError:
    numbered: dict[int, str] = {}
    for column in row:
        match = _NUMBERED.match(column)
        if match is None:
            continue
        other = numbered.setdefault(int(match[1]), column)
        if other != column:
            reason = f"both {other!r} and {column!r} could be it; keep one of them"
            return DataError(name, reason, line=number, field="references")
    if not numbered:
        return row
    for whole in ("references", *ALIASES["references"]):
        if row.get(whole) is not None:
            reason = (
                f"both {whole!r} and {numbered[min(numbered)]!r} could be it; keep one form, or say"
                f" which with --map references={whole}"
            )
            return DataError(name, reason, line=number, field="references")
    found = [row.pop(numbered[place]) for place in sorted(numbered)]
    row["references"] = [one for one in found if one is not None and one != ""]
    return row
