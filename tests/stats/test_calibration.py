"""Brier score and calibration error: by hand, against scikit-learn, and in simulated studies."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

from beholder.errors import ConfigError
from beholder.stats import (
    ReliabilityBin,
    brier_score,
    expected_calibration_error,
    reliability_bins,
)

P = [0.9, 0.9, 0.6, 0.4, 0.1, 0.1]
Y = [1, 0, 1, 0, 0, 0]


def test_figures_are_those_of_a_calculation_by_hand() -> None:
    # Squares: .01, .81, .16, .16, .01, .01.
    brier = brier_score(P, Y)
    assert brier.mean == pytest.approx(1.16 / 6)
    assert (brier.n, brier.reason) == (6, None)
    # Three bins of two: (.1, .1), (.4, .6), (.9, .9).
    bins = reliability_bins(P, Y, n_bins=3)
    assert [b.probability for b in bins] == pytest.approx([0.1, 0.5, 0.9])
    assert [(b.share, b.n) for b in bins] == [(0.0, 2), (0.5, 2), (0.5, 2)]
    error = expected_calibration_error(P, Y, n_bins=3)
    assert error.mean == pytest.approx((2 * 0.1 + 2 * 0 + 2 * 0.4) / 6)
    assert error.interval is not None
    assert error.interval.low <= error.mean <= error.interval.high


def test_equal_probabilities_share_a_bin_in_any_order_of_rows() -> None:
    p = [0.5, 0.5, 0.5, 0.5, 0.8, 1.0]
    y = [0, 1, 0, 1, 1, 1]
    expected = [
        ReliabilityBin(0.5, 0.5, 4),
        ReliabilityBin(0.8, 1.0, 1),
        ReliabilityBin(1.0, 1.0, 1),
    ]
    for order in ([0, 1, 2, 3, 4, 5], [5, 3, 1, 0, 2, 4]):
        rows = np.array(order)
        assert (
            reliability_bins(np.array(p)[rows], np.array(y)[rows]) == expected
        )


def test_brier_score_is_that_of_scikit_learn() -> None:
    rng = np.random.default_rng(0)
    p = rng.random(500)
    y = (rng.random(500) < p).astype(int)
    assert brier_score(p, y).mean == pytest.approx(brier_score_loss(y, p))


def test_bins_are_those_of_equally_many_answers_in_scikit_learn() -> None:
    from sklearn.calibration import calibration_curve

    rng = np.random.default_rng(1)
    p = rng.random(200)
    y = (rng.random(200) < p).astype(int)
    share, mean = calibration_curve(y, p, n_bins=10, strategy="quantile")
    bins = reliability_bins(p, y)
    assert [b.n for b in bins] == [20] * 10
    assert [b.share for b in bins] == pytest.approx(share)
    assert [b.probability for b in bins] == pytest.approx(mean)


def test_interval_of_a_calibrated_judge_begins_at_0() -> None:
    rng = np.random.default_rng(2)
    p = rng.random(200)
    right = expected_calibration_error(p, (rng.random(200) < p).astype(float))
    assert right.interval is not None
    assert right.interval.low == 0.0 < right.mean
    # A judge that is 0.3 too sure: |p - q| is 0.3 everywhere.
    p = 0.3 + 0.7 * rng.random(400)
    wrong = expected_calibration_error(
        p, (rng.random(400) < p - 0.3).astype(float)
    )
    assert wrong.interval is not None
    assert 0.2 < wrong.interval.low < 0.3 < wrong.interval.high


def test_what_is_no_probability_and_no_label_is_refused() -> None:
    for p, y, message in (
        ([0.5, 1.2], [0, 1], "from 0 to 1, got 1.2"),
        ([0.5, 0.2], [0, 0.5], "labels: expected one of"),
        ([0.5], [0, 1], "one length"),
        ([], [], "at least 1, got 0"),
    ):
        for figure in (brier_score, expected_calibration_error):
            with pytest.raises(ConfigError, match=message):
                figure(p, y)


def test_few_answers_and_clusters_have_no_interval_but_a_reason() -> None:
    for clusters in (None, ["a"] * 4):
        for figure in (brier_score, expected_calibration_error):
            estimate = figure(
                [0.1, 0.2, 0.8, 0.9], [0, 0, 1, 1], clusters=clusters
            )
            assert estimate.interval is None
            assert "too few sources" in (estimate.reason or "")
