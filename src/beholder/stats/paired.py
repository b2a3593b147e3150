"""Difference of two paired samples: bootstrap interval and sign-flip permutation test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.records import Interval
from beholder.stats.bootstrap import PLAIN_UP_TO, blocks, mean_interval
from beholder.stats.checks import Floats, at_least, cluster_codes, cluster_sums, same_length, vector

_EXACT_UP_TO = 13  # 2**13 sign patterns are fewer than the usual number of random ones
_CHUNK_CELLS = 1 << 20
_TIE = 1.0 - 1e-12  # a flip equal to the observed sum may differ in the last digits


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
        order, starts = blocks(size)
        counts = np.diff(np.append(starts, len(size)))
        centre = np.add.reduceat(size[order], starts) / counts
        spread = np.add.reduceat((size[order] - np.repeat(centre, counts)) ** 2, starts)
    residual = float(np.sqrt(spread.sum()))
    observed = abs(float(sums.sum())) * _TIE
    as_extreme = 1
    step = max(1, _CHUNK_CELLS // len(counts))
    for start in range(0, n_resamples, step):
        rows = min(step, n_resamples - start)
        signs = 2.0 * rng.binomial(counts, 0.5, size=(rows, len(counts))) - counts
        flipped = (signs * centre).sum(axis=1) + residual * rng.standard_normal(rows)
        as_extreme += int(np.count_nonzero(np.abs(flipped) >= observed))
    return as_extreme / (n_resamples + 1)
