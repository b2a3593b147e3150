"""How one of several like things is named; graphs made by hand."""

from __future__ import annotations

import pytest

from beholder.language import parse, scene_graph
from beholder.metrics.posh.plan import Identifiers


def names(text: str, name: str, without: str = "") -> list[str]:
    graph = scene_graph(parse(text))
    identifiers = Identifiers(graph)
    return [
        identifiers.phrase_for(e.index, without)
        for e in graph.entities
        if e.name == name
    ]


def test_a_unique_name_stands_alone() -> None:
    assert names("A red dog lies on a rug.", "dog") == ["dog"]


def test_namesakes_are_told_by_what_only_one_has() -> None:
    assert names("There is a green house and a blue house.", "house") == [
        "green house", "blue house",
    ]  # fmt: skip


def test_what_both_have_tells_nothing_apart() -> None:
    text = "A red ball is on a box. Another red ball is on a mat. Another red ball is on a mat."
    identifiers = names(text, "ball")
    assert identifiers[0] == "ball that is on box"
    assert identifiers[1:] == ["second ball", "third ball"]


def test_where_qualities_do_not_tell_the_relation_does() -> None:
    text = "A man is near a car. Another man is on a horse. Another man is on a horse."
    identifiers = names(text, "man")
    assert identifiers[0] == "man that is near car"


def test_what_will_be_asked_is_not_used_to_name_the_thing() -> None:
    text = "There is a green house and a blue house."
    assert names(text, "house", without="green") == [
        "first house",
        "blue house",
    ]
    assert names(text, "house", without="blue") == [
        "green house",
        "second house",
    ]


def test_what_is_denied_does_not_name_a_thing() -> None:
    identifiers = names(
        "One house is not red. Another house is blue.", "house"
    )
    assert "red house" not in identifiers


@pytest.mark.parametrize(
    ("place", "name"), [(0, "first"), (8, "ninth"), (9, "10th"), (11, "12th")]
)
def test_like_things_are_counted_in_the_order_of_the_text(
    place: int, name: str
) -> None:
    text = "A dog sits. " + "Another dog sits. " * 11
    assert names(text, "dog")[place] == f"{name} dog"
