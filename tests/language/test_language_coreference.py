"""Coreference on hand-written texts: which names one entity has."""

from __future__ import annotations

import pytest

from beholder.errors import ConfigError
from beholder.language import parse, scene_graph

CASES = [
    ("A dog lies on a rug. The dog is brown.", "dog dog"),
    ("A dog lies on a rug. The animal is brown.", "dog animal"),
    ("A woman rides a horse. She wears a helmet.", "woman She"),
    ("A boy is holding a kite. It is red.", "kite It"),
    ("Two men are sitting on a bench. They are wearing hats.", "men They"),
    ("There is a red car and a blue car. The blue car is dirty.", "car car"),
    ("A man walks with a woman. He is carrying a bag.", "man He"),
    ("There is a vase on a table. The vase is blue and it is full of roses.", "vase vase it"),
]


def chains(text: str) -> set[str]:
    graph = scene_graph(parse(text))
    return {" ".join(m.text for m in e.mentions) for e in graph.entities if len(e.mentions) > 1}


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_mentions_of_one_thing_are_one_entity(text: str, expected: str) -> None:
    assert chains(text) == {expected}


@pytest.mark.parametrize(
    "text",
    [
        "A dog lies on a rug. Another dog is brown.",
        "There is a red house. The blue house is dirty.",
        "A man is sitting on a bench. A man is standing.",
        "A woman is sitting on a bench. He is old.",
        "There is a dog on the rug. The other dog is brown.",
    ],
)
def test_different_things_stay_apart(text: str) -> None:
    assert chains(text) == set()


def test_blue_house_is_the_second_one() -> None:
    graph = scene_graph(parse("There is a green house and a blue house. The blue house is dirty."))
    dirty = next(a for a in graph.attributes if a.value == "dirty")
    assert {a.value for a in graph.attributes_of(dirty.entity)} == {"blue", "dirty"}


def test_own_function_replaces_the_builtin_one() -> None:
    text = "A dog sees a cat. The hunter is brown."

    def resolver(text: str) -> list[list[tuple[int, int]]]:
        return [[(0, 5), (text.index("The"), text.index(" is"))]]

    graph = scene_graph(parse(text), coref=resolver)
    assert [m.text for m in graph.entities[0].mentions] == ["dog", "hunter"]


def test_none_links_nothing() -> None:
    graph = scene_graph(parse("A dog lies on a rug. The dog is brown."), coref="none")
    assert [e.head for e in graph.entities].count("dog") == 2


def test_unknown_coreference_is_refused_with_the_choices() -> None:
    with pytest.raises(ConfigError, match=r"'nearest'.*'builtin'"):
        scene_graph(parse("A dog."), coref="nearest")
