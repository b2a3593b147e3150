"""Parity with vectors of an outside implementation.

They hold theta under four readings of the Jensen-Shannon term, DTW, capacities and the best path of
every length, the latter two found by brute force where small enough.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from beholder.kinds.narratives.storylines import (
    Space,
    coherence,
    dtw,
    maxmin,
    trail,
)
from toy.cases import each_case
from toy.vectors import load_vectors

READINGS: dict[str, tuple[Any, float]] = {
    "div2": ("divergence", 2.0),
    "dist2": ("distance", 2.0),
    "dive": ("divergence", math.e),
    "diste": ("distance", math.e),
}
CASES = load_vectors("narrative")["cases"]
every_case = pytest.mark.parametrize(
    "case", CASES, ids=lambda case: case["name"]
)


def _expected(case: dict[str, Any], reading: str) -> dict[str, Any]:
    reading_values = case["expected"][reading]
    return (  # type: ignore[no-any-return]
        case["expected"][reading_values.split()[-1]]
        if isinstance(reading_values, str)
        else reading_values
    )


@every_case
@each_case("reading", READINGS)
def test_theta_and_coherence_match_an_outside_implementation(
    case: dict[str, Any], reading: str
) -> None:
    jsd, base = READINGS[reading]
    expected, tolerance = _expected(case, reading), case["tolerance"]
    space = Space.from_embeddings(
        case["embeddings"], case["distributions"], jsd=jsd, base=base
    )
    np.testing.assert_allclose(
        space.theta(), expected["theta"], rtol=0, atol=tolerance
    )
    story = coherence(
        case["embeddings"], case["distributions"], jsd=jsd, base=base
    )
    np.testing.assert_allclose(
        story.steps, expected["consecutive"], rtol=0, atol=tolerance
    )
    assert story.minimum == pytest.approx(expected["min"], abs=tolerance)
    assert story.mean == pytest.approx(expected["avg"], abs=tolerance)
    assert story.geometric_mean == pytest.approx(
        expected["geo_mean"], abs=tolerance
    )
    assert story.weakest == expected["weakest_link"]


@every_case
def test_dtw_matches_an_outside_implementation(case: dict[str, Any]) -> None:
    expected = case["expected"]["dtw"]
    alignment = dtw(case["embeddings"], case["other"])
    assert alignment.cost == pytest.approx(
        expected["raw"], abs=case["tolerance"]
    )
    assert alignment.normalised == pytest.approx(
        expected["normalised"], abs=case["tolerance"]
    )
    if not expected["dtw_tie"]:
        assert [list(pair) for pair in alignment.path] == expected["path"]


@every_case
def test_trails_have_the_capacity_of_an_outside_implementation(
    case: dict[str, Any],
) -> None:
    expected = case["expected"]["capacity"]["dag"]
    space = Space.from_embeddings(case["embeddings"], case["distributions"])
    path = trail(space, source=expected["source"], target=expected["target"])
    assert path.weakest == pytest.approx(
        expected["capacity"], abs=case["tolerance"]
    )
    assert (
        expected["paths"] is None or list(path.positions) in expected["paths"]
    )


@every_case
def test_maxmin_matches_the_best_path_of_every_length(
    case: dict[str, Any],
) -> None:
    space = Space.from_embeddings(case["embeddings"], case["distributions"])
    for expected in case["expected"]["exact_k"]:
        path = maxmin(space, expected["k"], source=0, target=case["n"] - 1)
        assert len(path.positions) == expected["k"]
        assert path.weakest == pytest.approx(
            expected["capacity"], abs=case["tolerance"]
        )
        if expected["n_optimal"] == 1:
            assert list(path.positions) == expected["path"]
