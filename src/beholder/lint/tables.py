"""Pictures of tables: CSV, TSV, JSONL, JSON, Parquet and COCO captions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from beholder.data.lines import opened, read_jsonl
from beholder.data.row import RowError, language_of_row
from beholder.data.tables import read_cells, read_parquet
from beholder.errors import DataError
from beholder.lint.naming import FIELDS
from beholder.lint.occurrence import Occurrence
from beholder.lint.wording import names

_COLUMNS: dict[str, list[str]] = names("columns")
"""Names of columns, in lower case with ``_`` for blanks, in order of preference."""

_SAME = {
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
    """Pictures of a table, one a row.

    Args:
        file: The table.
        name: What messages call it.
        value: Content of a JSON file, or None for another form.
        columns: Columns by what they contain; others are found by their names.
        notes: Receives a line that names the columns.

    Raises:
        DataError: The file cannot be read.
        NoTextColumnError: No column of texts was found.
    """
    names, rows = _rows(file, name, value)
    flat: list[tuple[int, dict[str, Any] | DataError]] = []
    for number, row in rows:
        if isinstance(row, dict) and isinstance(row.get("context"), dict):
            row = row | row["context"]
        if not isinstance(row, dict | DataError):
            row = DataError(
                name,
                "expected an object with the fields of a picture",
                line=number,
            )
        flat.append((number, row))
        if isinstance(row, dict):
            names.update(dict.fromkeys(row))
    if not names and all(isinstance(row, DataError) for _, row in flat):
        yield from (row for _, row in flat if isinstance(row, DataError))
        return
    chosen = _chosen(list(names), columns, name)
    read = (
        f"`{chosen[key]}` as {key}"
        for key in ("text", "picture")
        if key in chosen
    )
    notes.append(f"{name}: read {', '.join(read)}")
    for number, row in flat:
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
        shown = value.get("images")  # COCO captions
        files = {
            one.get("id"): one.get("file_name")
            for one in (shown if isinstance(shown, list) else ())
            if isinstance(one, dict)
        }
        return [
            {
                "image": files.get(one.get("image_id")),
                "alt": one.get("caption"),
            }
            if isinstance(one, dict)
            else one
            for one in value["annotations"]
        ]
    if isinstance(value, dict):
        value = next(
            (one for one in value.values() if isinstance(one, list)), None
        )
    if not isinstance(value, list) or not any(
        isinstance(one, dict) for one in value
    ):
        raise NoTextColumnError(
            name, "has no list of rows; expected a list of objects"
        )
    return value


def _chosen(
    names: list[str], columns: Mapping[str, str], name: str
) -> dict[str, str]:
    plain = {
        "_".join(one.strip().lower().split()): one for one in reversed(names)
    }
    given: dict[str, str] = {}
    for key, column in columns.items():
        field = _field(key, column, name)
        if column not in names:
            hint = _close(column, names)
            reason = f"there is no column {column!r}{hint}; it has {', '.join(names)}"
            raise DataError(name, f"--map {key}={column}: {reason}")
        if field in given:
            raise DataError(
                name,
                f"--map {key}={column}: {field} has the column {given[field]!r}",
            )
        given[field] = column
    chosen = {
        key: next((plain[one] for one in known if one in plain), "")
        for key, known in _COLUMNS.items()
    }
    chosen = {
        key: column for key, column in (chosen | given).items() if column
    }
    if "text" not in chosen:
        reason = (
            f"has no column of alternative texts; it has {', '.join(names)}"
        )
        raise NoTextColumnError(
            name, f"{reason}: name one with --map text=COLUMN"
        )
    if chosen.get("caption") == chosen["text"]:
        del chosen["caption"]
    return chosen


def _field(key: str, column: str, name: str) -> str:
    """The field that a mapping names: by its own name, or by one of its usual columns."""
    plain = "_".join(key.strip().lower().split())
    if plain in _COLUMNS:
        return plain
    for field, known in _COLUMNS.items():
        if plain in known:
            return field
    hint = _close(
        plain,
        [*_COLUMNS, *(one for known in _COLUMNS.values() for one in known)],
    )
    reason = f"there is no field {key!r}{hint}; expected one of {', '.join(_COLUMNS)}"
    raise DataError(name, f"--map {key}={column}: {reason}")


def _close(name: str, known: Sequence[str]) -> str:
    close = get_close_matches(name, known, n=1)
    return f", did you mean {close[0]!r}?" if close else ""


def _occurrence(
    row: dict[str, Any], chosen: Mapping[str, str], name: str, number: int
) -> Occurrence | DataError:
    text = row.get(chosen["text"])
    if isinstance(text, list) and len(text) == 1:
        text = text[0]
    if text is not None and not isinstance(text, str):
        reason = f"is {type(text).__name__}, expected a text"
        return DataError(name, reason, line=number, field=chosen["text"])
    if text is not None and any(
        "\ud800" <= letter <= "\udfff" for letter in text
    ):
        return DataError(
            name,
            "has half of a surrogate pair",
            line=number,
            field=chosen["text"],
        )
    said = {
        key: _plain(row.get(column))
        for key, column in chosen.items()
        if key != "text"
    }
    try:
        # The column that was named or recognised, and the other places that hold a language.
        language = language_of_row({**row, "language": said.get("language")})
    except RowError as error:
        return DataError(name, error.reason, line=number, field=error.field)
    role, link = said.get("role", "").lower(), said.get("link") or None
    caption = said.get("caption", "")
    same: dict[str, Any] = {
        own: said.get(key, "") for key, own in _SAME.items()
    }
    return Occurrence(
        file=name,
        line=number,
        locator=f"row {number}",
        element="row",
        picture=said.get("picture", ""),
        raw=text,
        text_from=chosen["text"],
        decorative=role == "decorative",
        declared=role == "decorative",
        role=role
        or ("functional" if link else "figure" if caption else "informative"),
        link=link,
        language=language,
        caption=caption,
        is_long=chosen["text"] in ("long_description", "long"),
        medium=bool(said.get("medium")),
        labels=_labels(row),
        own_words=_terms(row.get(chosen.get("self_described", ""))),
        ignore=frozenset(
            said.get("lint_ignore", "").replace(",", " ").upper().split()
        ),
        **same,
    )


def _labels(row: Mapping[str, Any]) -> dict[str, str]:
    """What ``group`` says of who is shown: an object, or columns such as ``group.race``."""
    group = row.get("group")
    values = dict(group) if isinstance(group, Mapping) else {}
    values |= {
        name.removeprefix("group."): value
        for name, value in row.items()
        if name.startswith("group.")
    }
    return {
        FIELDS[name]: label
        for name, value in values.items()
        if name in FIELDS and (label := _plain(value).strip())
    }


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(str(one) for one in value)
    return "" if value is None else str(value)


def _terms(value: Any) -> frozenset[str]:
    if isinstance(value, list):
        return frozenset(str(one).casefold() for one in value)
    said = _plain(value).strip().lower()
    if said in ("true", "1", "yes"):
        return frozenset("*")
    return frozenset(one.strip() for one in said.split("|") if one.strip())
