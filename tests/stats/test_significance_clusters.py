"""Clusters by significance, by hand."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from beholder import stats
from beholder.errors import ConfigError


def clusters(
    values: list[float | None], p: Mapping[tuple[int, int], float | None]
) -> list[int | None]:
    return stats.significance_clusters(
        values, lambda i, j: p[min(i, j), max(i, j)]
    )


def test_holm_is_over_the_tests_against_the_leader() -> None:
    # Leader 1 (0.9). Against it p = 0.03 and 0.02: Holm gives 0.04 (= 2 * 0.02) and
    # max(0.04, 0.03) = 0.04, so both are worse; of all three pairs Holm would give 0.06.
    # Then 2 (0.7) leads, and 0 (p = 0.5) joins it.
    p = {(0, 1): 0.02, (1, 2): 0.03, (0, 2): 0.5}
    assert clusters([0.5, 0.9, 0.7], p) == [2, 1, 2]


def test_two_tests_at_three_hundredths_are_too_many_for_one() -> None:
    # 2 * 0.03 = 0.06: not told apart, though 0.03 alone would be.
    p = {(0, 1): 0.03, (0, 2): 0.03, (1, 2): 0.03}
    assert clusters([0.9, 0.7, 0.5], p) == [1, 1, 1]
    assert clusters([0.9, 0.7], {(0, 1): 0.03}) == [1, 2]


def test_one_may_join_below_one_that_does_not() -> None:
    p = {(0, 1): 0.001, (0, 2): 0.9, (1, 2): 0.9}
    assert clusters([0.9, 0.7, 0.5], p) == [1, 2, 1]


def test_without_a_value_there_is_no_cluster_and_without_a_test_no_difference() -> (
    None
):
    p = {(0, 1): None, (0, 2): None, (1, 2): None}
    assert clusters([None, 0.9, 0.1], p) == [None, 1, 1]
    assert clusters([], {}) == []


def test_a_bad_level_is_refused() -> None:
    with pytest.raises(ConfigError, match="expected a number between 0 and 1"):
        stats.significance_clusters([0.1], lambda i, j: 0.5, alpha=1.0)
