"""References from another file, found by the id of a row or by the name of its picture."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from beholder.data.folders import plain_id
from beholder.data.headings import choose_columns, find_columns
from beholder.data.notes import RowNotes
from beholder.data.published import from_published
from beholder.data.row import (
    RowError,
    columns_of,
    given_field,
    reference_texts,
    resolve_aliases,
    shorten,
    to_row,
)
from beholder.errors import DataError
from beholder.records import ROW_FIELDS, Item

_MOST_SHOWN = 3


class ReferenceIndex:
    """Fields of references by id; ids are also found in other spellings.

    Args:
        fields_by_id: Fields by id as they are written.
        name: Name of the file in messages.
    """

    def __init__(
        self, fields_by_id: Mapping[str, Mapping[str, Any]], name: str
    ) -> None:
        self.fields_by_id = fields_by_id
        self.name = name
        self._written: dict[str, str | None] = {}
        for key in fields_by_id:
            plain = plain_id(key)
            # Two ids that are alike are found only as they are written.
            self._written[plain] = None if plain in self._written else key

    def find(self, key: str) -> str | None:
        """Return the id of the references that an id means; None if there are none."""
        if key in self.fields_by_id:
            return key
        return self._written.get(plain_id(key))

    def describe_ids(self) -> str:
        """Return some ids, as a message shows them."""
        ids = list(self.fields_by_id)
        more = ", ..." if len(ids) > _MOST_SHOWN else ""
        return ", ".join(map(repr, ids[:_MOST_SHOWN])) + more


def references_by_id(
    rows: Iterable[tuple[int, Any]], name: str
) -> dict[str, dict[str, Any]]:
    """Return fields by id from rows of references; several rows of one id add up.

    A row's own references count, else its candidate: a data set of texts can be the reference of
    another. A row without an id belongs to its picture. Fields that metrics read, such as
    ``criteria``, come with them; lists add up, too.

    Raises:
        DataError: A row is wrong, has no id, or no text.
    """
    fields_by_id: dict[str, dict[str, Any]] = {}
    for number, row in rows:
        if isinstance(row, DataError):
            raise row
        if not isinstance(row, Mapping):
            raise DataError(
                name, "expected an object with fields", line=number
            )
        try:
            original, row = row, from_published(row)
        except RowError as error:
            raise DataError(name, error.reason, line=number) from None
        key = row_key(row)
        if key is None:
            raise DataError(
                name,
                f"has no id to find its row by; {columns_of(row)}; name its column with"
                " --map id=COLUMN",
                line=number,
                field="id",
            )
        texts = _texts(row, name, number)
        fields = {field: row[field] for field in ROW_FIELDS if row.get(field)}
        if not texts and not fields:
            raise DataError(
                name,
                f"has no text; {columns_of(row)}; name its column with --map references=COLUMN",
                line=number,
                field="references",
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
        pictures = find_columns(row, ("images",))
        if pictures and row[pictures[0]] is not None:
            entry["images"] = row[pictures[0]]
        if row is not original and row.get(
            "group"
        ):  # a subset, never the author of a text
            entry["group"] = row["group"]
    return fields_by_id


def with_references(
    rows: Iterable[tuple[int, Any]],
    index: ReferenceIndex,
    name: str,
    ids: set[str],
    notes: RowNotes | None = None,
) -> Iterator[tuple[int, Any]]:
    """Yield rows with the references of their id after their own.

    Args:
        rows: Rows with their numbers.
        index: The references.
        name: Name of the rows in messages.
        ids: Receives the ids of the references that rows have.
        notes: Counts ids that are spelled otherwise.

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
        key = row_key(row)
        reference_id = None if key is None else index.find(key)
        # An error stands for a row without references; it is not left out.
        if reference_id is None:
            reason = f"is missing; {columns_of(row)}; name its column with --map id=COLUMN"
            if key is not None:
                reason = (
                    f"{index.name} has no references for {key!r}; its ids are such as"
                    f" {index.describe_ids()}; another column is the id with --map id=COLUMN"
                )
            yield number, DataError(name, reason, line=number, field="id")
            continue
        if notes is not None and reference_id != key:
            notes.respelled.append((str(key), reference_id))
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
        ids.add(reference_id)
        # Fields of the row win; groups are merged, so that a subset stays
        # known.
        reference_fields = index.fields_by_id[reference_id]
        group = fields.get("group")
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
            or _value(row, find_columns(row, ("id",))) is not None
            or (key := _plain_key(_value(row, _key_columns(row)))) is None
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


def row_key(row: Mapping[str, Any]) -> str | None:
    """Return what a row is found by: its id, that of its picture, or the picture itself."""
    columns = [
        *find_columns(row, ("id",)),
        *_key_columns(row),
        *find_columns(row, ("images", "video")),
    ]
    return _plain_key(_value(row, columns))


def _key_columns(row: Mapping[str, Any]) -> Sequence[str]:
    return find_columns(row, ("key",))


def _value(row: Mapping[str, Any], columns: Iterable[str]) -> Any:
    return next((row[name] for name in columns if row[name] is not None), None)


def _plain_key(value: Any) -> str | None:
    if (
        isinstance(value, float) and value.is_integer()
    ):  # pandas writes 73.0 beside missing ids
        value = int(value)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, Mapping | list):
        return None
    return None if value is None or value == "" else str(value)


def _texts(row: Mapping[str, Any], name: str, number: int) -> list[str]:
    # References first: a file of texts to score may be the references of
    # another.
    columns = [
        *find_columns(row, ("references",)),
        *choose_columns(tuple(row), "item").get("candidate", ()),
    ]
    for column in dict.fromkeys(columns):
        value = row[column]
        if isinstance(value, str) and value:
            return [value]
        if isinstance(value, list | tuple) and value:
            return list(value)
        if value:
            raise DataError(
                name,
                f"expected a text or a list of texts, got {shorten(value)}; a value in it is --map"
                f" references={column}.KEY",
                line=number,
                field=column,
            )
    return []
