"""A text as the judge reads it, and the graph of a question, by hand."""

from __future__ import annotations

import pytest

from beholder.judges.builtin.analysed import verb_similarity
from beholder.judges.builtin.claims import respelt
from beholder.judges.builtin.phrases import question_graph
from beholder.judges.builtin.reading import analysed
from beholder.judges.operations import Question
from beholder.text import frequency
from toy.cases import each_case


@each_case(
    ("span", "expected"),
    [
        ((0, 1), (0, 1)),
        ((2, 9), (1, 3)),
        ((3, 4), (1, 2)),
        ((1, 2), (1, 1)),
        ((9, 10), (3, 3)),
        ((0, 2), (0, 1)),
    ],
)
def test_a_range_of_characters_gives_its_words(
    span: tuple[int, int], expected: tuple[int, int]
) -> None:
    assert analysed("A red cup.").at(span) == expected


def test_sentences_end_at_marks_only() -> None:
    assert analysed("A cup, red; tall. A lamp\nA box").sentences == [
        0,
        0,
        0,
        0,
        1,
        1,
        2,
        2,
    ]


def test_words_and_mentions_have_their_places() -> None:
    text = analysed("A red cup and a red plate.")
    names = [entity.name for entity in text.graph.entities]
    assert {place: names[i] for place, i in text.named_at.items()} == {
        2: "cup",
        6: "plate",
    }


def test_actions_of_a_thing_are_states() -> None:
    text = analysed("A red dog sleeps.")
    states = {
        u.text: text.is_state(u) for u in text.units if u.kind == "attribute"
    }
    assert states == {"red": False, "sleeps": True}


def test_relations_with_their_ends() -> None:
    text = analysed("A man holds a cup on a table.")
    heads = [entity.head for entity in text.graph.entities]
    ends = [(heads[a], heads[b]) for a, b in text.relation_ends.T]
    assert ("man", "cup") in ends
    assert text.verbs_written[0] == "holds"


def test_verbs_are_as_near_as_their_forms_in_the_texts() -> None:
    first, second = (
        analysed("A car is located by a wall."),
        analysed("A car is situated by a wall."),
    )
    assert verb_similarity(first, second)[0, 0] == 1.0
    painted = analysed("A car is painted by a man.")
    assert verb_similarity(first, painted)[0, 0] < 0.5
    assert verb_similarity(analysed("Rain."), first).shape == (0, 1)


def test_the_graph_of_a_question_on_a_relation() -> None:
    graph = question_graph(
        Question(
            "relation", "is held by", subject="red cup", object="tall man"
        )
    )
    assert [entity.head for entity in graph.entities] == ["cup", "man"]
    assert {(a.entity, a.value) for a in graph.attributes} == {
        (0, "red"),
        (1, "tall"),
    }
    (relation,) = graph.relations
    assert (relation.subject, relation.object) == (0, 1)


def test_the_graph_of_a_question_on_an_attribute_and_a_thing() -> None:
    graph = question_graph(Question("attribute", "Red", subject="cup"))
    assert [(a.entity, a.value) for a in graph.attributes] == [(0, "red")]
    thing = question_graph(Question("entity", "tall lamp"))
    assert [entity.head for entity in thing.entities] == ["lamp"]
    bare = question_graph(Question("entity", "!"))
    assert len(bare.entities) == 1


@pytest.mark.parametrize(
    ("word", "expected"),
    [("Sculptuer", "sculpture"), ("sculptureee", "sculptureee")],
)
def test_exchanged_letters_are_one_edit(word: str, expected: str) -> None:
    assert respelt(word, {"sculpture"}) == expected


@pytest.mark.parametrize(
    ("words", "value", "kind", "passive"),
    [
        ("holds", "hold", "verb", False),
        ("looks up at", "look up at", "verb", False),
        ("held by", "hold by", "verb", True),
        ("next to", "next to", "preposition", False),
        ("", "", "preposition", False),
    ],
)
def test_the_relation_of_a_question_is_in_base_form(
    words: str, value: str, kind: str, passive: bool
) -> None:
    (relation,) = question_graph(
        Question("relation", words, "red cup", "tall man")
    ).relations
    assert (relation.predicate, relation.kind, relation.passive) == (
        value,
        kind,
        passive,
    )


def test_a_rare_word_of_a_unit_weighs_more_than_a_frequent_one() -> None:
    text = analysed("A man stands beside a zebra.")
    words, owners = text.unit_words
    weights = dict(zip(words, text.unit_word_weights.tolist(), strict=True))
    assert len(words) == len(owners) == len(text.unit_word_weights)
    assert 0 < weights["man"] < weights["stands"] < weights["zebra"] < 1.1
    assert weights["man"] == pytest.approx(frequency.weight("man"), abs=1e-6)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The fence sits.", {"sit"}),
        ("The man is sitting.", set()),
        ("A man waves.", set()),
        ("The fence stands to the right.", {"to the right"}),
        ("A dog is in the foreground.", {"in the foreground"}),
        ("A tall dog.", set()),
        ("The top window shines.", {"top"}),
        (
            "An outdoor pool.",
            set(),
        ),  # a class of places, but no part of a thing
    ],
)
def test_attributes_that_only_locate_say_little(
    text: str, expected: set[str]
) -> None:
    analysed_text = analysed(text)
    units = [unit for unit in analysed_text.units if unit.kind == "attribute"]
    assert {
        unit.value for unit in units if analysed_text.says_little(unit)
    } == expected
