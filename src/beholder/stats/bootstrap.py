"""Seeded percentile bootstrap, and the sign-flip test of paired samples.

Many values are resampled in *blocks*: sorted, cut into about a thousand runs, and how often each
run is drawn is one multinomial. Within a run the values are nearly equal; what they still differ
by enters as one normal draw with the exact variance. The outermost values stay runs of their own:
a single far value does not behave normally. Cost and memory then no longer grow with n times the
number of resamples, and a million values take a fraction of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.records import Estimate, Interval
from beholder.stats.checks import (
    Floats,
    Ints,
    at_least,
    cluster_codes,
    cluster_sums,
    n_clusters,
    resampling,
    same_length,
    vector,
)

PLAIN_UP_TO = 4096
_EDGE = 256
_INNER = 512
_EXACT_UP_TO = 13  # 2**13 sign patterns are fewer than the usual number of random ones
_TIE = 1.0 - 1e-12  # a flip equal to the observed sum may differ in the last digits
_CHUNK_CELLS = 1 << 20  # cells of working memory: 8 MB per float64 array


def mean_interval(
    values: ArrayLike,
    *,
    clusters: Sequence[Any] | NDArray[Any] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 12345,
) -> Estimate:
    """Mean with a percentile bootstrap interval.

    Up to 4096 units (values, or clusters of them) are resampled one by one. More are resampled in
    blocks of sorted values (see the module): the bootstrap mean and variance stay exact given the
    blocks, and the interval differs from the plain one by less than its Monte Carlo error. The
    result depends on the arguments alone, not on threads.

    Args:
        values: (n,) finite numbers in any unit.
        clusters: One label per value; whole clusters are resampled when values of one cluster
            (an image, an annotator) are not independent. The mean stays the mean over values.
        n_resamples: Bootstrap resamples.
        level: Confidence level.
        seed: Seed of the resampling.

    Returns:
        Mean, interval and n. The interval is None with fewer than two units to resample, and has
        zero width when all values are equal.

    Raises:
        ConfigError: No values, a value that is not finite, or a bad argument.
    """
    x = vector(values, "values")
    resampling(n_resamples, level)
    at_least(len(x), 1, "the number of values to take a mean of")
    constant = x.min() == x.max()
    mean = float(x[0] if constant else x.mean())  # a rounded sum of equal values can be off
    codes = cluster_codes(clusters, len(x))
    sizes = np.bincount(codes).astype(np.float64)
    if len(sizes) < 2:
        return Estimate(mean, None, len(x))
    if constant:
        return Estimate(mean, Interval(mean, mean, level), len(x))
    sums = cluster_sums(codes, x)
    replicates = _ratio_replicates(sums, sizes, n_resamples, np.random.default_rng(seed))
    return Estimate(mean, percentile_interval(replicates, level), len(x))


def percentile_interval(replicates: Floats, level: float) -> Interval:
    """Interval between the two outer quantiles of bootstrap replicates, shape (n_resamples,)."""
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(replicates, [tail, 1.0 - tail])
    return Interval(float(low), float(high), level)


def _blocks(key: Floats) -> tuple[Ints, Ints, Ints]:
    """Order that sorts more than ``PLAIN_UP_TO`` keys; each block's start in it, and its size."""
    order = np.argsort(key, kind="stable")
    edges = np.arange(_EDGE)
    inner = np.linspace(_EDGE, len(key) - _EDGE, _INNER, endpoint=False).astype(np.int64)
    starts = np.concatenate([edges, inner, len(key) - _EDGE + edges])
    return order, starts, np.diff(np.append(starts, len(key)))


def _ratio_replicates(
    sums: Floats, sizes: Floats, n_resamples: int, rng: np.random.Generator
) -> Floats:
    """Bootstrap replicates of sum(sums) / sum(sizes) over units, shape (n_resamples,)."""
    n = len(sums)
    if n <= PLAIN_UP_TO:
        draws = (rng.integers(0, n, size=(rows, n)) for rows in _chunks(n_resamples, n))
        return np.concatenate([sums[d].sum(axis=1) / sizes[d].sum(axis=1) for d in draws])
    # A unit moves the ratio by sums - ratio * sizes, to first order: sort by that.
    influence = sums - sums.sum() / sizes.sum() * sizes
    order, starts, counts = _blocks(influence)
    mean_sum, mean_size, mean_influence = (
        np.add.reduceat(v[order], starts) / counts for v in (sums, sizes, influence)
    )
    spread = np.add.reduceat((influence[order] - np.repeat(mean_influence, counts)) ** 2, starts)
    variance = spread / counts
    parts = []
    for size in _chunks(n_resamples, len(starts)):
        drawn = rng.multinomial(n, counts / n, size=size).astype(np.float64)
        noise = rng.standard_normal(size) * np.sqrt((drawn * variance).sum(axis=1))
        parts.append(((drawn * mean_sum).sum(axis=1) + noise) / (drawn * mean_size).sum(axis=1))
    return np.concatenate(parts)


def sum_replicates(
    sums: Floats,
    influence: Callable[[], Floats],
    *,
    n_resamples: int,
    rng: np.random.Generator,
) -> Floats:
    """Bootstrap replicates of the sum of rows over units: for what is made of summed counts.

    Up to ``PLAIN_UP_TO`` units are resampled one by one, more in blocks (see the module): mean and
    covariance of the sums stay exact given the blocks.

    Args:
        sums: (n, k), a row per unit.
        influence: Gives, (n,), what units with nearly equal values are put together by: how far
            each moves what is made of the sums.
        n_resamples: Bootstrap resamples.
        rng: Draws them.

    Returns:
        (n_resamples, k) sums, each within what n units can add up to.
    """
    n, k = sums.shape
    if n <= PLAIN_UP_TO:
        chances = np.full(n, 1 / n)
        return np.stack([rng.multinomial(n, chances) @ sums for _ in range(n_resamples)])
    order, starts, counts = _blocks(influence())
    means = np.add.reduceat(sums[order], starts) / counts[:, None]
    covariances = np.zeros((len(starts), k, k))
    for block in np.flatnonzero(counts > 1):
        rows = sums[order[starts[block] : starts[block] + counts[block]]] - means[block]
        covariances[block] = rows.T @ rows / counts[block]
    drawn = rng.multinomial(n, counts / n, size=n_resamples).astype(np.float64)
    spread = (drawn @ covariances.reshape(len(starts), -1)).reshape(n_resamples, k, k)
    variances, axes = np.linalg.eigh(spread)
    noise = rng.standard_normal((n_resamples, k)) * np.sqrt(np.maximum(variances, 0.0))
    found = drawn @ means + (axes @ noise[:, :, None])[:, :, 0]
    return np.asarray(np.clip(found, n * sums.min(axis=0), n * sums.max(axis=0)))


def _chunks(n_resamples: int, width: int) -> Iterator[int]:
    step = max(1, _CHUNK_CELLS // width)
    for start in range(0, n_resamples, step):
        yield min(step, n_resamples - start)


def cluster_bootstrap(
    statistic: Callable[[Ints], float | None],
    codes: Ints,
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 12345,
    centre: float | None = None,
) -> Interval | None:
    """Percentile interval of any statistic of resampled rows.

    Args:
        statistic: Takes row indices, returns the value, or None where it is not defined for them.
        codes: (n,) cluster index of each row.
        n_resamples: Bootstrap resamples.
        level: Confidence level.
        seed: Seed of the resampling.
        centre: The statistic on all rows, for an m-out-of-n bootstrap of many clusters: each
            resample draws ``PLAIN_UP_TO`` of them and its deviation from the centre is scaled by
            ``sqrt(PLAIN_UP_TO / n_clusters)``. None resamples all clusters whatever their number.

    Returns:
        The interval over the resamples with a value, or None with fewer than two clusters or when
        fewer than nine in ten resamples have a value: an interval over the rest would be biased.
    """
    size = n_clusters(codes)
    if centre is not None:
        size = min(size, PLAIN_UP_TO)
    drawn = cluster_replicates(statistic, codes, size, n_resamples=n_resamples, seed=seed)
    if centre is not None and size < n_clusters(codes):
        scale = np.sqrt(size / n_clusters(codes))
        drawn = [None if one is None else centre + scale * (one - centre) for one in drawn]
    return replicate_interval(drawn, level)


def cluster_replicates(
    statistic: Callable[[Ints], float | None],
    codes: Ints,
    size: int | None = None,
    *,
    n_resamples: int = 1000,
    seed: int = 12345,
) -> list[float | None]:
    """The statistic of each resample of clusters; empty with fewer than two clusters.

    Args:
        statistic: As for ``cluster_bootstrap``.
        codes: (n,) cluster index of each row.
        size: Clusters of a resample; all of them if None.
        n_resamples: Bootstrap resamples.
        seed: Seed of the resampling.
    """
    n = n_clusters(codes)
    if n < 2:
        return []
    rng = np.random.default_rng(seed)
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    ends = np.cumsum(sizes)
    draws = (rng.integers(0, n, size=size or n) for _ in range(n_resamples))
    if n == len(codes):
        return [statistic(order[draw]) for draw in draws]
    return [statistic(order[_runs(ends[draw], sizes[draw])]) for draw in draws]


def replicate_interval(replicates: Sequence[float | None], level: float = 0.95) -> Interval | None:
    """Percentile interval over the replicates with a value; None if these are under nine in ten."""
    known = [one for one in replicates if one is not None]
    if not known or len(known) < 0.9 * len(replicates):
        return None
    return percentile_interval(np.array(known), level)


def _runs(ends: Ints, sizes: Ints) -> Ints:
    """Concatenation of the ranges ``end - size .. end``."""
    stops = np.cumsum(sizes)
    return np.arange(stops[-1]) + np.repeat(ends - stops, sizes)


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """Mean of ``a - b`` over pairs.

    Attributes:
        mean: Mean difference; positive when ``a`` is higher.
        interval: Bootstrap interval of the mean difference; None with fewer than two units.
        p_value: Two-sided sign-flip permutation p; never 0.
        n: Pairs.
        n_units: Independent units (pairs, or clusters of pairs) that were resampled and flipped.
        method: How interval and p were made.
    """

    mean: float
    interval: Interval | None
    p_value: float
    n: int
    n_units: int
    method: str


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
    ``1 / (n_resamples + 1)``). Beyond 4096 units, flips are drawn per block of similar
    differences, as in :mod:`beholder.stats.bootstrap`.

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
    first, second = vector(a, "a"), vector(b, "b")
    n = same_length(a=first, b=second)
    at_least(n, 1, "the number of pairs")
    difference = first - second
    estimate = mean_interval(
        difference, clusters=clusters, n_resamples=n_resamples, level=level, seed=seed
    )
    sums = cluster_sums(cluster_codes(clusters, n), difference)
    exact = len(sums) <= _EXACT_UP_TO
    p_value = _exact_p(sums) if exact else _random_p(sums, n_resamples, seed)
    flips = f"all {2 ** len(sums)}" if exact else f"{n_resamples} random"
    method = f"percentile bootstrap ({n_resamples} resamples), sign-flip test ({flips} patterns)"
    return PairedDifference(estimate.mean, estimate.interval, p_value, n, len(sums), method)


def _exact_p(sums: Floats) -> float:
    flipped = np.zeros(1)
    for value in sums:
        flipped = np.concatenate([flipped + value, flipped - value])
    return float(np.mean(np.abs(flipped) >= abs(sums.sum()) * _TIE))


def _random_p(sums: Floats, n_resamples: int, seed: int) -> float:
    rng = np.random.default_rng([seed, 1])  # independent of the bootstrap's draws
    size = np.abs(sums)
    if len(size) <= PLAIN_UP_TO:
        counts, centre, spread = np.ones(len(size), np.int64), size, np.zeros(len(size))
    else:
        order, starts, counts = _blocks(size)
        centre = np.add.reduceat(size[order], starts) / counts
        spread = np.add.reduceat((size[order] - np.repeat(centre, counts)) ** 2, starts)
    residual = float(np.sqrt(spread.sum()))
    observed = abs(float(sums.sum())) * _TIE
    as_extreme = 1
    for rows in _chunks(n_resamples, len(counts)):
        signs = 2.0 * rng.binomial(counts, 0.5, size=(rows, len(counts))) - counts
        flipped = (signs * centre).sum(axis=1) + residual * rng.standard_normal(rows)
        as_extreme += int(np.count_nonzero(np.abs(flipped) >= observed))
    return as_extreme / (n_resamples + 1)
