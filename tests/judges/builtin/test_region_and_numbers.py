"""Words of one meaning in two regions, and two ways of writing one number.

Expected values follow from the rules in ``lexis`` and ``rewritten``, by hand.
"""

from __future__ import annotations

import pytest

from beholder.judges.builtin.findings import find
from beholder.judges.builtin.lexis import tie
from beholder.judges.builtin.numbers import PRESENT
from beholder.judges.builtin.reading import analysed
from beholder.language.numerals import number


@pytest.mark.parametrize(
    ("british", "american"),
    [("lorry", "truck"), ("aeroplane", "airplane"), ("kerb", "curb"), ("tyre", "tire"),
     ("pavement", "sidewalk"), ("tram", "streetcar"), ("pram", "stroller"), ("spanner", "wrench")],
)  # fmt: skip
def test_nouns_of_two_regions_are_the_same(
    british: str, american: str
) -> None:
    assert tie(british, american) == tie(american, british) == "same"


@pytest.mark.parametrize(
    ("noun", "other_noun"),
    [
        ("lorry", "car"),
        ("tram", "bus"),
        ("torch", "flashlight"),
        ("jumper", "sweater"),
    ],
)
def test_other_nouns_stay_apart(noun: str, other_noun: str) -> None:
    assert tie(noun, other_noun) != "same"


@pytest.mark.parametrize(
    ("words", "expected"),
    [("a duo", 2), ("a quartet", 4), ("a quintet", 5), ("a sextet", 6), ("a septet", 7),
     ("an octet", 8), ("half a dozen", 6), ("dozens", None)],
)  # fmt: skip
def test_group_names_are_numbers(words: str, expected: int | None) -> None:
    assert number(words) == expected


@pytest.mark.parametrize(
    ("text", "other_text", "is_stated"),
    [
        ("A dozen eggs lie on a table.", "Twelve eggs lie on a table.", True),
        ("A sextet of musicians plays.", "Six musicians play.", True),
        ("A dozen eggs lie on a table.", "Ten eggs lie on a table.", False),
        ("A lorry stands on the road.", "A truck stands on the road.", True),
        ("Two lorries stand by a wall.", "Two trucks stand by a wall.", True),
        ("A man pushes a pram.", "A man pushes a stroller.", True),
        ("A lorry stands on the road.", "A tram stands on the road.", False),
        (
            "A quartet of birds sits on a wire.",
            "Five birds sit on a wire.",
            False,
        ),
    ],
)
def test_sentences_that_differ_in_wording_alone(
    text: str, other_text: str, is_stated: bool
) -> None:
    findings = find(analysed(text), analysed(other_text), entail=True)
    assert all(finding.grade >= PRESENT for finding in findings) == is_stated
