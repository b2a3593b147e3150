"""Figures of a choice: worked examples 1a and 1b (made without beholder), scipy as the oracle."""

from __future__ import annotations

import math

import pytest
from scipy import stats as scipy_stats

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats import (
    bradley_terry,
    holm,
    paired_difference,
    pictures_for_difference,
    significance_clusters,
)
from beholder.stats.choice import (
    battle_score,
    collection_cost,
    mean_interval_t,
    sd_of_run,
    state_of_limit,
    texts_to_settle,
)
from beholder.stats.shares import wilson_limits

A = [0.9, 0.8, 1, 0.7, 0.9, 0.8, 1, 0.9, 0.6, 0.8]
B = [0.9, 0.7, 1, 0.8, 0.9, 0.8, 0.9, 0.9, 0.7, 0.7]
C = [0.7, 0.6, 0.8, 0.6, 0.7, 0.7, 0.8, 0.7, 0.5, 0.6]
DOLLARS = [
    0.0040, 0.0044, 0.0039, 0.0051, 0.0042,
    0.0038, 0.0046, 0.0041, 0.0040, 0.0039,
]  # fmt: skip


def test_differences_and_clusters_of_the_example() -> None:
    first, second = paired_difference(A, B), paired_difference(A, C)
    assert first.mean == pytest.approx(0.01)
    assert first.p_value == 1
    assert second.mean == pytest.approx(0.17)
    assert second.p_value == pytest.approx(2 / 1024)
    assert holm([first.p_value, second.p_value]) == pytest.approx(
        [1, 0.003906], abs=5e-7
    )
    rows = (A, B, C)
    clusters = significance_clusters(
        [0.84, 0.83, 0.67],
        lambda a, b: paired_difference(rows[a], rows[b]).p_value,
    )
    assert clusters == [1, 1, 2]


@pytest.mark.parametrize(
    ("scores", "low", "high"),
    [(B, -0.042784, 0.062784), (C, 0.135445, 0.204555)],
)
def test_t_intervals_of_the_example(
    scores: list[float], low: float, high: float
) -> None:
    interval = mean_interval_t([a - b for a, b in zip(A, scores, strict=True)])
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(
        (low, high), abs=5e-7
    )
    assert mean_interval_t([0.5]) is None


@pytest.mark.parametrize(
    ("n", "low", "high", "state"),
    [
        (193, 0.929529, 0.982944, "open"),
        (170, 0.793944, 0.892864, "missed"),
        (200, 0.981155, 1, "met"),
    ],
)
def test_limits_of_the_example(
    n: int, low: float, high: float, state: str
) -> None:
    interval = wilson_limits(n, 200)
    assert (interval.low, interval.high) == pytest.approx(
        (low, high), abs=5e-7
    )
    assert state_of_limit(interval, 0.95) == state


def test_an_interval_that_ends_at_its_limit() -> None:
    assert state_of_limit(Interval(0.95, 1, 0.95), 0.95) == "met"
    assert state_of_limit(Interval(0.9, 0.95, 0.95), 0.95) == "open"


@pytest.mark.parametrize("rate", [0.965, 0.9, 0.99, 0.94])
def test_a_limit_is_settled_at_the_number_of_texts(rate: float) -> None:
    n = texts_to_settle(rate, 0.95)
    assert n is not None
    # Wilson's interval for a rate of n texts, without rounding to whole texts, by hand.
    z = scipy_stats.norm.ppf(0.975)

    def is_settled(size: int) -> bool:
        middle = (rate + z * z / (2 * size)) / (1 + z * z / size)
        half = z / (1 + z * z / size)
        half *= math.sqrt(rate * (1 - rate) / size + z * z / (4 * size**2))
        return not middle - half < 0.95 < middle + half

    assert is_settled(n)
    assert not is_settled(n - 1)
    assert texts_to_settle(0.95, 0.95) is None


def test_the_cost_of_the_collection() -> None:
    cost = collection_cost(DOLLARS, 48_000)
    assert cost.mean == pytest.approx(201.60)
    assert cost.interval is not None
    assert (cost.interval.low, cost.interval.high) == pytest.approx(
        (187.87, 215.33), abs=5e-3
    )
    # Of one picture, by scipy.
    low, high = scipy_stats.t.interval(
        0.95, 9, loc=0.0042, scale=scipy_stats.sem(DOLLARS)
    )
    assert (low, high) == pytest.approx((0.003914, 0.004486), abs=5e-7)
    assert cost.interval.low == pytest.approx(48_000 * low)
    assert collection_cost([0.1], 10).interval is None
    with pytest.raises(ConfigError, match="no picture with a cost"):
        collection_cost([], 10)


def test_the_sd_of_one_run() -> None:
    second = [0.9, 0.8, 0.9, 0.7, 1, 0.8, 1, 0.8, 0.6, 0.8]
    assert sd_of_run(A, second) == pytest.approx(0.038730, abs=5e-7)
    assert sum(a != b for a, b in zip(A, second, strict=True)) == 3
    assert sd_of_run([0.4], [0.4]) == 0


def test_battles_of_the_example() -> None:
    pairs = [("first", "first")] * 3 + [("first", "second")] * 4
    pairs += [("second", "second")] * 2 + [("first", "tie")]
    results = [battle_score(first, swapped) for first, swapped in pairs]  # type: ignore[arg-type]
    scores = [result[0] for result in results if result]
    flips = [result[1] for result in results if result]
    assert sum(scores) / 10 == pytest.approx(0.55)
    assert sum(flips) / 10 == pytest.approx(0.4)
    interval = mean_interval_t(scores)
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx(
        (0.2861, 0.8139), abs=5e-5
    )


def test_a_battle_with_a_missing_answer() -> None:
    assert battle_score("second", None) == (0.0, False)
    assert battle_score(None, "tie") == (0.5, False)
    assert battle_score(None, None) is None


def test_strengths_of_the_example() -> None:
    points = {("a", "b"): 5.5, ("a", "c"): 8.5, ("b", "c"): 8.0}
    first, second, outcomes = [], [], []
    for (a, b), total in points.items():
        for n in range(10):
            first.append(a)
            second.append(b)
            outcomes.append(min(1.0, max(0.0, total - n)))
    fit = bradley_terry(first, second, outcomes, clusters=[*range(10)] * 3)
    assert [s.value for s in fit.strengths] == pytest.approx(
        [0.635215, 0.401475, -1.036690], abs=5e-7
    )
    value = {s.system: s.value or 0.0 for s in fit.strengths}
    for a, b, chance in (
        ("a", "b", 0.558170), ("a", "c", 0.841830), ("b", "c", 0.808170),
    ):  # fmt: skip
        assert 1 / (1 + math.exp(value[b] - value[a])) == pytest.approx(
            chance, abs=5e-7
        )


def test_sizes_of_the_example() -> None:
    assert pictures_for_difference(0.05, 0.2, 0.5) == 126
    assert pictures_for_difference(0.05, 0.2, 0.5, systems=3) == 168
