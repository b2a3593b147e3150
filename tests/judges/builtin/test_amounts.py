"""Amounts of things of one name: by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from beholder.judges.builtin.amounts import amounts_value, both_counted
from beholder.judges.builtin.classes import exclude, values
from beholder.judges.builtin.findings import find
from beholder.judges.builtin.reading import analysed
from beholder.language.graph import Entity, Mention
from toy.cases import each_case


def thing(quantity: str | None = None, plural: bool = False) -> Entity:
    return Entity(
        0, "dog", "dog", (Mention("dog", (0, 3), 0),), quantity, plural
    )


@each_case(
    ("source", "targets", "expected"),
    [
        ("two", [thing()], (0.0, False)),
        ("two", [thing(), thing()], (0.9, False)),  # "a dog ... another dog"
        ("three", [thing(), thing()], (0.0, False)),
        ("several", [thing(), thing()], (0.9, False)),
        ("several", [thing()], (0.1, False)),
        # what is written decides, whatever is named beside it
        ("four", [thing("three", True), thing()], (0.0, True)),
        ("two", [thing("three", True), thing("two", True)], (1.0, False)),
        # numbers of several words, however they are written
        ("two hundred", [thing("200", True)], (1.0, False)),
        ("two hundred", [thing("three hundred", True)], (0.0, True)),
        ("2,000", [thing("3,000", True)], (0.0, True)),
        ("half a dozen", [thing("six", True)], (1.0, False)),
        ("1.5 million", [thing("five million", True)], (0.0, True)),
        ("several dozen", [thing("36", True)], (0.9, False)),
    ],
)
def test_amounts_of_one_name(
    source: str, targets: list[Entity], expected: tuple[float, bool]
) -> None:
    assert amounts_value(thing(source, True), targets) == expected


@each_case(
    ("source", "targets", "neighbours", "expected"),
    [
        ("five", [thing("two", True), thing("three", True)], [], (0.9, False)),
        ("six", [thing("two", True), thing("three", True)], [], (0.0, True)),
        # the plain one is the first of three, the members are two of the three
        ("four", [thing("three", True), thing()], [], (0.0, True)),
        ("five", [thing("three", True), replace(thing("two", True), member_of=0)], [],
         (0.0, True)),
        # two and three of five
        ("two", [thing("five", True)], [thing("three", True)], (0.9, False)),
        ("two", [thing("five", True)], [thing("two", True)], (0.0, True)),
        ("two", [thing("five", True)], [], (0.0, True)),
        ("two", [thing("four", True), thing("one")], [thing("three", True)], (0.0, True)),
    ],
)  # fmt: skip
def test_a_total_fits_the_sum_of_its_parts(
    source: str,
    targets: list[Entity],
    neighbours: list[Entity],
    expected: tuple[float, bool],
) -> None:
    assert amounts_value(thing(source, True), targets, neighbours) == expected


def test_an_amount_is_open_where_it_is_not_settled_which_is_meant() -> None:
    targets = [thing("two", True), thing("three", True)]
    assert amounts_value(thing("four", True), targets, settled=False) == (
        0.5,
        False,
    )
    assert amounts_value(thing("three", True), targets, settled=False) == (
        1.0,
        False,
    )


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("Four children play.", "Two boys and two girls play.", {"four": ""}),
        ("Two boys and two girls play.", "Four children play.", {"two": ""}),
        ("Two boys play.", "Four children play.", {"two": ""}),
        ("Four boys play.", "Two children play.", {"four": "two"}),
        ("Five apples lie on a table.", "Two red apples and three green apples lie on a table.",
         {"five": ""}),
        ("Two red apples and three green apples lie on a table.", "Five apples lie on a table.",
         {"two": "", "three": ""}),
        ("Three women, one in red and two in blue.", "Two women in blue and one woman in red.",
         {"three": ""}),
        ("Four dogs run.", "Two dogs run. Three dogs sleep.", {"four": ""}),
        ("Four dogs run.", "Three dogs run.", {"four": "three"}),
        ("Four dogs run. The first dog barks.", "Three dogs run. The first dog barks.",
         {"four": "three"}),
    ],
)  # fmt: skip
def test_totals_in_texts_contradict_other_totals_only(
    source: str, target: str, expected: dict[str, str]
) -> None:
    text = analysed(source)
    findings_by_unit = dict(
        zip(
            (unit.text for unit in text.units),
            find(text, analysed(target)),
            strict=True,
        )
    )
    assert {
        text: findings_by_unit[text].contradiction for text in expected
    } == expected


@pytest.mark.parametrize(
    ("value", "like", "unlike"),
    [("bluish", "blue", "red"), ("reddish", "red", "blue"), ("greyish", "grey", "red"),
     ("yellowish-orange", "yellow", "blue")],
)  # fmt: skip
def test_colours_in_ish_are_those_colours(
    value: str, like: str, unlike: str
) -> None:
    assert not exclude(values(value), values(like))
    assert exclude(values(value), values(unlike))


@each_case(
    ("source", "target", "expected"),
    [
        ("two", "three", True),
        ("two", "12", True),
        ("two", "one", False),
        ("two", None, False),
        ("several", "three", False),
        ("one", "three", False),
    ],
)
def test_amounts_above_one_in_both_texts_are_counted(
    source: str, target: str | None, expected: bool
) -> None:
    assert both_counted(thing(source, True), thing(target, True)) is expected
