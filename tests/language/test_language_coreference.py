"""Coreference on hand-written texts: which names one entity has."""

from __future__ import annotations

import pytest

from beholder.errors import ConfigError
from beholder.language import parse, scene_graph
from toy.cases import each_case
from toy.graphs import document

CASES = [
    ("A dog lies on a rug. The dog is brown.", "dog dog"),
    ("A dog lies on a rug. The animal is brown.", "dog animal"),
    ("A woman rides a horse. She wears a helmet.", "woman She"),
    ("A boy is holding a kite. It is red.", "kite It"),
    ("Two men are sitting on a bench. They are wearing hats.", "men They"),
    ("There is a red car and a blue car. The blue car is dirty.", "car car"),
    ("A man walks with a woman. He is carrying a bag.", "man He"),
    (
        "There is a vase on a table. The vase is blue and it is full of roses.",
        "vase vase it",
    ),
    ("A large sedan is parked. The blue sedan is clean.", "sedan sedan"),
    ("A house stands on a hill. The structure is old.", "house structure"),
    ("Two dogs play. Both are brown.", "dogs Both"),
    ("Two boys play. One is tall. They laugh.", "boys They"),
    ("A crowd stands in a square. They cheer.", "crowd They"),
    ("A boy rides a bike. It is red. It has a bell.", "bike It It"),
    ("A mother holds her baby. She is happy.", "mother She"),
    ("John Smith sits on a chair. Smith wears a hat.", "John Smith Smith"),
    ("John Smith sits on a chair. John wears a hat.", "John Smith John"),
    ("A car stands by a house. It is red.", "car It"),
    ("A boy looks at a statue. He smiles.", "boy He"),
    ("A man drives a truck. The vehicle is old.", "truck vehicle"),
    ("A woman sits at tables. They are round.", "tables They"),
]


SEPARATE = [
    "A man is not wearing a hat. The hat is on the table.",  # not the hat that he lacks
    "A man is not wearing a hat. It is sunny.",
    "A street with cars. A street without cars.",
]


def chains(text: str) -> set[str]:
    graph = scene_graph(parse(text))
    return {
        " ".join(m.text for m in e.mentions)
        for e in graph.entities
        if len(e.mentions) > 1
    }


@pytest.mark.parametrize(
    "text",
    [
        "Rembrandt, a Dutch painter, holds a brush.",
        "The woman, a nurse in white, smiles.",
        "A dog, a brown poodle, sits.",  # a kind of it
        "There is a building, a church.",
        "A poodle, a dog with long hair.",  # the narrower one first
        "The artist, John Smith, paints.",
    ],
)
def test_an_apposition_is_the_thing_before_it(text: str) -> None:
    assert (
        len(
            [
                e
                for e in scene_graph(parse(text)).entities
                if len(e.mentions) == 2
            ]
        )
        == 1
    )


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "A king on a throne, a queen beside a table.",
            "king throne queen table",
        ),
        ("A red door, a blue window.", "door window"),
        ("Two women, a man.", "woman man"),
        ("A white dog, a black dog, and a gray cat lie.", "dog dog cat"),
        ("A boy, a girl, a dog.", "boy girl dog"),
        ("A person in a hat, a dog beside a tree.", "person hat dog tree"),
        ("A man in blue; on the right, a woman in green.", "man woman"),
        ("A man, not a woman, sits.", "man woman"),
        ("The man, the woman, sit.", "man woman"),
    ],
)
def test_a_list_without_a_verb_names_several_things(
    text: str, names: str
) -> None:
    assert [e.name for e in scene_graph(parse(text)).entities] == names.split()


@pytest.mark.parametrize("text", SEPARATE)
def test_what_is_not_there_is_not_spoken_of_again(text: str) -> None:
    assert chains(text) == set()


@each_case(("text", "expected"), CASES)
def test_mentions_of_one_thing_are_one_entity(
    text: str, expected: str
) -> None:
    assert chains(text) == {expected}


def test_two_pronouns_of_one_sentence_mean_two_things() -> None:
    text = "A woman walks past a man. She looks at him."
    assert chains(text) == {"woman She", "man him"}


@pytest.mark.parametrize(
    ("text", "said_of"),
    [
        ("A man and a woman sit. They smile.", {"man", "woman"}),
        (
            "A cup and a plate are on a table. They are white.",
            {"cup", "plate"},
        ),
        ("A man and a woman sit on chairs. They smile.", {"man", "woman"}),
    ],
)
def test_they_means_both_of_a_joined_pair(
    text: str, said_of: set[str]
) -> None:
    graph = scene_graph(parse(text))
    last = {a.sentence for a in graph.attributes}
    attributes = [a for a in graph.attributes if a.sentence == max(last)]
    assert {graph.entities[a.entity].name for a in attributes} == said_of


@pytest.mark.parametrize(
    ("text", "group", "members"),
    [
        (
            "Two women stand. One wears a hat, the other wears a scarf.",
            "woman",
            ["one", "other"],
        ),
        ("Three cats sleep. One is black.", "cat", ["one"]),
        (
            "A tree is tall. A car is red. A road is wet. A hill is green. Three cats sleep."
            " One is black.",
            "cat",
            ["one"],
        ),
    ],
)
def test_one_and_the_other_are_members_of_the_group(
    text: str, group: str, members: list[str]
) -> None:
    graph = scene_graph(parse(text))
    whole = next(
        e for e in graph.entities if e.name == group and e.member_of is None
    )
    found = [e for e in graph.entities if e.member_of == whole.index]
    assert [e.quantity for e in found] == members
    assert {e.name for e in found} == {group}


def test_own_pronoun_makes_its_owner_have_the_thing() -> None:
    graph = scene_graph(parse("A girl pets a cat. Her hair is long."))
    has = {
        (graph.entities[r.subject].name, graph.entities[r.object].name)
        for r in graph.relations
        if r.kind == "possessive"
    }
    assert has == {("girl", "hair")}


@pytest.mark.parametrize(
    "text",
    [
        "A dog lies on a rug. Another dog is brown.",
        "There is a red house. The blue house is dirty.",
        "A man is sitting on a bench. A man is standing.",
        "A woman is sitting on a bench. He is old.",
        "There is a dog on the rug. The other dog is brown.",
        "The dog bites it.",
        "A boy sees a man. They are tables.",
        "A large house stands here. The small house is old.",
        "Two men sit. He is old.",
        "A dog sits. Dogs are brown.",
    ],
)
def test_different_things_stay_apart(text: str) -> None:
    assert chains(text) == set()


def test_blue_house_is_the_second_one() -> None:
    graph = scene_graph(
        parse(
            "There is a green house and a blue house. The blue house is dirty."
        )
    )
    dirty = next(a for a in graph.attributes if a.value == "dirty")
    assert {a.value for a in graph.attributes_of(dirty.entity)} == {
        "blue",
        "dirty",
    }


def test_own_function_replaces_the_builtin_one() -> None:
    text = "A dog sees a cat. The hunter is brown."

    def resolver(text: str) -> list[list[tuple[int, int]]]:
        return [[(0, 5), (text.index("The"), text.index(" is"))]]

    graph = scene_graph(parse(text), coref=resolver)
    assert [m.text for m in graph.entities[0].mentions] == ["dog", "hunter"]


def test_none_links_nothing() -> None:
    graph = scene_graph(
        parse("A dog lies on a rug. The dog is brown."), coref="none"
    )
    assert [e.head for e in graph.entities].count("dog") == 2


def test_unknown_coreference_is_refused_with_the_choices() -> None:
    with pytest.raises(ConfigError, match=r"'nearest'.*'builtin'"):
        scene_graph(parse("A dog."), coref="nearest")


@pytest.mark.parametrize(
    ("tree", "expected"),
    [
        # "Max, a dog, sits": the second names the first again; "dogs, cats and a bird" is a list.
        (
            "Max/PROPN/NNP/nsubj/6 ,/PUNCT/,/punct/4 a/DET/DT/det/4 dog/NOUN/NN/appos/1"
            " ,/PUNCT/,/punct/4 sits/VERB/VBZ/ROOT/0",
            {"Max dog"},
        ),
        (
            "cats/NOUN/NNS/ROOT/0 ,/PUNCT/,/punct/4 a/DET/DT/det/4 dog/NOUN/NN/appos/1"
            " and/CCONJ/CC/cc/6 birds/NOUN/NNS/conj/1",
            set(),
        ),
        (
            "cats/NOUN/NNS/ROOT/0 ,/PUNCT/,/punct/3 dogs/NOUN/NNS/appos/1",
            set(),
        ),
    ],
)
def test_an_apposition_names_the_same_thing_and_a_list_does_not(
    tree: str, expected: set[str]
) -> None:
    graph = scene_graph(document(tree))
    mentions = {
        " ".join(m.text for m in e.mentions)
        for e in graph.entities
        if len(e.mentions) > 1
    }
    assert mentions == expected
