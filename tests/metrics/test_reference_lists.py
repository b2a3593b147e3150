"""The order of references changes no value, and a reference that is there twice weighs once."""

from __future__ import annotations

from typing import Any

import pytest

from beholder.metrics import Tools, metric
from beholder.metrics.posh import PoSh

SETS = [
    # The same things with exchanged colours, as a unit is then excused by one reference only.
    (
        "A old boat stands by a blue woman. A red bus runs on a red horse.",
        "A red horse jumps over a wet bicycle. A small bus looks at a blue cat.",
        "A blue cat jumps over a small horse. A old woman looks at a old woman.",
    ),
    (
        "A brown dog runs on the beach.",
        "A brown dog runs on the beach near two children.",
        "A wet dog plays in the sand.",
    ),
    (
        "A man in a red coat holds an umbrella beside a white car.",
        "A woman in a red coat stands beside a car.",
        "A man waits near a black car. He holds a newspaper.",
        "Two people with umbrellas.",
    ),
    (
        "Three women sit at a round table and drink tea.",
        "Two women drink coffee at a square table.",
        "Women sit around a table. One of them laughs.",
        "No man is at the table.",
    ),
]
TOOLS = Tools()
"""Shared, so that each text is encoded once."""

METRICS = [
    "posh",
    "posh(weighting='equal')",
    "posh(references='best')",
    "posh(references='mean')",
    "posh(rules='reference')",
    "posh(rules='reference', references='mean')",
    "accord",
]


def values(spec: str, candidate: str, references: Any) -> dict[str, float]:
    score = metric(spec).score_text(candidate, list(references), tools=TOOLS)
    return dict(score.values)


@pytest.mark.parametrize("spec", METRICS)
@pytest.mark.parametrize("texts", SETS, ids=range(len(SETS)))
def test_the_order_of_references_changes_no_value(
    spec: str, texts: tuple[str, ...]
) -> None:
    candidate, *references = texts
    first = values(spec, candidate, references)
    # Exchange and rotation make all orders.
    second, *rest = references
    orders = [references[::-1], [*rest, second]]
    for order in orders[: len(references) - 1]:
        assert values(spec, candidate, order) == pytest.approx(first, abs=1e-9)


@pytest.mark.parametrize("spec", METRICS)
@pytest.mark.parametrize("texts", SETS, ids=range(len(SETS)))
def test_a_reference_that_is_there_twice_weighs_once(
    spec: str, texts: tuple[str, ...]
) -> None:
    candidate, first, second, *rest = texts
    once = values(spec, candidate, [first, second, *rest])
    respelt = f"  {second.rstrip('.').lower()} "
    for repeated in (
        [first, second, *rest, second],
        [second, second, second, first, *rest],
        [first, respelt, second, *rest],
    ):
        assert values(spec, candidate, repeated) == pytest.approx(
            once, abs=1e-9
        )


def test_units_are_those_of_the_distinct_references_at_their_places() -> None:
    references = [
        "A dog on a bench.",
        "A dog on a bench",
        "A cat near a tree.",
    ]
    score = PoSh().score_text("A dog sits under a tree.", references)
    reference_indices = {
        unit.reference_index
        for unit in score.units
        if unit.side == "reference"
    }
    # "A dog on a bench." has its full stop and stands for both.
    assert reference_indices == {0, 2}
    for unit in score.units:
        if unit.side == "reference":
            start, end = unit.spans[0]
            assert references[unit.reference_index or 0][start:end]
    assert len(score.detail["graphs"]) == 4


def test_two_references_of_which_one_repeats_the_other_are_as_one() -> None:
    """With a single reference recall is set against nothing: peers is 1."""
    texts = ("A dog runs on a beach.", "A brown dog runs near two children.")
    for spec in ("posh", "accord"):
        assert values(spec, texts[0], [texts[1]] * 3) == values(
            spec, texts[0], [texts[1]]
        )
