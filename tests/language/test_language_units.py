"""The units of a graph that are judged one by one: worked out by hand from its docstrings."""

from __future__ import annotations

import pytest

from beholder.language import parse, scene_graph
from beholder.language.statements import GraphUnit, graph_units


def units(text: str) -> list[GraphUnit]:
    return list(graph_units(scene_graph(parse(text))))


def texts(text: str, kind: str) -> list[str]:
    return [unit.text for unit in units(text) if unit.kind == kind]


def test_units_are_entities_then_attributes_then_relations() -> None:
    values = [
        (u.kind, u.value) for u in units("Two red cups stand on a table.")
    ]
    assert values == [
        ("entity", "cup"),
        ("entity", "table"),
        ("attribute", "red"),
        ("attribute", "two"),
        ("relation", "stand on"),
    ]


def test_the_picture_and_what_is_said_of_it_are_no_units() -> None:
    image_units = units("The blurry image shows a dog on a rug.")
    assert [(u.kind, u.text) for u in image_units] == [
        ("entity", "dog"),
        ("entity", "rug"),
        ("relation", "on"),
    ]


def test_a_pronoun_that_is_never_named_is_no_entity_but_what_is_said_of_it_counts() -> (
    None
):
    assert texts("She is tall.", "entity") == []
    assert texts("She is tall.", "attribute") == ["tall"]


def test_what_is_said_twice_counts_once_with_all_its_places() -> None:
    text = "A red car is parked. The red car is by a house. The car is by the house."
    assert texts(text, "attribute").count("red") == 1
    assert texts(text, "relation") == ["by"]
    red = next(u for u in units(text) if u.text == "red")
    assert [text[a:b] for a, b in red.spans] == ["red", "red"]
    assert red.spans[0] != red.spans[1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A dog sees two cats.", "two"),
        ("Two dogs see two cats.", "Two"),
        ("A pair of shoes lies here.", "pair"),
    ],
)
def test_a_quantity_stands_where_it_is_written(text: str, words: str) -> None:
    quantities = [u for u in units(text) if u.quantity]
    assert text[slice(*quantities[0].spans[0])] == words
    assert quantities[0].spans[0][0] == text.index(words)


def test_each_of_two_equal_quantities_has_its_own_place() -> None:
    text = "Two dogs see two cats."
    assert [u.spans for u in units(text) if u.quantity] == [
        ((0, 3),),
        ((13, 16),),
    ]


def test_a_relation_says_whether_it_is_a_verb_passive_or_denied() -> None:
    by_text = {
        u.text: u
        for u in units("A man holds a cup. The boat is pulled by a horse.")
    }
    assert (by_text["holds"].verb, by_text["holds"].passive) == (True, False)
    assert (by_text["pulled by"].verb, by_text["pulled by"].passive) == (
        True,
        True,
    )
    denied = units("A man without a shirt stands.")
    relation = next(u for u in denied if u.kind == "relation")
    assert (relation.verb, relation.polarity) == (False, False)
    assert relation.spans == ((6, 13),)  # "without" itself denies


def test_what_is_not_there_has_no_quantity() -> None:
    denied_units = units("We do not see any cats.")
    assert [(u.text, u.polarity, u.quantity) for u in denied_units] == [
        ("cat", False, False)
    ]


@pytest.mark.parametrize(
    ("frame", "is_affirmed"),
    [
        ("It is not true that {}.", False),
        ("It is false that {}.", False),
        ("It isn't the case that {}.", False),
        ("They deny that {}.", False),
        ("It is not false that {}.", True),
        ("It is true that {}.", True),
        ("The note says that {}.", True),
    ],
)
def test_a_clause_that_is_called_false_is_denied(
    frame: str, is_affirmed: bool
) -> None:
    sentence_units = units(frame.format("a dog chases a red car"))
    polarity = {
        u.text: u.polarity
        for u in sentence_units
        if u.text in ("dog", "car", "chases")
    }
    assert polarity == {
        "dog": is_affirmed,
        "car": is_affirmed,
        "chases": is_affirmed,
    }


def test_a_denial_inside_a_clause_that_is_called_false_is_affirmed() -> None:
    sentence_units = units("It is false that there are no dogs.")
    assert [
        (u.text, u.polarity) for u in sentence_units if u.text == "dog"
    ] == [("dog", True)]


def test_place_is_where_the_words_and_both_ends_begin() -> None:
    text = "A red cup is on a mat."
    graph = scene_graph(parse(text))
    places = {u.text: u.place(graph) for u in graph_units(graph)}
    assert places == {
        "cup": (6,),
        "mat": (18,),
        "red": (2, 6),
        "on": (13, 6, 18),
    }
