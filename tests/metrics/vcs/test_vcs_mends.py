"""Each defect that ``rules="fixed"`` mends, with its old value and its new one.

Old values are those of package 1.0.0 by its algorithm (shared/specs/vcs.md, sections 12 and 16);
new values are calculated by hand.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import pytest

from beholder import VCS
from beholder.errors import ItemError
from beholder.metrics.vcs import order
from beholder.metrics.vcs.order import mapping_windows
from beholder.metrics.vcs.scoring import squared_imbalance, window_regularizer
from beholder.records import ItemScore

Rules = Literal["fixed", "paper", "package", "head"]


def score(
    reference: list[int] | np.ndarray,
    candidate: list[int] | np.ndarray,
    rules: Rules,
    lct: float = 0,
) -> ItemScore:
    """Chunks that are named by number and have nothing in common; whole texts alike."""
    axes = np.eye(64)
    whole = np.ones(4) / 2
    chunks = [
        axes[side] if isinstance(side, list) else side
        for side in (reference, candidate)
    ]
    return VCS(rules=rules, lct=lct).score_embeddings(
        chunks[0], chunks[1], whole, whole
    )


@pytest.mark.parametrize("n", [1, 2])
def test_identical_texts_of_one_or_two_chunks_score_one(n: int) -> None:
    text = list(range(n))
    assert score(text, text, "package").values["vcs"] == 0
    assert score(text, text, "fixed").values["vcs"] == 1


def test_one_sentence_cut_in_two_keeps_its_narrative_score() -> None:
    halves = np.array([[0.8, 0.6], [0.8, -0.6]])
    assert score(np.array([[1.0, 0.0]]), halves, "package").values["nas"] == 0
    assert score(np.array([[1.0, 0.0]]), halves, "fixed").values["nas"] == 1


def test_an_empty_text_is_refused_with_a_reason() -> None:
    empty = np.empty((0, 64))  # an IndexError in 1.0.0
    with pytest.raises(ItemError, match="the candidate has no chunk"):
        score([0], empty, "fixed")
    with pytest.raises(ItemError, match="the reference has no chunk"):
        score(empty, [0], "fixed")


def test_regularizer_grows_with_imbalance() -> None:
    # Old: 2/29 for one chunk more, 2/58 for twice as many. New: (1/31)^2 and (1/2)^2.
    assert window_regularizer(30, 31, 1.0) == pytest.approx(2 / 29)
    assert window_regularizer(30, 60, 1.0) == pytest.approx(2 / 58)
    assert squared_imbalance(30, 31) == pytest.approx(1 / 961)
    assert squared_imbalance(30, 60) == pytest.approx(1 / 4)


def test_two_chunks_against_three_are_not_worth_zero() -> None:
    old, new = (
        score([0, 1, 2], [0, 2], "package"),
        score([0, 1, 2], [0, 2], "fixed"),
    )
    assert old.values["regularizer"] == 1
    assert old.values["vcs"] == 0
    assert new.values["regularizer"] == pytest.approx(1 / 9)
    # LAS: precision 1, recall 2/3, so 0.8; GAS 1, so SAS 1; all matches in their windows but
    # reference chunk 1, which matches nothing and falls to the first tie in its window.
    assert new.values["vcs"] == 1


def test_a_reversed_text_gains_no_line_length_from_tolerance() -> None:
    forward, backward = list(range(20)), list(range(19, -1, -1))
    old, new = (
        score(forward, backward, rules, lct=1)
        for rules in ("package", "fixed")
    )
    assert score(forward, backward, "package").values["nas_l"] == 0
    assert old.values["nas_l"] == 1
    assert old.values["vcs"] == pytest.approx(0.48, abs=0.01)
    # The two chunks in the middle are one place off and count as in place; the 18 other steps of 19
    # go backward. Distances |19 - 2i| less one each: 180 of at most 290.
    assert new.values["nas_l"] == pytest.approx(1 / 19)
    assert new.values["nas_d"] == pytest.approx(1 - 180 / 290)
    assert new.values["vcs"] == pytest.approx(2 / (19 + 290 / 110))


def test_neighbours_swapped_within_tolerance_cost_nothing() -> None:
    forward, swapped = list(range(12)), [1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10]
    old, new = (
        score(forward, swapped, rules, lct=1) for rules in ("package", "fixed")
    )
    assert old.values["nas_l"] == pytest.approx(
        6 / 11
    )  # vector 040_lct1_12x12_swap
    assert new.values["nas_l"] == 1
    assert (
        score(forward, swapped, "fixed").values["nas_l"] < 0.5
    )  # strict without tolerance


def test_distance_beyond_tolerance_costs_the_excess_alone() -> None:
    windows, _ = mapping_windows(5, 5, exact=True)
    matches = np.array(
        [2, 1, 2, 3, 4]
    )  # the first chunk is two places off; at most 16 in all
    old = order.published_penalties(matches, windows, lct=1)
    new = order.corrected_penalties(
        order.pull_to_windows(matches, windows, lct=1), windows
    )
    assert order.distance_score(old, windows, 0.0) == 1 - 2 / 16
    assert order.distance_score(new, windows, 1.0) == 1 - 1 / 16


def test_long_steps_do_not_make_up_for_a_backward_one() -> None:
    # Windows [0,3) [3,6) [6,9) [9,12); steps 5, 5, -1, of which 1..5 are right.
    _, windows = mapping_windows(4, 12, exact=True)
    matches = np.array([0, 5, 10, 9])
    assert windows.floor < 2 * math.sqrt(26) < windows.ceil
    assert order.published_line(matches, windows, 0) == 1
    assert order.corrected_line(matches, windows, 0) == pytest.approx(2 / 3)


def test_scores_stay_within_zero_and_one() -> None:
    long = 2 * np.eye(64)[:3]  # similarities of 4
    assert score(long, long, "package").values["las"] == 4
    assert score(long, long, "package").values["sas"] == 1  # (1 - (1 - 4)) / 4
    assert score(long, long, "fixed").values["las"] == 1
    opposite = np.array([[1.0, 0.0]])
    assert score(opposite, -opposite, "package").values["las"] == -1
    assert score(opposite, -opposite, "fixed").values["las"] == 0


def test_window_starts_are_floored_exactly() -> None:
    old, _ = mapping_windows(30, 26, exact=False)
    new, _ = mapping_windows(30, 26, exact=True)
    # 13 * 30 / 26 is 15; in float64 30 / 26 times 13 is just below.
    assert old.starts[13] == 14
    assert new.starts[13] == 15


def test_paper_rules_take_the_otherwise_branch_where_the_paper_divides_zero_by_zero() -> (
    None
):
    assert score([0, 1], [0, 1], "paper").values["regularizer"] == 0
    assert score([0], [0], "paper").values["vcs"] == 1
