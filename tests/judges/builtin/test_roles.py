"""Who does it to whom: statements with the ends exchanged, and true ones beside them, by hand."""

from __future__ import annotations

import pytest

from beholder import DCScore
from beholder.judges.builtin.claims import probabilities
from beholder.judges.builtin.numbers import number
from toy.cases import each_case

EXCHANGED = [
    ("The dog bites the man.", "A man bites a dog."),
    ("The woman paints the man.", "A man paints a woman."),
    ("The nurse feeds the old man.", "An old man feeds a nurse."),
    (
        "The child hands the mother an apple.",
        "The mother hands the child an apple.",
    ),
    ("The lamp is above the table.", "The table is above the lamp."),
    (
        "A tower stands to the left of a church.",
        "A church stands to the left of a tower.",
    ),
    ("The car is behind the truck.", "A truck is behind a car."),
    ("The dog is being walked by the man.", "A dog walks a man."),
    ("The cat sits on the dog.", "A dog sits on a cat."),
    ("The book lies on the box.", "A box lies on a book."),
    ("The girl is looking at the boy.", "A boy looks at a girl in a park."),
    ("The woman leans on the man.", "A man leans on a woman."),
    (
        "The church is to the left of the tower.",
        "A tower stands to the left of a church.",
    ),
    ("The bowl is in the box.", "A box stands in a bowl."),
]
TRUE = [
    ("The dog is bitten by the man.", "A man bites a dog in the street."),
    ("The man bites the dog.", "A dog is bitten by a man in the street."),
    ("A man is painting a woman.", "A woman is painted by a man."),
    ("The old man is fed by the nurse.", "A nurse feeds an old man."),
    ("The table is below the lamp.", "The lamp is above the table."),
    ("The truck is in front of the car.", "A car is behind a truck."),
    (
        "The church is to the right of a tower.",
        "A tower stands to the left of a church.",
    ),
    (
        "The dog is on the left of the cat.",
        "A cat sits to the right of a dog.",
    ),
    ("The boat contains the fish.", "The fish are in a boat."),
    ("The cat is sat on by the dog.", "A dog sits on a cat."),
    ("The woman faces the man.", "A man faces a woman."),
    ("The woman dances with the man.", "A man dances with a woman."),
    ("The woman stands beside the man.", "A man stands beside a woman."),
    (
        "The dog chases the cat.",
        "A dog and a cat. A dog is chasing a cat while another dog is chased by a cat.",
    ),
]


@pytest.mark.parametrize(("claim", "text"), EXCHANGED)
def test_exchanged_ends_are_no_more_likely_than_the_table_says(
    claim: str, text: str
) -> None:
    (probability,) = probabilities([claim], text)
    assert probability <= number("facts.exchanged") < number("facts.both_true")


@each_case(("claim", "text"), TRUE)
def test_a_turned_verb_or_place_is_no_exchange(claim: str, text: str) -> None:
    (probability,) = probabilities([claim], text)
    assert probability >= number("facts.both_true")


def test_dcscore_finds_exchanged_roles() -> None:
    score = DCScore().score_text("A dog bites a man.", "A man bites a dog.")
    verdicts = {
        unit.text: unit.verdict
        for unit in score.units
        if unit.side == "candidate"
    }
    assert verdicts == {
        "There is a dog.": "supported",
        "The dog bites the man.": "mistake",
    }


def test_dcscore_finds_no_fault_with_the_passive() -> None:
    score = DCScore().score_text(
        "A man is bitten by a dog.", "A dog bites a man."
    )
    assert score.values["hallucination_rate"] == 0.0
