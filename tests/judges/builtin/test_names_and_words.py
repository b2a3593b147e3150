"""How names and words stand to each other, by public names and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from beholder.judges.builtin import claims, lexical_alignment, lexis
from beholder.judges.builtin.entities import counterparts
from beholder.judges.builtin.lexis import named_apart
from beholder.judges.builtin.reading import analysed
from beholder.judges.builtin.vectors import VectorTable, vectors
from toy.cases import each_case


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ("table", "tabletop", "same"),
        ("tabletop", "table", "same"),
        (
            "graffiti",
            "label",
            "more",
        ),  # each may name what another that is written does
        ("label", "graffiti", "more"),
        ("graffiti", "cup", ""),
    ],
)
def test_words_are_tied_by_more_than_their_senses(
    source: str, target: str, expected: str
) -> None:
    assert lexis.tie(source, target) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [("", [""]), ("-", ["-"]), ("Red", ["red"])]
)
def test_a_value_always_has_a_word(value: str, expected: list[str]) -> None:
    assert lexis.content(value) == expected


def test_nothing_is_found_in_an_empty_text() -> None:
    alignment = lexical_alignment.align_words("", ["A cup.", ""])
    assert (alignment.precision, alignment.recalls, alignment.peers) == (
        0.0,
        (0.0, 0.0),
        0.0,
    )
    assert lexical_alignment.align_words("A cup.", [""]).recalls == (0.0,)
    assert lexical_alignment.align_words("A cup.", []).precision == 0.0


def test_a_table_is_filled_before_it_begins_anew() -> None:
    expected_rows = vectors(["dog", "cup", "jug", "lamp"])
    table = VectorTable(4)
    table(["dog", "cup"])
    assert len(table) == 3  # with the empty phrase
    assert table(["jug"]).tolist() == expected_rows[[2]].tolist()
    assert len(table) == 4
    assert (
        table(["dog", "jug", "cup"]).tolist()
        == expected_rows[[0, 2, 1]].tolist()
    )
    assert len(table) == 4
    assert table(["lamp"]).tolist() == expected_rows[[3]].tolist()
    assert len(table) == 2


@each_case(
    ("source", "target"),
    [
        ("people", "woman"),  # a word for persons
        ("table", "tabletop"),
        ("graffiti", "label"),
        ("dog", "animal"),
        ("animal", "dog"),
        ("dog", "cat"),
        ("painting", "painter"),
        ("left", "right"),  # a class
    ],
)
def test_nouns_with_a_tie_have_something_in_common(
    source: str, target: str
) -> None:
    assert lexis.tie(source, target)
    assert not lexis.tied_by(source).isdisjoint(lexis.tied_by(target))


def test_nouns_with_nothing_in_common_have_no_tie() -> None:
    assert lexis.tied_by("graffiti").isdisjoint(lexis.tied_by("cup"))
    assert lexis.tie("graffiti", "cup") == ""


@each_case(
    ("source", "target", "expected"),
    [
        ("street sign", "stop sign", True),
        ("Street sign", "street sign", False),
        ("sign", "stop sign", False),
        ("stop sign", "sign", False),
        ("wood sign", "wooden sign", False),
        ("big stop sign", "stop sign", False),
    ],
)
def test_names_that_say_which_of_a_kind(
    source: str, target: str, expected: bool
) -> None:
    assert named_apart(source, target) is expected


def test_one_head_alone_is_not_quite_the_name() -> None:
    source, target = analysed("A traffic sign."), analysed("A red sign.")
    matches = counterparts(source, target, np.zeros((1, 1)))
    assert matches.plain[0, 0] == pytest.approx(0.95)
    assert matches.similarity[0, 0] == pytest.approx(
        0.99
    )  # only one says which
    source, target = analysed("A traffic sign."), analysed("A stop sign.")
    matches = counterparts(source, target, np.zeros((1, 1)))
    assert matches.similarity[0, 0] == pytest.approx(0.7)  # each says which


def test_another_of_the_kind_is_a_little_farther() -> None:
    matches = counterparts(
        analysed("A dog."), analysed("A cat."), np.zeros((1, 1))
    )
    assert matches.similarity[0, 0] == pytest.approx(
        0.85 * matches.plain[0, 0]
    )


def test_the_first_of_the_same_words_is_taken() -> None:
    references = [analysed(text) for text in ("A dog.", "a CAT", "A cat!")]
    statements = [analysed("A cat."), analysed("A jug."), analysed("A dog.")]
    assert claims.matches(statements, references) == [1, None, 0]
