"""What intervals, gates and stops promise, over many simulated studies."""

from __future__ import annotations

import numpy as np
import pytest

from beholder.kinds.scores.gates import Gate, check
from beholder.records import Estimate, Interval, MetricResult
from beholder.stats import Betting, mean_interval, paired_difference

pytestmark = [pytest.mark.slow, pytest.mark.nightly]

PICTURES, TEXTS = 100, 4


def clustered(
    rng: np.random.Generator, mean: float = 0.6
) -> tuple[np.ndarray, list[int]]:
    """Scores of four texts a picture; half of the variance is between pictures."""
    scores = mean + np.repeat(rng.normal(0, 0.15, PICTURES), TEXTS)
    return scores + rng.normal(0, 0.15, PICTURES * TEXTS), np.repeat(
        np.arange(PICTURES), TEXTS
    ).tolist()


def holds(interval: Interval | None, truth: float) -> bool:
    assert interval is not None
    return interval.low <= truth <= interval.high


def test_intervals_of_clustered_means_and_differences_hold_the_truth() -> None:
    rng = np.random.default_rng(1)
    draws, means, differences, plain = 600, 0, 0, 0
    for _ in range(draws):
        a, pictures = clustered(rng)
        b, _ = clustered(rng, 0.65)
        means += holds(mean_interval(a, clusters=pictures).interval, 0.6)
        plain += holds(mean_interval(a).interval, 0.6)
        difference = paired_difference(
            b, a, clusters=pictures, n_resamples=1000
        )
        differences += holds(difference.interval, 0.05)
    assert 0.93 <= means / draws <= 0.97
    assert 0.93 <= differences / draws <= 0.97
    assert plain / draws < 0.85  # texts as if they were independent


def test_gates_at_the_true_mean_let_at_most_5_percent_through() -> None:
    rng = np.random.default_rng(2)
    draws, passed, by_mean = 600, 0, 0
    for _ in range(draws):
        scores, pictures = clustered(rng)
        estimate: Estimate = mean_interval(scores, clusters=pictures)
        summary = {
            "m": MetricResult(
                metric="m",
                values={"v": estimate},
                n_scored=len(scores),
                n_failed=0,
                signature="s",
            )
        }
        lower_gate, mean_gate = check(
            [Gate("m", "v", 0.6), Gate("m", "v", 0.6, "mean")], summary
        )
        passed += lower_gate.passed
        by_mean += mean_gate.passed
    assert passed / draws <= 0.05
    assert by_mean / draws > 0.4


def test_comparisons_of_equals_call_at_most_5_percent_worse() -> None:
    rng = np.random.default_rng(3)
    draws, worse = 600, 0
    for _ in range(draws):
        a, pictures = clustered(rng)
        b, _ = clustered(rng)
        difference = paired_difference(
            b, a, clusters=pictures, n_resamples=1000
        )
        assert difference.interval is not None
        worse += difference.interval.high < 0
    assert worse / draws <= 0.05


def test_stops_at_any_of_many_looks_are_wrong_in_at_most_5_percent() -> None:
    rng = np.random.default_rng(4)
    draws, wrong, naive = 600, 0, 0
    for _ in range(draws):
        scores = rng.integers(0, 2, 200).astype(float)
        sequence = Betting()
        looks = []
        for n, score in enumerate(scores, start=1):
            sequence.add(float(score))
            if n >= 40 and n % 10 == 0:
                looks.append(holds(sequence.interval, 0.5))
        wrong += not all(looks)
        means = scores.cumsum()[39::10] / np.arange(40, 201, 10)
        half = 1.96 * np.sqrt(means * (1 - means) / np.arange(40, 201, 10))
        naive += bool((np.abs(means - 0.5) > half).any())
    assert wrong / draws <= 0.05
    assert naive / draws > 0.15  # the usual interval, looked at as often
