"""What operations on numbered statements share: a row per statement, and its language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from beholder.judges.reading import BadAnswer
from beholder.judges.shapes import Shape, array, integer, obj, only

T = TypeVar("T")

_LISTED = 200
"""Numbers that a schema lists at most: servers bound how many there may be."""

Row = tuple[int, str]
"""A statement with its number."""


def language_note(language: str | None) -> dict[str, str | None]:
    """The part of a prompt that states the language of the texts, if it is known."""
    return {"language_note": "language" if language else None}


def answer_limit(rows: Sequence[Row]) -> int:
    """Tokens that an answer with a row for each statement may have."""
    return 128 + 32 * len(rows)


def rows_by_id(
    field: str, asked: Sequence[Row], column: str, shape: Shape[T]
) -> Shape[dict[int, T]]:
    """An answer with a row per statement: its number and one column.

    Args:
        field: What the list of rows is called.
        asked: The statements that were asked about.
        column: What the column is called.
        shape: What it holds.
    """
    rows = rows_of(field, asked, {column: shape})

    def read(value: Any, name: str) -> dict[int, T]:
        return {index: row[column] for index, row in rows.read(value, name).items()}

    return Shape(rows.schema, read)


def rows_of(
    field: str, asked: Sequence[Row], columns: Mapping[str, Shape[Any]]
) -> Shape[dict[int, Mapping[str, Any]]]:
    """An answer with a row per statement: its number and several columns; see ``rows_by_id``."""
    ids = {number for number, _ in asked}
    shapes: dict[str, Shape[Any]] = {"id": number_of(sorted(ids)), **columns}
    row: Shape[tuple[int, Mapping[str, Any]]] = obj(
        lambda **values: (values.pop("id"), values), **shapes
    )
    n = len(ids)
    return only(field, array(row, partial(_by_id, ids), at_least=n, at_most=n), bare=True)


def number_of(ids: Sequence[int]) -> Shape[int]:
    """One of some numbers; who reads it must check which. Very many are not listed."""
    number = integer(min(ids), max(ids), listed=False)
    return (
        replace(number, schema={**number.schema, "enum": list(ids)})
        if len(ids) <= _LISTED
        else number
    )


def _by_id(ids: set[int], rows: Iterator[tuple[int, T]]) -> dict[int, T]:
    found: dict[int, T] = {}
    for index, value in rows:
        if index not in ids or (index in found and found[index] != value):
            raise BadAnswer(f"there must be one row for each id that was given; see id {index}")
        found[index] = value
    return found


async def ask_rows(
    statements: Sequence[str], ask: Callable[[list[Row]], Awaitable[Mapping[int, T]]]
) -> dict[int, T]:
    """The judge's row for each statement; those it left out are asked once more, alone."""
    numbered = list(enumerate(statements))
    found = dict(await ask(numbered))
    missing = [(i, text) for i, text in numbered if i not in found]
    if missing:
        found |= await ask(missing)
    return found


def majority(votes: Sequence[T], without: T) -> T:
    """What more than half say, or else ``without``."""
    value, count = Counter(votes).most_common(1)[0]
    return value if 2 * count > len(votes) else without
