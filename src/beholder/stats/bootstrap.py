"""Seeded percentile bootstrap, and the sign-flip test of paired samples.

One scheme serves every interval. What is drawn is a unit: a source (a picture, a video) with all of
its values, or a value that has no source. Up to 4,096 units all are drawn again; of more, each
resample draws 4,096 (the m-out-of-n bootstrap) and its deviation from the whole is scaled by
``sqrt(4096 / n)``, so that cost does not grow with n. Units are put in the order of their labels
first: rows in another order give the same interval.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from beholder.records import Estimate, Interval
from beholder.stats.checks import (
    Floats,
    Ints,
    Resampling,
    at_least,
    cluster_codes,
    cluster_sums,
    n_clusters,
    resampling,
    same_length,
    vector,
)
from beholder.stats.ranks import subtract

LEAST_SOURCES = 5
"""Independent sources below which a bootstrap gives no interval.

n units have C(2n - 1, n) distinct resamples (Hall 1992, *The Bootstrap and Edgeworth Expansion*,
appendix I): 35 of four, 126 of five. A tail of 2.5 % needs 40, so an interval of four and fewer
runs between their extremes, whatever the level.
"""
MOST_DRAWN = 4096
"""Units of a resample at most."""
# 2**13 sign patterns are fewer than the usual number of random ones.
_EXACT_UP_TO = 13
# A flip equal to the observed sum may differ in the last digits.
_TIE = 1.0 - 1e-12
# Cells of working memory: 8 MB per float64 array.
_CHUNK_CELLS = 1 << 20


def describe_few_sources(n_sources: int) -> str | None:
    """Return why so many independent sources have no interval; None if there are enough."""
    if n_sources >= LEAST_SOURCES:
        return None
    return f"too few sources for an interval: {n_sources}, at least {LEAST_SOURCES} are needed"


def mean_interval(
    values: ArrayLike,
    *,
    clusters: Sequence[Any] | NDArray[Any] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 12345,
) -> Estimate:
    """Mean with a percentile bootstrap interval.

    The result depends on the arguments alone, not on threads nor on the order of rows.

    Args:
        values: (n,) finite numbers in any unit.
        clusters: One label per value; whole clusters are resampled when values of one cluster
            (an image, an annotator) are not independent. The mean stays the mean over values.
        n_resamples: Bootstrap resamples.
        level: Confidence level.
        seed: Seed of the resampling.

    Returns:
        Mean, interval and n. The interval is None with fewer than ``LEAST_SOURCES`` units to
        resample, which ``reason`` says, and has zero width when all values are equal.

    Raises:
        ConfigError: No values, a value that is not finite, or a bad argument.
    """
    x = vector(values, "values")
    resampling(n_resamples, level)
    at_least(len(x), 1, "the number of values to take a mean of")
    codes = cluster_codes(clusters, len(x))
    # Resampling is by index, so rows are sorted first: the interval must not depend on their order.
    order = np.argsort(x) if clusters is None else np.lexsort((x, codes))
    x = x[order]
    codes = codes if clusters is None else codes[order]
    constant = x.min() == x.max()
    # A rounded sum of equal values can be off, and so can one of values in another order.
    mean = float(x[0]) if constant else math.fsum(x.tolist()) / len(x)
    sizes = np.bincount(codes).astype(np.float64)
    if few := describe_few_sources(len(sizes)):
        return Estimate(
            mean=mean,
            interval=None,
            n=len(x),
            reason=few,
        )
    if constant:
        return Estimate(mean, Interval(mean, mean, level), len(x))
    sums = np.stack([cluster_sums(codes, x), sizes], axis=1)
    replicates = sum_replicates(sums, n_resamples=n_resamples, seed=seed)
    return Estimate(
        mean,
        percentile_interval(replicates[:, 0] / replicates[:, 1], level),
        len(x),
    )


def percentile_interval(replicates: Floats, level: float) -> Interval | None:
    """Interval between the two outer quantiles of bootstrap replicates, shape (n_resamples,).

    None without replicates.
    """
    if not len(replicates):
        return None
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(replicates, [tail, 1.0 - tail])
    return Interval(float(low), float(high), level)


def draw_units(
    n: int,
    size: int,
    *,
    n_resamples: int,
    seed: int | Sequence[int],
    width: int = 1,
) -> Iterator[Ints]:
    """The units of all resamples: arrays (resamples, size) of indices below n, one after another.

    Args:
        n: Units that there are.
        size: Units of a resample.
        n_resamples: Bootstrap resamples.
        seed: Seed of the draws.
        width: Numbers of each unit that a caller gathers, by which an array has fewer rows.
    """
    rng = np.random.default_rng(seed)
    step = max(1, _CHUNK_CELLS // (size * width))
    for start in range(0, n_resamples, step):
        yield rng.integers(0, n, size=(min(step, n_resamples - start), size))


def sum_replicates(
    sums: Floats, *, n_resamples: int = 1000, seed: int | Sequence[int] = 12345
) -> Floats:
    """Bootstrap replicates of the sum of rows over units: for what is computed from summed counts.

    Args:
        sums: (n, k), a row per unit, in an order that the order of rows does not change.
        n_resamples: Bootstrap resamples.
        seed: Seed of the resampling.

    Returns:
        (n_resamples, k) sums, each within what n units can add up to; (0, k) with fewer than
        ``LEAST_SOURCES`` units.
    """
    n, k = sums.shape
    if n < LEAST_SOURCES:
        return np.zeros((0, k))
    size = min(n, MOST_DRAWN)
    chunks = draw_units(n, size, n_resamples=n_resamples, seed=seed, width=k)
    replicates = np.concatenate([sums[units].sum(axis=1) for units in chunks])
    if size == n:
        return replicates
    # m-out-of-n: the deviation of the smaller resample is scaled to that of n units.
    total = sums.sum(axis=0)
    return np.asarray(
        total + np.sqrt(size / n) * (n / size * replicates - total)
    )


def cluster_bootstrap(
    statistic: Callable[[Ints], float | None],
    codes: Ints,
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 12345,
) -> Interval | None:
    """Percentile interval of any statistic of resampled rows.

    Args:
        statistic: Takes row indices, returns the value, or None where it is not defined for them.
        codes: (n,) cluster index of each row.
        n_resamples: Bootstrap resamples.
        level: Confidence level.
        seed: Seed of the resampling.

    Returns:
        The interval over the resamples with a value, or None with fewer than ``LEAST_SOURCES``
        clusters or when fewer than nine in ten resamples have a value: an interval over the rest
        would be biased.
    """
    n = n_clusters(codes)
    size = min(n, MOST_DRAWN)
    replicates = cluster_replicates(
        statistic, codes, size, n_resamples=n_resamples, seed=seed
    )
    if size < n:
        centre = statistic(np.arange(len(codes)))
        if centre is None:
            return None
        scale = np.sqrt(size / n)
        replicates = [
            None if value is None else centre + scale * (value - centre)
            for value in replicates
        ]
    return replicate_interval(replicates, level)


def interval_or_reason(
    statistic: Callable[[Ints], float | None],
    codes: Ints,
    varying: str,
    **options: Unpack[Resampling],
) -> tuple[Interval | None, str | None]:
    """Return the interval of ``cluster_bootstrap``, and the reason if there is none.

    Args:
        statistic: As for ``cluster_bootstrap``.
        codes: (n,) cluster index of each row.
        varying: Noun and verb of the message for too few of them: ``items vary``.
        options: See ``Resampling``.
    """
    interval = cluster_bootstrap(statistic, codes, **options)
    return add_reason(interval, codes, varying)


def add_reason(
    interval: Interval | None, codes: Ints, varying: str
) -> tuple[Interval | None, str | None]:
    """Return an interval of clusters, and the reason if there is none; see ``bounded``."""
    if interval:
        return interval, None
    few = describe_few_sources(n_clusters(codes))
    return None, few or f"too few {varying} for a bootstrap interval"


def wald_interval(
    value: float, error: float, level: float = 0.95, df: float | None = None
) -> Interval:
    """Interval around a value with a standard error: normal, or Student's t with ``df``."""
    quantile = 0.5 + level / 2
    reach = (
        scipy.stats.norm.ppf(quantile)
        if df is None
        else scipy.stats.t.ppf(quantile, df)
    )
    half = float(reach) * error
    return Interval(value - half, value + half, level)


def cluster_replicates(
    statistic: Callable[[Ints], float | None],
    codes: Ints,
    size: int | None = None,
    *,
    n_resamples: int = 1000,
    seed: int = 12345,
) -> list[float | None]:
    """The statistic of each resample of clusters; empty with fewer than ``LEAST_SOURCES``.

    Args:
        statistic: As for ``cluster_bootstrap``.
        codes: (n,) cluster index of each row.
        size: Clusters of a resample; all of them if None.
        n_resamples: Bootstrap resamples.
        seed: Seed of the resampling.
    """
    n = n_clusters(codes)
    if n < LEAST_SOURCES:
        return []
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    ends = np.cumsum(sizes)
    chunks = draw_units(n, size or n, n_resamples=n_resamples, seed=seed)
    units = (row for chunk in chunks for row in chunk)
    if n == len(codes):
        return [statistic(order[sample]) for sample in units]
    return [
        statistic(order[_runs(ends[sample], sizes[sample])])
        for sample in units
    ]


def replicate_interval(
    replicates: Sequence[float | None], level: float = 0.95
) -> Interval | None:
    """Percentile interval over the replicates with a value; None if these are under nine in ten."""
    defined = [value for value in replicates if value is not None]
    if not defined or len(defined) < 0.9 * len(replicates):
        return None
    return percentile_interval(np.array(defined), level)


def _runs(ends: Ints, sizes: Ints) -> Ints:
    """Concatenation of the ranges ``end - size .. end``."""
    stops = np.cumsum(sizes)
    return np.arange(stops[-1]) + np.repeat(ends - stops, sizes)


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean of ``a - b`` over pairs.

    Attributes:
        mean: Mean difference; positive when ``a`` is higher.
        interval: Bootstrap interval of the mean difference; None with too few units.
        p_value: Two-sided sign-flip permutation p; never 0.
        n: Pairs.
        n_units: Independent units (pairs, or clusters of pairs) that were resampled and flipped.
        method: Method of interval and p.
    """

    mean: float
    interval: Interval | None
    p_value: float
    n: int
    n_units: int
    method: str

    @property
    def reason(self) -> str | None:
        """Why there is no interval, if the units are too few for one."""
        return None if self.interval else describe_few_sources(self.n_units)


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    *,
    clusters: Sequence[Any] | NDArray[Any] | None = None,
    n_resamples: int = 10_000,
    level: float = 0.95,
    seed: int = 12345,
) -> PairedDifference:
    """Mean of ``a - b`` with a bootstrap interval and a sign-flip permutation test.

    The null hypothesis is that each unit's difference is as likely to be negative as positive. Up
    to 13 units all sign patterns are enumerated (smallest p: ``2 / 2**n``); beyond, ``n_resamples``
    random patterns are drawn and the observed one counted among them (smallest p:
    ``1 / (n_resamples + 1)``). Beyond 4096 units, the 4096 largest differences are flipped, and the
    sum of the flipped rest is drawn from the normal distribution that it has.

    Args:
        a: (n,) scores of the first system or metric.
        b: (n,) scores of the second on the same items, in the same order.
        clusters: One label per pair; whole clusters are resampled and flipped.
        n_resamples: Bootstrap resamples and random sign patterns.
        level: Confidence level of the interval.
        seed: Seed of both.

    Returns:
        The difference. With all differences 0 the interval has zero width and p is 1.

    Raises:
        ConfigError: No pairs, different lengths, or a value that is not finite.
    """
    first = vector(a, "a")
    second = vector(b, "b")
    n = same_length(a=first, b=second)
    at_least(n, 1, "the number of pairs")
    difference = subtract(first, second)
    estimate = mean_interval(
        difference,
        clusters=clusters,
        n_resamples=n_resamples,
        level=level,
        seed=seed,
    )
    sums = cluster_sums(cluster_codes(clusters, n), difference)
    # The exact test lists all sign patterns, whose number doubles with each unit.
    exact = len(sums) <= _EXACT_UP_TO
    p_value = _exact_p(sums) if exact else _random_p(sums, n_resamples, seed)
    flips = f"all {2 ** len(sums)}" if exact else f"{n_resamples} random"
    method = f"percentile bootstrap ({n_resamples} resamples), sign-flip test ({flips} patterns)"
    return PairedDifference(
        mean=estimate.mean,
        interval=estimate.interval,
        p_value=p_value,
        n=n,
        n_units=len(sums),
        method=method,
    )


def _exact_p(sums: Floats) -> float:
    flipped = np.zeros(1)
    for value in sums:
        # Doubles the list with each unit: all sign patterns after the last.
        flipped = np.concatenate([flipped + value, flipped - value])
    return float(np.mean(np.abs(flipped) >= abs(sums.sum()) * _TIE))


def _random_p(sums: Floats, n_resamples: int, seed: int) -> float:
    # Independent of the bootstrap's draws.
    rng = np.random.default_rng([seed, 1])
    sizes = np.sort(np.abs(sums))[::-1]
    largest_sizes = sizes[:MOST_DRAWN]
    smaller_sizes = sizes[MOST_DRAWN:]
    residual = float(np.sqrt((smaller_sizes**2).sum()))
    observed = abs(float(sums.sum())) * _TIE
    # The observed pattern counts among the random ones, so p is never 0.
    as_extreme = 1
    step = max(1, _CHUNK_CELLS // len(largest_sizes))
    for start in range(0, n_resamples, step):
        rows = min(step, n_resamples - start)
        signs = 2.0 * rng.integers(0, 2, size=(rows, len(largest_sizes))) - 1.0
        flipped = signs @ largest_sizes + residual * rng.standard_normal(rows)
        as_extreme += int(np.count_nonzero(np.abs(flipped) >= observed))
    return as_extreme / (n_resamples + 1)
