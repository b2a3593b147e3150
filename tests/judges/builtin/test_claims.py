"""Evidence on statements, by hand."""

from __future__ import annotations

import pytest

from beholder.judges.builtin import claims
from beholder.judges.builtin.claims import (
    Source,
    matches,
    probabilities,
    supported,
)
from beholder.judges.builtin.numbers import number, table
from beholder.judges.builtin.reading import analysed
from toy.cases import each_case

ROOM = "A red cup is on the shelf. A tall lamp stands on the round table."


def evidence(claim: str, text: str = ROOM) -> list[float]:
    """Lowest value of the units and of the attributes, words, and log odds of entailment."""
    features: list[float] = claims.evidence(
        [analysed(claim)], Source(analysed(text)), entail=True
    )[0].tolist()[0]
    return features


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The cup is red.", 1.0),
        ("The lamp is red.", 0.3),
        ("The cup is on the shelf.", 1.0),
    ],
)
def test_the_lowest_attribute_of_a_claim_is_a_feature(
    claim: str, expected: float
) -> None:
    lowest = evidence(claim)[1]
    assert lowest == 1.0 if expected == 1.0 else lowest <= 0.55


def test_one_wrong_attribute_is_enough() -> None:
    assert evidence("The tall lamp stands.")[1] == 1.0
    assert evidence("The tall red lamp stands.")[1] <= 0.55


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("The cup is shiny.", "A cup is shiny.", 1.0),
        (
            "The image shows a cup.",
            "A cup shines.",
            1.0,
        ),  # the picture itself need not be there
        (
            "The dog has a tail.",
            "A dog sleeps. It has a tail.",
            1.0,
        ),  # "it" is the dog
    ],
)
def test_words_of_one_sentence(claim: str, text: str, expected: float) -> None:
    assert evidence(claim, text)[2] == pytest.approx(expected, abs=0.01)
    assert evidence(claim, "Rain.")[2] < 0.5


@each_case("entail", [True, False])
@each_case(
    ("claim", "expected"),
    [
        ("The cup is red.", True),
        ("A cup is on a shelf.", True),
        ("The lamp is tall.", True),
        ("The cup is blue.", False),
        ("There is no cup.", False),
        ("The lamp is red.", False),
        ("A dog sleeps.", False),
    ],
)
def test_statements_are_supported_by_the_text(
    claim: str, entail: bool, expected: bool
) -> None:
    assert supported([claim], ROOM, entail=entail) == [expected]


def test_the_model_separates_equal_words_of_other_things() -> None:
    """Clothes of two people, exchanged: the words and their order alone say both."""
    text = "A farmer wearing rubber boots greets a tourist wearing sandals."
    right, wrong = probabilities(
        ["The tourist wears sandals.", "The farmer wears sandals."], text
    )
    assert right > number("facts.both_true") > wrong


@pytest.mark.parametrize(
    ("claim", "reference", "expected"),
    [
        ("A cat sleeps.", "A cat sleeps.", 0),
        ("A cat.", "A black cat.", 0),  # the reference says all of the claim
        ("A dog sleeps.", "A cat sleeps.", None),
    ],
)
def test_a_claim_matches_the_reference_that_states_it(
    claim: str, reference: str, expected: int | None
) -> None:
    assert matches([analysed(claim)], [analysed(reference)]) == [expected]


def test_more_evidence_is_never_less_likely() -> None:
    """No weight is negative."""
    for name in ("facts.rules", "facts.both"):
        assert min(table()[name]["value"][1:]) >= 0.0


@pytest.mark.parametrize("entail", [True, False])
def test_a_statement_of_the_text_itself_has_its_own_probability(
    entail: bool,
) -> None:
    verbatim, changed = probabilities(
        ["the CUP is red", "The cup is blue."], ROOM, entail=entail
    )
    assert verbatim == number("facts.verbatim")
    assert changed < number("facts.rules_true")


def test_words_of_each_sentence() -> None:
    text = analysed("A cup. A plate.")
    assert [part.tolist() for part in Source(text).wordings] == [
        [0, 1],
        [2, 3],
    ]
