"""Rows of a training set as they are read, and the columns that they are read from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.data.columns import MISSING, find_value, unwrap_text
from beholder.data.headings import choose_columns
from beholder.data.row import RowError, language_of_row, plain_text

Flags: TypeAlias = NDArray[np.bool_]
"""Whether each row of a part is written."""


class SourcePart(NamedTuple):
    """A part of a source, which one worker reads.

    Attributes:
        source: The file or folder as the user named it.
        form: Name of its form.
        start: First byte, row group or picture.
        stop: The end of it.
    """

    source: str
    form: str
    start: int
    stop: int


class SourceRow(NamedTuple):
    """A row as it was read.

    Attributes:
        id: Its id; empty without one.
        text: The text; None if it is missing or unreadable.
        image: Path or address of the picture; may be empty.
        picture: Key of the picture, equal for one picture under two names where content is at
            hand; empty without one.
        language: The language that the row states.
        reason: Reason of the reader; may be empty.
        note: What was wrong, in words.
    """

    id: str = ""
    text: str | None = None
    image: str = ""
    picture: str = ""
    language: str = ""
    reason: str = ""
    note: str = ""


@dataclass(frozen=True)
class SourceSettings:
    """How rows are read: columns by field, and the ending of the texts of folders and shards."""

    columns: Mapping[str, str]
    text_ending: str


def row_from_fields(
    row: object, settings: SourceSettings, **known_fields: str
) -> SourceRow:
    """Return a row of a table, with the values of mapped or recognised columns."""
    if not isinstance(row, Mapping):
        return SourceRow(reason="unreadable", note="is no object")
    recognised = choose_columns(tuple(map(str, row)), "item")
    if "candidate" not in recognised and "candidate" not in settings.columns:
        # A column ``text`` is what a training set calls its captions.
        names = choose_columns(tuple(map(str, row)), "lint")
        recognised = {**recognised, "candidate": names.get("text", ())}
    try:
        text = _value(row, "candidate", settings.columns, recognised)
        if isinstance(text, list) and len(text) > 1:
            raise RowError(
                f"has {len(text)} texts; name one, as --map 'candidate=COLUMN[0]'"
            )
        if text is not None:
            text = plain_text(unwrap_text(text))
        image = _value(row, "images", settings.columns, recognised)
        image = unwrap_text(image)
        if isinstance(image, Mapping):
            image = image.get("path")
        image = image if isinstance(image, str) else ""
        name = _value(row, "id", settings.columns, recognised)
        return SourceRow(
            id="" if name is None else str(name),
            text=text,
            image=known_fields.get("image", image),
            picture=known_fields.get("picture", image),
            language=language_of_row(row),
        )
    except RowError as error:
        return SourceRow(reason="unreadable", note=error.reason)


def _value(
    row: Mapping[Any, Any],
    field: str,
    columns: Mapping[str, str],
    recognised: Mapping[str, Sequence[str]],
) -> Any:
    path = columns.get(field)
    if path is None:
        names = recognised.get(field, ())
        return row.get(names[0]) if names else None
    if path in row:
        return row[path]
    value = find_value(row, path)
    return None if value is MISSING else value
