"""What the entailment model is asked of statements, and what the decision gets to know of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from beholder.embed.base import FloatArray
from beholder.embed.entailment import CONTRADICTION, ENTAILMENT
from beholder.judges.builtin.entailed import ask, premises
from beholder.judges.builtin.reading import analysed

LONG = "A dog sleeps. A cat sits. A bird sings. A boy reads. The girl runs."


def model(pairs: Sequence[tuple[str, str]]) -> FloatArray:
    """Surer of a premise of two sentences."""
    probabilities = np.full((len(pairs), 3), 0.1)
    for place, (premise, _) in enumerate(pairs):
        probabilities[place, ENTAILMENT] = (
            0.7 if premise.count(".") > 1 else 0.4
        )
        probabilities[place, CONTRADICTION] = 0.2
    return probabilities


@pytest.mark.parametrize(
    ("target", "alone", "entailed"),
    [
        ("A dog sleeps.", 1.0, 0.4),
        (
            "A dog sleeps. A cat sits.",
            0.5,
            0.7,
        ),  # both sentences together are the likelier
        (
            LONG,
            0.2,
            0.4,
        ),  # of more than four sentences the nearest alone is asked
    ],
)
def test_a_statement_is_held_against_the_nearest_sentences(
    target: str, alone: float, entailed: float
) -> None:
    statement = "The dog is asleep."
    (chances,) = ask([statement], analysed(target), model)
    assert (chances.alone, chances.entailed) == (alone, entailed)
    assert premises(statement, analysed(target))[0] == "A dog sleeps."
