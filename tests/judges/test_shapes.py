"""The shape of an answer: what its schema says, what is read, what is refused in which words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from beholder.judges.reading import BadAnswer
from beholder.judges.shapes import (
    Shape,
    array,
    boolean,
    in_words,
    integer,
    nullable,
    obj,
    one_of,
    only,
    remark,
    string,
)
from toy.cases import each_case


def test_whole_numbers_within_bounds_only() -> None:
    parse = integer(1, 10).read
    assert [parse(n, "n") for n in (1, 10, "7", " 7 ", 7.0)] == [
        1,
        10,
        7,
        7,
        7,
    ]
    strange: list[object] = [0, 11, True, "7.5", "７", 7.2, None, [7], {}]
    for bad in strange:
        with pytest.raises(
            BadAnswer, match="'n' must be a whole number from 1 to 10, got"
        ):
            parse(bad, "n")


def test_flags_are_true_false_or_their_plain_spellings() -> None:
    parse = boolean().read
    assert [parse(x, "x") for x in (True, 1, "1", "True", "true ")] == [
        True
    ] * 5
    assert [parse(x, "x") for x in (False, 0, "0", "FALSE")] == [False] * 4
    strange: list[object] = [None, 2, "yes", "", [True]]
    for bad in strange:
        with pytest.raises(BadAnswer, match="'x' must be true or false, got"):
            parse(bad, "x")


def match_of(ids: list[int]) -> Shape[Any]:
    """One of some numbers, or nothing, as ``match`` asks for it."""
    free: Shape[Any] = nullable("integer", lambda value, name: value)
    return replace(free, schema={**free.schema, "enum": [*ids, None]})


def test_schemas_are_those_that_servers_are_held_to() -> None:
    shape: Shape[Any] = obj(
        dict,
        name=one_of(["a", "b"]),
        why=remark(),
        rows=array(integer(1, 3), list),
        id=integer(0, 9, listed=False),
        of=nullable("integer", lambda value, name: value),
        good=boolean(),
        text=string(),
    )
    assert shape.schema == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "enum": ["a", "b"]},
            "why": {"type": "string", "maxLength": 1000},
            "rows": {
                "type": "array",
                "items": {"type": "integer", "enum": [1, 2, 3]},
            },
            "id": {"type": "integer"},
            "of": {"type": ["integer", "null"]},
            "good": {"type": "boolean"},
            "text": {"type": "string"},
        },
        "required": ["name", "why", "rows", "id", "of", "good", "text"],
        "additionalProperties": False,
    }


def test_a_list_may_be_bounded() -> None:
    bounded = array(integer(1, 3), list, at_least=2, at_most=4)
    assert (bounded.schema["minItems"], bounded.schema["maxItems"]) == (2, 4)
    assert bounded.read([1] * 9, "") == [1] * 9, "who reads it counts"
    assert not {"minItems", "maxItems"} & set(
        array(integer(1, 3), list).schema
    )


@each_case(
    ("shape", "form"),
    [
        (string(), '"..."'),
        (boolean(), "true|false"),
        (one_of(["High", "Low"]), '"High"|"Low"'),
        (integer(1, 3), "1|2|3"),
        (integer(0, 100), "0 to 100"),
        (integer(0, 100, listed=False), "0"),
        (nullable("string", lambda value, name: value), '"..."|null'),
        (match_of([0, 1]), "0|1|null"),
        (array(string(), list), '["...", ...]'),
        (array(string(), list, at_most=2), '["...", ... (2 at most)]'),
        (
            array(string(), list, at_least=2, at_most=2),
            '["...", ... (2 in all)]',
        ),
        (
            obj(dict, id=integer(1, 2), why=remark()),
            '{"id": 1|2, "why": "..."}',
        ),
    ],
)
def test_the_form_of_an_answer_in_words(shape: Shape[Any], form: str) -> None:
    assert in_words(shape.schema).endswith(f"in this form:\n{form}")


ROW = obj(
    lambda id, good: (id, good), id=integer(0, 9), good=boolean(absent=True)
)
ROWS = only("rows", array(ROW, list))
BARE = only("rows", array(ROW, list), bare=True)


def test_a_field_that_may_be_absent_has_its_value_and_a_bare_list_is_taken_where_told() -> (
    None
):
    rows = [{"id": 1}, {"id": "2", "good": 0, "more": 1}]
    assert ROWS.read({"rows": rows}, "") == [(1, True), (2, False)]
    assert (
        BARE.read(rows, "")
        == BARE.read({"rows": rows}, "")
        == [(1, True), (2, False)]
    )


@each_case(
    ("shape", "value", "message"),
    [
        (ROWS, [{"id": 1}], "the answer is a list; give one JSON object"),
        (ROWS, {"row": []}, "the field 'rows' is missing"),
        (ROWS, {"rows": {}}, "'rows' must be a list, got {}"),
        (ROWS, {"rows": [5]}, "expected an object with the field 'id', got 5"),
        (BARE, [{"good": True}], "the field 'id' is missing"),
        (string(), " ", "'x' must be a text, got ' '"),
        (string(), "", "'x' must be a text, got ''"),
        (
            string(),
            70 * [0],
            "'x' must be a text, got " + repr(70 * [0])[:57] + "...",
        ),
    ],
)
def test_a_judge_is_told_what_was_wrong(
    shape: Shape[Any], value: object, message: str
) -> None:
    with pytest.raises(BadAnswer) as bad:
        shape.read(value, "x" if shape.schema["type"] == "string" else "")
    assert str(bad.value) == message


def test_items_are_read_one_after_the_other_so_that_the_first_fault_is_told() -> (
    None
):
    def refuse(rows: Any) -> None:
        for row in rows:
            if row > 1:
                raise BadAnswer(f"{row} is too much")

    parse: Callable[[Any, str], None] = array(
        integer(0, 9), refuse, "row"
    ).read
    with pytest.raises(BadAnswer, match="2 is too much"):
        parse([1, 2, "x"], "rows")
    with pytest.raises(BadAnswer, match="'row' must be a whole number"):
        parse([1, "x", 2], "rows")
