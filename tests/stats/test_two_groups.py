from __future__ import annotations

import math

import numpy as np
import pytest

from beholder.errors import ConfigError
from beholder.stats import (
    Moments,
    cohen_d,
    hedges_g,
    holm,
    mann_whitney,
    t_test,
    wilcoxon,
)
from toy.cases import each_case

A = [5.1, 4.8, 6.0, 5.5, 4.9, 5.8]
B = [4.2, 4.9, 4.4, 5.0, 3.9, 4.1, 4.6]

# Table 4 of the narrative coherence paper: printed means, SDs and n, with t and d.
HUMAN_C = Moments(6.50, 1.09, 6)
MAPS_C = Moments(5.60, 0.86, 60)
RANDOM_C = Moments(4.93, 0.68, 60)
HUMAN = Moments(8.11, 0.40, 6)
MAPS = Moments(6.25, 1.05, 60)
RANDOM = Moments(5.32, 1.15, 60)
TABLE_4 = [
    (HUMAN_C, MAPS_C, 2.386, 0.916),
    (HUMAN_C, RANDOM_C, 5.125, 1.734),
    (MAPS_C, RANDOM_C, 4.759, 0.869),
    (HUMAN, MAPS, 4.285, 2.340),
    (HUMAN, RANDOM, 5.878, 3.241),
    (MAPS, RANDOM, 4.642, 0.847),
]


@each_case(("first", "second", "t", "d"), TABLE_4)
def test_narrative_papers_table_4_from_its_means(
    first: Moments, second: Moments, t: float, d: float
) -> None:
    assert cohen_d(first, second, pooling="unweighted").value == pytest.approx(
        d, rel=0.01
    )
    assert t_test(
        first, second, equal_variances=True
    ).statistic == pytest.approx(t, rel=0.01)


def test_pooled_d_differs_from_unweighted_in_unequal_groups() -> None:
    # By hand: pooled variance (5 * 0.16 + 59 * 1.1025) / 64; d = 1.86 / 1.01433 = 1.8337
    assert cohen_d(HUMAN, MAPS).value == pytest.approx(1.8337, abs=1e-4)


def test_effect_sizes_match_pingouin() -> None:
    d = cohen_d(A, B)
    # pingouin 0.7.0, compute_effsize; its Hedges factor is 1 - 3 / (4 df - 1), ours is exact
    assert d.value == pytest.approx(2.01377541661711, abs=1e-12)
    assert hedges_g(A, B).value == pytest.approx(1.8732794573182419, rel=1e-3)
    # Hedges and Olkin 1985: variance (n + m) / nm + d^2 / 2(n + m)
    half = 1.959964 * math.sqrt(13 / 42 + 2.01377541661711**2 / 26)
    assert d.interval is not None
    assert d.interval.low == pytest.approx(2.01377541661711 - half, abs=1e-6)


def test_hedges_correction_for_ten_degrees_of_freedom() -> None:
    # gamma(5) / (sqrt(5) gamma(4.5)) = 24 / (2.2360680 * 11.6317284)
    g = hedges_g([1, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 9])
    d = cohen_d([1, 2, 3, 4, 5, 6], [2, 3, 4, 5, 6, 9])
    assert g.value is not None
    assert d.value is not None
    assert g.value / d.value == pytest.approx(
        24 / (2.2360680 * 11.6317284), abs=1e-7
    )


def test_bonetts_interval_by_hand() -> None:
    first = Moments(2.0, 1.0, 11)
    second = Moments(1.0, 2.0, 21)
    result = cohen_d(first, second, pooling="unweighted")
    s2 = 2.5
    d = 1 / math.sqrt(s2)
    variance = d**2 * (1 / 10 + 16 / 20) / (8 * s2**2) + (1 / 10 + 4 / 20) / s2
    assert result.value == pytest.approx(d)
    assert result.interval is not None
    assert result.interval.high == pytest.approx(
        d + 1.959964 * math.sqrt(variance), abs=1e-6
    )


def test_t_tests_match_pingouin() -> None:
    welch = t_test(A, B)
    student = t_test(A, B, equal_variances=True)
    # pingouin 0.7.0, ttest with and without correction
    assert welch.statistic == pytest.approx(3.565859204792, abs=1e-10)
    assert welch.df == pytest.approx(9.836507693527, abs=1e-10)
    assert welch.p_value == pytest.approx(0.005265440368, abs=1e-11)
    assert student.statistic == pytest.approx(3.619628540228, abs=1e-10)
    assert student.p_value == pytest.approx(0.004029081576, abs=1e-11)
    assert welch.interval is not None
    assert (welch.interval.low, welch.interval.high) == pytest.approx(
        (0.34, 1.48), abs=0.005
    )


def test_interval_of_students_t_by_hand() -> None:
    # Means 2 and 6, variances 2 and 4: pooled (1 * 2 + 2 * 4) / 3 = 10 / 3, and the standard error
    # sqrt(10 / 3 * (1 / 2 + 1 / 3)) = 5 / 3. Tables give t(0.975; 3) = 3.182446, t(0.95; 3) = 2.353363.
    result = t_test([1, 3], [4, 6, 8], equal_variances=True)
    assert result.statistic == pytest.approx(-4 / (5 / 3))
    assert (result.df, result.estimate) == (3, -4)
    assert result.interval is not None
    half = 3.182446 * 5 / 3
    assert result.interval.low == pytest.approx(-4 - half, abs=1e-5)
    assert result.interval.high == pytest.approx(-4 + half, abs=1e-5)
    narrower = t_test(
        [1, 3], [4, 6, 8], equal_variances=True, level=0.9
    ).interval
    assert narrower is not None
    assert narrower.high == pytest.approx(-4 + 2.353363 * 5 / 3, abs=1e-5)


def test_interval_of_welchs_t_by_hand() -> None:
    # Errors 2 / 2 = 1 and 4 / 3: sqrt(7 / 3). Welch's df (7 / 3)^2 / (1 + (16 / 9) / 2) = 49 / 17.
    result = t_test([1, 3], [4, 6, 8])
    assert result.df == pytest.approx(49 / 17)
    assert result.statistic == pytest.approx(-4 / math.sqrt(7 / 3))
    assert result.interval is not None
    # Symmetric about the difference, and wider than with three degrees of freedom.
    assert (result.interval.low + result.interval.high) / 2 == pytest.approx(
        -4
    )
    assert result.interval.high > -4 + 3.182446 * math.sqrt(7 / 3)


def test_one_group_without_variance_is_tested_still() -> None:
    result = t_test([2, 2, 2], [1, 2, 3])
    assert result.statistic == 0.0
    assert result.p_value == 1.0


def test_mann_whitney_and_wilcoxon_match_pingouin() -> None:
    u = mann_whitney(A, B)
    assert u.statistic == 38.5
    assert u.p_value == pytest.approx(0.015019261875, abs=1e-11)
    assert u.estimate == pytest.approx(0.916666666667)
    w = wilcoxon(A, B[:6])
    assert w.statistic == 1.0
    assert w.p_value == pytest.approx(0.0625, abs=1e-12)
    assert w.estimate == pytest.approx(0.904761904762)


def test_newcombes_interval_solves_its_equation() -> None:
    result = mann_whitney(A, B)
    theta = 38.5 / 42
    assert result.interval is not None
    for end in (result.interval.low, result.interval.high):
        shape = 1 + (6.5 - 1) * ((1 - end) / (2 - end) + end / (1 + end))
        error = math.sqrt(end * (1 - end) * shape / 42)
        assert abs(theta - end) / error == pytest.approx(1.959964, abs=1e-5)


def test_complete_separation_keeps_an_interval_with_width() -> None:
    result = mann_whitney([1, 2, 3], [4, 5, 6, 7])
    assert result.estimate == 0.0
    assert result.interval is not None
    assert result.interval.low == 0.0
    assert 0.2 < result.interval.high < 0.8


def test_groups_that_do_not_vary_still_have_a_difference() -> None:
    result = t_test([3, 3], [4, 4, 4])
    assert (result.estimate, result.p_value) == (-1.0, None)


def test_equal_values_do_not_differ() -> None:
    result = mann_whitney([1, 1], [1, 1, 1])
    assert (result.estimate, result.p_value) == (0.5, 1.0)
    paired = wilcoxon([1, 2], [1, 2])
    assert (paired.estimate, paired.p_value, paired.reason) == (
        None,
        1.0,
        "no pair differs",
    )


@pytest.mark.parametrize(
    ("a", "b"), [([], [1, 2]), ([1], [1, 2]), ([3, 3], [4, 4])]
)
def test_undefined_differences_have_a_reason(
    a: list[float], b: list[float]
) -> None:
    for effect in (
        cohen_d(a, b),
        cohen_d(a, b, pooling="unweighted"),
        hedges_g(a, b),
    ):
        assert (effect.value, effect.interval) == (None, None)
        assert effect.reason
    result = t_test(a, b)
    assert (result.statistic, result.p_value) == (None, None)
    assert result.reason


def test_empty_groups_have_a_reason() -> None:
    assert (
        mann_whitney([], [1]).reason
        == "needs values in each group, got 0 and 1"
    )
    assert wilcoxon([], []).reason == "no pairs"
    assert wilcoxon([1], [2]).interval is None


def test_nan_and_impossible_moments_are_refused() -> None:
    with pytest.raises(ConfigError, match="a: 1 of 2"):
        t_test([1, math.nan], [1, 2])
    with pytest.raises(ConfigError, match="impossible"):
        cohen_d(Moments(1, -1, 3), B)


def test_a_million_standard_deviations_give_finite_numbers() -> None:
    result = cohen_d([0, 1e-6], [1e6, 1e6 + 1e-6])
    assert result.value is not None
    assert np.isfinite(result.value)


def test_holm_matches_pingouin_and_keeps_the_gaps() -> None:
    # pingouin 0.7.0, multicomp(method="holm") of the four numbers
    assert holm([0.01, 0.04, None, 0.03, 0.005]) == pytest.approx(
        [0.03, 0.06, None, 0.06, 0.02]
    )
    assert holm([]) == []
    with pytest.raises(ConfigError, match="position 1"):
        holm([0.5, 1.5])
