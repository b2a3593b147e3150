"""Words, classes, amounts and shared runs of words, by hand."""

from __future__ import annotations

import pytest

from beholder.judges.builtin import lexis
from beholder.judges.builtin.amounts import amount, amount_value
from beholder.judges.builtin.classes import exclude, values
from beholder.judges.builtin.lexis import (
    content,
    named_further,
    said_in,
    says,
    tie,
    word_likeness,
)
from beholder.language.graph import Entity, Mention
from beholder.language.numerals import number
from toy.cases import each_case


def entity(quantity: str | None = None, plural: bool = False) -> Entity:
    return Entity(
        0, "dog", "dog", (Mention("dog", (0, 3), 0),), quantity, plural
    )


@each_case(
    ("words", "expected"),
    [
        ("two", 2),
        ("a pair of", 2),
        ("12", 12),
        ("Several", None),
        ("", None),
        ("exactly 3", 3),
    ],
)
def test_number_words_are_read_as_numbers(
    words: str, expected: int | None
) -> None:
    assert number(words) == expected


@pytest.mark.parametrize(
    ("quantity", "plural", "expected"),
    [
        (None, False, 1),
        (None, True, None),
        ("three", True, 3),
        ("several", True, None),
    ],
)
def test_quantities_are_read_as_amounts(
    quantity: str | None, plural: bool, expected: int | None
) -> None:
    assert amount(entity(quantity, plural)) == expected


@each_case(
    ("source", "target", "expected"),
    [
        ("two", ("two", True), (1.0, False)),
        ("two", ("three", True), (0.0, True)),
        ("one", (None, False), (1.0, False)),  # "one dog": "a dog"
        ("two", (None, False), (0.0, False)),  # "a dog" may be one of two
        ("several", ("several", True), (1.0, False)),
        ("several", ("three", True), (0.9, False)),
        ("several", (None, False), (0.1, False)),
        ("several", ("many", True), (0.9, False)),
        ("several", (None, True), (0.9, False)),
        ("one", (None, True), (0.1, True)),
        ("two", (None, True), (0.5, False)),
        ("two", ("several", True), (0.5, False)),
    ],
)
def test_amounts_are_scored_by_fit(
    source: str, target: tuple[str | None, bool], expected: tuple[float, bool]
) -> None:
    assert amount_value(entity(source, True), entity(*target)) == expected


@each_case(
    ("a", "b", "expected"),
    [
        ("red", "blue", True),
        ("red", "crimson", False),
        ("red", "large", False),
        ("purple-black", "black", False),  # has both colours
        ("purple-black", "green", True),
        ("upper-left", "upper-right", True),  # one class excludes
        ("off-white", "cream", False),  # one word of the table
        ("first", "third", True),
        ("interior", "exterior", True),
        ("man", "woman", True),
        ("man", "boy", True),  # by age
        ("cup", "plate", False),
    ],
)
def test_values_that_exclude_each_other(
    a: str, b: str, expected: bool
) -> None:
    assert exclude(values(a), values(b)) is expected
    assert exclude(values(b), values(a)) is expected


@each_case(
    ("source", "target", "expected"),
    [
        ("dog", "dog", "same"),
        ("couch", "sofa", "same"),
        ("animal", "dog", "more"),
        ("dog", "animal", "less"),
        ("cat", "dog", "other"),
        ("man", "woman", "other"),
        ("boat", "ship", "same"),  # of one kind, and in like contexts
        ("lady", "woman", "same"),
        ("street", "road", "less"),
        ("road", "street", "more"),
        ("woman", "lady", "same"),
        ("cup", "cloud", ""),
    ],
)
def test_nouns_have_the_expected_tie(
    source: str, target: str, expected: str
) -> None:
    assert tie(source, target) == expected


@each_case(
    ("source", "target", "expected"),
    [
        ("wood", "wooden", True),
        ("animal", "dog", True),
        ("dog", "animal", False),
        ("crimson", "red", True),
        ("red", "blue", False),
        ("left", "side", False),
        ("cat", "dog", False),
        ("big", "large", True),
    ],
)
def test_a_word_says_its_synonyms_and_more_general_words(
    source: str, target: str, expected: bool
) -> None:
    assert says(source, target) is expected


@each_case(
    ("value", "expected"),
    [
        ("very dark", ["dark"]),
        ("light brown", ["brown"]),
        ("on the left side", ["left"]),
        ("red-white", ["red", "white"]),
        ("light", ["light"]),  # alone it says something
        ("on", ["on"]),
    ],
)
def test_the_words_that_bear_the_meaning_are_found(
    value: str, expected: list[str]
) -> None:
    assert content(value) == expected


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("vanilla cake", "cake", True),
        ("cake", "vanilla cake", False),
        ("wooden bench", "wood bench", False),
        ("Red Car", "red car", False),
        ("gray ship", "gray boat", False),
    ],
)
def test_names_that_say_more(source: str, target: str, expected: bool) -> None:
    assert named_further(source, target) is expected


def test_the_least_covered_word_of_a_value_decides() -> None:
    table = said_in(["red", "red wooden"], ["red", "wooden red", "wooden"])
    assert table.shape == (2, 3)
    assert table[0, :2].tolist() == [1.0, 1.0]
    assert table[1, 1] == 1.0
    assert (
        table[1, 0] == table[0, 0] * word_likeness(["wooden"], ["red"])[0, 0]
    )
    assert said_in([], ["red"]).shape == (0, 1)
    assert said_in(["red"], []).shape == (1, 0)


def test_words_of_a_class_are_not_like_those_that_exclude_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lowered = word_likeness(["left"], ["right", "leftmost"])[0]
    with monkeypatch.context() as patch:
        patch.setattr(lexis, "EXCLUDED", 1.0)
        free = word_likeness(["left"], ["right", "leftmost"])[0]
    assert lowered[0] == pytest.approx(0.3 * free[0])
    assert lowered[1] == 1.0
    into = word_likeness(["side"], ["left"])[0, 0]
    out = word_likeness(["left"], ["side"])[
        0, 0
    ]  # a word of a class, and none of it said
    assert 0.0 < out == pytest.approx(0.7 * into)
