"""What a filter leaves: worked figures of an independent program, coverage."""

from __future__ import annotations

import math

import numpy as np
import pytest

from beholder.errors import ConfigError
from beholder.stats.remaining import (
    Rate,
    Stratum,
    allocate_labels,
    estimate_remaining,
    weighted_total,
)

FOUR_STRATA = (
    Stratum("rule", 8_000, 60, 57, is_kept=False),
    Stratum("score", 4_000, 60, 42, is_kept=False),
    Stratum("low", 20_000, 120, 18, is_kept=True),
    Stratum("others", 68_000, 120, 2, is_kept=True),
)


def check_rate(
    rate: Rate, value: float, low: float, high: float, within: float = 5e-7
) -> None:
    assert rate.value == pytest.approx(value, abs=within)
    assert rate.low == pytest.approx(low, abs=within)
    assert rate.high == pytest.approx(high, abs=within)


def test_four_strata() -> None:
    # Figures of a program that does not use beholder (numpy and scipy, written from the formulas).
    remaining = estimate_remaining(FOUR_STRATA)
    check_rate(remaining.n_dropped_bad, 10_400, 9_542.8, 10_882.0, within=0.05)
    check_rate(remaining.n_kept_bad, 4_133.33, 2_792.7, 7_360.4, within=0.05)
    check_rate(remaining.precision, 0.866667, 0.795232, 0.906835)
    check_rate(remaining.rate_left, 0.046970, 0.031736, 0.083641)
    check_rate(remaining.recall, 0.715596, 0.583684, 0.788684)
    assert remaining.rate_before == pytest.approx(0.145333, abs=5e-7)
    assert remaining.n_good_lost == pytest.approx(1_600)
    assert remaining.share_good_lost == pytest.approx(0.018721, abs=5e-7)


def test_no_bad_label_leaves_an_upper_limit() -> None:
    # As above: figures of the independent program.
    remaining = estimate_remaining(
        [
            Stratum("dropped", 5_000, 100, 93, is_kept=False),
            Stratum("kept", 45_000, 300, 0, is_kept=True),
        ]
    )
    check_rate(remaining.rate_left, 0, 0, 0.012643)
    check_rate(remaining.precision, 0.93, 0.862505, 0.965681)
    assert remaining.recall.value == 1
    assert remaining.recall.low == pytest.approx(0.890730, abs=5e-7)
    assert remaining.recall.high == pytest.approx(1)


def test_a_filter_that_dropped_nothing() -> None:
    remaining = estimate_remaining(
        [Stratum("kept", 1_000, 100, 10, is_kept=True)]
    )
    assert math.isnan(remaining.precision.value)
    assert remaining.recall.value == 0
    assert remaining.rate_before == pytest.approx(0.1)


def test_no_bad_label_at_all_says_nothing_about_recall() -> None:
    remaining = estimate_remaining(
        [
            Stratum("dropped", 100, 50, 0, is_kept=False),
            Stratum("kept", 900, 50, 0, is_kept=True),
        ]
    )
    assert math.isnan(remaining.recall.value)
    assert (remaining.recall.low, remaining.recall.high) == (0, 1)


def test_a_stratum_without_labels_is_named() -> None:
    strata = [*FOUR_STRATA, Stratum("new", 7_000, 0, 0, is_kept=True)]
    with pytest.raises(ConfigError, match="at least 30 of stratum new"):
        estimate_remaining(strata)


def test_an_empty_stratum_needs_no_label() -> None:
    strata = [*FOUR_STRATA, Stratum("empty", 0, 0, 0, is_kept=True)]
    assert estimate_remaining(strata) == estimate_remaining(FOUR_STRATA)


@pytest.mark.parametrize(
    ("n_rows", "n_labels", "n_bad"), [(10, 5, 6), (10, 11, 1), (10, 5, -1)]
)
def test_impossible_counts(n_rows: int, n_labels: int, n_bad: int) -> None:
    with pytest.raises(ConfigError, match="stratum low"):
        Stratum("low", n_rows, n_labels, n_bad, is_kept=True)


def test_no_rows() -> None:
    with pytest.raises(ConfigError, match="no stratum has a row"):
        estimate_remaining([])


def test_negative_weights_exchange_the_limits() -> None:
    kept = FOUR_STRATA[2:]
    plain = weighted_total(kept, lambda _: 1.0)
    negative = weighted_total(kept, lambda _: -1.0)
    check_rate(negative, -plain.value, -plain.high, -plain.low)


def test_allocation() -> None:
    # By hand: 20,000 sqrt(.15 .85) = 7,141.4 and 68,000 sqrt(.02 .98) = 9,520 of 16,661.4.
    assert allocate_labels(240, [20_000, 68_000], [0.15, 0.02]) == [103, 137]
    # 20 sqrt(.15 .85) = 7.1 of 9,527, so 239.8 for the others.
    assert allocate_labels(240, [20, 68_000], [0.15, 0.02]) == [20, 240]
    assert allocate_labels(60, [500, 68_000], [0.15, 0.02]) == [
        30,
        59,
    ]  # 500 sqrt(.15 .85) = 178.5 of 9,698.5
    assert allocate_labels(10, [500, 500], [0.0, 0.0]) == [30, 30]


@pytest.mark.slow
def test_coverage_of_the_rate_left() -> None:
    # 1,500 draws: a coverage of .949 has a standard error of .0057; limits are five of them.
    generator = np.random.default_rng(7)
    covered = covered_recall = 0
    n_draws = 1_500
    truth = {"dropped": 0.8, "low": 0.15, "others": 0.02}
    rows = {"dropped": 12_000, "low": 20_000, "others": 68_000}
    labels = {"dropped": 120, "low": 120, "others": 120}
    n_kept_bad = rows["low"] * truth["low"] + rows["others"] * truth["others"]
    left = n_kept_bad / (rows["low"] + rows["others"])
    recall = rows["dropped"] * truth["dropped"]
    recall /= recall + n_kept_bad
    for _ in range(n_draws):
        remaining = estimate_remaining(
            [
                Stratum(
                    name,
                    rows[name],
                    labels[name],
                    int(generator.binomial(labels[name], truth[name])),
                    is_kept=name != "dropped",
                )
                for name in truth
            ]
        )
        rate = remaining.rate_left
        covered += rate.low <= left <= rate.high
        covered_recall += (
            remaining.recall.low <= recall <= remaining.recall.high
        )
    assert 0.92 < covered / n_draws < 0.98
    assert 0.92 < covered_recall / n_draws < 0.98
