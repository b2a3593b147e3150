"""Numbers that differ only by rounding are equal in every rank, tie and win."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy

from beholder import stats
from beholder.stats.annotator_pairs import ranks_of
from beholder.stats.ranks import (
    mean_ranks,
    round_differences,
    round_values,
    subtract,
)
from beholder.stats.ties import decide, pairs_within, tie_threshold
from toy.cases import each_case

DUSTY = [0.1 + 0.2, 0.3, 0.5, 0.6, 0.2, 0.1, 0.4]
EXACT = [0.3, 0.3, 0.5, 0.6, 0.2, 0.1, 0.4]
PEOPLE = [2, 1, 3, 4, 1, 0, 2]


def test_correlations_of_ranks_do_not_see_the_last_bit() -> None:
    # Expected: scipy on the exact numbers; also rho .954 and tau .923 of the report that found it.
    rho = stats.spearman(DUSTY, PEOPLE).value
    tau = stats.kendall(DUSTY, PEOPLE)
    assert rho == pytest.approx(scipy.stats.spearmanr(EXACT, PEOPLE).statistic)
    assert rho == pytest.approx(0.954, abs=5e-4)
    expected = scipy.stats.kendalltau(EXACT, PEOPLE)
    assert (tau.value, tau.p_value) == pytest.approx(
        (expected.statistic, expected.pvalue)
    )
    assert tau.value == pytest.approx(0.923, abs=5e-4)
    tau_c = scipy.stats.kendalltau(EXACT, PEOPLE, variant="c").statistic
    assert stats.kendall(DUSTY, PEOPLE, variant="c").value == pytest.approx(
        tau_c
    )


def test_rank_tests_do_not_see_the_last_bit() -> None:
    # U counts 0.3 against 0.3 as a half: 1 + 2.5 + ... as scipy has it on exact numbers.
    a = [0.1 + 0.2, 0.5, 0.6]
    b = [0.3, 0.2, 0.1]
    expected = scipy.stats.mannwhitneyu([0.3, 0.5, 0.6], b)
    result = stats.mann_whitney(a, b)
    assert (result.statistic, result.p_value) == pytest.approx(
        (expected.statistic, expected.pvalue)
    )
    assert result.statistic == 8.5
    # Differences 0 (left out), .1, .1, .1, -.2 and .4, three of which are equal but for rounding.
    x = [0.1 + 0.2, 0.3, 0.2, 0.4, 0.1, 0.9]
    y = [0.3, 0.2, 0.1, 0.3, 0.3, 0.5]
    # Ranks of the sizes: 2, 2, 2, 4, 5; the negative one has 4: (11 - 4) / 15.
    assert stats.wilcoxon(x, y).estimate == pytest.approx(7 / 15)


@each_case(
    ("values", "ranks"),
    [
        ([0.1 + 0.2, 0.3, 0.1], [2.5, 2.5, 1]),
        ([1 / 3, 1 - 2 / 3, 0.0], [2.5, 2.5, 1]),
        ([sum([13 / 14] * 3) / 3, 13 / 14, 1.0], [1.5, 1.5, 3]),
        ([1e-20, 3e-20, 1.0], [1, 2, 3]),  # small numbers are numbers
        ([1e11 + 0.4, 1e11, 1e11 + 3], [1.5, 1.5, 3]),  # the 13th digit
        ([1.00000000001, 1.0, 0.5], [3, 2, 1]),  # the 12th digit counts
        ([-0.3, -(0.1 + 0.2), -0.4], [2.5, 2.5, 1]),
        ([0.0, -0.0, 1.0], [1.5, 1.5, 3]),
        ([math.inf, math.inf, 1.0], [2.5, 2.5, 1]),
    ],
)
def test_ranks_follow_the_order_of_values(
    values: list[float], ranks: list[float]
) -> None:
    assert mean_ranks(values).tolist() == ranks
    assert list(ranks_of(values, higher_is_better=False)) == ranks


def test_rounded_numbers_are_the_nearest_to_their_decimals() -> None:
    assert round_values([0.1 + 0.2, 1 / 3, 2e7 / 3, 5e-324, 1e300, 0.0]).tolist() == [
        0.3, 0.333333333333, 6666666.66667, 0.0, 1e300, 0.0,
    ]  # fmt: skip
    assert float(round_values(0.1 + 0.2)) == 0.3
    assert math.isnan(round_values([math.nan])[0])


def test_differences_of_equal_numbers_are_zero_and_equal_ones_tie() -> None:
    assert subtract([0.1 + 0.2, 0.5], [0.3, 0.25]).tolist() == [0.0, 0.25]
    assert subtract([1 / 3], [0.0]).tolist() == [
        1 / 3
    ]  # other differences keep all digits
    assert round_differences(
        [0.3, 0.2, 100.3], [0.2, 0.1, 100.2]
    ).tolist() == [0.1, 0.1, 0.1]
    assert pairs_within([0.1 + 0.2, 0.3], ["a", "a"])[0].tolist() == [0.0]


def test_a_difference_at_the_threshold_is_a_preference() -> None:
    # 0.3 - 0.2 is 0.09999999999999998 and 0.2 - 0.1 is 0.1: both are the threshold.
    differences = np.array([0.3 - 0.2, 0.1 - 0.2, 0.05])
    threshold = tie_threshold(differences, 1)
    assert decide(differences, threshold).tolist() == [1, -1, 0]


def test_clusters_of_systems_begin_with_the_first_of_equal_ones() -> None:
    pairs: list[tuple[int, int]] = []

    def p_value(leader: int, challenger: int) -> float:
        pairs.append((leader, challenger))
        return 0.5

    stats.significance_clusters([0.3, 0.1 + 0.2], p_value)
    assert pairs == [(0, 1)]


@pytest.mark.parametrize(
    "statistic",
    [
        lambda table: stats.kendall_w(table, n_resamples=1).value,
        lambda table: (
            stats.krippendorff_alpha(table, "ordinal", n_resamples=1).value
        ),
        lambda table: (
            stats.mean_pairwise_correlation(
                table, "spearman", n_resamples=1
            ).value
        ),
        lambda table: (
            stats.alert_auc(
                table.T, [[0, 1, 1, 0, 0, 1, 0]] * 2, n_resamples=0
            ).auc
        ),
        lambda table: (
            stats.alert_f1(
                table.T, [[0, 1, 1, 0, 0, 1, 0]] * 2, n_resamples=1
            ).f1
        ),
    ],
)
def test_other_statistics_of_order_agree_with_exact_numbers(
    statistic: Callable[[Any], float],
) -> None:
    dusty, exact = (
        np.array([values, np.array(PEOPLE) / 4]).T for values in (DUSTY, EXACT)
    )
    assert statistic(dusty) == pytest.approx(statistic(exact))
