"""What operations on numbered statements share: a row per statement, and its language."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

from beholder.backends import Image
from beholder.errors import ItemError
from beholder.judges.fences import Untrusted
from beholder.judges.operations.base import Respondent
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


def rows_of(
    field: str, asked: Sequence[Row], columns: Mapping[str, Shape[Any]]
) -> Shape[dict[int, Mapping[str, Any]]]:
    """An answer with a row per statement: its number and several columns.

    Args:
        field: What the list of rows is called.
        asked: The statements that were asked about.
        columns: What the columns are called, and what they hold.
    """
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


async def put_rows(
    model: Respondent,
    named: tuple[str, Sequence[str]],
    columns: Mapping[str, tuple[Shape[Any], object]],
    *,
    texts: Mapping[str, Untrusted] | None = None,
    language: str | None = None,
    parts: Mapping[str, str | None] | None = None,
    images: Sequence[Image] = (),
    field: str = "rows",
    tokens: int = 32,
    whole: bool = False,
) -> dict[int, Mapping[str, Any]]:
    """The judge's row for each statement; those it left out are asked once more, together.

    Args:
        model: Who is asked; no request is sent if there are no statements.
        named: What the prompt calls the statements, and the statements.
        columns: What the columns of the answer are called, with what they hold and a likely value.
        texts: Other texts under judgment, by the name the prompt uses.
        language: Language of the texts; None if unknown.
        parts: As of ``Respondent.render``.
        images: The pictures.
        field: What the list of rows is called.
        tokens: That a row may take.
        whole: Whether each statement must get a row.

    Raises:
        ItemError: The model left out a statement twice.
    """
    name, statements = named
    likely = {column: value for column, (_, value) in columns.items()}

    async def ask(rows: Sequence[Row]) -> dict[int, Mapping[str, Any]]:
        return await model.json(
            model.render(
                {name: rows, **(texts or {})},
                {"language": language or ""},
                parts={**language_note(language), **(parts or {})},
                images=images,
            ),
            rows_of(field, rows, {column: shape for column, (shape, _) in columns.items()}),
            max_tokens=128 + tokens * len(rows),
            typical={field: [{"id": i, **likely} for i, _ in rows]},
        )

    found: dict[int, Mapping[str, Any]] = {}
    missing = list(enumerate(statements))
    for _ in range(2):
        found |= await ask(missing) if missing else {}
        missing = [row for row in missing if row[0] not in found]
    if whole and missing:
        raise ItemError(
            f"{model.asker.backend.name} left out statement {missing[0][0]} of {len(statements)} in"
            f" {model.operation}, also when asked again"
        )
    return found


def majority(votes: Sequence[T], without: T) -> T:
    """What more than half say, or else ``without``."""
    value, count = Counter(votes).most_common(1)[0]
    return value if 2 * count > len(votes) else without
