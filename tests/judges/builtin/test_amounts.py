"""Amounts of things of one name: by hand."""

from __future__ import annotations

import pytest

from beholder.judges.builtin.amounts import amounts_value, both_counted
from beholder.judges.builtin.classes import exclude, values
from beholder.language.graph import Entity, Mention


def thing(quantity: str | None = None, plural: bool = False) -> Entity:
    return Entity(0, "dog", "dog", (Mention("dog", (0, 3), 0),), quantity, plural)


@pytest.mark.parametrize(
    ("asked", "said", "expected"),
    [
        ("two", [thing()], (0.0, True)),
        ("two", [thing(), thing()], (0.9, False)),  # "a dog ... another dog"
        ("three", [thing(), thing()], (0.0, True)),
        ("several", [thing(), thing()], (0.9, False)),
        ("several", [thing()], (0.1, True)),
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
def test_amounts_of_one_name(asked: str, said: list[Entity], expected: tuple[float, bool]) -> None:
    assert amounts_value(thing(asked, True), said) == expected


@pytest.mark.parametrize(
    ("said", "like", "unlike"),
    [("bluish", "blue", "red"), ("reddish", "red", "blue"), ("greyish", "grey", "red"),
     ("yellowish-orange", "yellow", "blue")],
)  # fmt: skip
def test_colours_in_ish_are_those_colours(said: str, like: str, unlike: str) -> None:
    assert not exclude(values(said), values(like))
    assert exclude(values(said), values(unlike))


@pytest.mark.parametrize(
    ("asked", "said", "expected"),
    [
        ("two", "three", True),
        ("two", "12", True),
        ("two", "one", False),
        ("two", None, False),
        ("several", "three", False),
        ("one", "three", False),
    ],
)
def test_which_amounts_are_counted_in_both_texts(
    asked: str, said: str | None, expected: bool
) -> None:
    assert both_counted(thing(asked, True), thing(said, True)) is expected
