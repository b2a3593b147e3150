"""The shape of a JSON answer: its schema and its strict reading in one definition.

These are no pydantic models: the message about a bad answer is part of the stored key of
the second question, so that the words must be ours, and texts are scored without a further import.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeAlias, TypeVar

from beholder.judges.reading import BadAnswer, short

Schema: TypeAlias = dict[str, Any]
T = TypeVar("T")
U = TypeVar("U")

_REQUIRED: Final[Any] = object()
_LONGEST_REMARK = 1000
"""Characters that a judge which is held to a schema may spend on one reason."""

_MOST_NUMBERS = 20
"""Numbers that an answer's shape in words names one by one."""

_DIGITS = re.compile(r"\s*-?[0-9]{1,9}\s*")


@dataclass(frozen=True, slots=True)
class Shape(Generic[T]):
    """A value in an answer.

    Attributes:
        schema: Its JSON schema.
        read: Takes the value and what it is called (nothing: it is the answer itself); raises
            ``BadAnswer``.
        absent: Value of a missing field; fields without one are required.
    """

    schema: Schema
    read: Callable[[Any, str], T]
    absent: T = _REQUIRED


def string() -> Shape[str]:
    """A text with something in it, blanks around it cut off."""

    def parse_text(value: Any, name: str) -> str:
        if not isinstance(value, str) or not value.strip():
            raise BadAnswer(f"{name!r} must be a text, got {short(value)}")
        return value.strip()

    return Shape({"type": "string"}, parse_text)


def remark() -> Shape[str]:
    """Return the shape of a text on which nothing depends: any value is accepted."""
    schema = {"type": "string", "maxLength": _LONGEST_REMARK}
    return Shape(schema, lambda value, name: str(value).strip(), "")


def one_of(choices: Sequence[str]) -> Shape[str]:
    """Return the shape of one of some texts; the caller must check which."""
    return Shape({"type": "string", "enum": list(choices)}, string().read)


NULL: Final[Schema] = {"type": "null"}


def nullable(
    kind: str, parse: Callable[[Any, str], T], absent: T = _REQUIRED
) -> Shape[T]:
    """A value of a kind, or null.

    Args:
        kind: Its type in JSON.
        parse: See ``Shape``.
        absent: See ``Shape``.
    """
    return Shape({"type": [kind, "null"]}, parse, absent)


def words(
    longest: int,
    absent: Any = _REQUIRED,
    parse: Callable[[Any, str], Any] = lambda value, name: value,
) -> Shape[Any]:
    """Words, or null; whatever is there is taken if nothing reads it.

    Args:
        longest: Characters that a judge which is held to the schema may spend on them.
        absent: See ``Shape``.
        parse: See ``Shape``.
    """
    return Shape(
        {"type": ["string", "null"], "maxLength": longest}, parse, absent
    )


def boolean(absent: bool = _REQUIRED) -> Shape[bool]:
    """True or false; 1, 0 and these words as texts say the same."""

    def parse_boolean(value: Any, name: str) -> bool:
        word = value.strip().lower() if isinstance(value, str) else value
        # Models write all of these for a boolean, also under a schema;
        # anything else is ambiguous.
        for truth, ways in (
            (True, (1, "1", "true")),
            (False, (0, "0", "false")),
        ):
            if word in ways:
                return truth
        raise BadAnswer(f"{name!r} must be true or false, got {short(value)}")

    return Shape({"type": "boolean"}, parse_boolean, absent)


def integer(low: int, high: int, *, listed: bool = True) -> Shape[int]:
    """A whole number within bounds; its digits as a text say the same.

    Args:
        low: Lowest.
        high: Highest.
        listed: Whether the schema names all numbers from low to high.
    """

    def parse_integer(value: Any, name: str) -> int:
        # Small models put numbers in quotes or write 4.0; both are
        # unambiguous. True is an int in Python but no number here.
        if isinstance(value, str) and _DIGITS.fullmatch(value):
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if (
            not isinstance(value, int)
            or isinstance(value, bool)
            or not low <= value <= high
        ):
            raise BadAnswer(
                f"{name!r} must be a whole number from {low} to {high}, got {short(value)}"
            )
        return value

    choices = {"enum": list(range(low, high + 1))} if listed else {}
    return Shape({"type": "integer", **choices}, parse_integer)


def array(
    item: Shape[T],
    into: Callable[[Iterator[T]], U],
    each: str = "item",
    *,
    at_least: int = 0,
    at_most: int | None = None,
) -> Shape[U]:
    """A list.

    Args:
        item: Shape of an item.
        into: Makes a value of the items, which are read one after the other as it asks for them;
            it checks how many there are, where that matters.
        each: Name of an item.
        at_least: Items that a judge must give who is held to the schema.
        at_most: Items that it may give; None for any number.
    """

    def parse_list(value: Any, name: str) -> U:
        if not isinstance(value, list):
            raise BadAnswer(f"{name!r} must be a list, got {short(value)}")
        return into(item.read(element, each) for element in value)

    bounds: dict[str, int] = {"minItems": at_least} if at_least else {}
    if at_most is not None:
        bounds["maxItems"] = at_most
    return Shape({"type": "array", "items": item.schema, **bounds}, parse_list)


def obj(make: Callable[..., T], /, **fields: Shape[Any]) -> Shape[T]:
    """An object with these fields, all of them in the schema required and no others allowed.

    Args:
        make: Takes the fields' values by name.
        fields: The fields, read in this order.
    """

    def parse_object(row: Any, name: str) -> T:
        if not isinstance(row, dict):
            if not name:
                raise BadAnswer("the answer is a list; give one JSON object")
            first_field = next(iter(fields))
            raise BadAnswer(
                f"expected an object with the field {first_field!r}, got {short(row)}"
            )
        return make(
            **{
                field: _field(row, field, shape)
                for field, shape in fields.items()
            }
        )

    # All fields are required and no others allowed: servers with strict
    # schemas accept nothing else.
    schema = {
        "type": "object",
        "properties": {field: shape.schema for field, shape in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
    }
    return Shape(schema, parse_object)


def _field(row: Mapping[str, Any], field: str, shape: Shape[T]) -> T:
    if field in row:
        return shape.read(row[field], field)
    if shape.absent is _REQUIRED:
        raise BadAnswer(f"the field {field!r} is missing")
    return shape.absent


def only(field: str, shape: Shape[T], *, bare: bool = False) -> Shape[T]:
    """An object with a single field, which alone is what is wanted.

    Args:
        field: The field.
        shape: Shape of the field.
        bare: Whether the field's list is also taken without the object around it.
    """
    whole: Shape[T] = obj(lambda **values: values[field], **{field: shape})

    def parse_field(value: Any, name: str) -> T:
        return whole.read(
            {field: value} if bare and isinstance(value, list) else value, name
        )

    return Shape(whole.schema, parse_field)


def in_words(schema: Schema) -> str:
    """Describe the form of an answer in a prompt.

    It is said to every judge: many servers hold the model to a schema without showing it.
    """
    return (
        f"Answer with JSON only, on one line, in this form:\n{_form(schema)}"
    )


def _form(schema: Schema) -> str:
    """A value of the schema, with ``|`` between what may be in one place."""
    if "anyOf" in schema:
        return "|".join(map(_form, schema["anyOf"]))
    kind = schema["type"]
    if kind == "object":
        fields = (
            f'"{name}": {_form(inner)}'
            for name, inner in schema["properties"].items()
        )
        return "{" + ", ".join(fields) + "}"
    if kind == "array":
        low, high = schema.get("minItems", 0), schema.get("maxItems")
        n = ""
        if low == high:
            n = f" ({low} in all)"
        elif high:
            n = f" ({high} at most)"
        return f"[{_form(schema['items'])}, ...{n}]"
    # A nullable type is written as its kinds: "...|null".
    if isinstance(kind, list):
        return "|".join(
            _form({**schema, "type": kind_name}) for kind_name in kind
        )
    # An enumeration with null is shared by both kinds; each lists its own
    # part.
    choices = [
        each
        for each in schema.get("enum", ())
        if (each is None) == (kind == "null")
    ]
    if len(choices) > _MOST_NUMBERS and kind == "integer":
        return f"{min(choices)} to {max(choices)}"
    plain = {
        "string": '"..."',
        "integer": "0",
        "boolean": "true|false",
        "null": "null",
    }
    return (
        "|".join(json.dumps(each, ensure_ascii=False) for each in choices)
        or plain[kind]
    )
