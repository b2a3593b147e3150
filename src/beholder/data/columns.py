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


def check_mapped(columns: Mapping[str, str]) -> None:
    """Refuse what maps something else than a field of an item.

    Raises:
        ConfigError: Names it.
    """
    for field, column in columns.items():
        if field not in _FIELDS or not column:
            close = get_close_matches(field, _FIELDS, n=1)
            hint = f"; did you mean {close[0]}?" if close else ""
            raise ConfigError(
                f"--map {field}={column}: expected FIELD=COLUMN with one of {', '.join(_FIELDS)}"
                f"{hint}"
            )


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
        named = rest | {
            field: taken[column] for field, column in columns.items() if column in taken
        }
        yield number, _gathered(named, name, number)
    if missing and there:
        field, column = next(iter(missing.items()))
        raise DataError(
            name, f"no row has the column {column!r} (--map {field}={column}); {columns_of(there)}"
        )


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
