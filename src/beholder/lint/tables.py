"""Pictures of tables, as ``beholder.data`` reads them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import chain
from pathlib import Path
from typing import Any

from beholder.data.columns import MISSING, find_value, unwrap_text
from beholder.data.folders import PICTURES, picture_beside, sidecar_rows_of
from beholder.data.headings import (
    LINT_FIELDS,
    TEXTS,
    choose_columns,
    find_columns,
    fold_heading,
)
from beholder.data.json_forms import NoRowsError, rows_of
from beholder.data.notes import RowNotes
from beholder.data.reading import RowReading
from beholder.data.row import (
    RowError,
    checked_field,
    columns_of,
    hint_map,
    is_picture_data,
    language_of_row,
    plain_text,
    shorten,
)
from beholder.data.sources import read_rows
from beholder.errors import DataError
from beholder.lint.occurrence import Occurrence

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

_GROUP = "group."
"""Beginning of the columns and fields by which findings are broken down."""


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
        file: The table, a text beside a picture, or a picture beside which there is none.
        name: Name of the file in messages.
        value: Content of a JSON file, or None for another form.
        columns: Columns by what they contain; others are found by their names.
        notes: Receives a line that names the columns, and one of what is not read.

    Raises:
        DataError: The file cannot be read.
        NoTextColumnError: No column of texts was found.
    """
    row_notes = RowNotes()
    reading = RowReading(columns, row_notes.left_out, True)
    rows = _flat_rows(_rows(file, name, value, reading), columns, name)
    has_one_header = bool({".csv", ".tsv"} & _suffixes(file))
    header: dict[str, Any] = {}
    first_rows: list[tuple[int, dict[str, Any] | DataError]] = []
    # Columns are chosen after all rows are read, as rows of JSON may differ in their fields; those
    # of a table of text have the fields of the first.
    for number, row in rows:
        first_rows.append((number, row))
        if not isinstance(row, DataError):
            header = {**row, **header}
            if has_one_header:
                break
    if not first_rows:
        raise NoTextColumnError(name, "has no rows")
    chosen: dict[str, str] = {}
    if header:
        chosen = _choose_columns(header, columns, name)
        columns_read = (
            f"`{chosen[key]}` as {key}"
            for key in ("text", "picture")
            if key in chosen
        )
        # A text beside a picture has no columns.
        if file.suffix.lower() not in (".txt", *PICTURES):
            notes.append(f"{name}: read {', '.join(columns_read)}")
    groups = [column for column in header if column.startswith(_GROUP)]
    used = {*chosen.values(), *groups, "references"}
    mapped_groups = {
        field: chosen.pop(field)
        for field in list(chosen)
        if field.startswith(_GROUP)
    }
    # Each row is dropped once it is read: tables have many.
    first_rows.reverse()
    popped_rows = (first_rows.pop() for _ in range(len(first_rows)))
    for number, row in chain(popped_rows, rows):
        if isinstance(row, DataError):
            yield row
            continue
        row_notes.count_columns(row, "lint", used)
        row |= {
            field: row.get(column) for field, column in mapped_groups.items()
        }
        yield from _occurrences(row, chosen, name, number)
    notes += [f"{name}: {sentence}" for sentence in row_notes.sentences()]


def _suffixes(file: Path) -> set[str]:
    """Return the endings of a name that may be packed, such as ``a.csv.gz``."""
    return {suffix.lower() for suffix in file.suffixes[-2:]}


def _flat_rows(
    rows: Iterable[tuple[int, Any]], columns: Mapping[str, str], name: str
) -> Iterator[tuple[int, dict[str, Any] | DataError]]:
    """Yield rows with the fields of their context and of mapped paths, or the error of each."""
    for number, row in rows:
        if isinstance(row, DataError):
            yield number, row
        elif isinstance(row, Mapping):
            context = row.get("context")
            inner = context if isinstance(context, Mapping) else {}
            yield number, _with_paths({**row, **inner}, columns)
        else:
            reason = "expected an object with the fields of a picture"
            yield number, DataError(name, reason, line=number)


def _rows(
    file: Path, name: str, value: Any, reading: RowReading
) -> Iterable[tuple[int, Any]]:
    form = file.suffix.lower()
    if form in PICTURES or (form == ".txt" and picture_beside(file)):
        return sidecar_rows_of(file)
    if form != ".json":
        return read_rows(file, name, reading)
    # Of objects of texts only those by id are texts of pictures: folders of pages
    # have settings and translations, too.
    is_plain = (
        isinstance(value, Mapping)
        and all(isinstance(text, str) for text in value.values())
        and not find_columns(value, ("candidate", *TEXTS))
    )
    if is_plain and not all(re.search(r"\d", str(key)) for key in value):
        raise NoTextColumnError(
            name, "is an object of texts whose keys are no ids"
        )
    try:
        rows = list(rows_of(value, name, reading))
    except NoRowsError as error:
        raise NoTextColumnError(name, error.reason) from error
    if not any(isinstance(row, Mapping) for row in rows):
        raise NoTextColumnError(
            name, "has no list of rows; expected a list of objects"
        )
    return enumerate(rows, start=1)


def _with_paths(
    row: dict[str, Any], columns: Mapping[str, str]
) -> dict[str, Any]:
    """Return a row with the values that mapped paths such as ``a.b`` lead to."""
    for path in columns.values():
        if path not in row and (value := find_value(row, path)) is not MISSING:
            row[path] = value
    return row


def _choose_columns(
    header: Mapping[str, Any], columns: Mapping[str, str], name: str
) -> dict[str, str]:
    mapped: dict[str, str] = {}
    for key, column in columns.items():
        field = _field(key, column, name)
        reason = ""
        if column not in header:
            hint = _close(column, list(header))
            reason = (
                f"there is no column {column!r}{hint}; {columns_of(header)}"
            )
        elif field in mapped:
            reason = f"{field} has the column {mapped[field]!r}"
        if reason:
            raise DataError(name, f"--map {key}={column}: {reason}")
        mapped[field] = column
    # The columns of a text are not looked for where the user named one.
    names = choose_columns(tuple(header), "lint")
    chosen = {field: matches[0] for field, matches in names.items()} | mapped
    if "text" not in chosen and find_columns(header, ("references",)):
        chosen["text"] = find_columns(header, ("references",))[0]
    if "text" not in chosen:
        raise NoTextColumnError(
            name,
            f"has no column of alternative texts; {columns_of(header)}; {hint_map('text', header)}",
        )
    # One column may be known as text and as caption; a text is not compared
    # with itself.
    if chosen.get("caption") == chosen["text"]:
        del chosen["caption"]
    return chosen


def _field(key: str, column: str, name: str) -> str:
    """Return the field that a mapping names by its own name, or by one of its headings.

    Raises:
        DataError: The field is unknown.
    """
    if key.startswith(_GROUP) and key != _GROUP:
        return key
    folded = fold_heading(key)
    for field in LINT_FIELDS:
        if folded == fold_heading(field):
            return field
    fields = choose_columns((key,), "lint")
    if fields:
        return next(iter(fields))
    hint = _close(key, [*LINT_FIELDS])
    known = ", ".join([*LINT_FIELDS, "group.NAME"])
    raise DataError(
        name,
        f"--map {key}={column}: there is no field {key!r}{hint}; expected one of {known}",
    )


def _close(name: str, choices: Sequence[str]) -> str:
    close = get_close_matches(name, choices, n=1)
    return f", did you mean {close[0]!r}?" if close else ""


def _occurrences(
    row: dict[str, Any], chosen: Mapping[str, str], name: str, number: int
) -> Iterator[Occurrence | DataError]:
    """Yield the text of a row; of a list of texts, such as captions of one picture, each."""
    text = unwrap_text(row.get(chosen["text"]))
    texts = text if isinstance(text, list) and text else [text]
    for written in texts:
        yield _occurrence(row, written, chosen, name, number)


def _occurrence(
    row: dict[str, Any],
    text: Any,
    chosen: Mapping[str, str],
    name: str,
    number: int,
) -> Occurrence | DataError:
    value_by_field = dict.fromkeys(LINT_FIELDS, "")
    try:
        value_by_field |= {
            key: checked_field(column, _plain, row.get(column))
            for key, column in chosen.items()
            if key not in ("text", "self_described")
        }
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
        name.removeprefix(_GROUP): value
        for name, value in row.items()
        if name.startswith(_GROUP)
    }
    groups = {
        name: _plain(value).strip()
        for name, value in values.items()
        if not isinstance(value, Mapping)
    }
    # Rows without groups share one object: tables have many rows.
    return {k: v for k, v in groups.items() if v} or _NO_GROUPS


_NO_GROUPS: Mapping[str, str] = {}


def _plain(value: Any) -> str:
    """Return a value as text; RowError for an object, whose form is no text."""
    if is_picture_data(value):
        value = value.get("path") if isinstance(value, Mapping) else None
    if isinstance(value, list):
        return " ".join(map(_plain, value))
    if isinstance(value, Mapping):
        raise RowError(
            f"expected a text, got {shorten(value)}; name a value in it, as --map FIELD=COLUMN.KEY"
        )
    return "" if value is None else str(value)


def _terms(value: Any) -> frozenset[str]:
    if isinstance(value, list):
        return frozenset(str(word).casefold() for word in value)
    text = _plain(value).strip().lower()
    if text in ("true", "1", "yes"):
        return frozenset("*")
    return frozenset(word.strip() for word in text.split("|") if word.strip())
