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
from beholder.judges.builtin.nearby import ATTACHED, LOOSE, SENTENCE, Nearby
from beholder.judges.builtin.numbers import number
from beholder.judges.builtin.predicates import Predicate, normal
from beholder.judges.builtin.relations import related
from beholder.language.graph import Attribute, Entity, Mention, Relation, SceneGraph
from beholder.language.statements import GraphUnit
from beholder.records import Span


def line(length: int, words: Mapping[int, str], filler: str = "um") -> str:
    """A text of so many words that has some of them at their places."""
    return " ".join(words.get(place, filler) for place in range(length))


def spans(text: str, word: str) -> list[Span]:
    """Where a word stands; ``cup#2`` is the second cup only."""
    name, _, which = word.partition("#")
    found = [match.span() for match in re.finditer(rf"\b{name}\b", text)]
    return [found[int(which) - 1]] if which else found


def read(
    text: str,
    things: str,
    said: Sequence[tuple[int, str, bool]] = (),
    related: Sequence[tuple[int, int, str, str, bool]] = (),
    denied: Sequence[int] = (),
    quantities: Mapping[int, str] | None = None,
    plural: Sequence[int] = (),
) -> AnalysedText:
    """A text with its graph.

    Args:
        text: The text.
        things: Heads of the things, as words of the text.
        said: Attributes: thing, word, polarity.
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
        for thing, word, polarity in said
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


# Order of words (nearby). Things are alike that have one name.


def nearby(source: AnalysedText, target: AnalysedText) -> Nearby:
    names = [entity.name for entity in target.graph.entities]
    alike = [[entity.name == name for name in names] for entity in source.graph.entities]
    return Nearby(source, target, np.array(alike, np.bool_))


CUP = read("wooden cup", "cup", [(0, "wooden", True)])


@pytest.mark.parametrize(
    ("words", "value", "expected"),
    [
        ({0: "wooden", 6: "cup"}, "wooden", ATTACHED),  # six words apart are beside
        ({0: "wooden", 7: "cup"}, "wooden", SENTENCE),
        ({0: "wooden", 14: "cup"}, "wooden", SENTENCE),  # 14 are the most in a sentence
        ({0: "wooden", 15: "cup"}, "wooden", 0.0),
        ({0: "cup", 6: "wooden"}, "wooden", ATTACHED),
        ({0: "cup", 7: "wooden"}, "wooden", SENTENCE),
        ({0: "cup", 14: "wooden"}, "wooden", SENTENCE),
        ({0: "cup", 15: "wooden"}, "wooden", 0.0),
        ({0: "cup."}, "wooden", 0.0),
        ({0: "cup.", 1: "wooden"}, "wooden", 0.0),
        # a mention in another sentence, or too far, leaves the next
        ({0: "cup.", 2: "cup", 3: "wooden"}, "wooden", ATTACHED),
        ({0: "cup", 18: "wooden", 19: "cup"}, "wooden", ATTACHED),
        # words of one value stand at most three apart
        ({0: "wooden", 3: "striped", 4: "cup"}, "wooden striped", ATTACHED),
        ({0: "wooden", 4: "striped", 5: "cup"}, "wooden striped", 0.0),
        ({0: "striped", 9: "wooden", 10: "striped", 11: "cup"}, "wooden striped", ATTACHED),
        ({0: "wooden", 9: "wooden", 10: "striped", 11: "cup"}, "wooden striped", ATTACHED),
        ({0: "striped", 8: "wooden", 9: "round", 10: "cup"}, "wooden striped round", 0.0),
        ({0: "wooden", 8: "striped", 9: "round", 10: "cup"}, "wooden striped round", 0.0),
        # the last word of a value is beside the thing
        ({1: "striped", 2: "wooden", 3: "round", 9: "cup"}, "wooden striped round", ATTACHED),
    ],
)
def test_how_far_a_word_stands_from_its_thing(
    words: dict[int, str], value: str, expected: float
) -> None:
    target = read(line(max(words) + 1, words), "cup")
    unit = GraphUnit("attribute", value, value, (), 0)
    assert nearby(CUP, target).attribute(unit) == expected


@pytest.mark.parametrize(
    ("text", "things", "said", "expected"),
    [
        ("wooden um cup", "cup", [], ATTACHED),
        ("wooden plate cup", "cup plate", [], SENTENCE),  # another thing between
        ("cup plate wooden", "cup plate", [], SENTENCE),
        ("wooden um plate cup", "cup plate", [], SENTENCE),
        ("wooden cup plate", "cup plate", [], ATTACHED),
        ("plate wooden cup", "cup plate", [], ATTACHED),
        ("wooden um cup", "cup wooden", [], ATTACHED),  # the word itself is not between
        ("wooden gray cup", "cup gray", [], ATTACHED),  # a colour is no thing
        ("wooden plate um cup", "cup plate", [(1, "wooden", True)], 0.0),
        ("wooden plate um wooden cup", "cup plate", [(1, "wooden", True)], ATTACHED),
        ("wooden um cup", "cup", [(0, "wooden", True)], ATTACHED),
        ("wooden um cup", "cup", [(0, "wooden", False)], 0.0),
    ],
)
def test_what_stands_between_a_word_and_its_thing(
    text: str, things: str, said: list[tuple[int, str, bool]], expected: float
) -> None:
    unit = CUP.units[1]
    target = read(text, things, said)
    assert nearby(CUP, target).attribute(unit) == expected


def test_what_is_said_of_the_material_is_said_of_the_thing() -> None:
    said = [(1, "wooden", True)]
    made = read("cup of wooden mesh", "cup mesh", said, [(0, 1, "of", "of", True)])
    other = read("plate of wooden mesh um cup", "cup mesh plate", said, [(2, 1, "of", "of", True)])
    on = read("cup on wooden mesh", "cup mesh", said, [(0, 1, "on", "on", True)])
    unit = CUP.units[1]
    assert [nearby(CUP, text).attribute(unit) for text in (made, other, on)] == [ATTACHED, 0.0, 0.0]


@pytest.mark.parametrize(
    ("source", "target", "contradicted", "expected"),
    [
        # five words in common are no chance, wherever the thing is; four are
        ("cup. qa qb red qc qd", "qa qb red qc qd", False, True),
        ("cup. qa qb red qc qd", "qa qb red qc", False, False),
        ("cup. qa qb red qc qd", "qa qb red qc qd", True, False),
        # with its thing two words more are enough
        ("qa cup red qb", "qa cup red qb", True, True),
        ("qa cup red qb", "qa cup red", True, False),
        ("qa cup red qb", "cup red qb", False, False),
        ("qa red um cup qb", "zz um cup qb", False, False),
        # the nearest mention in the sentence; of two as near the first
        ("cup qa qb qc qd red cup qe", "qd red cup qe", True, True),
        ("cup qa qb red um cup qe qf", "red um cup qe qf", True, True),
        ("cup qa qb red um cup qe qf", "cup qa qb red", True, False),
        ("qz qa cup red cup", "qz qa cup red", True, True),
        ("qa qb cup red. qc", "qa qb cup red", True, True),
        ("qa qb red cup. qc", "qa qb red cup", True, True),
        ("qa qb red. cup", "qa qb red cup", True, False),
    ],
)
def test_how_much_is_quoted(source: str, target: str, contradicted: bool, expected: bool) -> None:
    text = read(source, "cup", [(0, "red", True)])
    assert nearby(text, read(target, "cup")).quoted(text.units[1], contradicted) is expected


@pytest.mark.parametrize(("last", "expected"), [(14, True), (15, False)])
def test_over_how_many_words_a_unit_is_quoted(last: int, expected: bool) -> None:
    words = {place: f"q{'abcdefghijklmnopqrst'[place]}" for place in range(20)}
    written = line(20, words | {1: "cup", last: "red"})
    text = read(written, "cup", [(0, "red", True)])
    assert nearby(text, text).quoted(text.units[1], True) is expected


def test_all_words_of_a_unit_are_quoted() -> None:
    text = read("cup. qa qb red qc qd. blue", "cup")
    unit = GraphUnit("attribute", "red", "red", (*spans(text.graph.text, "red"),), 0)
    both = GraphUnit("attribute", "red", "red", (*unit.spans, *spans(text.graph.text, "blue")), 0)
    nowhere = GraphUnit("attribute", "red", "red", ((3, 4),), 0)  # the mark after "cup"
    found = nearby(text, read("qa qb red qc qd", ""))
    assert [found.quoted(u, False) for u in (unit, both, nowhere)] == [True, False, False]


def test_both_ends_of_a_relation_are_quoted() -> None:
    text = read("qa cup on table qb. lid", "cup table lid")
    where = (*spans(text.graph.text, "on"),)
    found = nearby(text, read("qa cup on table qb", "cup table"))
    here, apart = (GraphUnit("relation", "on", "on", where, 0, end) for end in (1, 2))
    assert found.quoted(here, True) is True
    assert found.quoted(apart, True) is False


def relation(value: str, text: str, things: str, stated: bool = False, verb: bool = False) -> float:
    """Of a dog and a cat, in a text."""
    source = read("dog cat", "dog cat")
    unit = GraphUnit("relation", value, value, (), 0, 1, verb=verb)
    return nearby(source, read(text, things)).relation(unit, normal(value, verb), stated)


@pytest.mark.parametrize(
    ("value", "verb", "stated", "text", "expected"),
    [
        # what says no more than that they belong together: less than six words apart
        ("on", False, False, line(7, {0: "dog", 6: "cat"}), SENTENCE),
        ("on", False, False, line(8, {0: "dog", 7: "cat"}), 0.0),
        ("on", False, True, line(7, {0: "dog", 6: "cat"}), 0.0),
        ("wear", True, False, "dog um cat", SENTENCE),
        ("under", False, False, "dog um cat", 0.0),
        ("kick", True, False, "dog um cat", 0.0),
        ("on left", False, False, "dog um cat left", 0.0),
        ("on", False, False, line(7, {0: "cat", 6: "dog"}), SENTENCE),
        ("on", False, False, line(8, {0: "cat", 7: "dog"}), 0.0),
        # a predicate stands between its ends, 28 words apart at most
        ("kick", True, True, "dog kicks um cat", SENTENCE),
        ("kick", True, True, "dog um kicks cat", SENTENCE),
        ("kick", True, True, "dog cat kicks", 0.0),
        ("kick", True, True, "cat kicks dog", 0.0),
        ("kick", True, True, line(30, {0: "dog", 5: "kicks", 29: "cat"}), SENTENCE),
        ("kick", True, True, line(31, {0: "dog", 5: "kicks", 30: "cat"}), 0.0),
        # or, of a place, at most three words before the one that it governs
        ("under", False, True, "um under um um cat dog", SENTENCE),
        ("under", False, True, "under um um um cat dog", 0.0),
        ("under", False, True, "um um um um cat under dog", 0.0),
        ("kick", True, True, "um kicks um um cat dog", 0.0),
        # a mention in another sentence leaves the next
        ("on", False, False, "dog um. dog um cat", SENTENCE),
        ("on", False, False, "cat. dog um cat", SENTENCE),
        ("on", False, False, "um dog. cat um", 0.0),
        # all that places them is there
        ("upper left of", False, False, "dog left cat", 0.0),
        ("upper left of", False, False, "dog upper left cat", SENTENCE),
        # a verb governs nothing by standing before it
        ("kick", True, True, "kicks cat dog", 0.0),
        ("kick", True, False, "kicks cat dog", LOOSE),
        ("kick", True, False, "dog kicks cat", SENTENCE),
        # verb and ends without order, unless the target tells the reverse
        ("kick", True, False, "dog. kicks. cat", 0.0),
        ("kick", True, False, "dog. kicks cat", LOOSE),
        ("kick", True, False, "kicks dog. cat", LOOSE),
        ("kick", True, False, "dog. cat kicks dog", 0.0),
        ("kick", True, False, "kicks cat", 0.0),
        ("walk left of", True, False, "dog left. walks cat", 0.0),
        # what belongs to what, wherever they are named
        ("of", False, False, "dog. cat", LOOSE),
        ("of", False, False, "dog", 0.0),
        ("of", False, False, "cat", 0.0),
        ("dream of", True, False, "dog. cat", 0.0),
    ],
)
def test_words_of_a_relation_near_its_ends(
    value: str, verb: bool, stated: bool, text: str, expected: float
) -> None:
    things = " ".join(name for name in ("dog", "cat") if name in text)
    assert relation(value, text, things, stated, verb) == expected


def test_one_thing_is_no_two_ends() -> None:
    source, target = read("dog cat", "dog cat"), read("dog", "dog")
    found = Nearby(source, target, np.array([[True], [True]]))
    unit = GraphUnit("relation", "on", "on", (), 0, 1)
    assert found.relation(unit, Predicate("", False, "on", False), False) == 0.0


@pytest.mark.parametrize(
    ("related", "expected"),
    [
        ([], LOOSE),
        ([(0, 2, "of", "of", True)], 0.0),  # the lid of the jar
        ([(1, 2, "in", "in", True)], 0.0),  # the box in the jar
        ([(0, 2, "on", "on", True)], 0.0),
        ([(0, 2, "under", "under", True)], LOOSE),
        ([(3, 2, "of", "of", True)], LOOSE),  # another's
        ([(0, 1, "of", "of", True)], LOOSE),  # its own
        ([(2, 0, "with", "with", True)], 0.0),  # the jar with the lid
        ([(2, 0, "contains", "contain", True)], LOOSE),  # where it is, not whose
        ([(2, 0, "has", "have", True)], 0.0),
        ([(0, 2, "dreams", "dream of", True)], LOOSE),
        ([(0, 3, "under", "under", True), (0, 2, "of", "of", True)], 0.0),
    ],
)
@pytest.mark.parametrize("ends", [(0, 1), (1, 0)])
def test_what_is_owned_by_another_is_not_loose(
    related: list[tuple[int, int, str, str, bool]], expected: float, ends: tuple[int, int]
) -> None:
    text = "lid. box. jar lamp of in on under with contains has dreams"
    target = read(text, "lid box jar lamp", related=related)
    found = nearby(read("lid box", "lid box"), target)
    unit = GraphUnit("relation", "of", "of", (), *ends)
    assert found.relation(unit, Predicate("", False, "of", False), False) == expected


def test_of_another_reads_all_relations() -> None:
    source = read("woman pets dog", "woman dog", related=[(0, 1, "pets", "pet", True)])
    (_, unit, predicate), *_ = source.relations
    target = read(
        "man sees bird pets dog woman",
        "man bird dog woman",
        related=[(0, 1, "sees", "see", True), (0, 2, "pets", "pet", True)],
    )
    assert nearby(source, target).of_another(unit, predicate) is True


# Relations by predicate and ends. How strongly things are meant is given; ends are strong where the
# root of the product of both is at least ENDS.


class Told(Nearby):
    """Gives one value for the order of words, and keeps what it was asked."""

    order = 0.0
    another = False
    stated: bool | None = None

    def relation(self, unit: GraphUnit, predicate: Predicate, stated: bool) -> float:
        self.stated = stated
        return self.order

    def of_another(self, unit: GraphUnit, predicate: Predicate) -> bool:
        return self.another


ENDS = number("decide.ends")
Related = list[tuple[int, int, str, str, bool]]
KICKS: Related = [(0, 1, "kicks", "kick", True)]
ON: Related = [(0, 1, "on", "on", True)]
IN: Related = [(0, 1, "in", "in", True)]
BOOK = "dog cat hare duck kicks on in kicks"
"""The words of the target, whose relations are given."""
WHERE = {"kicks": ((18, 23),), "on": ((24, 26),), "in": ((27, 29),)}


def seen(
    asked: Related,
    said: Related,
    strength: list[list[float]],
    order: float = 0.0,
    another: bool = False,
    wrong: Sequence[int] = (),
) -> tuple[Evidence, bool | None]:
    """What is seen of the one relation asked for, and whether its ends count as related."""
    source = read("dog cat kicks on in", "dog cat", related=asked)
    things = " ".join(["dog", "cat", "hare", "duck"][: len(strength[0])])
    target = read(BOOK, things, related=said)
    given = np.array(strength)
    none = np.zeros(2, np.bool_)
    pairs = Counterparts(given, given, given, np.argmax(given, axis=1), given > 9, none)
    nearby = Told(source, target, pairs.alike)
    nearby.order, nearby.another = order, another
    ((_, found),) = related(source, target, pairs, nearby, wrong).items()
    return found, nearby.stated


def test_the_same_said_of_the_same_ends() -> None:
    # 0.8 is enough, though the reverse is as near; another that does it counts no more
    both = [[1.0, 1.0], [0.64, 0.64]]
    found, stated = seen(KICKS, KICKS, both, order=0.75, another=True, wrong=[0])
    expected = Evidence("relation", stated=0.8, between=0.8, turned=0.8, where=WHERE["kicks"])
    assert (found, stated) == (expected, None)


def test_a_relation_at_the_bound_counts_as_said_even_if_its_reverse_is_as_near() -> None:
    found, _ = seen(KICKS, KICKS, [[ENDS, ENDS], [ENDS, ENDS]])
    assert (found.stated, found.turned) == (ENDS, ENDS)
    assert (found.told, found.where) == ("", WHERE["kicks"])


def test_the_denied() -> None:
    found, _ = seen(KICKS, [(0, 1, "kicks", "kick", False)], [[1.0, 0.0], [0.0, 0.64]])
    told, where = "dog not kicks cat", WHERE["kicks"]
    assert found == Evidence(
        "relation", stated=0.8, between=0.8, denied=True, told=told, where=where
    )


def test_the_reverse() -> None:
    reverse: Related = [(1, 0, "kicks", "kick", True)]
    strength = [[1.0, 0.0], [0.0, 0.64]]
    found, stated = seen(KICKS, reverse, strength, order=0.75, wrong=[0])
    told, where = "cat kicks dog", WHERE["kicks"]
    assert found == Evidence("relation", between=0.8, turned=0.8, told=told, where=where)
    assert stated is None


@pytest.mark.parametrize(
    ("second", "told", "between"), [(0.64, "dog in cat", 0.8), (0.6241, "", 0.79)]
)
def test_another_place_of_the_same_ends(second: float, told: str, between: float) -> None:
    # "in" is 0.6 like "on"
    found, stated = seen(ON, IN, [[1.0, 0.0], [0.0, second]])
    where = WHERE["in"] if told else ()
    assert (found.stated, found.between) == pytest.approx((0.6 * between, between))
    assert (found.turned, found.bare, found.denied, found.elsewhere) == (0.0, True, False, False)
    assert (found.told, found.where) == (told, where)
    assert stated is bool(told)


def test_a_place_that_is_near_is_no_other() -> None:
    at: Related = [(0, 1, "in", "at", True)]  # "at" is 0.7 like "on"
    found, _ = seen(ON, at, [[1.0, 0.0], [0.0, 1.0]])
    assert found.stated == pytest.approx(0.7)
    assert (found.told, found.where) == ("", WHERE["in"])


def test_the_order_of_words_settles_it() -> None:
    found, _ = seen(ON, IN, [[1.0, 0.0], [0.0, 0.64]], order=0.75)
    assert (found.order, found.told, found.spared) == (0.75, "", False)


def test_what_another_does_is_not_looked_for_in_the_order_of_words() -> None:
    found, stated = seen(KICKS, ON, [[0.1, 0.0], [0.0, 0.1]], order=0.75, another=True)
    assert (found.elsewhere, found.order, stated) == (True, 0.0, None)


def test_of_what_is_denied_the_order_of_words_tells_nothing() -> None:
    denied: Related = [(0, 1, "kicks", "kick", False)]
    found, stated = seen(denied, ON, [[0.1, 0.0], [0.0, 0.1]], order=0.75)
    assert (found.order, stated) == (0.0, None)


@pytest.mark.parametrize(
    ("second", "wrong", "order", "expected"),
    [
        (0.64, [0], 0.0, True),  # the cat has it, whoever does it to her
        (0.5, [0], 0.0, False),  # it is not sure that she does
        (0.64, [0], 0.75, False),
        (0.64, [0, 1], 0.0, False),
        (0.64, [], 0.0, False),
        (0.64, [1], 0.0, False),
    ],
)
def test_what_is_spared(second: float, wrong: list[int], order: float, expected: bool) -> None:
    found, _ = seen(ON, ON, [[0.25, 0.0], [0.0, second]], order=order, wrong=wrong)
    assert found.spared is expected


@pytest.mark.parametrize(("second", "where"), [(0.25, WHERE["on"]), (0.2401, ())])
def test_from_which_likeness_a_relation_is_shown(second: float, where: tuple[Span, ...]) -> None:
    found, _ = seen(ON, ON, [[1.0, 0.0], [0.0, second]])
    assert (found.told, found.where) == ("", where)


def test_nothing_is_shown_where_nothing_is_like_it() -> None:
    found, _ = seen(ON, [], [[1.0, 0.0], [0.0, 1.0]])
    assert found == Evidence("relation", bare=True)


def test_of_like_relations_the_first_is_shown() -> None:
    both: Related = [(0, 1, "on", "on", True), (2, 3, "in", "on", True)]
    found, _ = seen(ON, both, [[1.0, 0.0, 1.0, 0.0], [0.0, 0.81, 0.0, 0.81]])
    assert (found.stated, found.where) == (0.9, WHERE["on"])
    nearer, _ = seen(ON, both, [[1.0, 0.0, 1.0, 0.0], [0.0, 0.64, 0.0, 0.81]])
    assert (nearer.stated, nearer.where) == (0.9, WHERE["in"])


@pytest.mark.parametrize(
    ("second", "turned"), [(0.81, 0.9), (0.64, 0.8), (ENDS * ENDS, ENDS), (0.62, 0.0)]
)
def test_a_reverse_beside_the_right_one_counts_from_strong_ends_on(
    second: float, turned: float
) -> None:
    both: Related = [*KICKS, (3, 2, "kicks", "kick", True)]
    found, _ = seen(KICKS, both, [[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, second]])
    assert (found.stated, found.turned) == (1.0, turned)


# What a text holds (analysed).


@pytest.mark.parametrize(
    ("text", "things", "said", "expected"),
    [
        ("cup, plate", "cup plate", [], {0: {1}, 1: {0}}),
        ("cup & plate", "cup plate", [], {0: {1}, 1: {0}}),
        ("cup or plate", "cup plate", [], {0: {1}, 1: {0}}),
        ("cup plate", "cup plate", [], {}),
        ("cup and um plate", "cup plate", [], {}),  # what stands there is said of nothing
        ("cup and red plate", "cup plate", [(1, "red", True)], {0: {1}, 1: {0}}),
        ("cup and um red plate", "cup plate", [(1, "red", True)], {}),
        ("cup and red um plate", "cup plate", [(1, "red", True)], {}),
        ("cup and the plate", "cup plate", [(1, "the", True)], {}),
        ("cup and cup", "cup", [], {}),
        ("cup um plate and lid", "cup plate lid", [], {1: {2}, 2: {1}}),
        (
            "cup, plate, lid and box",
            "cup plate lid box",
            [],
            {0: {1, 2, 3}, 1: {0, 2, 3}, 2: {0, 1, 3}, 3: {0, 1, 2}},
        ),
    ],
)
def test_what_is_listed_together(
    text: str, things: str, said: list[tuple[int, str, bool]], expected: dict[int, set[int]]
) -> None:
    assert {key: found for key, found in read(text, things, said).listed.items() if found} == (
        expected
    )


@pytest.mark.parametrize(
    ("base", "polarity", "subject", "object_"),
    [
        ("in front of", True, ["in the foreground"], ["in the background"]),
        ("behind", True, ["in the background"], ["in the foreground"]),
        ("behind", False, [], []),
        ("on", True, [], []),
    ],
)
def test_where_things_before_each_other_are(
    base: str, polarity: bool, subject: list[str], object_: list[str]
) -> None:
    text = read("dog in cat", "dog cat", related=[(0, 1, "in", base, polarity)])
    assert [p.value for p in text.properties if p.derived and p.entity == 0] == subject
    assert [p.value for p in text.properties if p.derived and p.entity == 1] == object_
    assert text.property_values == []  # what follows from a relation excludes nothing


def test_what_is_said_of_things_in_order() -> None:
    text = read(
        "red dog kicks cat on um",
        "dog cat",
        [(0, "red", False)],
        [(0, 1, "kicks", "kick at", False), (0, 1, "on", "on", True)],
    )
    found = [(p.entity, p.text, p.value, p.spans, p.polarity) for p in text.properties]
    assert found == [
        (0, "red", "red", ((0, 3),), False),
        (0, "kicks", "kick", ((8, 13),), False),
        (0, "dog", "dog", ((4, 7),), True),
        (1, "cat", "cat", ((14, 17),), True),
    ]
    assert text.property_owners.tolist() == [0, 0, 0, 1]
    assert text.verbs_written == ["kicks", ""]


@pytest.mark.parametrize(
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
def test_which_properties_exclude_others(value: str, names: set[str]) -> None:
    text = read("um dog", "dog", [(0, "um", True)])
    (first, *_) = text.graph.attributes
    changed = AnalysedText(replace(text.graph, attributes=(replace(first, value=value),)))
    assert {name for found in changed.values_of[0] for name, _ in found} == names


@pytest.mark.parametrize(
    ("word", "base", "expected"),
    [
        ("of", "of", {0: {1}, 1: {0}}),
        ("with", "with", {0: {1}, 1: {0}}),
        ("on", "on", {}),
        ("dreams", "dream of", {}),
    ],
)
def test_what_is_part_of_what(word: str, base: str, expected: dict[int, set[int]]) -> None:
    text = read(f"dog {word} cat", "dog cat", related=[(0, 1, word, base, True)])
    assert text.kin == expected


def test_values_that_exclude_each_other_are_lowered() -> None:
    similarity = np.array([[0.8, 0.8], [0.8, 0.8]])
    rows = [(0, values("red")), (1, values("blue"))]
    assert lower_excluded(similarity, rows, [(1, values("blue"))]) == [(0, 1)]
    assert similarity.tolist() == [[0.8, pytest.approx(0.24)], [0.8, 0.8]]


@pytest.mark.parametrize(
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
def test_what_reads_like_a_passive(text: str, verb: bool, expected: bool) -> None:
    written = read(
        f"dog {text} cat",
        "dog cat",
        related=[(0, 1, text, f"brighten {text.split()[-1].lower()}", True)],
    )
    (only,) = written.graph.relations
    changed = replace(only, kind="verb" if verb else "preposition")
    (_, _, predicate), *_ = AnalysedText(replace(written.graph, relations=(changed,))).relations
    assert predicate.verb_turned is expected


def test_a_side_that_a_thing_is_at_excludes_and_a_colour_of_its_place_does_not() -> None:
    text = read("um dog", "dog", [(0, "um", True)])
    (first, *_) = text.graph.attributes
    placed = replace(first, value="on orange left")
    changed = AnalysedText(replace(text.graph, attributes=(placed,)))
    assert {name for found in changed.values_of[0] for name, _ in found} == {"side"}
