"""JSON schemas in few words. All fields are required and no others allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]


def obj(**fields: Schema) -> Schema:
    """An object with exactly these fields."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
        "additionalProperties": False,
    }


def array(items: Schema) -> Schema:
    """A list."""
    return {"type": "array", "items": items}


def words() -> Schema:
    """A text."""
    return {"type": "string"}


def text_or_null() -> Schema:
    """A text, or nothing."""
    return nullable("string")


def nullable(kind: str) -> Schema:
    """A value of a kind, or nothing."""
    return {"type": [kind, "null"]}


def integer(choices: Sequence[int] | None = None) -> Schema:
    """A whole number; one of some choices if given."""
    return {"type": "integer"} if choices is None else {"type": "integer", "enum": list(choices)}


def truth() -> Schema:
    """True or false."""
    return {"type": "boolean"}


def one_of(choices: Sequence[str]) -> Schema:
    """One of some texts."""
    return {"type": "string", "enum": list(choices)}
