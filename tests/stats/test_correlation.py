from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as sps

from beholder.errors import ConfigError
from beholder.stats import (
    compare_correlations,
    correlate,
    kendall,
    partial,
    pearson,
    ranking_correlation,
    spearman,
    steiger,
    williams,
)
from beholder.stats.compare import DifferenceTest
from beholder.stats.correlation import CorrelationKind, t_test_of_correlation
from toy.cases import each_case

KINDS: list[CorrelationKind] = ["pearson", "spearman", "tau-b", "tau-c"]
X = [2.1, 3.4, 1.9, 5.6, 4.4, 3.8, 6.1, 2.7, 5.0, 4.9]
Y = [1, 2, 2, 4, 3, 3, 5, 1, 5, 3]
Z = [10, 14, 9, 25, 16, 20, 22, 13, 18, 24]


@pytest.mark.parametrize(
    ("kind", "value", "p"),
    [
        # scipy 1.17.1: pearsonr, spearmanr, kendalltau (variants b and c)
        ("pearson", 0.8901488940248246, 0.0005568851880375159),
        ("spearman", 0.9104305434536973, 0.000252439205791397),
        ("tau-b", 0.7877263614433762, 0.0024164299762567606),
        ("tau-c", 0.825, 0.0024164299762567606),
    ],
)
def test_coefficients_and_p_match_scipy(
    kind: CorrelationKind, value: float, p: float
) -> None:
    result = correlate(X, Y, kind)
    assert result.value == pytest.approx(value, abs=1e-12)
    assert result.p_value == pytest.approx(p, abs=1e-12)
    assert result.interval is not None
    assert result.interval.low < value <= result.interval.high <= 1.0


def test_tau_b_and_tau_c_by_counting_pairs() -> None:
    x = [1, 2, 2, 3, 4]
    y = [1, 3, 2, 3, 1]
    concordant = discordant = tied_x = tied_y = 0
    for i, j in combinations(range(5), 2):
        sign = (x[i] - x[j]) * (y[i] - y[j])
        concordant += sign > 0
        discordant += sign < 0
        tied_x += x[i] == x[j]
        tied_y += y[i] == y[j]
    s = concordant - discordant
    expected = s / math.sqrt((10 - tied_x) * (10 - tied_y))
    assert kendall(x, y).value == pytest.approx(expected)
    m = 3  # y has the fewer distinct values
    assert kendall(x, y, variant="c").value == pytest.approx(
        2 * s * m / (25 * (m - 1))
    )


@pytest.mark.parametrize(
    ("kind", "value", "p"),
    [
        # pingouin 0.7.0, partial_corr with one covariate
        ("pearson", 0.8019582227702853, 0.009321082750648756),
        ("spearman", 0.787634202026911, 0.011724367497873922),
    ],
)
def test_partial_correlation_matches_pingouin(
    kind: CorrelationKind, value: float, p: float
) -> None:
    result = partial(X, Y, Z, kind)
    assert result.value == pytest.approx(value, abs=1e-12)
    assert result.p_value == pytest.approx(p, abs=1e-12)


def test_partial_tau_is_kendalls_formula_and_has_no_p() -> None:
    xy, xz, yz = (
        sps.kendalltau(a, b).statistic for a, b in ((X, Y), (X, Z), (Y, Z))
    )
    result = partial(X, Y, Z, "tau-b")
    expected = (xy - xz * yz) / math.sqrt((1 - xz**2) * (1 - yz**2))
    assert result.value == pytest.approx(expected)
    assert result.p_value is None
    assert result.reason == "p: no test"


def test_partial_with_a_constant_covariate_is_the_plain_correlation() -> None:
    assert partial(X, Y, [7] * 10).value == pearson(X, Y).value
    assert partial(X, Y, [7] * 10).p_value == pearson(X, Y).p_value


def test_partial_of_what_the_covariate_determines_has_a_reason() -> None:
    result = partial(X, Y, X)
    assert result.value is None
    assert result.reason == "the covariate determines x or y"


@each_case("kind", KINDS)
@each_case(
    ("x", "y", "words"),
    [
        ([], [], "at least two pairs, got 0"),
        ([1], [1], "at least two pairs, got 1"),
        ([0.1] * 4, [1, 2, 3, 4], "x is constant"),
        ([1, 2, 3, 4], [5] * 4, "y is constant"),
    ],
)
def test_undefined_correlation_has_a_reason(
    kind: CorrelationKind, x: list[float], y: list[float], words: str
) -> None:
    result = correlate(x, y, kind)
    assert (result.value, result.p_value, result.interval) == (
        None,
        None,
        None,
    )
    assert result.reason is not None
    assert words in result.reason


@pytest.mark.parametrize("kind", KINDS)
def test_two_pairs_correlate_fully_and_prove_nothing(
    kind: CorrelationKind,
) -> None:
    result = correlate([1, 2], [5, 4], kind)
    assert result.value == -1.0
    assert result.interval is None
    assert result.p_value in (None, 1.0)
    assert result.reason is not None


def test_scores_that_differ_by_rounding_alone_are_constant() -> None:
    result = pearson([0.3, 0.1 + 0.2, 0.3], [1, 2, 3])
    assert result.value is None
    assert result.reason == "a side is constant up to rounding"


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_tiny_and_huge_scores_correlate_as_others(scale: float) -> None:
    assert pearson(np.array(X) * scale, Y).value == pytest.approx(
        0.8901488940248246
    )


def test_nan_and_unequal_lengths_are_refused() -> None:
    with pytest.raises(ConfigError, match="y: 1 of 3 values are not finite"):
        pearson([1, 2, 3], [1, math.nan, 3])
    with pytest.raises(ConfigError, match="one length"):
        spearman([1, 2, 3], [1, 2])
    with pytest.raises(ConfigError, match="'d'"):
        kendall([1, 2], [1, 2], variant="d")  # type: ignore[arg-type]


def test_interval_of_pearson_agrees_with_fishers_z() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=2000)
    y = 0.6 * x + 0.8 * rng.normal(size=2000)
    result = pearson(x, y, n_resamples=2000)
    assert result.value is not None
    assert result.interval is not None
    half = 1.96 / math.sqrt(1997)
    z = math.atanh(result.value)
    assert result.interval.low == pytest.approx(math.tanh(z - half), abs=0.004)
    assert result.interval.high == pytest.approx(
        math.tanh(z + half), abs=0.004
    )


@pytest.mark.slow  # many draws
@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(
            kind, marks=() if kind == "pearson" else pytest.mark.nightly
        )
        for kind in KINDS
    ],
)
def test_interval_of_many_rows_narrows_with_the_root_of_n(
    kind: CorrelationKind,
) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=30_000)
    y = np.round(x + rng.normal(size=30_000))
    small, large = (
        correlate(x[:n], y[:n], kind, n_resamples=400).interval
        for n in (3000, 30_000)
    )
    assert small is not None
    assert large is not None
    ratio = (small.high - small.low) / (large.high - large.low)
    assert ratio == pytest.approx(math.sqrt(10), rel=0.2)
    whole = correlate(x, y, kind, n_resamples=0).value
    assert whole is not None
    assert (large.low + large.high) / 2 == pytest.approx(whole, abs=0.003)


def test_clusters_of_copies_have_the_interval_of_their_number() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=40)
    y = rng.normal(size=40)
    copies = pearson(
        np.repeat(x, 10), np.repeat(y, 10), clusters=np.repeat(range(40), 10)
    )
    single = pearson(x, y)
    assert copies.n == 400
    assert copies.n_clusters == 40
    assert copies.interval is not None
    assert single.interval is not None
    assert copies.interval.low == pytest.approx(single.interval.low, abs=1e-9)
    assert copies.interval.high == pytest.approx(
        single.interval.high, abs=1e-9
    )


small_scores = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=0, max_size=9
)


@given(pairs=small_scores, kind=st.sampled_from(KINDS))
@settings(max_examples=200, deadline=None)
def test_any_small_tied_data_give_a_number_or_a_reason(
    pairs: list[tuple[int, int]], kind: CorrelationKind
) -> None:
    x = [a for a, _ in pairs]
    y = [b for _, b in pairs]
    result = correlate(x, y, kind, n_resamples=20)
    if result.value is None:
        assert result.reason
    else:
        assert -1.0 <= result.value <= 1.0
    missing = result.interval is None or result.p_value is None
    assert bool(result.reason) == missing


def test_williams_and_steiger_match_steigers_example() -> None:
    # R package psych, documentation of r.test: n = 103, .4, .5, .1 ("Steiger case A"): -0.89, 0.37
    t, p = williams(0.4, 0.5, 0.1, 103)
    z, p_z = steiger(0.4, 0.5, 0.1, 103)
    assert t == pytest.approx(-0.89, abs=0.005)
    assert z == pytest.approx(-0.89, abs=0.005)
    assert p == pytest.approx(0.37, abs=0.005)
    assert p_z == pytest.approx(0.37, abs=0.005)


def test_tests_of_correlations_state_their_limits() -> None:
    assert williams(0.5, 0.5, 1.0, 50) == (0.0, 1.0)
    assert williams(0.4, 0.5, 0.1, 3) == (None, None)
    assert steiger(1.0, 0.5, 0.5, 50) == (None, None)


def test_a_better_metric_is_found_by_all_three_tests() -> None:
    rng = np.random.default_rng(3)
    gold = rng.normal(size=200)
    good = gold + rng.normal(size=200)
    poor = gold + 3 * rng.normal(size=200)
    tests: list[DifferenceTest] = ["permutation", "williams", "steiger"]
    for test in tests:
        result = compare_correlations(good, poor, gold, test=test)
        assert result.difference is not None
        assert result.p_value is not None
        assert result.difference > 0.2
        assert result.p_value < 0.01
        assert result.interval is not None
        assert (
            0 < result.interval.low < result.difference < result.interval.high
        )


@pytest.mark.slow  # many draws
@pytest.mark.parametrize(
    "kind", ["pearson", pytest.param("tau-b", marks=pytest.mark.nightly)]
)
def test_permutation_p_is_uniform_without_a_difference(
    kind: CorrelationKind,
) -> None:
    rng = np.random.default_rng(4)
    p_values = []
    for _ in range(40):
        gold = rng.normal(size=40)
        a = gold + rng.normal(size=40)
        b = gold + rng.normal(size=40)
        p = compare_correlations(a, b, gold, kind, n_resamples=49).p_value
        assert p is not None
        p_values.append(p)
    assert sps.kstest(p_values, "uniform").pvalue > 0.01


def test_a_metric_does_not_differ_from_itself() -> None:
    result = compare_correlations(X, X, Y)
    assert (result.difference, result.p_value) == (0.0, 1.0)


def test_comparison_without_a_value_has_a_reason() -> None:
    assert (
        compare_correlations(X, [1] * 10, Y).reason
        == "a metric or gold is constant"
    )
    assert (
        compare_correlations([1, 2], [2, 1], [1, 2]).reason
        == "fewer than three rows"
    )
    assert compare_correlations(Y, X, Y, test="steiger").p_value is None


def test_tests_for_independent_rows_refuse_clusters_and_tau() -> None:
    with pytest.raises(ConfigError, match="independent rows"):
        compare_correlations(X, Z, Y, test="williams", clusters=[1] * 10)
    with pytest.raises(ConfigError, match="variance of tau-b"):
        compare_correlations(X, Z, Y, "tau-b", test="steiger")


def test_ranking_correlation_pairs_systems_by_name() -> None:
    gold = {"a": 1000, "b": 1010, "c": 1020}
    assert ranking_correlation(gold, {"c": 3, "a": 1, "b": 2}).value == 1.0
    with pytest.raises(ConfigError, match="differ in c, d"):
        ranking_correlation(gold, {"a": 1, "b": 2, "d": 3})


@each_case(
    ("r", "df", "p"),
    [
        # t = r sqrt(df / (1 - r^2)); with one degree of freedom t is Cauchy: p = 1 - 2 atan(t) / pi.
        (math.sqrt(0.5), 1, 0.5),
        (-math.sqrt(0.5), 1, 0.5),
        (0.0, 5, 1.0),
        # with two p = 1 - t / sqrt(2 + t^2): t = 0.6 sqrt(2) / 0.8
        (0.6, 2, 1 - 0.6),
        (1.0, 3, 0.0),
        (-1.0, 1, 0.0),
        (0.5, 0, None),
    ],
)
def test_p_of_a_correlation_by_hand(
    r: float, df: int, p: float | None
) -> None:
    p_value = t_test_of_correlation(r, df)
    assert p_value == (None if p is None else pytest.approx(p, abs=1e-12))
