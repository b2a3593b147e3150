"""Evidence on statements, by hand."""

from __future__ import annotations

import pytest

from beholder.judges.builtin.claims import (
    Source,
    StatementEvidence,
    grade,
    matches,
    probabilities,
    statement_evidence,
)
from beholder.judges.builtin.numbers import PRESENT, number
from beholder.judges.builtin.reading import analysed

ROOM = "A red cup is on the shelf. A tall lamp stands on the round table."


def evidence(claim: str, text: str = ROOM) -> StatementEvidence:
    return statement_evidence(analysed(claim), Source(analysed(text)))


@pytest.mark.parametrize(
    ("claim", "expected"),
    [("The cup is red.", 1.0), ("The lamp is red.", 0.3), ("The cup is on the shelf.", 1.0)],
)
def test_lowest_attribute(claim: str, expected: float) -> None:
    found = evidence(claim).attribute
    assert found == 1.0 if expected == 1.0 else found <= 0.55


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("The cup is on the shelf.", 1.0),
        ("The cup is on the table.", 0.0),
        ("The lamp stands on the table.", 1.0),
        ("The cup is red.", 1.0),  # no relation
    ],
)
def test_relations_with_their_own_ends(claim: str, expected: float) -> None:
    assert evidence(claim).attached == expected


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("The cup is shiny.", "A cup is shiny.", 1.0),
        ("The cup is shiny.", "A cup on a table is shiny.", 0.5),  # a table stands between
        ("The cup is shiny.", "A cup on a table by a lamp is shiny.", 1 / 3),
        ("The cup is shiny.", "A cup. A lamp is shiny.", 0.0),
        ("A cup.", "A cup.", 1.0),  # a single word: whether it is there
        ("A cup.", "A lamp.", 0.0),
        (
            "The tall cup is shiny.",
            "A tall cup on a table is shiny.",
            0.75,
        ),  # the mean of two pairs
    ],
)
def test_words_that_stand_together(claim: str, text: str, expected: float) -> None:
    assert evidence(claim, text).together == pytest.approx(expected)


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("The cup is shiny.", "A cup is shiny.", 1.0),
        ("The image shows a cup.", "A cup shines.", 1.0),  # the picture itself need not be there
        ("The dog has a tail.", "A dog sleeps. It has a tail.", 1.0),  # "it" is the dog
    ],
)
def test_words_of_one_sentence(claim: str, text: str, expected: float) -> None:
    assert evidence(claim, text).worded == pytest.approx(expected, abs=0.01)
    assert evidence(claim, "Rain.").worded < 0.5


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("The cup is red.", "A red cup.", (1.0, 1.0)),
        ("The cup is red.", "A blue cup.", (0.0, 1.0)),  # contradicted; red is said of nothing
        ("The cup is red.", "A cup and a red plate.", (1.0, 0.0)),  # red is said of the plate
        ("The cup is red.", "A red cup and a red plate.", (1.0, 1.0)),
        ("A man holds a cup.", "A man holds a cup.", (1.0, 1.0)),
        ("A man holds a cup.", "A dog holds a bone by a cup.", (1.0, 0.0)),
    ],
)
def test_contradictions_and_owners(claim: str, text: str, expected: tuple[float, float]) -> None:
    found = evidence(claim, text)
    assert (found.consistent, found.unowned) == expected


@pytest.mark.parametrize(
    ("claim", "text", "expected"),
    [
        ("The cup is red.", ROOM, True),
        ("The cup is blue.", ROOM, False),
        ("The cup is on the table.", ROOM, False),
        ("There is no cup.", ROOM, False),
        ("The lamp is red.", ROOM, False),
    ],
)
def test_grades_of_claims(claim: str, text: str, expected: bool) -> None:
    found = grade(analysed(claim), Source(analysed(text)))
    assert (found >= PRESENT) is expected
    assert 1.0 <= found <= 5.0


def test_one_wrong_attribute_is_enough() -> None:
    assert evidence("The tall lamp stands.").attribute == 1.0
    assert evidence("The tall red lamp stands.").attribute <= 0.55


@pytest.mark.parametrize(
    ("claim", "reference", "expected"),
    [
        ("A cat sleeps.", "A cat sleeps.", 0),
        ("A cat.", "A black cat.", 0),  # the reference says all of the claim
        ("A dog sleeps.", "A cat sleeps.", None),
    ],
)
def test_matches_of_claims(claim: str, reference: str, expected: int | None) -> None:
    assert matches([analysed(claim)], [analysed(reference)]) == [expected]


def test_more_evidence_is_never_less_likely() -> None:
    """No weight is negative, and each part is 0..1."""
    for field in StatementEvidence.__dataclass_fields__:
        assert number(f"facts.weight_{field}") >= 0.0
    for claim in ("The cup is red.", "The lamp is blue.", "A dog sleeps on a mat."):
        parts = evidence(claim)
        assert all(0.0 <= getattr(parts, name) <= 1.0 for name in parts.__dataclass_fields__)


def test_a_statement_of_the_text_itself_has_its_own_probability() -> None:
    own, other = probabilities(["the CUP is red", "The cup is blue."], ROOM)
    assert own == number("facts.verbatim")
    assert other < number("facts.true")


def test_the_whole_text_as_one_sentence() -> None:
    text = analysed("A cup. A plate.")
    assert Source(text).sentences == [slice(0, 2), slice(2, 4)]
    assert Source(text, whole=True).sentences == [slice(0, 4)]
    assert [part.tolist() for part in Source(text).wordings] == [[0, 1], [2, 3]]
