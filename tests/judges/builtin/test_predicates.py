"""Predicates in normal form and how far two say the same, by hand."""

from __future__ import annotations

import pytest

from beholder.judges.builtin.predicates import (
    Predicate,
    alike_predicates,
    likeness,
    normal,
    verb_likeness,
)
from toy.cases import each_case


def place(name: str, turned: bool = False) -> Predicate:
    return Predicate("", False, name, turned)


def verb(name: str, at: str = "", turned: bool = False) -> Predicate:
    return Predicate(name, turned, at, False)


@each_case(
    ("predicate", "is_verb", "passive", "expected"),
    [
        ("hold", True, False, Predicate("hold", False, "", False)),
        ("hold by", True, True, Predicate("hold", True, "", False)),
        ("stand by", True, False, Predicate("stand", False, "next to", False)),
        ("hold by", False, True, Predicate("", False, "hold by", False)),
        ("sit on top of", True, False, Predicate("sit", False, "on", False)),
        ("On  Top of", False, False, Predicate("", False, "on", False)),
        (
            "on the left of",
            False,
            False,
            Predicate("", False, "left of", False),
        ),
        (
            "on left side of",
            False,
            False,
            Predicate("", False, "left of", False),
        ),
        (
            "to right-hand side of",
            False,
            False,
            Predicate("", False, "left of", True),
        ),
        ("right of", False, False, Predicate("", False, "left of", True)),
        ("behind", False, False, Predicate("", False, "in front of", True)),
        ("beneath", False, False, Predicate("", False, "above", True)),
        ("with", False, False, Predicate("", False, "of", True)),
        ("dress in", True, False, Predicate("wear", False, "", False)),
        ("dress in", False, False, Predicate("", False, "dress in", False)),
        ("have", True, False, Predicate("", False, "of", True)),
        ("own by", True, True, Predicate("", False, "of", False)),
        ("belong to", True, False, Predicate("", False, "of", False)),
        ("contain", True, False, Predicate("", False, "in", True)),
        ("support", True, False, Predicate("", False, "on", True)),
        ("support by", True, True, Predicate("", False, "on", False)),
        ("surround by", True, True, Predicate("", False, "around", True)),
        ("flank", True, False, Predicate("", False, "next to", False)),
        ("hold up", True, False, Predicate("", False, "on", True)),
        ("feature", True, False, Predicate("", False, "of", True)),
        ("possess", True, False, Predicate("", False, "of", True)),
    ],
)
def test_predicates_have_one_normal_form(
    predicate: str, is_verb: bool, passive: bool, expected: Predicate
) -> None:
    assert normal(predicate, is_verb, passive) == expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("on", "on", 1.0),
        ("on", "above", 0.7),
        ("above", "on", 0.7),
        ("on", "opposite", 0.25),
    ],
)
def test_places_have_the_expected_likeness(
    a: str, b: str, expected: float
) -> None:
    assert likeness(place(a), place(b), 0.0, 1.0, 0.0)[0] == expected


@pytest.mark.parametrize(
    ("a", "b", "vectors", "expected"),
    [
        ("hold", "hold", 0.1, 1.0),
        ("hold", "carry", 0.6, 0.6),
        (
            "sit",
            "stand",
            0.6,
            0.18,
        ),  # postures exclude each other: a factor of 0.3
        ("", "", 0.0, 1.0),
    ],
)
def test_verbs_have_the_expected_likeness(
    a: str, b: str, vectors: float, expected: float
) -> None:
    assert verb_likeness(verb(a), verb(b), vectors) == pytest.approx(expected)


@each_case(
    ("a", "b", "likes", "straight", "crossed", "expected"),
    [
        # verbs alone: by the ends as they stand, and exchanged where the verbs are near enough
        (verb("hold"), verb("hold"), 1.0, 0.9, 0.2, (0.9, 0.2)),
        (verb("hold"), verb("hold", turned=True), 1.0, 0.9, 0.2, (0.2, 0.9)),
        (
            verb("hold", turned=True),
            verb("hold", turned=True),
            1.0,
            0.9,
            0.2,
            (0.9, 0.2),
        ),
        (verb("hold"), verb("carry"), 0.8, 0.5, 1.0, (0.4, 0.8)),
        (verb("hold"), verb("lift"), 0.7, 0.5, 1.0, (0.35, 0.0)),
        # one of the two names a place as well
        (verb("sit"), verb("sit", "on"), 1.0, 1.0, 0.0, (0.9, 0.0)),
        # verb and place must both hold
        (verb("sit", "on"), verb("sit", "on"), 1.0, 1.0, 0.0, (1.0, 0.0)),
        (verb("sit", "on"), verb("sit", "above"), 1.0, 1.0, 0.0, (0.7, 0.0)),
        (verb("sit", "on"), verb("lie", "on"), 0.2, 1.0, 0.0, (0.2, 0.0)),
        (
            verb("sit", "left of"),
            verb("sit", "left of"),
            1.0,
            0.1,
            0.9,
            (0.1, 0.9),
        ),
        # a verb takes its place along where both are the same and the place has a direction
        (verb("look", "at"), verb("look", "at"), 1.0, 0.1, 0.9, (0.1, 0.9)),
        (verb("look", "at"), verb("gaze", "at"), 0.7, 0.0, 1.0, (0.0, 0.0)),
        (
            verb("look", "at"),
            verb("look", "through"),
            1.0,
            0.0,
            1.0,
            (0.0, 0.0),
        ),
        (
            verb("play", "near"),
            verb("play", "near"),
            1.0,
            0.0,
            1.0,
            (0.0, 0.0),
        ),
        # verbs that hold of both ends have none, either
        (verb("face"), verb("face"), 1.0, 0.1, 0.9, (0.9, 0.0)),
        (verb("face"), verb("face", turned=True), 1.0, 0.9, 0.1, (0.9, 0.0)),
        (
            verb("dance", "with"),
            verb("dance", "with"),
            1.0,
            0.1,
            0.9,
            (0.9, 0.0),
        ),
        # places alone, and a place beside a verb with that place
        (place("on"), place("on"), 1.0, 0.8, 0.1, (0.8, 0.1)),
        (place("in"), place("in"), 1.0, 0.1, 0.8, (0.1, 0.8)),
        (place("on"), verb("sit", "on"), 0.0, 1.0, 0.0, (0.9, 0.0)),
        (verb("sit", "on"), place("on"), 0.0, 1.0, 0.0, (0.9, 0.0)),
        (place("above"), place("above", True), 1.0, 0.3, 0.9, (0.9, 0.3)),
        (place("above"), place("above"), 1.0, 0.3, 0.9, (0.3, 0.9)),
        (
            place("above", True),
            place("above", True),
            1.0,
            0.3,
            0.9,
            (0.3, 0.9),
        ),
        (place("above"), place("on"), 1.0, 0.3, 0.9, (0.21, 0.0)),
        (place("left of"), place("left of"), 1.0, 0.2, 0.7, (0.2, 0.7)),
        (
            place("in front of"),
            place("in front of"),
            1.0,
            0.2,
            0.7,
            (0.2, 0.7),
        ),
        # next to, near and of hold in both directions
        (place("next to"), place("next to"), 1.0, 0.2, 0.9, (0.9, 0.0)),
        (place("next to"), place("near"), 1.0, 0.2, 1.0, (0.9, 0.0)),
        (place("on"), place("next to"), 1.0, 0.4, 1.0, (0.25, 0.0)),
        (place("of"), place("of", True), 1.0, 0.9, 0.2, (0.9, 0.0)),
        # what somebody wears is on, of or with them; other verbs say nothing of a place
        (verb("wear"), place("of"), 0.0, 0.2, 0.8, (0.68, 0.0)),
        (place("in"), verb("wear"), 0.0, 1.0, 0.2, (0.85, 0.0)),
        (verb("wear"), place("on"), 0.0, 1.0, 0.2, (0.5, 0.0)),
        (verb("hold"), place("of"), 0.0, 0.2, 1.0, (0.5, 0.0)),
    ],
)
def test_predicates_have_the_expected_likeness(
    a: Predicate,
    b: Predicate,
    likes: float,
    straight: float,
    crossed: float,
    expected: tuple[float, float],
) -> None:
    assert likeness(a, b, likes, straight, crossed) == pytest.approx(expected)


@each_case(
    ("a", "b", "vectors", "expected"),
    [
        (verb("hold"), verb("hold"), 0.0, (True, False)),
        (verb("hold"), verb("hold", turned=True), 0.0, (False, True)),
        (verb("hold"), verb("carry"), 0.8, (True, False)),
        (verb("hold"), verb("carry"), 0.78, (False, False)),
        (verb("carry"), verb("hold", turned=True), 0.78, (False, False)),
        (place("next to"), place("next to"), 0.0, (True, True)),
    ],
)
def test_alike_as_they_stand_and_exchanged(
    a: Predicate, b: Predicate, vectors: float, expected: tuple[bool, bool]
) -> None:
    assert alike_predicates(a, b, vectors) == expected


@pytest.mark.parametrize(
    ("passive", "active", "expected"),
    [
        ("wrap in", verb("wrap"), (0.9, 0.0)),  # whichever end is the doer
        ("cover with", verb("hide"), (0.9, 0.0)),
        (
            "wrap in",
            normal("wrap in", True, True),
            (0.1, 0.9),
        ),  # both undergo: ends count
        ("bite by", verb("bite"), (0.9, 0.1)),
    ],
)
def test_passives_with_a_place_hold_either_way(
    passive: str, active: Predicate, expected: tuple[float, float]
) -> None:
    """Of "wrapped in" beside an active verb no direction is known; ends are 0.1 and 0.9."""
    scores = likeness(normal(passive, True, True), active, 1.0, 0.1, 0.9)
    assert scores[1] == pytest.approx(expected[1])
    assert scores[0] <= expected[0]
    assert (scores[0] > 0.1) is (expected[0] > 0.1)


@pytest.mark.parametrize(
    ("name", "directed"), [("on", True), ("near", False), ("of", False)]
)
def test_places_know_if_they_have_a_direction(
    name: str, directed: bool
) -> None:
    assert place(name).directed is directed


@pytest.mark.parametrize(
    ("verbs", "place", "exchanged"),
    [
        (
            "bear boast cast comprise exhibit feature have include own possess sport",
            "of",
            True,
        ),
        (
            "contain depict display frame house portray reveal show showcase",
            "in",
            True,
        ),
        ("support", "on", True),
        ("flank", "next to", False),
        ("surround", "around", False),
    ],
)
def test_verbs_that_say_no_more_than_a_place(
    verbs: str, place: str, exchanged: bool
) -> None:
    for verb in verbs.split():
        assert normal(verb, True) == Predicate("", False, place, exchanged), (
            verb
        )


@each_case(
    ("a", "b", "likes", "straight", "crossed", "expected"),
    [
        # who sits near another has that one near; who runs need not be run near
        (verb("sit", "near"), verb("sit", "near"), 1.0, 0.1, 0.9, (0.9, 0.0)),
        (verb("run", "near"), verb("run", "near"), 1.0, 0.1, 0.9, (0.1, 0.0)),
        # what is worn, with no place beside it
        (
            verb("wear"),
            Predicate("", False, "", False),
            0.0,
            0.2,
            0.8,
            (0.68, 0.0),
        ),
        (
            verb("hold"),
            Predicate("", False, "", False),
            0.0,
            0.2,
            0.8,
            (0.4, 0.0),
        ),
        # one verb turned, and not near enough to count exchanged
        (
            verb("hold"),
            verb("carry", turned=True),
            0.79,
            1.0,
            0.5,
            (0.395, 0.0),
        ),
        (verb("hold"), verb("carry", turned=True), 0.8, 1.0, 0.5, (0.4, 0.8)),
    ],
)
def test_likeness_of_predicates_without_a_common_place(
    a: Predicate,
    b: Predicate,
    likes: float,
    straight: float,
    crossed: float,
    expected: tuple[float, float],
) -> None:
    assert likeness(a, b, likes, straight, crossed) == pytest.approx(expected)


def test_exchanged_ends_are_alike_from_the_mark_on() -> None:
    for near, expected in ((0.8, (False, True)), (0.78, (False, False))):
        assert (
            alike_predicates(verb("hold"), verb("carry", turned=True), near)
            == expected
        )


@each_case(
    ("predicate", "passive", "expected"),
    [
        (
            "mount on by",
            True,
            Predicate("", False, "on", True),
        ),  # its place is turned as it was
        ("sit on by", True, Predicate("sit", True, "on", True)),
        ("cover by", True, Predicate("cover", True, "", False)),
        ("cover by", False, Predicate("", False, "of", True)),
        ("cover on", False, Predicate("cover", False, "on", False)),
        ("make of", False, Predicate("", False, "of", False)),
        ("make out of", False, Predicate("", False, "of", False)),
        (
            "make with",
            False,
            Predicate("make", False, "of", True),
        ),  # with: of, turned
        ("hang to", False, Predicate("", False, "on", False)),
        ("hang near", False, Predicate("", False, "near", False)),
        ("hang", False, Predicate("hang", False, "", False)),
        ("lead to", False, Predicate("", False, "to", False)),
        ("lead", False, Predicate("lead", False, "", False)),
        ("hold in", False, Predicate("hold", False, "in", False)),
        ("hold of", False, Predicate("hold", False, "of", False)),
        ("consist of", False, Predicate("", False, "of", True)),
        ("contain in", False, Predicate("", False, "in", False)),
        ("contain in by", True, Predicate("", False, "in", True)),
    ],
)
def test_verbs_that_give_way_to_their_place(
    predicate: str, passive: bool, expected: Predicate
) -> None:
    assert normal(predicate, True, passive) == expected
