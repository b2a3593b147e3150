"""Bare numerals, "most of the X", names in capitals, and the adjectives of groups."""

from __future__ import annotations

import pytest

from beholder.language import parse, scene_graph
from beholder.language.statements import graph_units, wording


def asked_sentences(text: str) -> set[str]:
    """All that is asked about a text, as sentences."""
    graph = scene_graph(parse(text))
    return {wording(unit, graph) for unit in graph_units(graph) if unit.asked}


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("The clock on the tower shows 4:40.", "The clock is 4:40."),
        ("A bus with the number 17 waits.", "The number is 17."),
        ("A plaque gives the year 1887.", "The year is 1887."),
        ("A sign says the speed limit is 30.", "The speed limit is 30."),
        ("The price has dropped by 15 %.", "The price is 15 %."),
        ("None of the windows are lit.", "The windows are not lit."),
        ("Neither of the two doors is open.", "The doors are not open."),
        ("Most of the seats are empty.", "Most of the seats are empty."),
        ("All of the boats are white.", "All of the boats are white."),
        ("A statue stands in New York City.", "There is a new York City."),
        (
            "The Golden Gate Bridge spans the bay.",
            "There is a golden Gate Bridge.",
        ),
    ],
)
def test_a_fact_is_read(text: str, fact: str) -> None:
    assert fact in asked_sentences(text)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        (
            "Most of the red seats are empty. They have wheels.",
            {"There are seats.", "The seats are red.", "Most of the seats are empty.",
             "There are wheels.", "The seats have the wheels."},
        ),
        ("Every window is lit.", {"There is a window.", "Every window is lit."}),
        ("Few of the chairs are empty.", {"There are chairs.", "Few of the chairs are empty."}),
        (
            "A few chairs are empty.",
            {"There are chairs.", "There are few chairs.", "The chairs are empty."},
        ),
    ],
)  # fmt: skip
def test_a_share_belongs_to_what_is_said_of_it(
    text: str, facts: set[str]
) -> None:
    assert asked_sentences(text) == facts


def test_the_word_for_the_share_is_marked() -> None:
    text = "All of the windows are lit."
    graph = scene_graph(parse(text))
    lit = next(
        unit for unit in graph_units(graph) if unit.value in ("lit", "light")
    )
    assert lit.spans[-1] == (0, 3)
    assert lit.share


@pytest.mark.parametrize(
    "text",
    [
        "A pair of bowls and a tin stand there.",  # the tin is no part of the bowls
        "A photograph, wider than it is tall, shows a house.",
        "The people are hard to make out.",
        "Men stand shoulder to shoulder.",
        "A woman is shown from the hips up.",
        "The portrait is formal.",
    ],
)
def test_what_is_no_statement_is_none(text: str) -> None:
    wrong = {"tall", "hard", "shoulder", "of", "from", "formal"}
    graph = scene_graph(parse(text))
    assert wrong.isdisjoint(
        unit.text for unit in graph_units(graph) if unit.asked
    )


def test_a_number_of_things_stays_their_quantity() -> None:
    assert asked_sentences("Three boats and 4 dogs.") == {
        "There are boats.", "There are dogs.", "There are three boats.", "There are 4 dogs.",
    }  # fmt: skip


def test_the_size_of_a_group_is_not_that_of_its_members() -> None:
    assert "The trees are small." not in asked_sentences(
        "A small group of trees stands there."
    )
    assert "The trees are small." in asked_sentences(
        "A group of small trees stands there."
    )


@pytest.mark.parametrize(
    ("text", "units"),
    [
        # the parser takes "4:40" for the subject of "hangs"
        (
            "A clock showing 4:40 hangs on the wall.",
            {"There is a clock.", "There is a wall.", "The clock is 4:40.",
             "The clock is showing on the wall."},
        ),
        (
            "A sign gives a price of $12.50.",
            {"There is a sign.", "There is a price.", "The price is $12.50."},
        ),
        (
            "The thermometer reads 12 degrees.",
            {"There is a thermometer.", "The thermometer is 12 degrees."},
        ),
        ("A 1923 poster.", {"There is a poster.", "The poster is 1923."}),
        ("A $5 bill.", {"There is a bill.", "The bill is $5."}),
        (
            "17 is painted on the bus.",
            {"There is a 17.", "There is a bus.", "The 17 is painted on the bus."},
        ),
        ("Sales are up 15 percent.", {"There are sales.", "The sales are 15 percent."}),
        ("He is 6 feet tall.", {"He is 6 feet tall."}),
    ],
)  # fmt: skip
def test_bare_numerals_become_units_of_their_noun(
    text: str, units: set[str]
) -> None:
    assert asked_sentences(text) == units


def test_the_number_of_a_bus_is_no_part_of_its_name() -> None:
    assert {
        "There is a bus number.",
        "The bus number is 17.",
    } <= asked_sentences("Bus number 17 stops here.")
    assert "There is a boeing 747." in asked_sentences(
        "A Boeing 747 stands on the runway."
    )
