"""What evidence is made of counterparts and likenesses that are given by hand.

``gather`` is asked, with collaborators of its that answer as the test says.
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.entities import Counterparts
from beholder.judges.builtin.evidence import Evidence
from beholder.judges.builtin.gather import gather as gather_all
from beholder.judges.builtin.numbers import numbers
from beholder.judges.builtin.reading import analysed
from beholder.language.graph import (
    Attribute,
    Entity,
    Mention,
    Relation,
    SceneGraph,
)
from beholder.records import Span


def gather(*given: Any) -> tuple[Evidence, ...]:
    """Evidence without what is the same for all units of a sentence or text."""
    return tuple(
        replace(one, repeated=0.0, shared=0.0) for one in gather_all(*given)
    )


NUMBERS = replace(numbers(), same=0.85, known=0.5)


def thing(
    index: int, name: str, text: str, start: int, **more: object
) -> Entity:
    end = start + len(text)
    made = Entity(
        index, name, name.split()[-1], (Mention(text, (start, end), 0),)
    )
    return replace(made, **more)  # type: ignore[arg-type]


CAKE = AnalysedText(
    SceneGraph("vanilla cake", (thing(0, "vanilla cake", "cake", 8),), (), ())
)


def pairs(
    similarity: list[list[float]],
    best: list[int],
    plain: list[list[float]] | None = None,
    strength: list[list[float]] | None = None,
    alike: list[list[bool]] | None = None,
    unpaired: bool = False,
) -> Counterparts:
    given = np.array(similarity)
    return Counterparts(
        given,
        given if plain is None else np.array(plain),
        given if strength is None else np.array(strength),
        np.array(best, np.intp),
        given >= 0.85 if alike is None else np.array(alike),
        np.full(len(best), unpaired),
    )


MODULE = importlib.import_module("beholder.judges.builtin.gather")


def gathered(
    source: AnalysedText,
    target: AnalysedText,
    given: Counterparts,
    **collaborators: object,
) -> tuple[Evidence, ...]:
    """Evidence on all units; ``counterparts`` and others of its module answer as given."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MODULE, "counterparts", lambda *_: given)
        for name, answer in collaborators.items():
            patch.setattr(MODULE, name, answer)
        found = gather(source, target, NUMBERS)
    # How the words cover each other has a test of its own.
    return tuple(
        one if one.kind == "amount" else replace(one, coverage=0.25)
        for one in found
    )


def mugs(polarity: bool = True) -> AnalysedText:
    things = (
        thing(0, "mug", "mug", 0, polarity=polarity),
        thing(1, "cup", "cups", 8),
    )
    return AnalysedText(SceneGraph("mug and cups", things, (), ()))


def entity(
    given: Counterparts,
    target: AnalysedText,
    polarity: bool = True,
    source: AnalysedText = CAKE,
) -> Evidence:
    (first, *others) = source.graph.entities
    things = (replace(first, polarity=polarity), *others)
    asked = AnalysedText(replace(source.graph, entities=things))
    return gathered(asked, target, given)[0]


@pytest.mark.parametrize("polarity", [True, False])
def test_a_thing_without_counterpart(polarity: bool) -> None:
    expected = Evidence("entity", polarity, counterpart=False, coverage=0.25)
    assert entity(pairs([[0.0, 0.0]], [-1]), mugs(), polarity) == expected


def test_a_thing_with_the_first_as_counterpart() -> None:
    expected = Evidence(
        "entity",
        True,
        coverage=0.25,
        name_likeness=0.85,
        stated=0.85,
        narrower=True,
        lone=True,
        instead="mug",
        where=((0, 3),),
    )
    assert entity(pairs([[0.85, 0.1]], [0]), mugs()) == expected


@pytest.mark.parametrize(
    ("named", "polarity", "where"),
    [
        (0.5, True, ((0, 3),)),
        (0.49, True, ()),
        (0.85, False, ((0, 3),)),
        (0.84, False, ()),
    ],
)
def test_which_counterpart_is_shown(
    named: float, polarity: bool, where: tuple[Span, ...]
) -> None:
    assert entity(pairs([[named, 0.1]], [0]), mugs(), polarity).where == where


@pytest.mark.parametrize(("named", "narrower"), [(0.85, True), (0.84, False)])
def test_which_name_says_more(named: float, narrower: bool) -> None:
    assert entity(pairs([[named, 0.1]], [0]), mugs()).narrower is narrower
    same = entity(pairs([[named]], [0]), CAKE)
    assert same.narrower is False


@pytest.mark.parametrize(
    ("named", "near", "excluded"),
    [
        (0.84, 0.5, True),
        (0.85, 0.5, False),  # it is there by name
        (0.84, 0.625, False),  # 0.9375 is 1.5 times as near
        (0.84, 0.62, True),
    ],
)
def test_names_that_are_near_and_set_apart(
    named: float, near: float, excluded: bool
) -> None:
    given = pairs([[named, near]], [0], plain=[[0.84, 0.9375]])
    found = entity(given, mugs())
    assert (found.excluded, found.instead) == (
        excluded,
        "cups" if excluded else "mug",
    )


@pytest.mark.parametrize(
    ("excluded", "polarity", "there", "told"),
    [
        (True, True, False, "cups"),
        (True, False, True, "mug"),
        (True, False, False, "no mug"),
        (False, True, False, "no mug"),
        (False, True, True, "mug"),
    ],
)
def test_what_is_told_of_a_thing(
    excluded: bool, polarity: bool, there: bool, told: str
) -> None:
    given = pairs([[0.6, 0.5]], [0], plain=[[0.6, 0.9 if excluded else 0.5]])
    found = entity(given, mugs(there), polarity)
    assert (found.instead, found.denied) == (told, not there)


@pytest.mark.parametrize("unpaired", [True, False])
def test_a_thing_whose_counterparts_are_taken(unpaired: bool) -> None:
    assert (
        entity(pairs([[0.9, 0.1]], [0], unpaired=unpaired), mugs()).crowded
        is unpaired
    )


DOGS = AnalysedText(
    SceneGraph(
        "three dogs",
        (thing(0, "dog", "dogs", 6, quantity="three", plural=True),),
        (),
        (),
    )
)


def herd(
    first: str | None, second: str | None, plural: bool = True
) -> AnalysedText:
    things = (
        thing(
            0, "hound", "hounds", 0, quantity=first, plural=first is not None
        ),
        thing(1, "pup", "pups", 7, quantity=second, plural=plural),
    )
    return AnalysedText(SceneGraph("hounds pups", things, (), ()))


@pytest.mark.parametrize(
    ("target", "other", "best", "stated", "told"),
    [
        (
            herd("two", "three"),
            0.85,
            0,
            1.0,
            "",
        ),  # one that is called so has the amount
        (herd("two", "three"), 0.84, 0, 0.0, "two"),
        (herd("two", "three"), 0.84, 1, 1.0, ""),
        (
            herd(None, None),
            0.9,
            0,
            0.0,
            "",
        ),  # what has no amount counts for nothing
        (herd("three", "two"), 0.9, 0, 1.0, ""),
    ],
)
def test_how_many(
    target: AnalysedText, other: float, best: int, stated: float, told: str
) -> None:
    given = pairs([[0.6, other]], [best])
    found = gathered(DOGS, target, given)[1]
    assert found == Evidence(
        "amount",
        name_likeness=other if best else 0.6,
        stated=stated,
        excluded=bool(told),
        lone=True,
        instead=told,
        where=((7, 11),) if best else ((0, 6),),
    )


@pytest.mark.parametrize(("first", "lone"), [("two", True), ("one", False)])
def test_an_amount_among_several_of_a_name_is_sure_where_both_are_counted(
    first: str, lone: bool
) -> None:
    given = pairs([[0.9, 0.9]], [0])
    assert gathered(DOGS, herd(first, "one"), given)[1].lone is lone


def test_how_many_of_nothing() -> None:
    found = gathered(DOGS, herd("two", "two"), pairs([[0.0, 0.0]], [-1]))[1]
    assert found == Evidence("amount", counterpart=False)


RED = AnalysedText(
    SceneGraph(
        "red cup",
        (thing(0, "cup", "cup", 4),),
        (Attribute(0, "red", "red", ((0, 3),), 0),),
        (),
    )
)
SAID = AnalysedText(
    SceneGraph(
        "pale mug, no dark lid",
        (thing(0, "mug", "mug", 5), thing(1, "lid", "lid", 18)),
        (
            Attribute(0, "pale", "pale", ((0, 4),), 0),
            Attribute(1, "dark", "dark", ((13, 17),), 0, polarity=False),
        ),
        (),
    )
)
"""Its properties: pale (mug), dark (lid), mug, lid."""


def attribute(
    similarity: list[float],
    best: int = 0,
    polarity: bool = True,
    excluded: list[int] | None = None,
    strength: tuple[float, float] = (1.0, 0.5),
    wrong: bool = False,
    alike: tuple[bool, bool] = (True, False),
) -> Evidence:
    given = pairs(
        [[0.9, 0.3]], [best], strength=[list(strength)], alike=[list(alike)]
    )
    (red,) = RED.graph.attributes
    source = AnalysedText(
        replace(RED.graph, attributes=(replace(red, polarity=polarity),))
    )
    return gathered(
        source,
        SAID,
        given,
        said_in=lambda *_: np.array([similarity]),
        cosines=lambda a, b: np.zeros((len(a), len(b))),
        lower_excluded=lambda *_: [(0, column) for column in excluded or ()],
        value=lambda *_: 0.0 if wrong else 1.0,
    )[1]


def test_an_attribute_without_counterpart() -> None:
    expected = Evidence("attribute", True, counterpart=False, coverage=0.25)
    assert attribute([0.9, 0.9, 0.9, 0.9], best=-1) == expected


def test_an_attribute_that_is_said() -> None:
    assert attribute([0.86, 0.1, 0.2, 0.1]) == Evidence(
        "attribute",
        True,
        coverage=0.25,
        name_likeness=0.9,
        stated=0.86,
        on_counterpart=0.86,
        on_alike=0.86,
        lone=True,
        where=((0, 4),),
    )


@pytest.mark.parametrize(("likeness", "where"), [(0.5, ((0, 4),)), (0.49, ())])
def test_which_property_is_shown(
    likeness: float, where: tuple[Span, ...]
) -> None:
    assert attribute([likeness, 0.1, 0.2, 0.1]).where == where


@pytest.mark.parametrize(
    ("likeness", "best", "polarity", "denied", "told"),
    [
        (0.85, 0, True, False, ""),
        (0.85, 0, False, True, "pale"),
        (0.84, 0, False, False, ""),
        (0.85, 1, True, True, "not dark"),
        (0.85, 1, False, False, ""),
        (0.84, 1, True, False, ""),
    ],
)
def test_what_is_denied(
    likeness: float, best: int, polarity: bool, denied: bool, told: str
) -> None:
    row = [0.1, likeness, 0.2, 0.2] if best else [likeness, 0.1, 0.2, 0.2]
    found = attribute(row, best, polarity)
    assert (found.denied, found.instead) == (denied, told)


@pytest.mark.parametrize(
    ("similarity", "excluded", "told", "where"),
    [
        ([0.6, 0.1, 0.7, 0.1], [0], "pale", ((0, 4),)),
        ([0.1, 0.1, 0.85, 0.1], [0], "", ((5, 8),)),  # said of it all the same
        ([0.1, 0.1, 0.84, 0.1], [0], "pale", ((0, 4),)),
        ([0.1, 0.1, 0.84, 0.1], [1, 0], "pale", ((0, 4),)),
    ],
)
def test_what_excludes_it(
    similarity: list[float],
    excluded: list[int],
    told: str,
    where: tuple[Span, ...],
) -> None:
    found = attribute(similarity, excluded=excluded)
    assert (found.excluded, found.instead, found.where) == (True, told, where)


def test_what_is_said_of_another_excludes_nothing() -> None:
    found = attribute([0.6, 0.1, 0.7, 0.1], excluded=[1])
    assert (found.excluded, found.instead) == (False, "")


@pytest.mark.parametrize(
    ("likeness", "strength", "stated"),
    [(0.85, 0.8, 0.68), (0.85, 1.0, 0.85), (1.0, 0.84, 0.84)],
)
def test_what_is_said_of_another_thing_only(
    likeness: float, strength: float, stated: float
) -> None:
    found = attribute([0.1, likeness, 0.2, 0.1], strength=(1.0, strength))
    assert found.stated == pytest.approx(stated)
    assert found.on_alike == 0.2
    assert (
        attribute([0.1, likeness, 0.2, 0.1], alike=(True, True)).on_alike
        == likeness
    )
    assert (
        attribute([0.1, likeness, 0.2, 0.1], alike=(False, False)).on_alike
        == 0.0
    )


def parts(text: str) -> AnalysedText:
    """The lid of the box."""
    things = (thing(0, "lid", "lid", 0), thing(1, "box", "box", 7))
    of = Relation(0, 1, "of", "of", ((4, 6),), 0, "preposition")
    return AnalysedText(SceneGraph(text, things, (), (of,)))


@pytest.mark.parametrize(
    ("best", "counterpart", "named", "ends"),
    [
        ([0, 1], True, 0.9, 0.7),
        ([-1, 1], False, 0.0, 0.0),
        ([0, -1], True, 0.9, 0.0),
    ],
)
def test_evidence_on_a_relation(
    best: list[int], counterpart: bool, named: float, ends: float
) -> None:
    text = parts("lid of box")
    seen = Evidence(
        "relation",
        stated=0.1,
        between=0.2,
        turned=0.3,
        bare=True,
        denied=True,
        instead="told",
        where=((4, 6),),
    )
    given = pairs([[0.9, 0.4], [0.3, 0.7]], best)
    assert gathered(text, text, given, related=lambda *_: {2: seen})[
        2
    ] == Evidence(
        "relation",
        True,
        counterpart,
        coverage=0.25,
        name_likeness=named,
        stated=0.1,
        between=0.2,
        turned=0.3,
        ends=ends,
        bare=True,
        denied=True,
        instead="told",
        where=((4, 6),),
    )


def coverage(source: AnalysedText, target: AnalysedText) -> list[float]:
    return [one.coverage for one in gather(source, target, NUMBERS)]


def agreed(
    source: AnalysedText, target: AnalysedText, **collaborators: object
) -> Any:
    """(n, m), what counterparts are looked for by beside the names."""
    asked: list[Any] = []
    answer = pairs(np.zeros((1, len(target.graph.entities))).tolist(), [-1])

    def counterparts(
        first: AnalysedText, second: AnalysedText, agreement: Any
    ) -> Counterparts:
        asked.append(agreement)
        return answer

    gathered(
        source, target, answer, counterparts=counterparts, **collaborators
    )
    return asked[0]


def test_words_of_units_in_a_text() -> None:
    nothing = AnalysedText(SceneGraph("", (), (), ()))
    assert coverage(RED, nothing) == [0.0, 0.0]
    assert coverage(nothing, RED) == []
    assert coverage(RED, RED) == pytest.approx([1.0, 1.0], abs=1e-5)
    blue = AnalysedText(
        SceneGraph("cup", (thing(0, "cup", "cup", 0),), (), ())
    )
    cup, red = coverage(RED, blue)
    assert cup == pytest.approx(1.0, abs=1e-5)
    assert red < 0.9


def test_agreement_of_what_is_said_and_of_amounts() -> None:
    """A state counts half as much as what a thing is like; amounts are added."""
    said = (
        Attribute(0, "red", "red", ((0, 3),), 0),
        Attribute(0, "sleeping", "sleep", ((10, 18),), 0, kind="state"),
    )
    source = AnalysedText(
        SceneGraph(
            "red dog is sleeping", (thing(0, "dog", "dog", 4),), said, ()
        )
    )
    # pale and mug are of the first thing, dark and lid of the second
    said_in = np.array([[0.9, 0.3, 0.2, 0.1], [0.6, 0.0, 0.5, 0.0]])
    found = agreed(
        source,
        SAID,
        said_in=lambda *_: said_in,
        cosines=lambda a, b: np.zeros((len(a), len(b))),
        lower_excluded=lambda *_: [],
    )
    # (1 * 0.9 + 0.5 * 0.6) / 1.5, and 0.3 / 1.5
    assert found == pytest.approx(np.array([[0.8, 0.2]]))
    # "three" beside "two" is 0, beside three is 1
    assert agreed(DOGS, herd("two", "three")).tolist() == [[0.0, 1.0]]


def test_agreement_leaves_amounts_out_and_keeps_what_excludes() -> None:
    source = AnalysedText(
        SceneGraph(
            "two red dogs",
            (thing(0, "dog", "dogs", 8, quantity="two", plural=True),),
            (Attribute(0, "red", "red", ((4, 7),), 0),),
            (),
        )
    )
    target = AnalysedText(
        SceneGraph(
            "old blue dog",
            (thing(0, "dog", "dog", 9),),
            (
                Attribute(0, "old", "old", ((0, 3),), 0),
                Attribute(0, "blue", "blue", ((4, 8),), 0),
            ),
            (),
        )
    )
    found = dict(
        zip(
            [unit.text for unit in source.units],
            gather(source, target, NUMBERS),
            strict=True,
        )
    )
    assert {text: one.kind for text, one in found.items()} == {
        "dog": "entity",
        "red": "attribute",
        "two": "amount",
    }
    assert (found["red"].excluded, found["red"].instead) == (
        True,
        "blue",
    )  # not "old"


def test_words_of_units_are_in_the_form_they_stand_in() -> None:
    words, owners = DOGS.unit_words
    assert (words, owners.tolist()) == (("dogs", "three"), [0, 1])


@pytest.mark.parametrize(
    ("value", "whole"), [("striped", True), ("wooden striped", False)]
)
def test_only_values_of_one_word_are_compared_as_a_whole(
    value: str, whole: bool
) -> None:
    def made(said: str) -> AnalysedText:
        found = Attribute(0, said, said, ((0, len(said)),), 0)
        text = f"{said} cup"
        return AnalysedText(
            SceneGraph(
                text, (thing(0, "cup", "cup", len(said) + 1),), (found,), ()
            )
        )

    source, target = made(value), made("round")
    source.property_vectors = target.property_vectors = np.ones(
        (2, 1)
    )  # all alike
    _, found = gather(source, target, NUMBERS)
    assert (found.on_counterpart == 1.0) == whole


@pytest.mark.parametrize(
    ("similarity", "index", "other", "expected"),
    [
        ([[0.9, 0.2], [0.2, 0.9]], 0, 0, True),
        (
            [[0.9, 0.85], [0.2, 0.9]],
            0,
            0,
            False,
        ),  # two of the target are called so
        ([[0.9, 0.2], [0.85, 0.9]], 0, 0, False),  # two of the source
        ([[0.3, 0.84], [0.84, 0.9]], 0, 1, True),  # what is called otherwise
    ],
)
def test_the_only_thing_of_its_name(
    similarity: list[list[float]], index: int, other: int, expected: bool
) -> None:
    text = AnalysedText(
        SceneGraph(
            "cake mug",
            (thing(0, "cake", "cake", 0), thing(1, "mug", "mug", 5)),
            (),
            (),
        )
    )
    best = [other, 1] if index == 0 else [0, other]
    assert (
        gathered(text, text, pairs(similarity, best))[index].lone is expected
    )


def test_a_contradiction_is_sure_of_a_thing_that_is_the_only_one_of_its_name() -> (
    None
):
    own = analysed("A red cup stands on a table.")
    one = gather(own, analysed("A blue cup stands on a table."), NUMBERS)
    two = gather(
        own, analysed("A blue cup and a blue cup stand on a table."), NUMBERS
    )
    red = next(i for i, unit in enumerate(own.units) if unit.value == "red")
    assert (one[red].excluded, one[red].lone) == (True, True)
    assert (two[red].excluded, two[red].lone) == (True, False)


def test_what_is_no_thing_to_touch_or_tells_nothing_alone_is_not_surely_unsaid() -> (
    None
):
    own = analysed("A tall fence with a top rail and a logo stands.")
    for target in (analysed("A fence and a rail."), analysed("Hello.")):
        vague = {
            u.value: e.vague
            for u, e in zip(
                own.units, gather(own, target, NUMBERS), strict=True
            )
        }
        assert {name for name, is_so in vague.items() if is_so} == {
            "logo",
            "top",
            "stand",
        }
        assert {"fence", "rail", "tall"} <= vague.keys()


def test_a_name_that_may_stand_for_whatever_else_is_there() -> None:
    own = analysed("A dog lies on the ground beside a chair.")
    target = analysed("A dog lies on grass.")
    found = gather(own, target, NUMBERS)
    vague = {
        own.graph.entities[u.subject].name: e.vague
        for u, e in zip(own.units, found, strict=True)
    }
    assert (vague["ground"], vague["chair"], vague["dog"]) == (
        True,
        False,
        False,
    )
    nothing = gather(own, analysed("Hello."), NUMBERS)
    assert [e.vague for e in nothing if e.kind == "entity"].count(True) == 1


def test_how_much_of_a_sentence_and_of_a_text_the_target_repeats() -> None:
    source = analysed("A red boat lies on a beach. Two dogs run.")
    found = gather_all(source, analysed("A boat lies on sand."), numbers())
    shares = {
        u.value: one.repeated
        for u, one in zip(source.units, found, strict=True)
    }
    # a, boat, lies, on, a of seven words; none of three
    assert shares["red"] == pytest.approx(5 / 7)
    assert shares["dog"] == 0.0
    assert len({one.shared for one in found}) == 1
    same = gather_all(source, source, numbers())
    assert (
        {one.repeated for one in same} == {one.shared for one in same} == {1.0}
    )
    strange = gather_all(source, analysed("The sky is grey."), numbers())
    assert strange[0].shared < found[0].shared < 1.0
