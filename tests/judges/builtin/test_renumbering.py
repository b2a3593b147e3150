"""Numbers of statements in the words of the texts that they are about: by hand."""

from __future__ import annotations

import pytest

from beholder.judges.builtin.claims import matches, renumbered, supported
from beholder.judges.builtin.reading import analysed, analysed_claims


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("There are half a dozen eggs.", "Six eggs.", "There are six eggs."),
        (
            "There are 24 candles.",
            "Two dozen candles burn.",
            "There are two dozen candles.",
        ),
        ("There are six eggs.", "Six eggs.", "There are six eggs."),
        ("There are six eggs.", "Seven eggs.", "There are six eggs."),
        ("There are several eggs.", "Six eggs.", "There are several eggs."),
        ("There are eggs.", "Six eggs.", "There are eggs."),
    ],
)
def test_equal_numbers_get_the_words_of_the_text(
    claim: str, text: str, expected: str
) -> None:
    (renumbered_claim,) = renumbered(
        analysed_claims.read_texts([claim]), [analysed(text)]
    )
    assert renumbered_claim.graph.text == expected


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("There are half a dozen eggs.", "Six eggs.", True),
        ("There are half a dozen eggs.", "Twelve eggs.", False),
        ("There are 24 candles.", "Two dozen candles burn on a cake.", True),
        ("There are 21 candles.", "Two dozen candles burn on a cake.", False),
        ("There are twenty-one candles.", "21 candles burn.", True),
    ],
)
def test_equal_numbers_are_true_in_any_words(
    claim: str, text: str, expected: bool
) -> None:
    assert supported([claim], text) == [expected]


def test_statements_match_in_any_words_of_a_number() -> None:
    claims = analysed_claims.read_texts(
        ["There are half a dozen eggs.", "There are three eggs."]
    )
    references = analysed_claims.read_texts(
        ["There is a bowl.", "There are 6 eggs."]
    )
    assert matches(claims, references) == [1, None]
