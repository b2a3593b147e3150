"""Whether a text says a claim's values, or others of which it comes nearer, by hand."""

from __future__ import annotations

import pytest

from beholder.judges.builtin.reading import analysed
from beholder.judges.builtin.rivals import ClaimWording, unrivalled


def wording(claim: str, text: str) -> ClaimWording:
    return ClaimWording(analysed(claim), analysed(text), frozenset(("the", "is")))


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("The cup is red.", "A red cup.", 1.0),
        ("The cup is red.", "A blue cup.", 0.0),  # a rival right beside the cup
        ("The cup is red.", "A cup.", 1.0),  # nothing rivals what is not told
        ("The cup is red.", "A blue plate.", 1.0),  # and no cup is blue
        ("The cup is red.", "A red cup on a blue plate.", 1.0),
        ("The plate is red.", "A red cup on a blue plate.", 0.5),  # a cup stands between
        ("The cup is red.", "A blue cup. A red plate.", 0.0),  # not over sentences
        ("Red.", "Blue.", 1.0),  # nothing else is said of it
        ("The cup is a red cup.", "A crimson cup.", 1.0),
        ("A cup.", "Two cups.", 1.0),  # an article is no number
        ("One cup.", "Two cups.", 0.0),
        ("No cup.", "Not a cup.", 1.0),  # nor is it one that denies "no"
    ],
)
def test_values_and_their_rivals(claim: str, text: str, expected: float) -> None:
    assert unrivalled(wording(claim, text)) == pytest.approx(expected)


def test_what_is_told_otherwise_has_no_rivals() -> None:
    claim = wording("The red cup is tall.", "A blue cup is short.")
    assert claim.valued == [1, 4]
    assert unrivalled(claim, {1}) < 1.0
    assert unrivalled(claim, {4}) < 1.0
    assert unrivalled(claim, {1, 4}) == 1.0


def test_a_rival_counts_by_the_words_that_it_comes_near() -> None:
    both = unrivalled(wording("The red cup shines.", "A blue cup shines."))
    one = unrivalled(wording("The red cup shines.", "A blue cup stands. A lamp shines."))
    assert 0.0 < both < one < 1.0  # in both a cup stands between "blue" and "shines"


@pytest.mark.parametrize(
    ("place", "to", "expected"),
    [
        (1, 1, 1.0),  # red beside cup
        (5, 1, 1.0),  # no thing stands between "cup" and "blue"
        (6, 1, 1.0),  # nor between cup and plate
        (9, 1, 0.5),  # but the plate between cup and lamp
        (2, 1, 0.0),  # the cup's only place is this
        (11, 1, 0.0),  # another sentence
    ],
)
def test_how_near_words_stand(place: int, to: int, expected: float) -> None:
    found = wording("The cup is red.", "A red cup on a blue plate by a lamp. A green box.")
    assert found.text.words[2] == "cup"
    assert found.near(place, to) == expected


def test_telling_words_are_those_of_a_class_and_those_that_say_something() -> None:
    found = wording("The white cup is on a table with a lid.", "A cup.")
    words = [found.claim.words[place] for place in found.telling]
    assert words == ["white", "cup", "table", "lid"]
    assert [found.claim.words[place] for place in found.valued] == ["white"]
    assert found.places == {1: [], 2: [1], 6: [], 9: []}
