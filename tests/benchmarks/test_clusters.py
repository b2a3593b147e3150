"""Scores of clusters by hand calculation.

Gold {1 2 3} {4 5 6 7}, found {1 2} {3 4 5} {6 7}: the example is our own, the sums are below.
"""

from __future__ import annotations

import pytest
from benchmarks.clusters import (
    Agreement,
    Cluster,
    b_cubed,
    ceaf_e,
    merged,
    muc,
)


def sets(*groups: str) -> list[Cluster]:
    return [frozenset(group) for group in groups]


GOLD = sets("123", "4567")
CANDIDATE = sets("12", "345", "67")


def test_muc_counts_links() -> None:
    # Recall: (3-2) + (4-2) = 3 of (3-1) + (4-1) = 5. Precision: 1 + (3-2) + 1 = 3 of 1 + 2 + 1 = 4.
    value = muc(CANDIDATE, GOLD)
    assert value.recall == pytest.approx(3 / 5)
    assert value.precision == pytest.approx(3 / 4)
    assert value.f1 == pytest.approx(2 * 0.6 * 0.75 / 1.35)


def test_b_cubed_averages_over_mentions() -> None:
    # Precision: 1, 2: 1 each; 3: 1/3; 4, 5: 2/3 each; 6, 7: 1 each: (4 + 1/3 + 4/3) / 7.
    # Recall: 1, 2: 2/3 each; 3: 1/3; 4, 5, 6, 7: 2/4 each: (4/3 + 1/3 + 2) / 7.
    value = b_cubed(CANDIDATE, GOLD)
    assert value.precision == pytest.approx((4 + 5 / 3) / 7)
    assert value.recall == pytest.approx((5 / 3 + 2) / 7)


def test_ceaf_pairs_clusters_one_to_one() -> None:
    # phi4: {12}-{123} 4/5; {345}-{4567} 4/7; {67}-{4567} 4/6. Best: 4/5 + 4/6.
    value = ceaf_e(CANDIDATE, GOLD)
    assert value.precision == pytest.approx((4 / 5 + 4 / 6) / 3)
    assert value.recall == pytest.approx((4 / 5 + 4 / 6) / 2)


def test_mentions_of_one_side_only_cost_that_side() -> None:
    # The extra mention x splits the found cluster: precision 1 of 2 links, recall all of 1.
    value = muc(sets("12x"), sets("12"))
    assert (value.precision, value.recall) == (0.5, 1.0)
    assert b_cubed(sets("12x"), sets("12")).precision == pytest.approx(4 / 9)


def test_nothing_found_scores_zero() -> None:
    for measure in (muc, b_cubed, ceaf_e):
        assert measure([], GOLD).f1 == 0


def test_agreements_of_documents_add_up() -> None:
    total = muc(CANDIDATE, GOLD) + muc(sets("ab"), sets("ab"))
    assert total == Agreement(4, 5, 4, 6)


def test_links_merge_to_clusters() -> None:
    assert sorted(
        sorted(c, key=str) for c in merged([(1, 2), (3, 4), (2, 5)])
    ) == [
        [1, 2, 5],
        [3, 4],
    ]
