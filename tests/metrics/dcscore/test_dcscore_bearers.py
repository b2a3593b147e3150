"""Who wears, holds or does what: an exchange between things of one name is seen in the facts."""

from __future__ import annotations

import pytest

from beholder import DCScore
from beholder.judges.builtin.bearers import (
    borne_statements,
    is_exchanged,
    without_bearers,
)
from beholder.judges.builtin.reading import analysed
from beholder.metrics.dcscore import fact_probabilities
from toy.cases import each_case

# Two things of one name with what sets them apart, and what each does.
PAIRS = [
    ("the girl in the white scarf", "the girl in the red scarf", "feeds a goat", "carries a bucket"),
    ("the woman in a blue dress", "the woman in a red dress", "pours water", "pushes a cart"),
    ("the boy in the green cap", "the boy in the yellow cap", "holds a kite", "eats an apple"),
    ("a woman with red hair", "a woman with black hair", "wears a hat", "wears a necklace"),
    ("a man with a beard", "a man with glasses", "holds a guitar", "plays a drum"),
    ("a tall man", "a short man", "carries a ladder", "carries a bag"),
    ("an old woman", "a young woman", "sells bread", "sells flowers"),
    ("a man on the left", "a man on the right", "holds a cup", "holds a book"),
    ("the dog on the left", "the dog on the right", "sleeps", "barks"),
    ("the man on the left", "the man on the right", "wears a red hat", "wears a blue coat"),
    ("the woman on the left side", "the woman on the right side", "holds a cup", "holds a book"),
    ("a brown dog", "a white dog", "chases a ball", "bites a stick"),
    ("the red car", "the blue car", "stands beside a tree", "stands beside a house"),
    ("a large bowl", "a small bowl", "holds apples", "holds nuts"),
    ("a girl with blond hair", "a girl with dark hair", "holds a cat", "holds a rabbit"),
    ("a woman holding an umbrella", "a woman holding a bag", "wears a green coat", "wears a yellow coat"),
    ("a boy with a backpack", "a boy with a scarf", "climbs a wall", "jumps over a puddle"),
    ("the player in the white jersey", "the player in the blue jersey", "kicks the ball", "falls on the grass"),
    ("a man in a suit", "a man in a sweater", "smiles", "frowns"),
    ("the wooden chair", "the metal chair", "is near the window", "is near the door"),
    ("a girl in a pink dress", "a girl in a purple dress", "hugs a teddy bear", "plays a violin"),
    ("the fisherman in the yellow boat", "the fisherman in the green boat", "pulls a net", "mends a sail"),
    ("a man wearing a helmet", "a man wearing a cap", "drives a tractor", "fixes a fence"),
    ("a tall man", "a short man", "wears a red hat", "wears a blue hat"),
    ("the child in a striped shirt", "the child in a plain shirt", "throws a ball", "rides a bicycle"),
]  # fmt: skip

# One of the orders is parsed wrongly (a verb gets the wrong subject, or "frowns" is a noun), so that
# facts differ whoever bears them; it was at 0.86 to 0.93 before bearers were named.
MISREAD = {
    "a man in a suit",
    "the wooden chair",
    "a girl in a pink dress",
    "the child in a striped shirt",
}


def f1(candidate: str, reference: str) -> float:
    return DCScore().score_text(candidate, reference).values["f1"]


def sentence(first: str, deed: str, second: str, other_deed: str) -> str:
    return f"{first[0].upper()}{first[1:]} {deed} and {second} {other_deed}."


@pytest.mark.parametrize(
    ("first", "second", "deed", "other_deed"), PAIRS, ids=[p[0] for p in PAIRS]
)
def test_exchanged_bearers_lower_the_score_and_another_order_does_not(
    first: str, second: str, deed: str, other_deed: str
) -> None:
    text = sentence(first, deed, second, other_deed)
    exchanged = sentence(second, deed, first, other_deed)
    assert f1(text, text) == pytest.approx(1.0, abs=1e-6)
    assert f1(exchanged, text) <= 0.85
    assert f1(text, exchanged) <= 0.85
    reordered = sentence(second, other_deed, first, deed)
    swapped = f"{second[0].upper()}{second[1:]} {other_deed}. {first[0].upper()}{first[1:]} {deed}."
    least = 0.79 if first in MISREAD else 1 - 1e-6
    for same in (reordered, swapped):
        assert f1(same, text) >= least
    assert f1(exchanged, text) < f1(reordered, text) - 0.05


TEXT = "The woman in a red dress pours water and the woman in a blue dress pushes a cart."


@each_case(
    ("fact", "expected"),
    [
        ("The woman (in the red dress) pours the water.", False),
        ("The woman (in the blue dress) pours the water.", True),
        ("The woman (wearing the blue dress) pours the water.", True),
        ("The woman (pushes the cart) is in the dress (red).", True),
        ("The woman (pushes the cart) is in the dress (blue).", False),
        ("The woman pours the water.", False),
        # Nothing tells the women of the text apart by this.
        ("The woman (tall) pours the water.", False),
        ("The woman (in the dress) pours the water.", False),
        # The text does not say it of anybody: unstated, not exchanged.
        ("The woman (in the blue dress) sings.", False),
        ("The man (in the blue dress) pours the water.", False),
    ],
)
def test_a_fact_of_another_bearer_is_exchanged(
    fact: str, expected: bool
) -> None:
    assert is_exchanged(fact, analysed(TEXT)) == expected


def test_words_in_brackets_only_say_which_thing_is_meant() -> None:
    facts = [
        "The woman pours the water.",
        "The woman (in the red dress) pours the water.",
        "The woman (tall) pours the water.",
        "The woman (in the blue dress) pours the water.",
    ]
    bare, right, unknown, wrong = fact_probabilities(facts, TEXT)
    assert bare == right == unknown > 0.9
    assert wrong <= 0.2
    # One woman in the text: nothing to exchange, and the dress is a fact of its own.
    assert fact_probabilities([facts[3]], "A woman pours water.")[0] > 0.9


def test_facts_name_the_bearer_only_among_things_of_one_name() -> None:
    facts = {s.text for s in borne_statements(analysed(TEXT).graph)}
    assert "The woman (in the red dress) pours the water." in facts
    assert "The woman (pushes the cart) is in the dress (blue)." in facts
    assert {without_bearers(fact) for fact in facts} >= {
        "The woman pours the water."
    }
    alone = borne_statements(
        analysed("A tall man in a red hat feeds a white goat.").graph
    )
    assert not any("(" in statement.text for statement in alone)


def test_a_text_with_two_bearers_loses_nothing_beside_a_text_with_one() -> (
    None
):
    candidate = "A woman in a red dress pours water. A man sings."
    reference = (
        "A woman in a red dress pours water. A woman in a blue dress sings."
    )
    units = {
        u.text: u.verdict
        for u in DCScore().score_text(reference, candidate).units
    }
    assert (
        units["The woman (in the red dress) pours the water."] == "supported"
    )
