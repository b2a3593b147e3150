"""Wilson's limits beside scipy's and beside figures of an independent program."""

from __future__ import annotations

import pytest
from scipy import stats as scipy_stats

from beholder.errors import ConfigError
from beholder.stats.shares import wilson_limits
from toy.cases import each_case


@pytest.mark.parametrize(
    ("n_hits", "n_cases", "low", "high"),
    [
        (193, 200, 0.929529, 0.982944),
        (170, 200, 0.793944, 0.892864),
        (200, 200, 0.981155, 1.0),
    ],
)
def test_figures_of_an_independent_program(
    n_hits: int, n_cases: int, low: float, high: float
) -> None:
    limits = wilson_limits(n_hits, n_cases)
    assert limits.low == pytest.approx(low, abs=5e-7)
    assert limits.high == pytest.approx(high, abs=5e-7)


@each_case("confidence", [0.8, 0.95, 0.99])
@each_case(("n_hits", "n_cases"), [(0, 1), (1, 1), (18, 120)])
def test_as_in_scipy(n_hits: int, n_cases: int, confidence: float) -> None:
    expected = scipy_stats.binomtest(n_hits, n_cases).proportion_ci(
        confidence, method="wilson"
    )
    limits = wilson_limits(n_hits, n_cases, confidence=confidence)
    assert limits.low == pytest.approx(expected.low, abs=1e-12)
    assert limits.high == pytest.approx(expected.high, abs=1e-12)


@pytest.mark.parametrize(("n_hits", "n_cases"), [(0, 0), (3, 2), (-1, 2)])
def test_impossible_counts(n_hits: int, n_cases: int) -> None:
    with pytest.raises(ConfigError, match=f"{n_hits} of {n_cases}"):
        wilson_limits(n_hits, n_cases)
