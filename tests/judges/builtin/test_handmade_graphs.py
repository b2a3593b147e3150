"""Texts whose graphs are made by hand, so that no parse stands between a rule and its test."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from beholder.judges.builtin.analysed import AnalysedText, lower_excluded
from beholder.judges.builtin.classes import values
from beholder.judges.builtin.entities import Counterparts
from beholder.judges.builtin.evidence import Evidence
from beholder.judges.builtin.numbers import number
from beholder.judges.builtin.relations import related
from beholder.language.graph import (
    Attribute,
    Entity,
    Mention,
    Relation,
    SceneGraph,
)
from beholder.records import Span
from toy.cases import each_case


def line(length: int, words: Mapping[int, str], filler: str = "um") -> str:
    """A text of so many words that has some of them at their places."""
    return " ".join(words.get(place, filler) for place in range(length))


def spans(text: str, word: str) -> list[Span]:
    """Find the spans of a word; ``cup#2`` is the second cup only."""
    name, _, which = word.partition("#")
    matches = [match.span() for match in re.finditer(rf"\b{name}\b", text)]
    return [matches[int(which) - 1]] if which else matches


def build_text(
    text: str,
    things: str,
    attribute_rows: Sequence[tuple[int, str, bool]] = (),
    related: Sequence[tuple[int, int, str, str, bool]] = (),
    denied: Sequence[int] = (),
    quantities: Mapping[int, str] | None = None,
    plural: Sequence[int] = (),
) -> AnalysedText:
    """A text with its graph.

    Args:
        text: The text.
        things: Heads of the things, as words of the text.
        attribute_rows: Attributes: thing, word, polarity.
        related: Relations: subject, object, word, base form, polarity; verbs end in "s".
        denied: Things that the text says are not there.
        quantities: How many there are of a thing.
        plural: Things that are several.
    """
    entities = tuple(
        Entity(
            index,
            word.partition("#")[0],
            word.partition("#")[0],
            tuple(Mention(text[a:b], (a, b), 0) for a, b in spans(text, word)),
            quantity=(quantities or {}).get(index),
            plural=index in plural,
            polarity=index not in denied,
        )
        for index, word in enumerate(things.split())
    )
    attributes = tuple(
        Attribute(
            thing,
            word.partition("#")[0],
            word.partition("#")[0],
            (spans(text, word)[0],),
            0,
            polarity=polarity,
        )
        for thing, word, polarity in attribute_rows
    )
    relations = tuple(
        Relation(
            subject,
            object_,
            word.partition("#")[0],
            base,
            (spans(text, word)[0],),
            0,
            "verb" if word.partition("#")[0].endswith("s") else "preposition",
            polarity=polarity,
        )
        for subject, object_, word, base, polarity in related
    )
    return AnalysedText(SceneGraph(text, entities, attributes, relations))


# Relations by predicate and ends. How strongly things are meant is given; ends are strong where the
# root of the product of both is at least ENDS.


ENDS = number("decide.ends")
Related = list[tuple[int, int, str, str, bool]]
KICKS: Related = [(0, 1, "kicks", "kick", True)]
ON: Related = [(0, 1, "on", "on", True)]
IN: Related = [(0, 1, "in", "in", True)]
BOOK = "dog cat hare duck kicks on in kicks"
"""The words of the target, whose relations are given."""
WHERE = {"kicks": ((18, 23),), "on": ((24, 26),), "in": ((27, 29),)}


def relation_evidence(
    source_relations: Related,
    target_relations: Related,
    strength: list[list[float]],
) -> Evidence:
    """Return the evidence on the only relation of the source."""
    source = build_text(
        "dog cat kicks on in", "dog cat", related=source_relations
    )
    things = " ".join(["dog", "cat", "hare", "duck"][: len(strength[0])])
    target = build_text(BOOK, things, related=target_relations)
    strengths = np.array(strength)
    none = np.zeros(2, np.bool_)
    pairs = Counterparts(
        strengths,
        strengths,
        strengths,
        np.argmax(strengths, axis=1),
        strengths > 9,
        none,
    )
    ((_, evidence),) = related(source, target, pairs).items()
    return evidence


def test_a_relation_between_the_same_ends_is_stated() -> None:
    # 0.8 is enough, though the reverse is as near
    evidence = relation_evidence(KICKS, KICKS, [[1.0, 1.0], [0.64, 0.64]])
    assert evidence == Evidence(
        "relation", stated=0.8, between=0.8, turned=0.8, where=WHERE["kicks"]
    )


def test_a_relation_at_the_bound_counts_as_said_even_if_its_reverse_is_as_near() -> (
    None
):
    evidence = relation_evidence(KICKS, KICKS, [[ENDS, ENDS], [ENDS, ENDS]])
    assert (evidence.stated, evidence.turned) == (ENDS, ENDS)
    assert (evidence.instead, evidence.where) == ("", WHERE["kicks"])


def test_a_negated_relation_is_denied_with_its_words() -> None:
    evidence = relation_evidence(
        KICKS, [(0, 1, "kicks", "kick", False)], [[1.0, 0.0], [0.0, 0.64]]
    )
    instead, where = "dog not kicks cat", WHERE["kicks"]
    assert evidence == Evidence(
        "relation",
        stated=0.8,
        between=0.8,
        denied=True,
        instead=instead,
        where=where,
    )


def test_exchanged_ends_count_as_turned() -> None:
    reverse: Related = [(1, 0, "kicks", "kick", True)]
    strength = [[1.0, 0.0], [0.0, 0.64]]
    evidence = relation_evidence(KICKS, reverse, strength)
    instead, where = "cat kicks dog", WHERE["kicks"]
    assert evidence == Evidence(
        "relation", between=0.8, turned=0.8, instead=instead, where=where
    )


@pytest.mark.parametrize(("second", "between"), [(0.64, 0.8), (0.6241, 0.79)])
def test_another_place_of_the_same_ends(second: float, between: float) -> None:
    # "in" is 0.6 like "on"
    evidence = relation_evidence(ON, IN, [[1.0, 0.0], [0.0, second]])
    assert (evidence.stated, evidence.between) == pytest.approx(
        (0.6 * between, between)
    )
    assert (evidence.turned, evidence.bare, evidence.denied) == (
        0.0,
        True,
        False,
    )
    assert (evidence.instead, evidence.where) == ("", ())


def test_a_place_that_is_near_is_no_other() -> None:
    at: Related = [(0, 1, "in", "at", True)]  # "at" is 0.7 like "on"
    evidence = relation_evidence(ON, at, [[1.0, 0.0], [0.0, 1.0]])
    assert evidence.stated == pytest.approx(0.7)
    assert (evidence.instead, evidence.where) == ("", WHERE["in"])


@pytest.mark.parametrize(
    ("second", "where"), [(0.25, WHERE["on"]), (0.2401, ())]
)
def test_a_relation_is_located_from_a_likeness_on(
    second: float, where: tuple[Span, ...]
) -> None:
    evidence = relation_evidence(ON, ON, [[1.0, 0.0], [0.0, second]])
    assert (evidence.instead, evidence.where) == ("", where)


def test_nothing_is_shown_where_nothing_is_like_it() -> None:
    evidence = relation_evidence(ON, [], [[1.0, 0.0], [0.0, 1.0]])
    assert evidence == Evidence("relation", bare=True)


def test_of_equally_like_relations_the_first_is_located() -> None:
    both: Related = [(0, 1, "on", "on", True), (2, 3, "in", "on", True)]
    evidence = relation_evidence(
        ON, both, [[1.0, 0.0, 1.0, 0.0], [0.0, 0.81, 0.0, 0.81]]
    )
    assert (evidence.stated, evidence.where) == (0.9, WHERE["on"])
    nearer = relation_evidence(
        ON, both, [[1.0, 0.0, 1.0, 0.0], [0.0, 0.64, 0.0, 0.81]]
    )
    assert (nearer.stated, nearer.where) == (0.9, WHERE["in"])


@pytest.mark.parametrize(
    ("second", "turned"),
    [(0.81, 0.9), (0.64, 0.8), (ENDS * ENDS, ENDS), (0.62, 0.0)],
)
def test_a_reverse_beside_the_right_one_counts_from_strong_ends_on(
    second: float, turned: float
) -> None:
    both: Related = [*KICKS, (3, 2, "kicks", "kick", True)]
    evidence = relation_evidence(
        KICKS, both, [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, second]]
    )
    assert (evidence.stated, evidence.turned) == (1.0, turned)


# What a text holds (analysed).


@pytest.mark.parametrize(
    ("base", "polarity", "subject", "object_"),
    [
        ("in front of", True, ["in the foreground"], ["in the background"]),
        ("behind", True, ["in the background"], ["in the foreground"]),
        ("behind", False, [], []),
        ("on", True, [], []),
    ],
)
def test_in_front_of_puts_ends_in_foreground_and_background(
    base: str, polarity: bool, subject: list[str], object_: list[str]
) -> None:
    text = build_text(
        "dog in cat", "dog cat", related=[(0, 1, "in", base, polarity)]
    )
    assert [
        p.value for p in text.properties if p.derived and p.entity == 0
    ] == subject
    assert [
        p.value for p in text.properties if p.derived and p.entity == 1
    ] == object_
    assert (
        text.property_values == []
    )  # what follows from a relation excludes nothing


def test_properties_are_listed_in_order() -> None:
    text = build_text(
        "red dog kicks cat on um",
        "dog cat",
        [(0, "red", False)],
        [(0, 1, "kicks", "kick at", False), (0, 1, "on", "on", True)],
    )
    properties = [
        (p.entity, p.text, p.value, p.spans, p.polarity)
        for p in text.properties
    ]
    assert properties == [
        (0, "red", "red", ((0, 3),), False),
        (0, "kicks", "kick", ((8, 13),), False),
        (0, "dog", "dog", ((4, 7),), True),
        (1, "cat", "cat", ((14, 17),), True),
    ]
    assert text.property_owners.tolist() == [0, 0, 0, 1]
    assert text.verbs_written == ["kicks", ""]


@each_case(
    ("value", "names"),
    [
        ("orange", {"colour"}),
        ("on orange background", {"depth"}),
        ("with orange", set()),  # has, but is not, of that colour
        ("on left", {"side"}),
        ("from left", set()),
        ("toward left", set()),
        ("left", {"side"}),
    ],
)
def test_properties_have_the_classes_that_exclude_others(
    value: str, names: set[str]
) -> None:
    text = build_text("um dog", "dog", [(0, "um", True)])
    (first, *_) = text.graph.attributes
    changed = AnalysedText(
        replace(text.graph, attributes=(replace(first, value=value),))
    )
    assert {
        name for classes in changed.values_of[0] for name, _ in classes
    } == names


def test_values_that_exclude_each_other_are_lowered() -> None:
    similarity = np.array([[0.8, 0.8], [0.8, 0.8]])
    rows = [(0, values("red")), (1, values("blue"))]
    assert lower_excluded(similarity, rows, [(1, values("blue"))]) == [(0, 1)]
    assert similarity.tolist() == [[0.8, pytest.approx(0.24)], [0.8, 0.8]]


@each_case(
    ("text", "verb", "expected"),
    [
        ("brightened by", True, True),
        ("Brightened By", True, True),
        ("brightened by", False, False),
        ("brightened with", True, False),
        ("brightening by", True, False),
        ("is brightened by", True, False),
        ("by", True, False),
    ],
)
def test_relations_that_read_like_a_passive_are_found(
    text: str, verb: bool, expected: bool
) -> None:
    written = build_text(
        f"dog {text} cat",
        "dog cat",
        related=[(0, 1, text, f"brighten {text.split()[-1].lower()}", True)],
    )
    (only,) = written.graph.relations
    changed = replace(only, kind="verb" if verb else "preposition")
    (_, _, predicate), *_ = AnalysedText(
        replace(written.graph, relations=(changed,))
    ).relations
    assert predicate.verb_turned is expected


def test_a_side_that_a_thing_is_at_excludes_and_a_colour_of_its_place_does_not() -> (
    None
):
    text = build_text("um dog", "dog", [(0, "um", True)])
    (first, *_) = text.graph.attributes
    placed = replace(first, value="on orange left")
    changed = AnalysedText(replace(text.graph, attributes=(placed,)))
    assert {
        name for classes in changed.values_of[0] for name, _ in classes
    } == {"side"}
