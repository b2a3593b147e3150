"""One row of a data file becomes an Item, or an error that names the field."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, replace
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from beholder.base.visible import cut_text
from beholder.data.headings import choose_columns, map_option
from beholder.errors import ConfigError
from beholder.media import file_of
from beholder.records import ROW_FIELDS, Item
from beholder.text.languages import canonical_language

_REFUSED = frozenset({"candidate", "references"})
"""Fields of which two columns in one row are an error: which one is meant changes every value."""

_MOST_NAMED = 20
"""Columns that a message names."""


class RowError(ValueError):
    """A row is not an item.

    Attributes:
        field: The field that is wrong, or None for the whole row.
        reason: The expected and the actual value.
    """

    def __init__(self, reason: str, field: str | None = None) -> None:
        self.field = field
        self.reason = reason
        super().__init__(f"{field}: {reason}" if field else reason)


def from_row(
    row: object,
    *,
    default_id: str | None = None,
    media_root: Path | None = None,
    unusable: list[str] | None = None,
) -> Item:
    """Check a row and build its item.

    Args:
        row: The parsed row, a mapping of field to value.
        default_id: Used when the row has no ``id``; None makes a missing id an error.
        media_root: Folder that absolute paths of images may point into; None refuses them all.
        unusable: Receives why pictures cannot be used, which the item then has not; None makes that
            an error.

    Raises:
        RowError: Names the first field that is wrong.
    """
    if not isinstance(row, Mapping):
        raise RowError(f"expected an object with fields, got {shorten(row)}")
    # Each known field is taken out and checked; what is left over is kept in
    # ``meta``.
    other_fields = resolve_aliases(row)
    language = language_of_row(other_fields)
    other_fields.pop("language", None)
    written_number = other_fields.pop(
        "id_is_row_number", None
    )  # in rows that ``to_row`` wrote

    def image_path(value: object) -> str:
        return media_path(value, media_root)

    if unusable is not None:
        _drop_unusable(other_fields, image_path, unusable)

    def take(
        field: str, check: Callable[[Any], Any], default: Any = None
    ) -> Any:
        value = other_fields.pop(field, None)
        return default if value is None else checked_field(field, check, value)

    own_id = take("id", identifier)
    item_id = own_id or default_id
    if item_id is None:
        raise RowError("is missing", "id")
    candidate = take("candidate", plain_text)
    names = candidate_columns(row)
    if candidate is None and names:
        # null where others have a text: this system said nothing
        candidate = ""
        other_fields = {
            key: v for key, v in other_fields.items() if key not in names
        }
    if candidate is None:
        raise RowError(_missing_candidate(row), "candidate")
    item = Item(
        id=item_id,
        candidate=candidate,
        references=take("references", reference_texts, ()),
        images=take("images", lambda v: _texts(v, image_path), ()),
        video=take("video", image_path),
        group=take("group", labels, {}),
        judgments=take("judgments", lambda v: _mapping(_without_nan(v)), {}),
        meta={
            **take("meta", _mapping, {}),
            **{
                plain_text(key): checked_field(key, _clean, v)
                for key, v in other_fields.items()
            },
        },
        id_is_row_number=own_id is None or written_number is True,
    )
    return _in_language(item, language)


def _drop_unusable(
    fields: dict[str, Any],
    check: Callable[[object], str],
    unusable: list[str],
) -> None:
    """Remove pictures and films that are no path that may be opened, and bytes of pictures."""
    for field in ("images", "video"):
        value = fields.get(field)
        if value is None:
            continue
        try:
            several = value if isinstance(value, list | tuple) else [value]
            paths = [_path_in_table(part) for part in several]
            if field == "images":
                fields[field] = [check(path) for path in paths]
            else:
                check(paths[0])
        except RowError as error:
            del fields[field]
            unusable.append(f"{field}: {error.reason}")
    for name, value in list(fields.items()):
        if is_picture_data(value):
            del fields[name]
            unusable.append(f"{name}: {_IN_TABLE}")


_IN_TABLE = (
    "the picture is in the table itself; write it to a file and name that"
)


def is_picture_data(value: object) -> bool:
    """Return whether a value is a picture itself: bytes, ``{"bytes": ...}``, or one of Pillow."""
    if isinstance(value, Mapping):
        value = value.get("bytes")
    return isinstance(value, bytes | bytearray) or type(
        value
    ).__module__.startswith("PIL.")


def _path_in_table(value: object) -> object:
    """Return the path of a picture of a table of ``datasets``; other values unchanged."""
    if not is_picture_data(value):
        return value
    path = value.get("path") if isinstance(value, Mapping) else None
    if not path:
        raise RowError(_IN_TABLE)
    return path


def candidate_columns(row: Iterable[Any]) -> Sequence[str]:
    """Return the columns of a row that may hold the candidate, also without a value."""
    return choose_columns(tuple(map(str, row)), "item").get("candidate", ())


def _missing_candidate(row: Mapping[Any, Any]) -> str:
    hint = hint_map("candidate", row)
    # A file of references alone, such as COCO captions.
    if any(row.get(name) for name in ("references", *ROW_FIELDS)):
        hint += (
            ", or name the file of texts, and this one with --references-from"
        )
    return (
        "is missing (also read: caption, generation, prediction, hypothesis, alt text,"
        f" description); {columns_of(row)}; {hint}"
    )


def with_one_language(item: Item) -> Item:
    """Return an item with its language in ``group`` alone, as ``canonical_language`` writes it.

    Raises:
        RowError: ``group`` and ``meta`` name two languages.
    """
    return _in_language(
        item, language_of_row({"group": item.group, "meta": item.meta})
    )


def _in_language(item: Item, language: str) -> Item:
    if not language and "language" not in {*item.group, *item.meta}:
        return item
    group, meta = dict(item.group), dict(item.meta)
    for values in (group, meta):
        values.pop("language", None)
    if language:
        group["language"] = language
    return replace(item, group=group, meta=meta)


def stated_language(values: Mapping[str, object]) -> str:
    """Return the one language that fields of a row name, as ``canonical_language`` writes it.

    Args:
        values: Value by field; None and blank values name no language.

    Returns:
        The language; empty if no field names one.

    Raises:
        RowError: A value is not a text, or two fields name different languages.
    """
    stated: dict[str, str] = {}
    for field, value in values.items():
        if value is None or value != value:  # NaN: an empty cell of a table
            continue
        if not isinstance(value, str):
            raise RowError(
                f"expected the name or code of a language, got {shorten(value)}; a column that is"
                " something else needs another name",
                field,
            )
        if language := canonical_language(plain_text(value)):
            stated[field] = language
    # "en" and "en-GB" are no contradiction: the longer tag says more.
    # Each language must be the longest tag or begin it.
    longest = max(stated.values(), key=len, default="")
    for language in stated.values():
        if not f"{longest}-".casefold().startswith(f"{language}-".casefold()):
            statement = " and ".join(
                f"{field} {values[field]!r}" for field in stated
            )
            raise RowError(
                f"the row names two languages, {statement}; keep the right one",
                "language",
            )
    return longest


def language_of_row(row: Mapping[str, Any]) -> str:
    """Return the language that a row names in any of its fields; errors as ``stated_language``."""
    group, meta = row.get("group"), row.get("meta")
    # The field's own name wins over another heading.
    columns: tuple[str, ...] = ("language",)
    if row.get("language") is None:
        chosen = choose_columns(tuple(map(str, row)), "item")
        columns = (*chosen.get("language", ())[:1],)
    values = {name: row.get(name) for name in (*columns, "group.language")}
    if isinstance(group, Mapping):
        values["group.language"] = values["group.language"] or group.get(
            "language"
        )
    if isinstance(meta, Mapping):
        values["meta.language"] = meta.get("language")
    return stated_language(values)


def columns_of(row: Iterable[Any]) -> str:
    """Return the columns of a row, as messages name them, with what is no text in them."""
    names = list(map(str, row))
    omitted = (
        f" and {len(names) - _MOST_NAMED} more"
        if len(names) > _MOST_NAMED
        else ""
    )
    if isinstance(row, Mapping):
        names = [f"{name}{_kind_shown(value)}" for name, value in row.items()]
    return f"there are: {', '.join(names[:_MOST_NAMED])}{omitted}"


def _kind_shown(value: object) -> str:
    """Return the type of a value in brackets, with its keys; empty for a text."""
    kind = _KINDS_SHOWN.get(type(value), "")
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        kind, value = "a list of objects", value[0]
    # The keys are the next step of a path for --map.
    if isinstance(value, Mapping) and value:
        keys = ", ".join(map(str, list(value)[:_MOST_INNER]))
        more = ", ..." if len(value) > _MOST_INNER else ""
        kind = f"{kind} with {keys}{more}"
    return f" ({kind})" if kind else ""


_MOST_INNER = 5
"""Keys of an inner object that a message names."""


def hint_map(field: str, row: Mapping[Any, Any]) -> str:
    """Return how to name the column of a field; of nested rows, also a value inside a column."""
    hint = f"name its column with --map {field}=COLUMN"
    values = list(row.values())
    if any(isinstance(value, Mapping) and value for value in values):
        hint += ", a value in an object as 'COLUMN.KEY'"
    if any(isinstance(value, list) and value for value in values):
        hint += ", one in a list as 'COLUMN[].KEY' or 'COLUMN[0].KEY'"
    if any(_CELL.search(str(name)) for name in row):
        hint += "; if the first line is a row, add a line of headings above it"
    return hint


_CELL = re.compile(r"\.(?:jpe?g|png|webp|gif|tiff?)$|\S \S+ .*\w[.!?]$", re.I)
"""A file or a sentence, as cells have them and headings do not."""


_KINDS_SHOWN = {
    dict: "an object",
    list: "a list",
    int: "a number",
    float: "a number",
    bool: "true or false",
}
"""Types of values, as messages name them; a text is the usual one."""


def to_row(item: Item) -> dict[str, object]:
    """Return the row of an item; ``from_row`` reads the same item from it."""
    row = {field.name: getattr(item, field.name) for field in fields(item)}
    return {
        key: value
        for key, value in row.items()
        if value or key in ("id", "candidate")
    }


def item_from_row(row: Mapping[str, Any]) -> Item:
    """Return the item of a row that ``to_row`` made, unchecked."""
    values = dict(row)
    for name in ("references", "images"):
        values[name] = tuple(values.get(name, ()))
    return Item(**values)


def resolve_aliases(row: Mapping[Any, Any]) -> dict[str, object]:
    """Return a row with fields under their own names; RowError if two columns name one field."""
    value_by_field = {str(key): value for key, value in row.items()}
    for field, names in choose_columns(tuple(value_by_field), "item").items():
        columns = [name for name in names if value_by_field[name] is not None]
        if not columns or columns[0] == field:
            continue  # the field's own name wins; another beside it stays in meta
        if len(columns) > 1 and field in _REFUSED:
            raise RowError(
                f"both {columns[0]!r} and {columns[1]!r} could be it; keep one, or say which with"
                f" {map_option(field, columns[0])}",
                field,
            )
        value_by_field[field] = value_by_field.pop(columns[0])
    return value_by_field


def given_field(
    row: Mapping[str, Any], field: str, check: Callable[[Any], Any]
) -> Any:
    """Return the value of a field after its check; None without one. RowError names the field."""
    value = row.get(field)
    return None if value is None else checked_field(field, check, value)


def checked_field(
    field: str, check: Callable[[Any], Any], value: object
) -> Any:
    """Return the value of a field after its check; errors name the field.

    Raises:
        RowError: The check fails.
    """
    try:
        return check(value)
    except RowError as error:
        raise RowError(error.reason, field + (error.field or "")) from None


def identifier(value: object) -> str:
    """Check that an id is a text or whole number and not empty; RowError otherwise."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise RowError(
            f"expected a text or a whole number, got {shorten(value)}"
        )
    text = plain_text(str(value))
    if not text.strip():
        raise RowError("is empty")
    return text


def plain_text(value: object) -> str:
    """Check that a value is a text that can be written as UTF-8; RowError otherwise."""
    if not isinstance(value, str):
        raise RowError(f"expected a text, got {shorten(value)}")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise RowError(
            f"has half of a surrogate pair at character {error.start}"
        ) from None
    return value


def filled_text(value: object) -> str:
    """Check that a value is a text that is not blank; RowError otherwise."""
    text = plain_text(value)
    if not text.strip():
        raise RowError("is empty")
    return text


def reference_texts(value: object) -> tuple[str, ...]:
    """Return one reference or a list of them as a tuple; RowError otherwise."""
    return _texts(value, filled_text)


def _texts(value: object, check: Callable[[object], str]) -> tuple[str, ...]:
    if isinstance(value, str):
        # Scored as one odd reference, a list written as text gives a wrong number in silence.
        if value.strip().startswith(('["', "['")) and value.strip().endswith(
            ('"]', "']")
        ):
            raise RowError(
                f"expected a list of texts, got a list written as text: {shorten(value)}"
            )
        value = [value]
    if not isinstance(value, list | tuple):
        raise RowError(f"expected a list of texts, got {shorten(value)}")
    return tuple(
        checked_field(f"[{n}]", check, element)
        for n, element in enumerate(value)
    )


def media_path(value: object, media_root: Path | None) -> str:
    """Check a URL, or a path that stays in its folder or in ``media_root``; RowError otherwise.

    Links of an absolute path are followed here, those of a relative one where it is opened
    (``media.inside``): only then its folder is known.
    """
    text = filled_text(value)
    if "://" in text or text.startswith("data:"):
        return text
    if (
        media_root is not None
        and Path(text).is_absolute()
        and _leads_into(media_root, text)
    ):
        return text
    # Both systems' rules: a data set may be written on one and read on the
    # other.
    for kind in (PurePosixPath, PureWindowsPath):
        path = kind(text)
        if path.is_absolute() or path.drive or ".." in path.parts:
            raise RowError(
                f"{text!r} leaves the folder of the data file; allow that with --media-root DIR, of"
                " the folder in which the file lies after all links"
            )
    return text


def _leads_into(folder: Path, text: str) -> bool:
    if ".." in Path(text).parts or not Path(text).is_relative_to(
        folder.absolute()
    ):
        return False
    try:
        return file_of(Path(text)).resolve().is_relative_to(folder.resolve())
    except (
        OSError,
        RuntimeError,
        ValueError,
    ) as error:  # a ring of links, a NUL in the name
        raise RowError(f"{text!r} is not a path ({error})") from error


def _mapping(value: object) -> dict[str, object]:
    if not isinstance(value, Mapping):
        raise RowError(
            f"expected an object of named values, got {shorten(value)}; map a column to FIELD.NAME"
        )
    value_by_name = {
        plain_text(str(key)): element for key, element in value.items()
    }
    return {
        name: checked_field(f".{name}", _clean, element)
        for name, element in value_by_name.items()
    }


def _without_nan(value: object) -> object:
    """Return a value with None for NaN, which marks a missing answer in tables of Python."""
    if isinstance(value, Mapping):
        return {name: _without_nan(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_without_nan(part) for part in value]
    return None if isinstance(value, float) and value != value else value


def labels(value: object) -> dict[str, str]:
    """Return an object of named texts or numbers as texts; RowError otherwise."""
    text_by_name = {}
    for key, element in _mapping(value).items():
        if element is None:  # a table has every column in every row
            continue
        if not isinstance(element, str | int | float):
            raise RowError(
                f"expected a text, got {shorten(element)}", f".{key}"
            )
        text_by_name[key] = str(element)
    return text_by_name


def _clean(value: Any) -> Any:
    """Return a value of free form as JSON has it; dates become texts.

    Raises:
        RowError: The value cannot be written as JSON in UTF-8.
    """
    # ``json`` calls ``plain`` only for what it does not know, so ``changed``
    # says whether the value must be read back.
    changed = []

    def plain(part: Any) -> Any:
        changed.append(part)
        return _as_json(part)

    try:
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, default=plain
        )
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise RowError(
            f"cannot be kept ({error}); leave this column out"
        ) from None
    return json.loads(text) if changed else value


def _as_json(value: Any) -> Any:
    """Convert types of tables that JSON does not know."""
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, timedelta | Decimal):
        return str(value)
    if hasattr(value, "tolist"):  # of numpy
        return value.tolist()
    raise TypeError(
        f"{type(value).__name__} is not a text, a number or a list of them"
    )


def shorten(value: object, limit: int = 60) -> str:
    """Return a value as a message shows it: its kind and its beginning."""
    kinds = {
        dict: "an object ",
        list: "a list ",
        str: "a text ",
        bool: "a truth value ",
    }
    text = repr(value[: limit + 1] if isinstance(value, str | list) else value)
    return kinds.get(type(value), "") + cut_text(text, limit)


def texts_of(cell: Any, column: str) -> tuple[str, ...]:
    """Return the value of a column as texts, without blank ones.

    Args:
        cell: A text, several, or None.
        column: Name of the column in messages.

    Raises:
        ConfigError: The value is something else.
    """
    if cell is None:
        return ()
    several = isinstance(cell, Iterable) and not isinstance(
        cell, str | bytes | Mapping
    )
    texts = tuple(cell) if several else (cell,)
    for text in texts:
        if not isinstance(text, str):
            raise ConfigError(
                f"the column of {column} holds {text!r}: expected a text, or a list of texts"
            )
    return tuple(text for text in texts if text.strip())
