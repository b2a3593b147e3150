"""Columns under the names of our fields: mapped ones, numbered references, references by id."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from beholder.data.published import from_published
from beholder.data.row import (
    ALIASES,
    RowError,
    columns_of,
    given_field,
    reference_texts,
    resolve_aliases,
    to_row,
)
from beholder.errors import ConfigError, DataError
from beholder.records import ROW_FIELDS, Item

_NUMBERED = re.compile(r"(?:references?|refs?)[ _-]?(\d+)\Z", re.IGNORECASE)
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
_OWN_NAMES = {
    alias: field for field, aliases in ALIASES.items() for alias in aliases
}


def field_of(name: str) -> str:
    """Return the field that a mapping names by its name, an alias, or as ``judgments.NAME``.

    Raises:
        ConfigError: The field is unknown.
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


def rename_columns(
    rows: Iterable[tuple[int, Any]], columns: Mapping[str, str], name: str
) -> Iterator[tuple[int, Any]]:
    """Yield rows with the names of our fields; numbered references become a list.

    Args:
        rows: Rows with their numbers.
        columns: Column by field, as mapped by the user.
        name: Name of the data in messages.

    Yields:
        A row each; an error (not raised) stands for one that has references in two forms.

    Raises:
        DataError: No row has a column that was named; names those there are.
    """
    # A mapped column replaces what a row has under the field's own name. A
    # column that no row has is an error, but only at the end: rows of JSON
    # need not have the same fields.
    columns = {field_of(field): column for field, column in columns.items()}
    missing_columns, all_columns = dict(columns), dict[str, None]()
    for number, row in rows:
        if not isinstance(row, Mapping):
            yield number, row
            continue
        if missing_columns:
            missing_columns = {
                field: column
                for field, column in missing_columns.items()
                if column not in row
            }
            all_columns |= dict.fromkeys(map(str, row))
        value_by_column = {
            column: row[column] for column in columns.values() if column in row
        }
        other_fields = _nested(
            {
                str(key): value
                for key, value in row.items()
                if key not in value_by_column
            }
        )
        for field, column in columns.items():
            if column in value_by_column:
                outer, _, inner = field.partition(".")
                if (
                    not isinstance(other_fields.get(outer) or {}, Mapping)
                    and inner
                ):
                    reason = f"is not an object, so --map {field}={column} cannot add to it"
                    yield (
                        number,
                        DataError(name, reason, line=number, field=outer),
                    )
                    break
                _set_value(other_fields, outer, inner, value_by_column[column])
        else:
            yield number, _gather_references(other_fields, name, number)
    if missing_columns and all_columns:
        field, column = next(iter(missing_columns.items()))
        raise DataError(
            name,
            f"no row has the column {column!r} (--map {field}={column}); {columns_of(all_columns)}",
        )


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
        match = _NUMBERED.match(column)
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
    for list_field in ("references", *ALIASES["references"]):
        if row.get(list_field) is not None:
            reason = (
                f"both {list_field!r} and {numbered[min(numbered)]!r} could be it; keep one form,"
                f" or say which with --map references={list_field}"
            )
            return DataError(name, reason, line=number, field="references")
    texts = [row.pop(numbered[place]) for place in sorted(numbered)]
    row["references"] = [
        text for text in texts if text is not None and text != ""
    ]
    return row


_KEYS = ("id", "image_id", "video_id", "file_id")


def references_by_id(
    rows: Iterable[tuple[int, Any]], name: str
) -> dict[str, dict[str, object]]:
    """Return fields by id from rows of references; several rows of one id add up.

    A row's own references count, else its candidate: a data set of texts can be the reference of
    another. Fields that metrics read, such as ``criteria``, come with them; lists add up, too.

    Raises:
        DataError: A row is wrong, has no id, or no text.
    """
    fields_by_id: dict[str, dict[str, Any]] = {}
    for number, row in rows:
        if isinstance(row, DataError):
            raise row
        try:
            original, row = row, from_published(row)
        except RowError as error:
            raise DataError(name, error.reason, line=number) from None
        key = _key(row)
        if key is None:
            raise DataError(
                name, "has no id to find its row by", line=number, field="id"
            )
        texts = _texts(row)
        fields = {field: row[field] for field in ROW_FIELDS if row.get(field)}
        if not texts and not fields:
            raise DataError(
                name, "has no text", line=number, field="references"
            )
        # A further row of the same id adds its texts; of other fields lists
        # add up and the last value counts.
        entry = fields_by_id.setdefault(key, {"references": []})
        entry["references"] += texts
        for field, value in fields.items():
            several = isinstance(value, list) and isinstance(
                entry.get(field), list
            )
            entry[field] = [*entry[field], *value] if several else value
        if row.get("images") is not None:
            entry["images"] = row["images"]
        if row is not original and row.get(
            "group"
        ):  # a subset, never the author of a text
            entry["group"] = row["group"]
    return fields_by_id


def with_references(
    rows: Iterable[tuple[int, Any]],
    fields_by_id: Mapping[str, Mapping[str, Any]],
    name: str,
    source: str,
    ids: set[str],
) -> Iterator[tuple[int, Any]]:
    """Yield rows with the references of their id after their own.

    Args:
        rows: Rows with their numbers.
        fields_by_id: Result of ``references_by_id``.
        name: Name of the rows in messages.
        source: Name of the references in messages.
        ids: Receives the ids of the rows.

    Yields:
        A row each; an error (not raised) stands for one without references.
    """
    for number, item_or_row in rows:
        row = (
            to_row(item_or_row)
            if isinstance(item_or_row, Item)
            else item_or_row
        )
        if not isinstance(row, Mapping):
            yield number, row
            continue
        key = _key(row)
        # An error stands for a row without references; it is not left out.
        if key is None or key not in fields_by_id:
            reason = f"is missing; {columns_of(row)}; name its column with --map id=COLUMN"
            reason = (
                f"{source} has no references for {key!r}" if key else reason
            )
            yield number, DataError(name, reason, line=number, field="id")
            continue
        try:
            fields = resolve_aliases(row)
            own_references = (
                given_field(fields, "references", reference_texts) or ()
            )
        except RowError as error:
            yield (
                number,
                DataError(name, error.reason, line=number, field=error.field),
            )
            continue
        ids.add(key)
        # Fields of the row win; groups are merged, so that a subset stays
        # known.
        reference_fields, group = fields_by_id[key], fields.get("group")
        if isinstance(group, Mapping):
            fields["group"] = {**reference_fields.get("group", {}), **group}
        yield (
            number,
            {
                **reference_fields,
                **fields,
                "references": [
                    *own_references,
                    *reference_fields["references"],
                ],
            },
        )


def add_ids(rows: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Yield rows with the id of their picture or film as id, where they have no other.

    A further row of one picture has its number behind it: ``73``, ``73#2``.
    """
    n_rows: Counter[str] = Counter()
    for number, row in rows:
        if (
            not isinstance(row, Mapping)
            or row.get("id") is not None
            or (key := _key(row)) is None
        ):
            yield number, row
            continue
        n_rows[key] += 1
        yield (
            number,
            {**row, "id": key if n_rows[key] == 1 else f"{key}#{n_rows[key]}"},
        )


def rows_without_text(
    fields_by_id: Mapping[str, Mapping[str, Any]], ids: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Yield a row without a text for each id of references that no row has."""
    for key, fields in fields_by_id.items():
        if key not in ids and fields["references"]:
            yield {"id": key, "candidate": "", **fields}


def _key(row: Mapping[str, Any]) -> str | None:
    value = next(
        (row[name] for name in _KEYS if row.get(name) is not None), None
    )
    if (
        isinstance(value, float) and value.is_integer()
    ):  # pandas writes 73.0 beside missing ids
        value = int(value)
    return None if value is None or value == "" else str(value)


def _texts(row: Mapping[str, Any]) -> list[str]:
    # References first: a file of texts to score may be the references of
    # another.
    for field in (
        "references",
        *ALIASES["references"],
        "candidate",
        *ALIASES["candidate"],
    ):
        if row.get(field):
            return (
                [row[field]]
                if isinstance(row[field], str)
                else list(row[field])
            )
    return []
