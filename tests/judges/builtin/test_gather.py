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
from toy.cases import each_case


def gather(*arguments: Any) -> tuple[Evidence, ...]:
    """Evidence without what is the same for all units of a sentence or text."""
    return tuple(
        replace(evidence, repeated=0.0, shared=0.0)
        for evidence in gather_all(*arguments)
    )


NUMBERS = replace(numbers(), same=0.85, known=0.5)


def thing(
    index: int, name: str, text: str, start: int, **more: object
) -> Entity:
    end = start + len(text)
    entity = Entity(
        index, name, name.split()[-1], (Mention(text, (start, end), 0),)
    )
    return replace(entity, **more)  # type: ignore[arg-type]


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
    similarities = np.array(similarity)
    return Counterparts(
        similarities,
        similarities if plain is None else np.array(plain),
        similarities if strength is None else np.array(strength),
        np.array(best, np.intp),
        similarities >= 0.85 if alike is None else np.array(alike),
        np.full(len(best), unpaired),
    )


MODULES = tuple(
    importlib.import_module(f"beholder.judges.builtin.{name}")
    for name in ("gather", "agreement")
)


def gathered(
    source: AnalysedText,
    target: AnalysedText,
    matches: Counterparts,
    **collaborators: object,
) -> tuple[Evidence, ...]:
    """Evidence on all units; ``counterparts`` and others of its modules answer as given."""
    collaborators.setdefault("counterparts", lambda *_: matches)
    with pytest.MonkeyPatch.context() as patch:
        for name, answer in collaborators.items():
            users = [module for module in MODULES if name in vars(module)]
            assert users, f"{name} is in no module of the evidence"
            for module in users:
                patch.setattr(module, name, answer)
        gathered_evidence = gather(source, target, NUMBERS)
    # How the words cover each other has a test of its own.
    return tuple(
        evidence
        if evidence.kind == "amount"
        else replace(evidence, coverage=0.25)
        for evidence in gathered_evidence
    )


def mugs(polarity: bool = True) -> AnalysedText:
    things = (
        thing(0, "mug", "mug", 0, polarity=polarity),
        thing(1, "cup", "cups", 8),
    )
    return AnalysedText(SceneGraph("mug and cups", things, (), ()))


def entity(
    matches: Counterparts,
    target: AnalysedText,
    polarity: bool = True,
    source: AnalysedText = CAKE,
) -> Evidence:
    (first, *rest_of_things) = source.graph.entities
    things = (replace(first, polarity=polarity), *rest_of_things)
    changed = AnalysedText(replace(source.graph, entities=things))
    return gathered(changed, target, matches)[0]


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
    ("likeness", "polarity", "where"),
    [
        (0.5, True, ((0, 3),)),
        (0.49, True, ()),
        (0.85, False, ((0, 3),)),
        (0.84, False, ()),
    ],
)
def test_a_counterpart_is_located_if_its_name_is_near(
    likeness: float, polarity: bool, where: tuple[Span, ...]
) -> None:
    assert (
        entity(pairs([[likeness, 0.1]], [0]), mugs(), polarity).where == where
    )


@pytest.mark.parametrize(
    ("likeness", "narrower"), [(0.85, True), (0.84, False)]
)
def test_a_longer_name_is_narrower_only_if_it_is_near(
    likeness: float, narrower: bool
) -> None:
    assert entity(pairs([[likeness, 0.1]], [0]), mugs()).narrower is narrower
    same = entity(pairs([[likeness]], [0]), CAKE)
    assert same.narrower is False


@pytest.mark.parametrize(
    ("likeness", "near", "excluded"),
    [
        (0.84, 0.5, True),
        (0.85, 0.5, False),  # it is there by name
        (0.84, 0.625, False),  # 0.9375 is 1.5 times as near
        (0.84, 0.62, True),
    ],
)
def test_names_that_are_near_and_set_apart(
    likeness: float, near: float, excluded: bool
) -> None:
    matches = pairs([[likeness, near]], [0], plain=[[0.84, 0.9375]])
    evidence = entity(matches, mugs())
    assert (evidence.excluded, evidence.instead) == (
        excluded,
        "cups" if excluded else "mug",
    )


@pytest.mark.parametrize(
    ("excluded", "polarity", "there", "instead"),
    [
        (True, True, False, "cups"),
        (True, False, True, "mug"),
        (True, False, False, "no mug"),
        (False, True, False, "no mug"),
        (False, True, True, "mug"),
    ],
)
def test_a_missing_thing_is_explained_by_the_words_of_the_target(
    excluded: bool, polarity: bool, there: bool, instead: str
) -> None:
    matches = pairs([[0.6, 0.5]], [0], plain=[[0.6, 0.9 if excluded else 0.5]])
    evidence = entity(matches, mugs(there), polarity)
    assert (evidence.instead, evidence.denied) == (instead, not there)


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
    ("target", "likeness", "best", "stated", "instead"),
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
def test_amounts_are_compared_with_all_things_of_the_name(
    target: AnalysedText,
    likeness: float,
    best: int,
    stated: float,
    instead: str,
) -> None:
    matches = pairs([[0.6, likeness]], [best])
    evidence = gathered(DOGS, target, matches)[1]
    assert evidence == Evidence(
        "amount",
        name_likeness=likeness if best else 0.6,
        stated=stated,
        excluded=bool(instead),
        lone=True,
        instead=instead,
        where=((7, 11),) if best else ((0, 6),),
    )


@pytest.mark.parametrize(("first", "lone"), [("two", True), ("one", False)])
def test_an_amount_among_several_of_a_name_is_sure_where_both_are_counted(
    first: str, lone: bool
) -> None:
    matches = pairs([[0.9, 0.9]], [0])
    assert gathered(DOGS, herd(first, "one"), matches)[1].lone is lone


def test_an_amount_without_a_counterpart_has_no_evidence() -> None:
    evidence = gathered(DOGS, herd("two", "two"), pairs([[0.0, 0.0]], [-1]))[1]
    assert evidence == Evidence("amount", counterpart=False)


RED = AnalysedText(
    SceneGraph(
        "red cup",
        (thing(0, "cup", "cup", 4),),
        (Attribute(0, "red", "red", ((0, 3),), 0),),
        (),
    )
)
DESCRIBED = AnalysedText(
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
    matches = pairs(
        [[0.9, 0.3]], [best], strength=[list(strength)], alike=[list(alike)]
    )
    (red,) = RED.graph.attributes
    source = AnalysedText(
        replace(RED.graph, attributes=(replace(red, polarity=polarity),))
    )
    return gathered(
        source,
        DESCRIBED,
        matches,
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
def test_a_property_is_located_from_a_likeness_on(
    likeness: float, where: tuple[Span, ...]
) -> None:
    assert attribute([likeness, 0.1, 0.2, 0.1]).where == where


@each_case(
    ("likeness", "best", "polarity", "denied", "instead"),
    [
        (0.85, 0, True, False, ""),
        (0.85, 0, False, True, "pale"),
        (0.84, 0, False, False, ""),
        (0.85, 1, True, True, "not dark"),
        (0.85, 1, False, False, ""),
        (0.84, 1, True, False, ""),
    ],
)
def test_a_property_of_other_polarity_is_denied(
    likeness: float, best: int, polarity: bool, denied: bool, instead: str
) -> None:
    row = [0.1, likeness, 0.2, 0.2] if best else [likeness, 0.1, 0.2, 0.2]
    evidence = attribute(row, best, polarity)
    assert (evidence.denied, evidence.instead) == (denied, instead)


@pytest.mark.parametrize(
    ("similarity", "excluded", "instead", "where"),
    [
        ([0.6, 0.1, 0.7, 0.1], [0], "pale", ((0, 4),)),
        ([0.1, 0.1, 0.85, 0.1], [0], "", ((5, 8),)),  # said of it all the same
        ([0.1, 0.1, 0.84, 0.1], [0], "pale", ((0, 4),)),
        ([0.1, 0.1, 0.84, 0.1], [1, 0], "pale", ((0, 4),)),
    ],
)
def test_a_property_of_the_same_class_excludes_the_unit(
    similarity: list[float],
    excluded: list[int],
    instead: str,
    where: tuple[Span, ...],
) -> None:
    evidence = attribute(similarity, excluded=excluded)
    assert (evidence.excluded, evidence.instead, evidence.where) == (
        True,
        instead,
        where,
    )


def test_a_property_of_another_thing_excludes_nothing() -> None:
    evidence = attribute([0.6, 0.1, 0.7, 0.1], excluded=[1])
    assert (evidence.excluded, evidence.instead) == (False, "")


@pytest.mark.parametrize(
    ("likeness", "strength", "stated"),
    [(0.85, 0.8, 0.68), (0.85, 1.0, 0.85), (1.0, 0.84, 0.84)],
)
def test_a_property_of_another_thing_counts_by_strength(
    likeness: float, strength: float, stated: float
) -> None:
    evidence = attribute([0.1, likeness, 0.2, 0.1], strength=(1.0, strength))
    assert evidence.stated == pytest.approx(stated)
    assert evidence.on_alike == 0.2
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
    ("best", "counterpart", "likeness", "ends"),
    [
        ([0, 1], True, 0.9, 0.7),
        ([-1, 1], False, 0.0, 0.0),
        ([0, -1], True, 0.9, 0.0),
    ],
)
def test_evidence_on_a_relation(
    best: list[int], counterpart: bool, likeness: float, ends: float
) -> None:
    text = parts("lid of box")
    evidence = Evidence(
        "relation",
        stated=0.1,
        between=0.2,
        turned=0.3,
        bare=True,
        denied=True,
        instead="told",
        where=((4, 6),),
    )
    matches = pairs([[0.9, 0.4], [0.3, 0.7]], best)
    assert gathered(text, text, matches, related=lambda *_: {2: evidence})[
        2
    ] == Evidence(
        "relation",
        True,
        counterpart,
        coverage=0.25,
        name_likeness=likeness,
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
    return [evidence.coverage for evidence in gather(source, target, NUMBERS)]


def agreed(
    source: AnalysedText, target: AnalysedText, **collaborators: object
) -> Any:
    """(n, m), what counterparts are looked for by beside the names."""
    agreements: list[Any] = []
    answer = pairs(np.zeros((1, len(target.graph.entities))).tolist(), [-1])

    def counterparts(
        first: AnalysedText, second: AnalysedText, agreement: Any
    ) -> Counterparts:
        agreements.append(agreement)
        return answer

    gathered(
        source, target, answer, counterparts=counterparts, **collaborators
    )
    return agreements[0]


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
    attributes = (
        Attribute(0, "red", "red", ((0, 3),), 0),
        Attribute(0, "sleeping", "sleep", ((10, 18),), 0, kind="state"),
    )
    source = AnalysedText(
        SceneGraph(
            "red dog is sleeping", (thing(0, "dog", "dog", 4),), attributes, ()
        )
    )
    # pale and mug are of the first thing, dark and lid of the second
    said_in = np.array([[0.9, 0.3, 0.2, 0.1], [0.6, 0.0, 0.5, 0.0]])
    agreement = agreed(
        source,
        DESCRIBED,
        said_in=lambda *_: said_in,
        cosines=lambda a, b: np.zeros((len(a), len(b))),
        lower_excluded=lambda *_: [],
    )
    # (1 * 0.9 + 0.5 * 0.6) / 1.5, and 0.3 / 1.5
    assert agreement == pytest.approx(np.array([[0.8, 0.2]]))
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
    evidence_by_unit = dict(
        zip(
            [unit.text for unit in source.units],
            gather(source, target, NUMBERS),
            strict=True,
        )
    )
    assert {
        text: evidence.kind for text, evidence in evidence_by_unit.items()
    } == {
        "dog": "entity",
        "red": "attribute",
        "two": "amount",
    }
    assert (
        evidence_by_unit["red"].excluded,
        evidence_by_unit["red"].instead,
    ) == (
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
    def cup_with(value: str) -> AnalysedText:
        attribute_ = Attribute(0, value, value, ((0, len(value)),), 0)
        text = f"{value} cup"
        return AnalysedText(
            SceneGraph(
                text,
                (thing(0, "cup", "cup", len(value) + 1),),
                (attribute_,),
                (),
            )
        )

    source, target = cup_with(value), cup_with("round")
    source.property_vectors = target.property_vectors = np.ones(
        (2, 1)
    )  # all alike
    _, evidence = gather(source, target, NUMBERS)
    assert (evidence.on_counterpart == 1.0) == whole


@pytest.mark.parametrize(
    ("similarity", "index", "counterpart", "expected"),
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
def test_a_thing_is_lone_if_no_other_has_its_name(
    similarity: list[list[float]], index: int, counterpart: int, expected: bool
) -> None:
    text = AnalysedText(
        SceneGraph(
            "cake mug",
            (thing(0, "cake", "cake", 0), thing(1, "mug", "mug", 5)),
            (),
            (),
        )
    )
    best = [counterpart, 1] if index == 0 else [0, counterpart]
    assert (
        gathered(text, text, pairs(similarity, best))[index].lone is expected
    )


def test_a_contradiction_is_sure_of_a_thing_that_is_the_only_one_of_its_name() -> (
    None
):
    source = analysed("A red cup stands on a table.")
    alone = gather(source, analysed("A blue cup stands on a table."), NUMBERS)
    two = gather(
        source,
        analysed("A blue cup and a blue cup stand on a table."),
        NUMBERS,
    )
    red = next(i for i, unit in enumerate(source.units) if unit.value == "red")
    assert (alone[red].excluded, alone[red].lone) == (True, True)
    assert (two[red].excluded, two[red].lone) == (True, False)


def test_abstract_and_uninformative_units_are_vague() -> None:
    source = analysed("A tall fence with a top rail and a logo stands.")
    for target in (analysed("A fence and a rail."), analysed("Hello.")):
        vague = {
            u.value: e.vague
            for u, e in zip(
                source.units, gather(source, target, NUMBERS), strict=True
            )
        }
        assert {name for name, is_so in vague.items() if is_so} == {
            "logo",
            "top",
            "stand",
        }
        assert {"fence", "rail", "tall"} <= vague.keys()


def test_a_name_that_may_stand_for_whatever_else_is_there() -> None:
    source = analysed("A dog lies on the ground beside a chair.")
    target = analysed("A dog lies on grass.")
    evidence = gather(source, target, NUMBERS)
    vague = {
        source.graph.entities[u.subject].name: e.vague
        for u, e in zip(source.units, evidence, strict=True)
    }
    assert (vague["ground"], vague["chair"], vague["dog"]) == (
        True,
        False,
        False,
    )
    nothing = gather(source, analysed("Hello."), NUMBERS)
    assert [e.vague for e in nothing if e.kind == "entity"].count(True) == 1


def test_shares_of_repeated_words_are_counted_by_sentence_and_text() -> None:
    source = analysed("A red boat lies on a beach. Two dogs run.")
    evidence = gather_all(source, analysed("A boat lies on sand."), numbers())
    shares = {
        u.value: unit_evidence.repeated
        for u, unit_evidence in zip(source.units, evidence, strict=True)
    }
    # a, boat, lies, on, a of seven words; none of three
    assert shares["red"] == pytest.approx(5 / 7)
    assert shares["dog"] == 0.0
    assert len({unit_evidence.shared for unit_evidence in evidence}) == 1
    same = gather_all(source, source, numbers())
    assert (
        {unit_evidence.repeated for unit_evidence in same}
        == {unit_evidence.shared for unit_evidence in same}
        == {1.0}
    )
    strange = gather_all(source, analysed("The sky is grey."), numbers())
    assert strange[0].shared < evidence[0].shared < 1.0
