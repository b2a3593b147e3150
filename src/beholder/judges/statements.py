"""LLM judge: statements of a text, their matches in another, their truth."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from beholder.backends import Answer, Image, Sampling
from beholder.errors import ItemError
from beholder.judges.asking import Ask, Asker
from beholder.judges.base import Statement
from beholder.judges.reading import (
    BadAnswer,
    get,
    get_flag,
    get_integer,
    get_list,
    get_text,
    read_json,
)
from beholder.judges.schemas import array, integer, nullable, obj, text_or_null, truth, words
from beholder.judges.templates import Template, Untrusted

T = TypeVar("T")

_STATEMENTS = obj(
    statements=array(obj(text=words(), subject=text_or_null(), relevant=truth())),
)
_NOTHING = ("", "none", "null")
_FAR = 10**9


async def decompose(
    asker: Asker,
    template: Template,
    text: str,
    *,
    language: str | None,
    temperature: float,
    replicate: int,
) -> list[Statement]:
    """The statements of a text."""
    return await asker.ask(
        Ask(
            operation="decompose",
            template=template,
            messages=template.render({"text": text}, **_language(language)),
            # Each statement repeats words of the text and carries some JSON around them.
            sampling=Sampling(temperature, max_tokens=1024 + 2 * len(text.encode("utf-8"))),
            parse=_read_statements,
            typical=_typical_statements(text),
            schema=_STATEMENTS,
            replicate=replicate,
        )
    )


def _typical_statements(text: str) -> str:
    """One statement per five words, each a little longer than these."""
    words = text.split()
    rows = [
        {"text": " ".join(["The", *words[i : i + 5]]), "subject": "thing_0", "relevant": True}
        for i in range(0, len(words), 5)
    ]
    return json.dumps({"statements": rows})


def _read_statements(answer: Answer) -> list[Statement]:
    return [
        Statement(
            text=get_text(row, "text"),
            subject=str(row["subject"]) if row.get("subject") else None,
            # A row that says nothing about relevance states something: count it.
            relevant="relevant" not in row or get_flag(row, "relevant"),
        )
        for row in _rows(answer, "statements")
    ]


async def match(
    asker: Asker,
    template: Template,
    statements: Sequence[str],
    references: Sequence[str],
    *,
    language: str | None,
    temperature: float,
    replicate: int,
) -> list[int | None]:
    """Index of the matching reference, or None, for each statement."""
    if not statements or not references:
        return [None] * len(statements)
    schema = obj(matches=array(obj(id=integer(), reference=nullable("integer"))))

    def read(row: Any) -> int | None:
        value = get(row, "reference")
        if isinstance(value, list):  # several fit: the first one named
            value = value[0] if value else None
        if value is None or str(value).strip().lower() in _NOTHING:
            return None
        index = get_integer({"reference": value}, "reference", -_FAR, _FAR)
        return index if 0 <= index < len(references) else None

    def ask(rows: list[tuple[int, str]]) -> Ask[dict[int, int | None]]:
        texts: Mapping[str, Untrusted] = {"statement": rows, "reference": references}
        return Ask(
            operation="match",
            template=template,
            messages=template.render(texts, **_language(language)),
            sampling=Sampling(temperature, max_tokens=128 + 32 * len(rows)),
            parse=lambda answer: _by_id(_rows(answer, "matches"), rows, read),
            typical=json.dumps({"matches": [{"id": i, "reference": None} for i, _ in rows]}),
            schema=schema,
            replicate=replicate,
        )

    found = await _rows_by_id(asker, ask, statements)
    return [found.get(i) for i in range(len(statements))]


async def verify(
    asker: Asker,
    template: Template,
    statements: Sequence[str],
    *,
    images: Sequence[Image],
    reference: str | None,
    language: str | None,
    temperature: float,
    replicate: int,
) -> list[bool]:
    """Whether the evidence supports each statement."""
    if not images and reference is None:
        raise ItemError("verify needs pictures or a reference text as evidence; there is neither")
    if not statements:
        return []
    schema = obj(rows=array(obj(id=integer(), supported=truth())))
    evidence = "both" if images and reference is not None else "picture" if images else "reference"
    fill = _language(language)
    fill["parts"]["evidence_note"] = evidence

    def ask(rows: list[tuple[int, str]]) -> Ask[dict[int, bool]]:
        texts: Mapping[str, Untrusted] = {"statement": rows, "reference": reference or ""}
        return Ask(
            operation="verify",
            template=template,
            messages=template.render(texts, images=images, **fill),
            sampling=Sampling(temperature, max_tokens=128 + 32 * len(rows)),
            parse=lambda answer: _by_id(
                _rows(answer, "rows"), rows, lambda row: get_flag(row, "supported")
            ),
            typical=json.dumps({"rows": [{"id": i, "supported": True} for i, _ in rows]}),
            schema=schema,
            replicate=replicate,
        )

    found = await _rows_by_id(asker, ask, statements)
    for i in range(len(statements)):
        if i not in found:
            raise ItemError(
                f"{asker.backend.name} left out statement {i} of {len(statements)} in verify, also"
                " when asked for it alone"
            )
    return [found[i] for i in range(len(statements))]


async def _rows_by_id(
    asker: Asker,
    ask: Callable[[list[tuple[int, str]]], Ask[dict[int, T]]],
    statements: Sequence[str],
) -> dict[int, T]:
    """The judge's row for each statement; those it left out are asked once more, alone."""
    numbered = list(enumerate(statements))
    found = await asker.ask(ask(numbered))
    missing = [(i, text) for i, text in numbered if i not in found]
    if missing:
        again: dict[int, T] = await asker.ask(ask(missing))
        found |= again
    return found


def _by_id(rows: list[Any], asked: list[tuple[int, str]], read: Callable[[Any], T]) -> dict[int, T]:
    ids = {i for i, _ in asked}
    found: dict[int, T] = {}
    for row in rows:
        index = get_integer(row, "id", min(ids), max(ids))
        value = read(row)
        if index not in ids or (index in found and found[index] != value):
            raise BadAnswer(f"there must be one row for each id that was given; see id {index}")
        found[index] = value
    return found


def _rows(answer: Answer, field: str) -> list[Any]:
    """The rows of an answer, be they in their field or alone."""
    value = read_json(answer.text)
    return value if isinstance(value, list) else get_list(value, field)


def _language(language: str | None) -> dict[str, Any]:
    return {
        "settings": {"language": language or ""},
        "parts": {"language_note": "language" if language else None},
    }
