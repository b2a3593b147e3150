from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats import mean_interval, paired_difference
from beholder.stats.bootstrap import (
    cluster_bootstrap,
    percentile_interval,
    sum_replicates,
)
from beholder.stats.checks import cluster_codes
from beholder.stats.correlation import spearman
from beholder.stats.intraclass import icc
from beholder.stats.krippendorff import krippendorff_alpha
from beholder.stats.reliability import cronbach_alpha, kendall_w


@pytest.mark.usefixtures("two_sources_are_enough")
def test_mean_and_interval_of_two_values_are_the_enumerated_bootstrap() -> (
    None
):
    # Resamples of {0, 1}: mean 0 with probability 1/4, 1/2 with 1/2, 1 with 1/4; so the 2.5 % and
    # 97.5 % quantiles are 0 and 1, and those of a 40 % interval (30 % and 70 %) both 1/2.
    wide = mean_interval([0.0, 1.0])
    assert (wide.mean, wide.n, wide.interval) == (0.5, 2, Interval(0.0, 1.0))
    assert mean_interval([0.0, 1.0], level=0.4).interval == Interval(
        0.5, 0.5, 0.4
    )


def test_same_seed_same_interval_and_other_seed_another() -> None:
    values = np.random.default_rng(1).random(50)
    assert mean_interval(values) == mean_interval(values)
    assert (
        mean_interval(values, seed=7).interval
        != mean_interval(values).interval
    )


def test_one_value_has_a_mean_and_no_interval() -> None:
    estimate = mean_interval([0.3])
    assert (estimate.mean, estimate.interval, estimate.n) == (0.3, None, 1)


def test_constant_values_have_a_zero_width_interval_without_rounding() -> None:
    # 0.1 has no exact binary form: a rounded sum of seven is 0.7 - 1.1e-16
    assert mean_interval([0.1] * 7).interval == Interval(0.1, 0.1)
    assert mean_interval([0.1] * 10_000).mean == 0.1


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([], "at least 1, got 0"),
        ([0.5, math.nan], "position 1"),
        ([[1.0]], "one dimension"),
    ],
)
def test_unusable_values_are_refused_with_the_reason(
    values: list[float], words: str
) -> None:
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
def test_interval_of_many_values_has_the_width_of_the_normal_theory(
    n: int,
) -> None:
    values = np.random.default_rng(2).gamma(2.0, size=n)
    interval = mean_interval(values, n_resamples=4000).interval
    assert interval is not None
    half = 1.959964 * values.std() / math.sqrt(n)
    # 4000 resamples give a 2.5 % quantile to about 3 % of the half-width
    assert interval.low == pytest.approx(values.mean() - half, abs=0.12 * half)
    assert interval.high == pytest.approx(
        values.mean() + half, abs=0.12 * half
    )


def test_clusters_of_equal_values_widen_the_interval_as_their_number() -> None:
    # 20 clusters of 25 copies carry the information of 20 values.
    base = np.sort(np.random.default_rng(3).random(20))
    copies = mean_interval(
        np.repeat(base, 25), clusters=np.repeat(np.arange(20), 25)
    )
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
def test_many_unequal_clusters_have_the_width_of_the_linearised_ratio() -> (
    None
):
    rng = np.random.default_rng(4)
    codes = rng.integers(0, 20_000, 100_000)
    values = rng.random(100_000) + rng.random(20_000)[codes]
    interval = mean_interval(values, clusters=codes, n_resamples=4000).interval
    assert interval is not None
    residual = np.bincount(codes, weights=values - values.mean())
    half = (
        1.959964 * math.sqrt(float((residual**2).sum())) / len(values)
    )  # Taylor linearisation
    assert interval.high - interval.low == pytest.approx(2 * half, rel=0.06)


def test_statistic_without_a_value_in_most_resamples_has_no_interval() -> None:
    codes = np.arange(10)
    assert (
        cluster_bootstrap(
            lambda rows: None, codes, n_resamples=50, level=0.95, seed=1
        )
        is None
    )
    interval = cluster_bootstrap(
        lambda rows: float(rows.mean()),
        codes,
        n_resamples=50,
        level=0.95,
        seed=1,
    )
    assert interval is not None
    assert interval.low < 4.5 < interval.high


def test_paired_difference_enumerates_all_signs_of_few_pairs() -> None:
    # differences 1, 2, 3, 4, 5: only + + + + + and - - - - - reach |sum| 15: p = 2/32
    result = paired_difference(
        [2.0, 4.0, 6.0, 8.0, 10.0], [1.0, 2.0, 3.0, 4.0, 5.0]
    )
    assert (result.mean, result.p_value, result.n) == (3.0, 2 / 32, 5)
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
    result = paired_difference(
        np.ones(6), np.zeros(6), clusters=list("aaabbb")
    )
    assert (result.p_value, result.n, result.n_units) == (0.5, 6, 2)


def test_pairs_of_different_length_are_refused() -> None:
    with pytest.raises(ConfigError, match="one length"):
        paired_difference([1.0], [1.0, 2.0])


@pytest.mark.usefixtures("two_sources_are_enough")
def test_whole_clusters_are_drawn_and_each_draw_is_one_of_the_enumerated() -> (
    None
):
    values = np.array([10.0, 0.0, 20.0])
    codes = np.array([1, 0, 1])
    means: set[float] = set()

    def mean(rows: Any) -> float:
        means.add(float(values[rows].mean()))
        return float(values[rows].mean())

    interval = cluster_bootstrap(
        mean, codes, n_resamples=400, level=0.9, seed=1
    )
    # Cluster 0 twice: 0; both: 30 / 3; cluster 1 twice: 60 / 4.
    assert means == {0.0, 10.0, 15.0}
    assert interval is not None
    assert (interval.low, interval.high, interval.level) == (0.0, 15.0, 0.9)


@pytest.mark.usefixtures("two_sources_are_enough")
def test_one_row_per_cluster_needs_no_order() -> None:
    values = np.array([5.0, 1.0])
    codes = np.array([1, 0])
    samples: set[tuple[float, ...]] = set()

    def mean(rows: Any) -> float:
        samples.add(tuple(sorted(values[rows])))
        return float(values[rows].mean())

    interval = cluster_bootstrap(
        mean, codes, n_resamples=200, level=0.95, seed=1
    )
    assert samples == {(1.0, 1.0), (1.0, 5.0), (5.0, 5.0)}
    assert interval is not None
    assert (interval.low, interval.high) == (1.0, 5.0)


@pytest.mark.parametrize(
    ("defined", "has_interval"), [(90, True), (89, False)]
)
def test_nine_in_ten_resamples_must_have_a_value(
    defined: int, has_interval: bool
) -> None:
    calls = iter(range(100))

    def statistic(rows: Any) -> float | None:
        return 1.0 if next(calls) < defined else None

    codes = np.arange(5)
    interval = cluster_bootstrap(
        statistic, codes, n_resamples=100, level=0.95, seed=1
    )
    assert (interval is not None) == has_interval


@pytest.mark.parametrize("n", [2_000, 20_000])
def test_sums_have_the_mean_and_covariance_of_the_plain_bootstrap(
    n: int,
) -> None:
    # Drawing n of n rows with replacement: mean = sum, covariance = n * covariance of the rows.
    rng = np.random.default_rng(3)
    words = rng.integers(5, 20, n).astype(float)
    # Counts of three kinds: related, unrelated, and rare.
    sums = np.stack(
        [rng.binomial(words.astype(int), 0.4), words, rng.random(n) < 0.02],
        axis=1,
    )
    draws = 4_000
    replicates = sum_replicates(sums, n_resamples=draws, seed=1)
    expected = n * np.cov(sums.T, bias=True)
    deviation = np.sqrt(np.diag(expected))
    assert replicates.shape == (draws, 3)
    assert np.abs(replicates.mean(axis=0) - sums.sum(axis=0)) == pytest.approx(
        0, abs=4 * deviation.max() / math.sqrt(draws)
    )
    scaled = np.outer(deviation, deviation)
    assert np.cov(replicates.T) / scaled == pytest.approx(
        expected / scaled, abs=5 / math.sqrt(draws)
    )


@pytest.mark.usefixtures("two_sources_are_enough")
def test_few_sums_are_resampled_one_by_one() -> None:
    sums = np.array([[1.0, 10.0], [2.0, 20.0]])
    replicates = sum_replicates(sums, n_resamples=200, seed=1)
    assert {tuple(row) for row in replicates.tolist()} == {
        (2.0, 20.0),
        (3.0, 30.0),
        (4.0, 40.0),
    }


@pytest.mark.parametrize("n_sources", [7, 5_000])
def test_the_order_of_rows_changes_no_digit(n_sources: int) -> None:
    rng = np.random.default_rng(6)
    sources = [
        f"picture {i}" for i in rng.integers(0, n_sources, 2 * n_sources)
    ]
    values = rng.random(len(sources))
    order = rng.permutation(len(sources))
    shuffled = [sources[i] for i in order]
    assert mean_interval(values, clusters=sources) == mean_interval(
        values[order], clusters=shuffled
    )
    assert mean_interval(values) == mean_interval(values[order])
    second_scores = rng.random(len(sources))
    difference, shuffled_difference = (
        paired_difference(a, b, clusters=of, n_resamples=200)
        for a, b, of in (
            (values, second_scores, sources),
            (values[order], second_scores[order], shuffled),
        )
    )
    assert difference.interval == shuffled_difference.interval
    assert difference.mean == shuffled_difference.mean
    codes = cluster_codes(sources, len(sources))
    codes_again = cluster_codes(shuffled, len(sources))
    # Ranks of values do not depend on the order in which a resample lists its rows.
    intervals = []
    for of, which in ((values, codes), (values[order], codes_again)):

        def median(rows: Any, of: Any = of) -> float:
            return float(np.median(of[rows]))

        intervals.append(cluster_bootstrap(median, which, n_resamples=50))
    assert intervals[0] == intervals[1]


def test_a_mean_has_one_interval_however_it_is_asked_for() -> None:
    # A run's summary resamples values by source, a leaderboard means of sources, agreement rows.
    rng = np.random.default_rng(8)
    values = rng.random(60)
    sources = [f"s{i:02}" for i in range(60)]
    of_summary = mean_interval(values, clusters=sources).interval
    table = np.stack([values, rng.random(60)], axis=1)
    of_board = percentile_interval(sum_replicates(table)[:, 0] / 60, 0.95)
    of_rows = cluster_bootstrap(
        lambda rows: float(values[rows].mean()), np.arange(60)
    )
    assert of_summary is not None
    assert of_board is not None
    assert of_rows is not None
    for interval in (of_board, of_rows):
        assert (interval.low, interval.high) == pytest.approx(
            (of_summary.low, of_summary.high)
        )


def test_differences_of_rounding_alone_are_none() -> None:
    # 0.1 + 0.2 is above 0.3 by 5.6e-17 in each of eight pairs: without rounding p is 2 / 2**8.
    difference = paired_difference([0.1 + 0.2] * 8, [0.3] * 8)
    assert (difference.mean, difference.p_value) == (0.0, 1.0)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_few_sources_have_no_interval_but_the_reason(n: int) -> None:
    sentence = f"too few sources for an interval: {n}, at least 5 are needed"
    values = np.arange(2.0 * n)
    sources = [place // 2 for place in range(2 * n)]  # two texts about each
    codes = cluster_codes(sources, 2 * n)
    mean = mean_interval(values, clusters=sources)
    assert (mean.interval, mean.reason) == (None, sentence)
    difference = paired_difference(values, values[::-1], clusters=sources)
    assert (difference.interval, difference.reason) == (None, sentence)
    assert (
        cluster_bootstrap(lambda rows: float(values[rows].mean()), codes)
        is None
    )
    assert (
        percentile_interval(sum_replicates(np.ones((n, 2)))[:, 0], 0.95)
        is None
    )
    if n > 1:
        table = np.stack([np.arange(n), np.arange(n)[::-1] + 0.5], axis=1)
        rows = np.arange(n, dtype=float)
        for coefficient in (
            krippendorff_alpha(table, "interval"),
            kendall_w(table),
            cronbach_alpha(table + rows[:, None] * [[2.0, 0.0]]),
            icc(table, "1,1"),
        ):
            assert (coefficient.interval, coefficient.reason) == (
                None,
                sentence,
            )
    if n > 2:
        found_r = spearman(rows, [1.0, 0.0, 3.0, 2.0][:n])
        assert (found_r.interval, found_r.reason) == (None, sentence)


def test_five_sources_have_an_interval() -> None:
    # By hand: the mean is 2; every resample's mean is within 0..4.
    estimate = mean_interval([0.0, 1.0, 2.0, 3.0, 4.0])
    assert estimate.reason is None
    assert estimate.interval is not None
    assert 0 <= estimate.interval.low < 2 < estimate.interval.high <= 4
    assert (
        paired_difference([0.0, 1, 2, 3, 4], [1.0, 0, 0, 0, 0]).reason is None
    )
