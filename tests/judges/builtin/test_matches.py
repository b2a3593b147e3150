"""A match needs the same thing, and the same or a more special statement; with neighbours.

The verdicts follow from the rules of ``docs/reading.md``, by hand: a more special word is new, a
wider one is not; what is said of another thing, and what is not said, is no match.
"""

from __future__ import annotations

from beholder.judges.builtin.claims import probabilities
from beholder.judges.builtin.findings import find
from beholder.judges.builtin.lexis import tie
from beholder.judges.builtin.numbers import PRESENT, number
from beholder.judges.builtin.reading import analysed
from beholder.language.statements import wording

CASES = (
    # The wider word is said by the narrower, and not the other way round.
    ("There is an animal.", "An animal sleeps.", "A dog sleeps.", True),
    ("There is a dog.", "A dog sleeps on a rug.", "An animal sleeps on a rug.", False),
    ("There is a tree.", "A tree grows here.", "A pine tree grows here.", True),
    ("There is a poodle.", "A poodle sits by a door.", "A dog sits by a door.", False),
    ("There is a dog.", "A dog sits here.", "A poodle sits by a door.", True),
    ("There is a car.", "A car waits.", "A sports car waits.", True),
    ("The horse is brown.", "A brown horse runs.", "A dark brown horse runs.", True),
    # Silence is no match.
    ("The wall is brick.", "A brick wall stands there.", "A wall stands there.", False),
    ("The collar is red.", "A dog with a red collar runs.", "A dog with a collar runs.", False),
    ("The sofa is leather.", "A leather sofa is there.", "A sofa is there.", False),
    ("The dress is long.", "A woman in a long dress dances.", "A woman in a dress dances.", False),
    # Nor is what is said of another thing.
    ("The man is old.", "An old man sits on a bench.", "A man sits on an old bench.", False),
)  # fmt: skip


def test_matches_are_of_the_same_thing_and_no_less_special() -> None:
    for statement, text, other_text, is_said in CASES:
        source = analysed(text)
        findings = find(source, analysed(other_text), entail=True)
        grades = [
            finding.grade
            for unit, finding in zip(source.units, findings, strict=True)
            if wording(unit, source.graph) == statement
        ]
        assert len(grades) == 1, (text, statement)
        assert (grades[0] >= PRESENT) == is_said, (statement, other_text)


def test_a_wider_noun_does_not_say_the_narrower() -> None:
    for narrow, wide in (
        ("poodle", "dog"),
        ("sedan", "car"),
        ("gown", "dress"),
    ):
        assert tie(narrow, wide) == "less"
        assert tie(wide, narrow) in ("more", "same")
    # Of people, both are used for each other.
    assert tie("lady", "woman") == tie("woman", "lady") == "same"


def test_what_is_said_of_a_van_is_not_said_of_the_car() -> None:
    source = analysed("A red car is parked beside a tree.")
    of_van = analysed("A car and a tree stand beside a red van.")
    of_car = analysed("A red car and a tree stand beside a van.")
    place = next(i for i, u in enumerate(source.units) if u.value == "red")
    values = [find(source, text)[place].value for text in (of_van, of_car)]
    assert values[0] < 0.85 <= values[1]


def test_what_someone_does_is_not_said_of_who_stands_beside_them() -> None:
    # (text, said of one of two, not said of the other)
    for text, said, unsaid in (
        ("A girl holds a kite while a boy rides a pony.", "The girl holds a kite.", "The boy holds a kite."),
        ("A farmer wearing boots greets a tourist wearing sandals.", "The tourist wears sandals.", "The farmer wears sandals."),
        ("A dog chases a cat, and the cat chases a mouse.", "The cat chases a mouse.", "The dog chases a mouse."),
    ):  # fmt: skip
        right, wrong = probabilities([said, unsaid], text)
        assert wrong <= number("facts.exchanged") < right, text
    # Both do it, or both are at one place.
    for text, statement in (
        ("A girl and a boy hold a kite.", "The boy holds a kite."),
        ("A girl stands next to a tree beside a boy.", "The girl stands next to a tree."),
    ):  # fmt: skip
        assert probabilities([statement], text)[0] > number("facts.exchanged")
