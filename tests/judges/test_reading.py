"""What is read from an answer, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from beholder.judges import reading
from beholder.judges.reading import (
    BadAnswer,
    parse_facts,
    read_json,
)
from toy.vectors import load_vectors

RECORDED = load_vectors("dcscore")["parse_cases"]


@pytest.mark.parametrize(
    ("said", "value"),
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
    said: str, value: Any
) -> None:
    assert read_json(said) == value


@pytest.mark.parametrize(
    "said",
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
def test_answers_without_exactly_one_value_are_refused(said: str) -> None:
    with pytest.raises(BadAnswer):
        read_json(said)


@pytest.mark.parametrize(
    "said",
    [
        '{"phrases": ["a red car"\n "a tall tree", "a man"]}',
        '{"phrases": ["a red car" "a tall tree"]}',
        "{'phrases': ['a red car'  # first\n\n 'a tall tree']}",
        '{"text": "a cat "\r"sleeps"}',
    ],
)
def test_texts_without_a_comma_between_them_are_not_joined(said: str) -> None:
    """Python would read "a red cara tall tree", a phrase that nobody said."""
    with pytest.raises(BadAnswer, match="not JSON"):
        read_json(said)


@pytest.mark.parametrize(
    ("said", "value"),
    [
        (
            "{'a': 'x', 'b': ['y',  # why\n 'z',],}",
            {"a": "x", "b": ["y", "z"]},
        ),
        ("['it\\'s', 'a \"b\" \\'c\\'']", ["it's", "a \"b\" 'c'"]),
    ],
)
def test_pythons_way_to_write_a_value_is_read_where_commas_stand(
    said: str, value: Any
) -> None:
    assert read_json(said) == value


def test_lists_that_the_public_dcscore_parser_reads_are_read_alike() -> None:
    checked = 0
    for case in RECORDED:
        # A raw line break in a string: the public parser deletes it and joins two words.
        if isinstance(case["output"], list) and "a\nb" not in case["input"]:
            assert read_json(case["input"]) == case["output"], case
            checked += 1
    assert checked >= 5


def test_recorded_facts_are_those_of_the_public_dcscore_parser() -> None:
    checked = 0
    for case in RECORDED:
        if isinstance(case["output"], list):
            assert parse_facts(case["input"]) == case["output"], case
            checked += 1
    assert checked >= 6


A, B = {"fact": "a"}, {"fact": "b"}


@pytest.mark.parametrize(
    ("said", "facts"),
    [
        ('Here is: [{"fact": "a"}]', [A]),
        ('See [1]. [{"fact": "a"}] Hope this helps [2].', [A]),
        ('```\n[{"fact": "a"}]\n```', [A]),
        ('```JSON\n[{"fact": "a"}]\n```', [A]),
        (
            '```json\n[{"fact": "a", "id": null}]\n``` as asked.',
            [{"fact": "a", "id": None}],
        ),
        (
            '```json\n[{"fact": "b"}]\n``` No:\n```json\n[{"fact": "a"}]\n```',
            [A],
        ),
        ("[{'fact': 'a',}, {'fact': 'b'},]", [A, B]),
        ('```json\n[{"fact": "a"},\n```', [A]),
        ('[{"fact": "a"}, {"fact": "b"}, {"fact": "c and', [A, B]),
        ("[{'fact': 'a'}, {'fact': 'x } y'}, {'fa", [A, {"fact": "x } y"}]),
        ('{"fact": "a"}', [A]),
        ('{"facts": [{"fact": "a"}]}', [A]),
        ('{"fact": "a", "ids": [0, 1]}', [{"fact": "a", "ids": [0, 1]}]),
        ('<think>[{"fact": "b"}]</think>[{"fact": "a"}]', [A]),
        ('[{"fact": "लाल स्कूटर।"}]', [{"fact": "लाल स्कूटर।"}]),
        ("[]", []),
    ],
)
def test_facts_that_the_public_parser_loses_are_read(
    said: str, facts: Any
) -> None:
    assert parse_facts(said) == facts


@pytest.mark.parametrize(
    "said", ["", "none", "42", "[1, 2]", '["a"]', "no facts here", "```json"]
)
def test_answers_without_facts_are_refused(said: str) -> None:
    with pytest.raises(BadAnswer):
        parse_facts(said)


def test_each_object_of_a_list_that_was_cut_off_is_parsed_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parsed: list[str] = []

    def count(text: str, *, strict: bool = False) -> Any:
        parsed.append(text)
        return value(text, strict=strict)

    value = reading._value
    monkeypatch.setattr(reading, "_value", count)
    whole = [{"fact": "a } b", "of": {"id": number}} for number in range(200)]
    cut_off = json.dumps(whole)[:-1] + ', {"fact": "c'
    assert parse_facts(cut_off) == whole
    # Twice each the answer and the list in it, each object, and the one that is not whole.
    assert len(parsed) == 4 + len(whole) + 1
