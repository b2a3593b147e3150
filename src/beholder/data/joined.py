"""References that lie in a file of their own, put to the rows by id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beholder.data.published import from_published
from beholder.data.row import ALIASES, RowError, reference_texts, resolve_aliases
from beholder.errors import DataError
from beholder.records import ROW_FIELDS

_KEYS = ("id", "image_id", "video_id", "file_id")


def references_by_id(rows: Iterable[tuple[int, Any]], name: str) -> dict[str, dict[str, object]]:
    """Rows of references by id: several rows of one id add up.

    A row's own references count, else its candidate: a data set of texts can be the reference of
    another. Fields that metrics read, such as ``criteria``, come with them; lists add up, too.

    Raises:
        DataError: A row is wrong, has no id, or no text.
    """
    found: dict[str, dict[str, Any]] = {}
    for number, row in rows:
        if isinstance(row, DataError):
            raise row
        try:
            row = from_published(row)
        except RowError as error:
            raise DataError(name, error.reason, line=number) from None
        key = _key(row)
        if key is None:
            raise DataError(name, "has no id to find its row by", line=number, field="id")
        texts = _texts(row)
        fields = {field: row[field] for field in ROW_FIELDS if row.get(field)}
        if not texts and not fields:
            raise DataError(name, "has no text", line=number, field="references")
        kept = found.setdefault(key, {"references": []})
        kept["references"] += texts
        for field, value in fields.items():
            several = isinstance(value, list) and isinstance(kept.get(field), list)
            kept[field] = [*kept[field], *value] if several else value
        if row.get("images") is not None:
            kept["images"] = row["images"]
    return found


def with_references(
    rows: Iterable[tuple[int, Any]],
    known: Mapping[str, Mapping[str, Any]],
    name: str,
    source: str,
) -> Iterator[tuple[int, Any]]:
    """Rows with the references of their id; a row's own stay beside them.

    Args:
        rows: Rows with their numbers.
        known: What ``references_by_id`` found.
        name: What messages call the rows.
        source: What messages call the references.

    Yields:
        A row each; an error (not raised) stands for one without references.
    """
    for number, row in rows:
        if not isinstance(row, Mapping):
            yield number, row
            continue
        key = _key(row)
        if key is None or key not in known:
            reason = f"{source} has no references for {key!r}" if key else "is missing"
            yield number, DataError(name, reason, line=number, field="id")
            continue
        try:
            named = resolve_aliases(row)
            own = _own(named)
        except RowError as error:
            yield number, DataError(name, error.reason, line=number, field=error.field)
            continue
        if "image_id" not in named:
            named.setdefault("id", key)
        there = known[key]["references"]
        yield number, {**known[key], **named, "references": [*own, *there]}


def _key(row: Mapping[str, Any]) -> str | None:
    for name in _KEYS:
        if row.get(name) is not None:
            return str(row[name])
    return None


def _own(named: Mapping[str, Any]) -> tuple[str, ...]:
    given = named.get("references")
    try:
        return () if given is None else reference_texts(given)
    except RowError as error:
        raise RowError(error.reason, f"references{error.field or ''}") from None


def _texts(row: Mapping[str, Any]) -> list[str]:
    for field in ("references", *ALIASES["references"], "candidate", *ALIASES["candidate"]):
        if row.get(field):
            return [row[field]] if isinstance(row[field], str) else list(row[field])
    return []
