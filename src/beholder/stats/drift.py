"""Changes of a series of runs over different pictures: adjusted means, sequences, causes, bridges.

Runs may be looked at after each; the chance of a false alarm within T looks is at most T times the
rate of false alarms. The sequences are asymptotic: below 50 pictures a run they may be too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats.checks import Floats, same_length, vector

USUAL_RUNS = 8
"""Runs at which a sequence is narrowest for its information."""
MARGIN = 0.01
"""Changes below it do not count."""
LEVEL = 0.95


@dataclass(frozen=True)
class UncertainValue:
    """A figure with its standard error and interval.

    Attributes:
        value: The figure.
        error: Its standard error.
        interval: Its interval at ``LEVEL``.
        freedom: Degrees of freedom of the t distribution; infinite for the normal one.
    """

    value: float
    error: float
    interval: Interval
    freedom: float = math.inf


def estimate(
    value: float, error: float, freedom: float = math.inf
) -> UncertainValue:
    """Return a figure with the interval of a t distribution; the normal one by default."""
    quantile = (1 + LEVEL) / 2
    z = (
        scipy.special.ndtri(quantile)
        if math.isinf(freedom)
        else scipy.stats.t.ppf(quantile, freedom)
    )
    half = float(z) * error
    return UncertainValue(
        value, error, Interval(value - half, value + half), freedom
    )


def adjusted_mean(
    means: ArrayLike, deviations: ArrayLike, counts: ArrayLike, mix: ArrayLike
) -> UncertainValue:
    """Return the mean that a run would have with a fixed mix of strata.

    Args:
        means: Mean over the pictures of each stratum.
        deviations: Standard deviation over the pictures of each stratum.
        counts: Pictures of each stratum.
        mix: Weight of each stratum; the sum is 1.

    Raises:
        ConfigError: Lengths differ, a stratum has no picture, or the weights do not sum to 1.
    """
    y, s = vector(means, "means"), vector(deviations, "deviations")
    n, weights = vector(counts, "counts"), vector(mix, "mix")
    same_length(means=y, deviations=s, counts=n, mix=weights)
    if (n < 1).any() or not math.isclose(weights.sum(), 1, abs_tol=1e-9):
        raise ConfigError(
            f"counts {n.tolist()}, mix {weights.tolist()}: expected a picture or more in each"
            " stratum, and weights that sum to 1"
        )
    variance = float((weights**2 * s**2 / n).sum())
    return estimate(float((weights * y).sum()), math.sqrt(variance))


def variance_between(values: ArrayLike, variances: ArrayLike) -> float:
    """Return the variance between runs beyond that of their pictures, from neighbouring runs.

    A step changes one pair of neighbours, so that it hardly changes the figure.

    Args:
        values: Mean of each run, in the order of time.
        variances: Squared standard error of each.

    Source: von Neumann 1941, successive differences.
    """
    y, v = vector(values, "values"), vector(variances, "variances")
    if same_length(values=y, variances=v) < 2:
        return 0.0
    beyond = np.diff(y) ** 2 / 2 - (v[1:] + v[:-1]) / 2
    return max(0.0, float(beyond.mean()))


@dataclass(frozen=True)
class MeanSegment:
    """Mean of neighbouring runs, with an interval that is valid at all looks.

    Attributes:
        first: Place of its first run.
        last: Place of its last run.
        mean: Mean weighted by information.
        interval: The interval.
    """

    first: int
    last: int
    mean: float
    interval: Interval


@dataclass(frozen=True)
class Drift:
    """The two segments of a series that differ most.

    Attributes:
        high: MeanSegment whose interval has the highest lower end.
        low: MeanSegment whose interval has the lowest upper end.
        is_change: Whether the two exclude each other.
        between: Variance between runs that was added.
    """

    high: MeanSegment
    low: MeanSegment
    is_change: bool
    between: float

    @property
    def change_point(self) -> int | None:
        """Place of the first run after the change; None without one."""
        if not self.is_change:
            return None
        earlier, later = self._in_order
        # Of two segments with one start, the change is where the shorter ends.
        return later.first if later.first > earlier.first else earlier.last + 1

    @property
    def size(self) -> float:
        """Later segment minus earlier one; negative if it got worse."""
        earlier, later = self._in_order
        return later.mean - earlier.mean

    @property
    def _in_order(self) -> tuple[MeanSegment, MeanSegment]:
        """The segment that begins or, with the same start, ends first, and the other."""
        earlier, later = sorted(
            (self.high, self.low),
            key=lambda segment: (segment.first, segment.last),
        )
        return earlier, later


def find_drift(
    values: ArrayLike,
    variances: ArrayLike,
    *,
    rate: float,
    judges: Sequence[int] | None = None,
    guard: float = 0.0,
    between: float | None = None,
) -> Drift:
    """Compare the sequences of means that start at each run.

    Args:
        values: Mean of each run, in the order of time; one or more.
        variances: Squared standard error of each, above 0.
        rate: Rate of false alarms a look, such as 1/260.
        judges: Number of each run's judge. Segments that are not wholly of one and the same judge
            must differ by more than ``guard``, as the error of the judge's shift is common to all
            later runs.
        guard: Least difference between segments of two judges.
        between: Variance between runs; None estimates it from these runs.

    Returns:
        The two segments that differ most, each with its first and last place.

    Raises:
        ConfigError: A variance is not above 0, or the rate is not between 0 and 1.

    Source: Waudby-Smith and others 2024 (asymptotic confidence sequences); Shekhar and Ramdas 2023
        (alarm when sequences from two starts exclude each other).
    """
    y, v = vector(values, "values"), vector(variances, "variances")
    n_runs = same_length(values=y, variances=v)
    if between is None:
        between = variance_between(y, v)
    judge_of_run = list(judges or [0] * n_runs)
    # By the judges of both ends: a segment that spans a change of judge may have mostly the old
    # judge's runs, so its end alone does not say whether the guard is due.
    highest: dict[tuple[int, int], MeanSegment] = {}
    lowest: dict[tuple[int, int], MeanSegment] = {}
    for first in range(max(n_runs, 1)):
        for segment in mean_sequence(
            y, v, rate=rate, between=between, first=first
        ):
            ends = judge_of_run[first], judge_of_run[segment.last]
            top, bottom = highest.get(ends), lowest.get(ends)
            if top is None or segment.interval.low > top.interval.low:
                highest[ends] = segment
            if bottom is None or segment.interval.high < bottom.interval.high:
                lowest[ends] = segment
    gap, high, low = max(
        (
            (
                top.interval.low
                - bottom.interval.high
                - (guard if len({*one, *other}) > 1 else 0.0),
                top,
                bottom,
            )
            for one, top in highest.items()
            for other, bottom in lowest.items()
        ),
        key=lambda pair: pair[0],
    )
    return Drift(high, low, gap > 0, between)


def mean_sequence(
    values: ArrayLike,
    variances: ArrayLike,
    *,
    rate: float,
    between: float,
    first: int = 0,
) -> list[MeanSegment]:
    """Return the mean from a run to each later one, with intervals that are valid at all looks.

    Args:
        values: Mean of each run, in the order of time; one or more.
        variances: Squared standard error of each, above 0.
        rate: Rate of false alarms a look.
        between: Variance between runs.
        first: Place of the first run of the sequence.

    Raises:
        ConfigError: A variance is not above 0, or the rate is not between 0 and 1.
    """
    y, v = vector(values, "values"), vector(variances, "variances")
    n_runs = same_length(values=y, variances=v)
    if not 0 < rate < 1 or not n_runs or (v <= 0).any():
        raise ConfigError(
            f"rate={rate}, {n_runs} runs, least variance {min(v, default=0)}: expected a rate"
            " between 0 and 1, a run or more, and variances above 0"
        )
    information = 1 / (v + between)
    scale = _scale(rate, USUAL_RUNS * float(np.median(information)))
    total = np.cumsum(information[first:])
    means = np.cumsum(information[first:] * y[first:]) / total
    halves = _half_widths(total, scale, rate)
    return [
        MeanSegment(
            first,
            first + place,
            float(mean),
            Interval(float(mean - half), float(mean + half)),
        )
        for place, (mean, half) in enumerate(zip(means, halves, strict=True))
    ]


def runs_to_show(
    size: float,
    variance: float,
    *,
    n_before: int,
    rate: float,
    most: int = 520,
) -> int | None:
    """Return after how many runs a change is shown if the means are what is expected.

    Args:
        size: The change, above 0.
        variance: Squared standard error of a run, with that between runs; above 0.
        n_before: Runs before the change, 1 or more.
        rate: Rate of false alarms a look.
        most: Runs after which None is returned.
    """
    information = 1 / variance
    scale = _scale(rate, USUAL_RUNS * information)
    total = information * np.arange(1, max(n_before, most) + 1)
    halves = _half_widths(total, scale, rate)
    shown = np.flatnonzero(halves[:most] + halves[n_before - 1] < size)
    return int(shown[0]) + 1 if len(shown) else None


def _scale(rate: float, usual_information: float) -> float:
    """Return the parameter that makes a sequence narrowest at the usual information."""
    logarithm = -2 * math.log(rate)
    return (logarithm + math.log(logarithm + 1)) / usual_information


def _half_widths(information: Floats, scale: float, rate: float) -> Floats:
    """Return half the width of the sequence at each amount of information."""
    grown = information * scale + 1
    widths: Floats = np.sqrt(
        grown / (information**2 * scale) * np.log(grown / rate**2)
    )
    return widths


@dataclass(frozen=True)
class Cause:
    """The cause of a change: the captions, the judge, both, or neither clearly.

    Attributes:
        verdict: ``captions``, ``judge``, ``both`` or ``unclear``.
        production: Change of the watched texts.
        judge: Change of the anchor texts, which only the judge can move.
        captions: The first minus the second.
    """

    verdict: str
    production: UncertainValue
    judge: UncertainValue
    captions: UncertainValue


def find_cause(
    production: UncertainValue,
    anchor_before: ArrayLike,
    anchor_after: ArrayLike,
    *,
    freedom: float,
    margin: float = MARGIN,
) -> Cause:
    """Return whether captions or judge changed.

    It assumes that the judge moved as much on the watched texts as on the anchor.

    Args:
        production: Change of the watched texts with its standard error.
        anchor_before: Score of each anchor text before the change.
        anchor_after: Score of the same texts after it.
        freedom: Degrees of freedom of the error of ``production``.
        margin: Changes below it do not count.

    Raises:
        ConfigError: The anchor has fewer than two texts, or the lengths differ.
    """
    shifts = _paired_shifts(anchor_before, anchor_after)
    n = len(shifts)
    error = float(shifts.std(ddof=1)) / math.sqrt(n)
    judge = estimate(float(shifts.mean()), error, n - 1)
    squares = (production.error**2, error**2)
    # Welch and Satterthwaite: a term without error takes no part.
    parts = squares[0] ** 2 / freedom + squares[1] ** 2 / (n - 1)
    welch = sum(squares) ** 2 / parts if parts else math.inf
    captions = estimate(
        production.value - judge.value, math.sqrt(sum(squares)), welch
    )
    changed = [
        name
        for name, change in (("captions", captions), ("judge", judge))
        if _excludes_zero(change, margin)
    ]
    verdict = "both" if len(changed) == 2 else "".join(changed) or "unclear"
    return Cause(verdict, production, judge, captions)


def _paired_shifts(before: ArrayLike, after: ArrayLike) -> Floats:
    """Return after minus before, text by text."""
    first, second = vector(before, "before"), vector(after, "after")
    if same_length(before=first, after=second) < 2:
        raise ConfigError("an anchor of fewer than two texts; use at least 60")
    shifts: Floats = second - first
    return shifts


def _excludes_zero(change: UncertainValue, margin: float) -> bool:
    """Return whether a change counts and its interval excludes 0."""
    ends = change.interval
    return abs(change.value) >= margin and not ends.low <= 0 <= ends.high


def agreement_change(
    labels: ArrayLike, before: ArrayLike, after: ArrayLike
) -> UncertainValue:
    """Return the change of a judge's agreement with people, Kendall's tau-b, on the same texts.

    Its standard error is that of the jackknife over texts.

    Args:
        labels: Human label of each text.
        before: Score of each text before.
        after: Score of each text after.

    Raises:
        ConfigError: There are fewer than three texts, or the lengths differ.
    """
    x = vector(labels, "labels")
    scores = vector(before, "before"), vector(after, "after")
    n = same_length(labels=x, before=scores[0], after=scores[1])
    if n < 3:
        raise ConfigError(f"{n} texts with a label; expected 3 or more")

    def change(kept: NDArray[np.bool_]) -> float:
        first, second = (
            float(scipy.stats.kendalltau(x[kept], y[kept]).statistic)
            for y in scores
        )
        # Equal scores of all texts have no order, so they agree with none.
        return float(np.nan_to_num(second) - np.nan_to_num(first))

    leave_one = [change(row) for row in ~np.eye(n, dtype=bool)]
    error = math.sqrt((n - 1) * float(np.var(leave_one)))
    return estimate(change(np.ones(n, dtype=bool)), error)


def judge_noise(first: ArrayLike, second: ArrayLike) -> float:
    """Return the variance of the anchor's mean that comes from repeating the judge.

    Args:
        first: Scores of the anchor texts.
        second: Scores of the same texts, judged again.
    """
    shifts = _paired_shifts(first, second)
    return float((shifts**2).mean()) / 2 / len(shifts)


@dataclass(frozen=True)
class Bridge:
    """Scores of a new judge as a line over those of an old one.

    Attributes:
        intercept: Score of the new judge where the old one gives 0.
        slope: Its slope, with t interval.
        correlation: Pearson's correlation of the two.
        n: Anchor texts.
        level: The old level on the new judge's scale.
        is_inside: Whether the old level lies within the anchor's old scores.
    """

    intercept: float
    slope: UncertainValue
    correlation: float
    n: int
    level: UncertainValue
    is_inside: bool


def build_bridge(
    old: ArrayLike,
    new: ArrayLike,
    level: float,
    *,
    variance: float = 0.0,
) -> Bridge:
    """Return what the new judge would have said of the old level, by least squares.

    Args:
        old: Scores of the anchor texts by the old judge.
        new: Scores of the same texts by the new one.
        level: Level of the series under the old judge.
        variance: Squared standard error of ``level``.

    Raises:
        ConfigError: Fewer than three texts, other lengths, or equal scores of the old judge.
    """
    x, y = vector(old, "old"), vector(new, "new")
    n = same_length(old=x, new=y)
    if n < 3 or np.ptp(x) == 0:
        raise ConfigError(
            f"{n} anchor texts with old scores from {min(x, default=0)} to {max(x, default=0)}:"
            " expected three texts or more with scores that differ"
        )
    line = scipy.stats.linregress(x, y)
    slope = estimate(float(line.slope), float(line.stderr), n - 2)
    squares = float(((x - x.mean()) ** 2).sum())
    rest = float(line.stderr) ** 2 * squares
    error = math.sqrt(
        rest * (1 / n + (level - x.mean()) ** 2 / squares)
        + slope.value**2 * variance
    )
    return Bridge(
        intercept=float(line.intercept),
        slope=slope,
        correlation=float(line.rvalue),
        n=n,
        level=estimate(
            float(line.intercept) + slope.value * level, error, n - 2
        ),
        is_inside=bool(x.min() <= level <= x.max()),
    )
