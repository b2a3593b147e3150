"""Changes of a series: figures of an independent program (numpy and scipy), scipy, simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats.drift import (
    Drift,
    MeanSegment,
    UncertainValue,
    adjusted_mean,
    build_bridge,
    estimate,
    find_cause,
    find_drift,
    judge_noise,
    variance_between,
)
from toy.cases import each_case

MIX = (0.6, 0.3, 0.1)
ONCE_A_YEAR = 1 / 260
BEFORE = (0.9, 0.8, 0.7, 0.95, 0.6, 0.85, 0.75, 0.5, 0.8, 0.65, 0.9, 0.7)
AFTER = (0.85, 0.75, 0.7, 0.9, 0.6, 0.8, 0.7, 0.5, 0.75, 0.6, 0.85, 0.7)
NEXT_JUDGE = (
    0.80, 0.72, 0.58, 0.88, 0.49, 0.77, 0.66, 0.36, 0.69, 0.52, 0.82, 0.60,
)  # fmt: skip
FALLEN = (
    0.775, 0.769, 0.772, 0.780, 0.766, 0.771, 0.779, 0.768,
    0.729, 0.735, 0.731, 0.733, 0.728, 0.730,
)  # fmt: skip


def close(value: float, within: float = 5e-7) -> object:
    return pytest.approx(value, abs=within)


def baseline() -> UncertainValue:
    return adjusted_mean(
        (0.82, 0.74, 0.58), (0.15, 0.18, 0.22), (480, 240, 80), MIX
    )


def fallen_week() -> UncertainValue:
    return adjusted_mean(
        (0.78, 0.69, 0.55), (0.16, 0.18, 0.22), (60, 80, 60), MIX
    )


def test_a_changed_mix_does_not_change_the_adjusted_mean() -> None:
    assert baseline().value == close(0.772)
    assert baseline().error == close(0.005922)
    other_mix = adjusted_mean(
        (0.82, 0.74, 0.58), (0.15, 0.18, 0.22), (60, 80, 60), MIX
    )
    assert other_mix.value == close(0.772)
    assert other_mix.error == close(0.013398)


def test_a_fall_that_the_judge_made() -> None:
    before, week = baseline(), fallen_week()
    assert week.value == close(0.730)
    assert week.error == close(0.014075)
    production = estimate(
        week.value - before.value, math.hypot(week.error, before.error)
    )
    assert production.value == close(-0.042)
    assert production.error == close(0.015271)
    assert production.interval.low == close(-0.071930)
    assert production.interval.high == close(-0.012070)
    cause = find_cause(production, BEFORE, AFTER, freedom=197)
    assert cause.verdict == "judge"
    assert cause.judge.value == close(-0.033333)
    assert cause.judge.error == close(0.007107)
    assert cause.judge.interval.low == close(-0.048975)
    assert cause.judge.interval.high == close(-0.017692)
    assert cause.captions.value == close(-0.008667)
    assert cause.captions.error == close(0.016843)
    assert cause.captions.freedom == close(158.46, within=0.005)
    assert cause.captions.interval.low == close(-0.041933)
    assert cause.captions.interval.high == close(0.024600)


@each_case(
    ("change", "shift", "verdict"),
    [
        (-0.05, 0.0, "captions"),
        (-0.05, -0.05, "judge"),
        (0.0, -0.05, "both"),  # milder texts hidden by a stricter judge
        (-0.1, -0.05, "both"),
        (-0.004, 0.0, "unclear"),  # below the margin
        (0.0, 0.0, "unclear"),
        (0.05, 0.0, "captions"),
    ],
)
def test_verdicts(change: float, shift: float, verdict: str) -> None:
    anchor = np.linspace(0.2, 0.9, 80)
    # The judge moves texts by the shift and a little more or less.
    moved = anchor + shift + np.tile((0.002, -0.002), 40)
    production = estimate(change, 0.001)
    cause = find_cause(production, anchor, moved, freedom=200)
    assert cause.verdict == verdict


def test_a_deterministic_judge_does_not_move() -> None:
    cause = find_cause(estimate(-0.05, 0.01), BEFORE, BEFORE, freedom=50)
    assert (cause.judge.value, cause.judge.error) == (0, 0)
    assert cause.captions.freedom == pytest.approx(50)
    assert cause.verdict == "captions"


def test_sequences_from_every_start() -> None:
    variances = np.full(len(FALLEN), 0.0134**2)

    def after(n_runs: int):  # type: ignore[no-untyped-def]
        return find_drift(
            FALLEN[:n_runs], variances[:n_runs], rate=ONCE_A_YEAR
        )

    assert after(8).between == 0
    for n_runs, half in (
        (1, 0.058767),
        (2, 0.038262),
        (4, 0.026046),
        (8, 0.018237),
    ):
        same = find_drift([0.5] * n_runs, variances[:n_runs], rate=ONCE_A_YEAR)
        assert 0.5 - same.high.interval.low == close(half)
    for n_runs, upper in ((12, 0.758046), (13, 0.754367), (14, 0.752091)):
        drift = after(n_runs)
        assert drift.high.interval.low == close(0.754263)
        assert (drift.high.first, drift.high.last) == (0, 7)
        assert drift.low.interval.high == close(upper)
        assert drift.is_change == (n_runs == 14)
    drift = after(14)
    assert (drift.low.first, drift.low.last) == (8, 13)
    assert drift.change_point == 8  # the ninth run
    assert drift.size == close(-0.0415)


def test_runs_that_differ_more_than_their_pictures() -> None:
    values = (0.80, 0.81, 0.79, 0.80, 0.81, 0.80, 0.79, 0.80, 0.80, 0.72, 0.71)
    variances = np.full(len(values), 0.01**2)
    assert variance_between(values[:9], variances[:9]) == 0
    assert variance_between(values[:10], variances[:10]) == close(
        0.00031111, 5e-9
    )
    drift = find_drift(values[:10], variances[:10], rate=ONCE_A_YEAR)
    assert drift.high.interval.low == close(0.773980)
    assert drift.low.interval.high == close(0.808922)
    assert not drift.is_change
    drift = find_drift(values, variances, rate=ONCE_A_YEAR)
    assert drift.between == close(0.000275, 5e-9)
    assert drift.high.interval.low == close(0.775149)
    assert drift.low.interval.high == close(0.770294)
    assert drift.is_change


def test_segments_of_two_judges_must_differ_by_the_guard() -> None:
    variances = np.full(len(FALLEN), 0.0134**2)
    judges = [0] * 8 + [1] * 6
    # The two segments are .754263 - .752091 = .002172 apart.
    for guard, is_change in ((0.0021, True), (0.0023, False)):
        drift = find_drift(
            FALLEN, variances, rate=ONCE_A_YEAR, judges=judges, guard=guard
        )
        assert drift.is_change == is_change


def test_a_segment_of_two_judges_does_not_evade_the_guard() -> None:
    # A step of .02 at the change of judge is less than the guard of .021. The segment of runs 1 to
    # 27 ends under the new judge, but has 26 runs of the old.
    values = [0.77] * 26 + [0.75] * 78
    judges = [0] * 26 + [1] * 78

    def is_change(guard: float) -> bool:
        variances = [0.0002] * 104
        return find_drift(
            values, variances, rate=1 / 780, judges=judges, guard=guard
        ).is_change

    assert is_change(0.0)
    assert not is_change(0.021)


def test_segments_with_one_start_are_ordered_by_their_ends() -> None:
    # The first run alone is far above all runs together: a fall after the first run.
    high = MeanSegment(0, 0, 0.9, Interval(0.85, 0.95))
    low = MeanSegment(0, 9, 0.6, Interval(0.5, 0.7))
    drift = Drift(high, low, is_change=True, between=0.0)
    assert drift.change_point == 1
    assert drift.size == pytest.approx(-0.3)


def test_a_rise_is_a_change_with_a_positive_size() -> None:
    variances = np.full(len(FALLEN), 0.0134**2)
    drift = find_drift(
        [1 - value for value in FALLEN], variances, rate=ONCE_A_YEAR
    )
    assert drift.is_change
    assert drift.change_point == 8
    assert drift.size == close(0.0415)


def test_bridge_to_the_next_judge() -> None:
    bridge = build_bridge(
        BEFORE, NEXT_JUDGE, 0.772, variance=baseline().error ** 2
    )
    assert bridge.intercept == close(-0.203954)
    assert bridge.slope.value == close(1.135983)
    assert bridge.slope.interval.low == close(1.072657)
    assert bridge.slope.interval.high == close(1.199309)
    assert bridge.correlation == close(0.996885)
    assert bridge.level.value == close(0.673025)
    assert bridge.level.error == close(0.007669)
    assert bridge.level.interval.low == close(0.655937)
    assert bridge.level.interval.high == close(0.690114)
    assert bridge.is_inside
    assert not build_bridge(BEFORE, NEXT_JUDGE, 0.99).is_inside


def test_noise_of_a_judge_by_hand() -> None:
    # Differences .1, 0, -.1: their mean square is .02/3; half of it over three texts.
    assert judge_noise((0.5, 0.6, 0.7), (0.6, 0.6, 0.6)) == pytest.approx(
        0.02 / 3 / 2 / 3
    )


def test_intervals_are_those_of_scipy() -> None:
    figure = estimate(0.3, 0.1, 7)
    low, high = scipy_stats.t.interval(0.95, 7, loc=0.3, scale=0.1)
    assert figure.interval.low == pytest.approx(low)
    assert figure.interval.high == pytest.approx(high)


@pytest.mark.parametrize(
    ("counts", "mix"), [((10, 0), (0.5, 0.5)), ((10, 10), (0.5, 0.6))]
)
def test_strata_that_give_no_mean(
    counts: tuple[int, int], mix: tuple[float, float]
) -> None:
    with pytest.raises(ConfigError, match="expected a picture or more"):
        adjusted_mean((0.5, 0.6), (0.1, 0.1), counts, mix)


@pytest.mark.parametrize(
    ("values", "variances", "rate"),
    [([0.5], [0.0], 0.01), ([], [], 0.01), ([0.5], [0.1], 1.5)],
)
def test_series_that_cannot_be_read(
    values: list[float], variances: list[float], rate: float
) -> None:
    with pytest.raises(ConfigError):
        find_drift(values, variances, rate=rate)


def test_anchors_and_bridges_of_too_few_texts() -> None:
    with pytest.raises(ConfigError, match="fewer than two texts"):
        find_cause(estimate(0.1, 0.1), [0.5], [0.5], freedom=9)
    with pytest.raises(ConfigError, match="scores that differ"):
        build_bridge([0.5, 0.5, 0.5], [0.1, 0.2, 0.3], 0.5)


@pytest.mark.slow
def test_false_alarms_stay_below_the_rate() -> None:
    # 60 quiet series of 52 runs: at 1/260 a look, at most .2 of them may raise an alarm; with 60
    # series 12 on average, and more than 22 once in 1,000 draws (binomial).
    generator = np.random.default_rng(11)
    variances = np.full(52, 0.0134**2)
    n_alarms = sum(
        any(
            find_drift(
                series[:n_runs], variances[:n_runs], rate=ONCE_A_YEAR
            ).is_change
            for n_runs in range(12, 53, 8)
        )
        for series in generator.normal(0.77, 0.0134, (60, 52))
    )
    assert n_alarms <= 22
