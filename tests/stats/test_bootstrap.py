from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats import mean_interval, paired_difference
from beholder.stats.bootstrap import cluster_bootstrap, sum_replicates


def test_mean_and_interval_of_two_values_are_the_enumerated_bootstrap() -> None:
    # Resamples of {0, 1}: mean 0 with probability 1/4, 1/2 with 1/2, 1 with 1/4; so the 2.5 % and
    # 97.5 % quantiles are 0 and 1, and those of a 40 % interval (30 % and 70 %) both 1/2.
    wide = mean_interval([0.0, 1.0])
    assert (wide.mean, wide.n, wide.interval) == (0.5, 2, Interval(0.0, 1.0))
    assert mean_interval([0.0, 1.0], level=0.4).interval == Interval(0.5, 0.5, 0.4)


def test_same_seed_same_interval_and_other_seed_another() -> None:
    values = np.random.default_rng(1).random(50)
    assert mean_interval(values) == mean_interval(values)
    assert mean_interval(values, seed=7).interval != mean_interval(values).interval


def test_one_value_has_a_mean_and_no_interval() -> None:
    one = mean_interval([0.3])
    assert (one.mean, one.interval, one.n) == (0.3, None, 1)


def test_constant_values_have_a_zero_width_interval_without_rounding() -> None:
    # 0.1 has no exact binary form: the rounded sum of three is 0.30000000000000004
    assert mean_interval([0.1] * 3).interval == Interval(0.1, 0.1)
    assert mean_interval([0.1] * 10_000).mean == 0.1


@pytest.mark.parametrize(
    ("values", "words"),
    [([], "at least 1, got 0"), ([0.5, math.nan], "position 1"), ([[1.0]], "one dimension")],
)
def test_unusable_values_are_refused_with_the_reason(values: list[float], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        mean_interval(values)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(ConfigError, match="level"):
        mean_interval([1.0, 2.0], level=95)
    with pytest.raises(ConfigError, match="n_resamples"):
        mean_interval([1.0, 2.0], n_resamples=0)
    with pytest.raises(ConfigError, match=r"one label per value \(2\), got 1"):
        mean_interval([1.0, 2.0], clusters=["a"])


@pytest.mark.slow  # many draws
@pytest.mark.parametrize("n", [4096, 4097, 200_000])
def test_interval_of_many_values_has_the_width_of_the_normal_theory(n: int) -> None:
    values = np.random.default_rng(2).gamma(2.0, size=n)
    interval = mean_interval(values, n_resamples=4000).interval
    assert interval is not None
    half = 1.959964 * values.std() / math.sqrt(n)
    # 4000 resamples give a 2.5 % quantile to about 3 % of the half-width
    assert interval.low == pytest.approx(values.mean() - half, abs=0.12 * half)
    assert interval.high == pytest.approx(values.mean() + half, abs=0.12 * half)


def test_blocks_keep_the_skewed_distribution_of_a_far_value() -> None:
    # One value of n among zeros: its count in a resample is Poisson(1), so the mean is 0 with
    # probability 0.37 and at most 3 with 0.981: quantiles 0 and 3, far from normal.
    n = 20_000
    values = np.zeros(n)
    values[123] = n
    interval = mean_interval(values, n_resamples=4000).interval
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((0.0, 3.0), abs=1e-9)


def test_clusters_of_equal_values_widen_the_interval_as_their_number() -> None:
    # 20 clusters of 25 copies carry the information of 20 values.
    base = np.random.default_rng(3).random(20)
    copies = mean_interval(np.repeat(base, 25), clusters=np.repeat(np.arange(20), 25))
    assert copies.mean == pytest.approx(base.mean())
    assert copies.n == 500
    assert copies.interval is not None
    plain = mean_interval(base).interval
    assert plain is not None
    assert copies.interval.low == pytest.approx(plain.low)
    assert copies.interval.high == pytest.approx(plain.high)


def test_one_cluster_has_no_interval() -> None:
    assert mean_interval([1.0, 2.0], clusters=["x", "x"]).interval is None


@pytest.mark.slow  # many draws
def test_many_unequal_clusters_have_the_width_of_the_linearised_ratio() -> None:
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 20_000, 100_000)
    values = rng.random(100_000) + rng.random(20_000)[codes]
    interval = mean_interval(values, clusters=codes, n_resamples=4000).interval
    assert interval is not None
    residual = np.bincount(codes, weights=values - values.mean())
    half = 1.959964 * math.sqrt(float((residual**2).sum())) / len(values)  # Taylor linearisation
    assert interval.high - interval.low == pytest.approx(2 * half, rel=0.06)


def test_statistic_without_a_value_in_most_resamples_has_no_interval() -> None:
    codes = np.arange(10)
    assert cluster_bootstrap(lambda rows: None, codes, n_resamples=50, level=0.95, seed=1) is None
    kept = cluster_bootstrap(
        lambda rows: float(rows.mean()), codes, n_resamples=50, level=0.95, seed=1
    )
    assert kept is not None
    assert kept.low < 4.5 < kept.high


def test_paired_difference_enumerates_all_signs_of_few_pairs() -> None:
    # differences 1, 2, 3, 4: only +++ + and - - - - reach |sum| 10: p = 2/16
    result = paired_difference([2.0, 4.0, 6.0, 8.0], [1.0, 2.0, 3.0, 4.0])
    assert (result.mean, result.p_value, result.n) == (2.5, 2 / 16, 4)
    assert result.interval is not None
    assert result.interval.low >= 1.0


def test_paired_difference_counts_flips_that_tie_with_the_data() -> None:
    # differences 1, -1: every pattern sums to -2, 0, 0 or 2, all at least |0|
    assert paired_difference([1.0, 0.0], [0.0, 1.0]).p_value == 1.0


def test_equal_samples_have_no_difference_and_p_one() -> None:
    for n in (1, 5, 100, 5000):
        result = paired_difference(np.full(n, 0.3), np.full(n, 0.3))
        assert (result.mean, result.p_value) == (0.0, 1.0)


def test_p_of_a_certain_difference_is_small_and_not_zero() -> None:
    for n in (200, 10_000):
        result = paired_difference(np.ones(n), np.zeros(n), n_resamples=999)
        assert result.p_value == 1 / 1000


@pytest.mark.slow  # many draws
@pytest.mark.parametrize("n", [400, 8000])
def test_p_of_many_pairs_follows_the_normal_theory(n: int) -> None:
    rng = np.random.default_rng(5)
    difference = rng.normal(size=n)
    difference += 1.5 * np.sqrt((difference**2).mean() / n) - difference.mean()
    z = difference.sum() / math.sqrt(float((difference**2).sum()))
    expected = math.erfc(z / math.sqrt(2))  # about 0.134
    p = paired_difference(difference, np.zeros(n), n_resamples=5000).p_value
    assert p == pytest.approx(expected, abs=0.015)


def test_clusters_flip_together() -> None:
    # two clusters of three equal differences: 4 patterns, 2 of them as extreme
    result = paired_difference(np.ones(6), np.zeros(6), clusters=list("aaabbb"))
    assert (result.p_value, result.n, result.n_units) == (0.5, 6, 2)


def test_pairs_of_different_length_are_refused() -> None:
    with pytest.raises(ConfigError, match="one length"):
        paired_difference([1.0], [1.0, 2.0])


def test_whole_clusters_are_drawn_and_each_draw_is_one_of_the_enumerated() -> None:
    values, codes = np.array([10.0, 0.0, 20.0]), np.array([1, 0, 1])
    seen: set[float] = set()

    def mean(rows: Any) -> float:
        seen.add(float(values[rows].mean()))
        return float(values[rows].mean())

    interval = cluster_bootstrap(mean, codes, n_resamples=400, level=0.9, seed=1)
    # Cluster 0 twice: 0; both: 30 / 3; cluster 1 twice: 60 / 4.
    assert seen == {0.0, 10.0, 15.0}
    assert interval is not None
    assert (interval.low, interval.high, interval.level) == (0.0, 15.0, 0.9)


def test_one_row_per_cluster_needs_no_order() -> None:
    values, codes = np.array([5.0, 1.0]), np.array([1, 0])
    seen: set[tuple[float, ...]] = set()

    def mean(rows: Any) -> float:
        seen.add(tuple(sorted(values[rows])))
        return float(values[rows].mean())

    interval = cluster_bootstrap(mean, codes, n_resamples=200, level=0.95, seed=1)
    assert seen == {(1.0, 1.0), (1.0, 5.0), (5.0, 5.0)}
    assert interval is not None
    assert (interval.low, interval.high) == (1.0, 5.0)


@pytest.mark.parametrize(("defined", "has_interval"), [(90, True), (89, False)])
def test_nine_in_ten_resamples_must_have_a_value(defined: int, has_interval: bool) -> None:
    calls = iter(range(100))

    def statistic(rows: Any) -> float | None:
        return 1.0 if next(calls) < defined else None

    codes = np.array([0, 1])
    found = cluster_bootstrap(statistic, codes, n_resamples=100, level=0.95, seed=1)
    assert (found is not None) == has_interval


def _sums(n: int) -> Any:
    """Counts of three kinds: related, unrelated, and rare."""
    rng = np.random.default_rng(3)
    words = rng.integers(5, 20, n).astype(float)
    return np.stack([rng.binomial(words.astype(int), 0.4), words, rng.random(n) < 0.002], axis=1)


@pytest.mark.parametrize("by", ["first", "noise"])
def test_sums_in_blocks_have_the_mean_and_covariance_of_the_plain_bootstrap(by: str) -> None:
    # Drawing n of n rows with replacement: mean = sum, covariance = n * covariance of the rows.
    # Blocks put together by chance have nearly one mean: all spread is then within them.
    n, draws = 20_000, 6_000
    sums = _sums(n)
    key = sums[:, 0] if by == "first" else np.random.default_rng(9).random(n)
    found = sum_replicates(sums, lambda: key, n_resamples=draws, rng=np.random.default_rng(1))
    expected = n * np.cov(sums.T, bias=True)
    deviation = np.sqrt(np.diag(expected))
    assert found.shape == (draws, 3)
    assert np.abs(found.mean(axis=0) - sums.sum(axis=0)) == pytest.approx(
        0, abs=4 * deviation.max() / math.sqrt(draws)
    )
    scaled = np.outer(deviation, deviation)
    assert np.cov(found.T) / scaled == pytest.approx(expected / scaled, abs=5 / math.sqrt(draws))


def test_few_sums_are_resampled_one_by_one() -> None:
    sums = np.array([[1.0, 10.0], [2.0, 20.0]])
    found = sum_replicates(sums, np.zeros, n_resamples=200, rng=np.random.default_rng(1))  # type: ignore[arg-type]
    assert {tuple(row) for row in found.tolist()} == {(2.0, 20.0), (3.0, 30.0), (4.0, 40.0)}


def test_sums_stay_within_what_rows_can_add_up_to() -> None:
    sums = np.zeros((5_000, 1))
    sums[2_500] = 1.0  # somewhere within a block: its spread is taken for normal, and goes below 0
    found = sum_replicates(
        sums, lambda: np.arange(5_000.0), n_resamples=300, rng=np.random.default_rng(1)
    )
    assert found.min() == 0


def test_an_outermost_row_is_drawn_a_whole_number_of_times() -> None:
    sums = np.zeros((5_000, 2))
    sums[0] = 1.0
    found = sum_replicates(sums, lambda: sums[:, 0], n_resamples=300, rng=np.random.default_rng(1))
    assert np.all(found == np.rint(found))
    assert {0.0, 1.0, 2.0} <= set(found.ravel())
