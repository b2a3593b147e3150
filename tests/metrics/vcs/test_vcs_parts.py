"""Windows, matches, order scores, regularizers and their combination, by hand calculation."""

from __future__ import annotations

import math

import numpy as np
import pytest

from beholder.metrics.base import f1
from beholder.metrics.vcs import order, scoring
from beholder.metrics.vcs.order import (
    IntArray,
    best_match,
    mapping_windows,
    similarity_band,
)
from beholder.metrics.vcs.scoring import comprehension, semantic
from toy.cases import each_case


def positions(*values: int) -> IntArray:
    return np.array(values, dtype=np.int64)


def test_windows_of_the_shorter_side_follow_the_length_ratio() -> None:
    # 7 reference and 3 candidate chunks: ratio 7/3, height 3, starts 0, floor(2.33), floor(4.67).
    precision, recall = mapping_windows(7, 3, exact=True)
    assert precision.ranges.tolist() == [[0, 3], [2, 5], [4, 7]]
    # Reference chunk 2 lies in the windows of candidate chunks 0 and 1, and so on.
    assert recall.ranges.tolist() == [
        [0, 1],
        [0, 1],
        [0, 2],
        [1, 2],
        [1, 3],
        [2, 3],
        [2, 3],
    ]


def test_swapping_the_texts_swaps_the_windows() -> None:
    for reference, candidate in ((7, 3), (30, 31), (5, 5)):
        forward = mapping_windows(reference, candidate, exact=True)
        backward = mapping_windows(candidate, reference, exact=True)
        assert forward[0].ranges.tolist() == backward[1].ranges.tolist()
        assert forward[1].ranges.tolist() == backward[0].ranges.tolist()


@each_case(
    ("source", "target", "unit"),
    [
        (5, 5, 1),
        (9, 4, 1),
        (4, 5, 1),
        (2, 3, 1),
        (4, 7, 2),
        (3, 6, 2),
        (2, 5, 2),
        (3, 8, 3),
    ],
)
def test_tolerance_unit_is_the_rounded_ratio_with_halves_down(
    source: int, target: int, unit: int
) -> None:
    precision, _ = mapping_windows(target, source, exact=True)
    assert precision.unit == unit


def test_distance_to_a_window_counts_positions_outside_it() -> None:
    precision, _ = mapping_windows(7, 3, exact=True)  # [0, 3) [2, 5) [4, 7)
    assert precision.distances(positions(4, 0, 4)).tolist() == [2, 2, 0]


def test_similarity_band_is_the_excess_over_the_cutoff_shared_by_control() -> (
    None
):
    # (0.9 - 0.6) / (0.9 * 4) = 0.08333; at or below the cutoff the band has no width.
    similarity = np.array([[0.9, 0.1], [0.6, 0.2], [0.3, 0.3]])
    expected = [0.9 - 0.3 / 3.6, 0.6, 0.3]
    assert similarity_band(similarity.max(axis=1), 0.6, 4.0) == pytest.approx(
        expected, abs=1e-15
    )


def test_match_near_the_best_and_inside_the_window_wins() -> None:
    # Row 0: 0.85 is within 0.0833 of 0.9 and stands in the window of chunk 0; 0.80 is not.
    similarity = np.array(
        [[0.85, 0.9, 0.0], [0.9, 0.80, 0.0], [0.0, 0.0, 0.9]]
    )
    windows, _ = mapping_windows(3, 3, exact=True)
    assert best_match(similarity, windows, 0.6, 4.0).tolist() == [0, 0, 2]


def test_equal_distance_goes_to_the_higher_similarity_then_to_the_lower_index() -> (
    None
):
    # Chunk 1 of 3: positions 0 and 2 are both one away from its window.
    windows, _ = mapping_windows(3, 3, exact=True)
    row = np.eye(3)
    row[1] = [0.88, 0.0, 0.9]
    assert best_match(row, windows, 0.6, 4.0)[1] == 2
    row[1] = [0.9, 0.0, 0.9]
    assert best_match(row, windows, 0.6, 4.0)[1] == 0


def test_every_chunk_has_a_match_even_below_the_cutoff() -> None:
    similarity = np.array([[-0.5, -0.2], [-0.9, -0.9]])
    windows, _ = mapping_windows(2, 2, exact=True)
    assert best_match(similarity, windows, 0.6, 4.0).tolist() == [1, 1]


def test_distance_score_is_the_share_of_the_largest_penalty_left() -> None:
    windows, _ = mapping_windows(3, 3, exact=True)
    # Largest distances 2, 1, 2; a reversed text has distances 2, 0, 2.
    penalties = order.published_penalties(positions(2, 1, 0), windows, 0)
    assert order.distance_score(penalties, windows, 0.0) == pytest.approx(
        1 - 4 / 5
    )


def test_published_line_takes_out_backward_and_too_long_steps() -> None:
    windows, _ = mapping_windows(4, 4, exact=False)
    assert windows.floor == pytest.approx(3 * math.sqrt(2))
    # Steps 1, -1, 2 of at most 1: one of three counts.
    assert order.published_line(
        positions(1, 2, 1, 3), windows, 0
    ) == pytest.approx(1 / 3)


def test_ideal_band_of_a_wide_window_by_enumeration() -> None:
    # Two source chunks with windows [0, 3) and [3, 6): nearest step 1, farthest 5.
    _, recall = mapping_windows(2, 6, exact=False)
    assert recall.floor == pytest.approx(math.sqrt(2))
    assert recall.ceil == pytest.approx(math.sqrt(26))
    assert recall.floor_path.tolist() == [2, 3]
    assert recall.ceil_path.tolist() == [0, 5]


def test_pull_moves_a_match_at_most_the_tolerance_and_only_to_its_window() -> (
    None
):
    windows, _ = mapping_windows(6, 6, exact=True)
    pulled = order.pull_to_windows(positions(1, 1, 0, 5, 4, 0), windows, 1)
    assert pulled.tolist() == [0, 1, 1, 4, 4, 1]
    half = order.pull_to_windows(positions(1, 1, 0, 5, 4, 0), windows, 0.5)
    assert half.tolist() == [0.5, 1, 0.5, 4.5, 4, 0.5]


def test_corrected_line_credits_each_step_by_its_fit() -> None:
    windows, _ = mapping_windows(5, 5, exact=True)
    # Steps 1, 0, 3, -2: right, too short (1 : sqrt 2), too long (sqrt 2 : sqrt 10), backward.
    expected = (1 + 1 / math.sqrt(2) + math.sqrt(2 / 10) + 0) / 4
    line_score = order.corrected_line(positions(0, 1, 1, 4, 2), windows, 0)
    assert line_score == pytest.approx(expected, abs=1e-12)


def test_regularizers_have_their_closed_forms() -> None:
    # Spec: equal sides 0; one longer 2 / (S - 1); k times as long 2 (k - 1) / (k S - 2).
    assert scoring.window_regularizer(30, 30, 0.0) == pytest.approx(
        0, abs=1e-12
    )
    assert scoring.window_regularizer(30, 31, 0.0) == pytest.approx(2 / 29)
    assert scoring.window_regularizer(60, 30, 0.0) == pytest.approx(2 / 58)
    # Head at 30 x 60: window penalty 2/58, imbalance 1/2, joined M*M + m (1 - M).
    assert scoring.length_regularizer(30, 60, 0.0, 0.5) == pytest.approx(
        0.25 + 1 / 58
    )
    assert scoring.length_regularizer(30, 60, 1.0, 0.5) == pytest.approx(
        2 / 58
    )
    assert scoring.length_regularizer(30, 60, -1.0, 0.5) == pytest.approx(0.5)
    assert scoring.squared_imbalance(30, 60) == pytest.approx(0.25)


def test_regularize_takes_off_what_comes_for_nothing() -> None:
    assert scoring.regularize(0.8, 0.5) == pytest.approx(0.6)
    assert scoring.regularize(0.4, 0.5) == 0
    assert scoring.regularize(1.0, 0.9) == 1


def test_scores_are_combined_by_the_formulas_of_the_paper() -> None:
    assert f1(1.0, 0.5) == pytest.approx(2 / 3)
    assert f1(0.0, 0.0) == 0
    assert semantic(0.9, 0.8) == pytest.approx((0.9 - 0.2) / 0.8)
    assert semantic(0.1, 0.8) == 0
    assert semantic(0.9, 0.0) == 0
    assert comprehension(0.6, 0.8) == pytest.approx(0.4 / 0.8)
    assert comprehension(0.8, 0.6) == pytest.approx(0.4 / 0.8)
    assert comprehension(0.5, 0.5) == 0


def test_tolerance_is_in_steps_of_the_length_ratio() -> None:
    # Two chunks onto eight: windows 0..3 and 4..7, a step of 4 positions. Half of it is 2.
    windows, _ = mapping_windows(8, 2, exact=True)
    assert windows.unit == 4
    pulled = order.pull_to_windows(positions(7, 0), windows, 0.5)
    assert pulled.tolist() == [5, 2]
