"""Pictures of tables: CSV, TSV, JSONL, JSON, Parquet and COCO captions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from beholder.data.lines import opened, read_jsonl
from beholder.data.row import (
    RowError,
    checked_field,
    language_of_row,
    plain_text,
)
from beholder.data.tables import read_cells, read_parquet
from beholder.errors import DataError
from beholder.lint.occurrence import Occurrence
from beholder.lint.wording import names

_COLUMNS: dict[str, list[str]] = names("columns")
"""Names of columns, in lower case with ``_`` for blanks, in order of preference."""

_SAME = {
    "picture": "picture",
    "caption": "caption",
    "page": "page",
    "page_text": "nearby",
    "date": "date",
    "title": "work_title",
    "long_description": "long",
}
"""Attributes of an ``Occurrence`` by the field that holds them."""


class NoTextColumnError(DataError):
    """A file has no column that is known to contain texts, or no rows."""


def pictures(
    file: Path,
    name: str,
    value: Any,
    columns: Mapping[str, str],
    notes: list[str],
) -> Iterator[Occurrence | DataError]:
    """Yield the picture of each row of a table.

    Args:
        file: The table.
        name: Name of the file in messages.
        value: Content of a JSON file, or None for another form.
        columns: Columns by what they contain; others are found by their names.
        notes: Receives a line that names the columns.

    Raises:
        DataError: The file cannot be read.
        NoTextColumnError: No column of texts was found.
    """
    header, rows = _rows(file, name, value)
    flat: list[tuple[int, dict[str, Any] | DataError]] = []
    # Columns are chosen after all rows are read: rows of JSON may differ in
    # their fields.
    for number, row in rows:
        if isinstance(row, dict):
            context = row.get("context")
            row = row | context if isinstance(context, dict) else row
            header |= dict.fromkeys(row)
        elif not isinstance(row, DataError):
            reason = "expected an object with the fields of a picture"
            row = DataError(name, reason, line=number)
        flat.append((number, row))
    chosen: dict[str, str] = {}
    if header or not flat:
        chosen = _choose_columns(list(header), columns, name)
        columns_read = (
            f"`{chosen[key]}` as {key}"
            for key in ("text", "picture")
            if key in chosen
        )
        notes.append(f"{name}: read {', '.join(columns_read)}")
    # Each row is dropped once it is read: tables have many.
    flat.reverse()
    while flat:
        number, row = flat.pop()
        yield (
            row
            if isinstance(row, DataError)
            else _occurrence(row, chosen, name, number)
        )


def _rows(
    file: Path, name: str, value: Any
) -> tuple[dict[str, None], Iterable[tuple[int, Any]]]:
    """Return the columns, where the file names them, and its rows by number or line."""
    form = file.suffix.lower()
    if form == ".parquet":
        return {}, read_parquet(file, name)
    if form == ".json":
        return {}, enumerate(_json_rows(value, name), 1)
    with opened(file, name, None) as stream:
        if form in (".jsonl", ".ndjson"):
            return {}, list(read_jsonl(stream, name))
        header, rows = read_cells(
            stream, name, "\t" if form == ".tsv" else ","
        )
        if not header:
            raise DataError(
                name, "has no columns; expected a first line with their names"
            )
        return dict.fromkeys(header), [
            (row.first_line, row.cells) for row in rows
        ]


def _json_rows(value: Any, name: str) -> Iterable[Any]:
    if isinstance(value, dict) and isinstance(value.get("annotations"), list):
        images = value.get("images")  # COCO captions
        files = {
            image.get("id"): image.get("file_name")
            for image in _objects(images)
        }
        return [
            {
                "image": files.get(annotation.get("image_id")),
                "alt": annotation.get("caption"),
            }
            if isinstance(annotation, dict)
            else annotation
            for annotation in value["annotations"]
        ]
    if isinstance(value, dict):
        value = next(
            (member for member in value.values() if isinstance(member, list)),
            None,
        )
    if not _objects(value):
        raise NoTextColumnError(
            name, "has no list of rows; expected a list of objects"
        )
    return value  # type: ignore[no-any-return]


def _objects(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list; none of anything else."""
    rows = value if isinstance(value, list) else ()
    return [row for row in rows if isinstance(row, dict)]


def _choose_columns(
    header: list[str], columns: Mapping[str, str], name: str
) -> dict[str, str]:
    # Reversed, here and below: of two candidates the first in the file, or the
    # more usual name, comes last and replaces the other.
    plain_name = {
        _plain_name(column_name): column_name
        for column_name in reversed(header)
    }
    mapped: dict[str, str] = {}
    for key, column in columns.items():
        field = _field(key, column, name)
        reason = ""
        if column not in header:
            hint = _close(column, header)
            reason = f"there is no column {column!r}{hint}; it has {', '.join(header)}"
        elif field in mapped:
            reason = f"{field} has the column {mapped[field]!r}"
        if reason:
            raise DataError(name, f"--map {key}={column}: {reason}")
        mapped[field] = column
    chosen: dict[str, str] = {}
    for key, usual_columns in _COLUMNS.items():
        for usual_column in reversed(usual_columns):
            if usual_column in plain_name:
                chosen[key] = plain_name[usual_column]
    chosen |= mapped
    if "text" not in chosen:
        raise NoTextColumnError(
            name,
            f"has no column of alternative texts; it has {', '.join(header)}: name one with"
            " --map text=COLUMN",
        )
    # One column may be known as text and as caption; a text is not compared
    # with itself.
    if chosen.get("caption") == chosen["text"]:
        del chosen["caption"]
    return chosen


def _plain_name(column: str) -> str:
    return "_".join(column.lower().split())


def _field(key: str, column: str, name: str) -> str:
    """Return the field that a mapping names by its own name, or by one of its usual columns.

    Raises:
        DataError: The field is unknown.
    """
    plain_name = _plain_name(key)
    fields = {
        column: field
        for field, usual_columns in reversed(_COLUMNS.items())
        for column in usual_columns
    }
    fields |= dict(zip(_COLUMNS, _COLUMNS, strict=True))
    if plain_name in fields:
        return fields[plain_name]
    hint = _close(plain_name, [*fields])
    reason = f"there is no field {key!r}{hint}; expected one of {', '.join(_COLUMNS)}"
    raise DataError(name, f"--map {key}={column}: {reason}")


def _close(name: str, choices: Sequence[str]) -> str:
    close = get_close_matches(name, choices, n=1)
    return f", did you mean {close[0]!r}?" if close else ""


def _occurrence(
    row: dict[str, Any], chosen: Mapping[str, str], name: str, number: int
) -> Occurrence | DataError:
    text = row.get(chosen["text"])
    if isinstance(text, list) and len(text) == 1:
        text = text[0]
    value_by_field = dict.fromkeys(_COLUMNS, "")
    value_by_field |= {
        key: _plain(row.get(column)) for key, column in chosen.items()
    }
    try:
        if text is not None:
            checked_field(chosen["text"], plain_text, text)
        # The column that was named or recognised, and the other places that hold a language.
        language = language_of_row(
            {**row, "language": value_by_field["language"]}
        )
    except RowError as error:
        return DataError(name, error.reason, line=number, field=error.field)
    role, link, caption = (
        value_by_field["role"].lower(),
        value_by_field["link"],
        value_by_field["caption"],
    )
    usual_role = "figure" if caption else "informative"
    copied_values: dict[str, Any] = {
        attribute: value_by_field[key] for key, attribute in _SAME.items()
    }
    return Occurrence(
        file=name,
        line=number,
        locator=f"row {number}",
        element="row",
        raw=text,
        text_from=chosen["text"],
        decorative=role == "decorative",
        declared=role == "decorative",
        role=role or ("functional" if link else usual_role),
        link=link or None,
        language=language,
        is_long=chosen["text"] in ("long_description", "long"),
        medium=bool(value_by_field["medium"]),
        groups=_groups(row),
        own_words=_terms(row.get(chosen.get("self_described", ""))),
        ignore=frozenset(
            re.findall(r"[^\s,]+", value_by_field["lint_ignore"].upper())
        ),
        **copied_values,
    )


def _groups(row: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the values of a row by group, from ``group`` or columns such as ``group.system``."""
    group = row.get("group")
    values = dict(group) if isinstance(group, Mapping) else {}
    values |= {
        name.removeprefix("group."): value
        for name, value in row.items()
        if name.startswith("group.")
    }
    groups = {name: _plain(value).strip() for name, value in values.items()}
    # Rows without groups share one object: tables have many rows.
    return {k: v for k, v in groups.items() if v} or _NO_GROUPS


_NO_GROUPS: Mapping[str, str] = {}


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(str(entry) for entry in value)
    return "" if value is None else str(value)


def _terms(value: Any) -> frozenset[str]:
    if isinstance(value, list):
        return frozenset(str(word).casefold() for word in value)
    text = _plain(value).strip().lower()
    if text in ("true", "1", "yes"):
        return frozenset("*")
    return frozenset(word.strip() for word in text.split("|") if word.strip())
