"""The built-in entailment model: what it answers, and that batches do not change it."""

from __future__ import annotations

import numpy as np
import pytest

from beholder.embed import entailment
from beholder.embed.entailment import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    entail,
)

PREMISE = "A man in a red coat walks a small dog along the beach."
ANSWERS = [
    ("There is a man.", ENTAILMENT),
    ("The coat is red.", ENTAILMENT),
    ("A man walks with his dog.", ENTAILMENT),
    ("The man is walking his sister's dog.", NEUTRAL),
    ("The coat is blue.", CONTRADICTION),
    ("The man is sleeping at home.", CONTRADICTION),
]
"""Statements and labels that any reader gives them."""


@pytest.mark.parametrize(("statement", "label"), ANSWERS)
def test_plain_statements_are_entailed_open_or_excluded(
    statement: str, label: int
) -> None:
    assert int(entail([(PREMISE, statement)])[0].argmax()) == label


@pytest.mark.parametrize(
    ("premise", "statement", "label"),
    [
        ("Six ducks swim in a pond.", "There are six ducks.", ENTAILMENT),
        ("Six ducks swim in a pond.", "There are seven ducks.", CONTRADICTION),
        (
            "A man carries four buckets.",
            "There are five buckets.",
            CONTRADICTION,
        ),
        (
            "Eight candles burn on the cake.",
            "Nine candles burn on the cake.",
            CONTRADICTION,
        ),
        (
            "A trio of nuns crosses a street.",
            "There are three nuns.",
            ENTAILMENT,
        ),
        (
            "Three nuns cross a street.",
            "There are a pair of nuns.",
            CONTRADICTION,
        ),
    ],
)
def test_another_number_is_excluded(
    premise: str,
    statement: str,
    label: int,
) -> None:
    assert entail([(premise, statement)])[0].argmax() == label


def test_an_answer_does_not_depend_on_the_batch() -> None:
    pairs = [(PREMISE, statement) for statement, _ in ANSWERS]
    pairs += [("A cat.", statement) for statement, _ in ANSWERS]
    together = entailment._probabilities(pairs)
    alone = np.concatenate(
        [entailment._probabilities([pair]) for pair in reversed(pairs)]
    )[::-1]
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_allclose(together.sum(axis=1), 1, atol=1e-6)


def test_repeated_and_empty_questions() -> None:
    pair = (PREMISE, "There is a dog.")
    probabilities = entail([pair, pair])
    assert probabilities.shape == (2, 3)
    np.testing.assert_array_equal(probabilities[0], probabilities[1])
    assert entail([]).shape == (0, 3)


def test_texts_longer_than_the_window_are_read_from_the_start() -> None:
    long = " ".join(["A man in a red coat walks."] * 200)
    assert entail([(long, "There is a man.")])[0, ENTAILMENT] > 0.5
    assert entail([("There is a man.", long)]).shape == (1, 3)
