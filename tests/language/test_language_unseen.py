"""What names nothing to be seen, and which units are not asked: worked out by hand."""

from __future__ import annotations

import pytest

from beholder.language import parse, scene_graph
from beholder.language.statements import GraphUnit, graph_units
from toy.cases import each_case


def units(text: str) -> tuple[GraphUnit, ...]:
    return graph_units(scene_graph(parse(text)))


def asked_texts(text: str, kind: str) -> list[str]:
    return [
        unit.text for unit in units(text) if unit.kind == kind and unit.asked
    ]


@each_case(
    ("text", "things"),
    [
        ("The red leaves add a touch of elegance to the scene.", ["leaf"]),
        ("The red leaves add a pop of color to the scene.", ["leaf"]),
        (
            "A dog stands in the center of the frame, adding depth to the composition.",
            ["dog"],
        ),
        ("The freshness of the salad is clear.", ["salad"]),
        ("A dog is seen from a low-angle perspective.", ["dog"]),
        ("The focal point is a dog.", ["dog"]),
        (
            "A rough pot has cracks, adding character and texture to its overall design.",
            ["pot", "crack"],
        ),
        (
            "The form of the pot is reminiscent of an elephant's trunk.",
            ["form", "pot"],
        ),
        ("A groove, akin to a scar, is on the face.", ["groove", "face"]),
        ("The wall exhibits signs of weathering.", ["wall", "weathering"]),
        ("The piece is crafted from oak.", ["oak"]),
        ("A dog runs on a sunny day.", ["dog"]),
        ("A car is covered in a dusting of snow.", ["car", "snow"]),
        # what names something after all
        ("A man adds salt to a bowl.", ["man", "salt", "bowl"]),
        ("An elephant lifts its trunk.", ["elephant", "trunk"]),
        ("A wall shows a sign of the hotel.", ["wall", "hotel"]),
        ("A man paints signs of the hotel.", ["man", "sign", "hotel"]),
        ("A splash of water hits a dog.", ["splash", "water", "dog"]),
        ("A horse wears a harness.", ["horse", "harness"]),
        ("A tree stands against a yellow backdrop.", ["tree", "backdrop"]),
        ("A tree stands against a backdrop.", ["tree"]),
        ("An orange lies on a table.", ["orange", "table"]),
        ("A pink shape is painted on a wall.", ["shape", "wall"]),
        # places and words that stand for things
        ("The front is red.", []),
        ("The objects are on a table.", ["table"]),
    ],
)
def test_things_that_are_looked_for(text: str, things: list[str]) -> None:
    assert asked_texts(text, "entity") == things


@pytest.mark.parametrize(
    ("text", "owner", "qualities"),
    [
        ("The hue of the fish is orange.", "fish", ["orange"]),
        ("The exterior of the house is white.", "house", ["white"]),
        ("The wall is painted in a blue hue.", "wall", ["blue"]),
        ("The wall is a shade of blue.", "wall", ["blue"]),
    ],
)
def test_a_look_is_said_of_what_has_it(
    text: str, owner: str, qualities: list[str]
) -> None:
    graph = scene_graph(parse(text))
    thing = next(entity for entity in graph.entities if entity.name == owner)
    values = [
        a.value for a in graph.attributes_of(thing.index) if a.kind != "state"
    ]
    assert values == qualities


@pytest.mark.parametrize(
    ("text", "kind", "silent", "heard"),
    [
        ("The cat licks its tail.", "relation", "has", "licks"),
        ("A visible red car stands here.", "attribute", "visible", "red"),
        ("A beautiful red car stands here.", "attribute", "beautiful", "red"),
        (
            "The lamp enhances the table. A vase is on a rug.",
            "relation",
            "enhances",
            "on",
        ),
        ("A patch of dirt lies beside two cars.", "attribute", "patch", "two"),
        (
            "The house has differing red walls.",
            "attribute",
            "differing",
            "red",
        ),
    ],
)
def test_what_says_nothing_by_itself_is_not_asked(
    text: str, kind: str, silent: str, heard: str
) -> None:
    asked_by_text = {
        unit.text: unit.asked for unit in units(text) if unit.kind == kind
    }
    assert (asked_by_text[silent], asked_by_text[heard]) == (False, True)


def test_an_owner_that_is_named_is_asked() -> None:
    assert "has" in asked_texts("The cat's tail is on a mat.", "relation")


def test_what_is_denied_is_asked_with_the_word_that_denies_it() -> None:
    text = "The dog is not visible. There is no cat."
    by_text = {unit.text: unit for unit in units(text) if not unit.polarity}
    assert by_text["visible"].asked
    assert [text[a:b] for a, b in by_text["visible"].spans] == [
        "visible",
        "not",
    ]
    assert [text[a:b] for a, b in by_text["cat"].spans] == ["cat", "no"]


def test_what_affirms_has_its_own_place_only() -> None:
    text = "There is no cat, but a dog."
    dog = next(unit for unit in units(text) if unit.text == "dog")
    assert [text[a:b] for a, b in dog.spans] == ["dog"]


def test_the_published_graph_keeps_such_words() -> None:
    text = "The red leaves add a touch of elegance to the scene."
    graph = scene_graph(parse(text), rules="reference")
    assert {"touch", "elegance"} <= {entity.head for entity in graph.entities}


def test_where_a_thing_is_takes_a_verb_that_tells_more_than_an_effect() -> (
    None
):
    assert asked_texts("A black chair adds to the left.", "attribute") == [
        "black",
        "to the left",
    ]
    assert asked_texts("A black dog runs to the left.", "attribute") == [
        "black",
        "runs to the left",
    ]
