"""What is read from an answer, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from beholder.judges.reading import BadAnswer, read_json
from toy.cases import each_case
from toy.vectors import load_vectors

RECORDED = load_vectors("dcscore")["parse_cases"]


@each_case(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('Here it is: {"a": 1}. Good luck!', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('```\n{"a": 1}\n```', {"a": 1}),
        ("{'a': True, 'b': None,}", {"a": True, "b": None}),
        ('{"a": "line\nbreak"}', {"a": "line\nbreak"}),
        ('[{"a": "x}"}]', [{"a": "x}"}]),
        ('<think>{"a": 2}</think>{"a": 1}', {"a": 1}),
        (
            'Hm, {"a": 2}?\n</think>\n\n{"a": 1}',
            {"a": 1},
        ),  # the template opened the thought
    ],
)
def test_one_json_value_is_found_in_its_wrapping(
    text: str, value: Any
) -> None:
    assert read_json(text) == value


@each_case(
    "text",
    [
        "",
        "none",
        '{"a": ',
        '{"a": 1} {"a": 2}',
        "42",
        '[{"a": 1},',
        "__import__('os')",
    ],
)
def test_answers_without_exactly_one_value_are_refused(text: str) -> None:
    with pytest.raises(BadAnswer):
        read_json(text)


@pytest.mark.parametrize(
    "text",
    [
        '{"phrases": ["a red car"\n "a tall tree", "a man"]}',
        '{"phrases": ["a red car" "a tall tree"]}',
        "{'phrases': ['a red car'  # first\n\n 'a tall tree']}",
        '{"text": "a cat "\r"sleeps"}',
    ],
)
def test_texts_without_a_comma_between_them_are_not_joined(text: str) -> None:
    """Python would read "a red cara tall tree", a phrase that nobody said."""
    with pytest.raises(BadAnswer, match="not JSON"):
        read_json(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (
            "{'a': 'x', 'b': ['y',  # why\n 'z',],}",
            {"a": "x", "b": ["y", "z"]},
        ),
        ("['it\\'s', 'a \"b\" \\'c\\'']", ["it's", "a \"b\" 'c'"]),
    ],
)
def test_pythons_way_to_write_a_value_is_read_where_commas_stand(
    text: str, value: Any
) -> None:
    assert read_json(text) == value


def test_lists_that_the_public_dcscore_parser_reads_are_read_alike() -> None:
    checked = 0
    for case in RECORDED:
        # A raw line break in a string: the public parser deletes it and joins two words.
        if isinstance(case["output"], list) and "a\nb" not in case["input"]:
            assert read_json(case["input"]) == case["output"], case
            checked += 1
    assert checked >= 5
