"""Pairwise accuracy where ties are predictions: first better, tie, second better.

``three_way_accuracy`` has the protocol of DOCENT and CapArena, whose tie threshold comes from the
gold tie rate; ``tie_calibrated_accuracy`` takes the threshold that serves the metric best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.base.ranges import check_number
from beholder.records import Interval
from beholder.stats.bootstrap import cluster_bootstrap, mean_interval
from beholder.stats.checks import (
    Floats,
    Ints,
    Resampling,
    at_least,
    cluster_codes,
    n_clusters,
    resampling,
    same_length,
    vector,
)
from beholder.stats.correlation import Clusters
from beholder.stats.ranks import round_to_scale, round_values, subtract


@dataclass(frozen=True, slots=True)
class ThreeWay:
    """Three-way accuracy of a metric's preferences.

    Attributes:
        accuracy: Share of pairs with the gold outcome.
        interval: Bootstrap interval at this threshold; None with fewer than two clusters.
        threshold: Smallest difference that counts as a preference; None when every pair is
            predicted a tie, as when gold has ties alone.
        predicted: 1 first better, 0 tie, -1 second better, per pair.
        n: Pairs.
        n_gold_ties: Gold ties among them.
    """

    accuracy: float
    interval: Interval | None
    threshold: float | None
    predicted: tuple[int, ...]
    n: int
    n_gold_ties: int


def three_way_accuracy(
    gold: ArrayLike,
    difference: ArrayLike,
    *,
    threshold: float | None = None,
    clusters: Clusters = None,
    **options: Unpack[Resampling],
) -> ThreeWay:
    """Share of pairs for which a metric predicts the gold one of three outcomes.

    A difference of at least the threshold is a preference, otherwise a tie. Without a threshold it
    is taken from the gold tie rate: with t gold ties the (t + 1)-th smallest absolute difference,
    so that about as many pairs are predicted ties. As in the public protocol, first is tested
    before second: at threshold 0 a zero difference counts as *first better*.

    Args:
        gold: (n,) positive where people find the first better, 0 for a tie, negative otherwise.
        difference: (n,) metric score of the first minus that of the second.
        threshold: Smallest absolute difference that is a preference, >= 0.
        clusters: One label per pair, for the interval.
        options: See ``Resampling``.

    Returns:
        The accuracy, 0..1. When all gold labels are ties, every pair is predicted a tie: the
        accuracy is 1 and says nothing of the metric.

    Raises:
        ConfigError: No pairs, different lengths, a value that is not finite, or a negative
            threshold.
    """
    labels, d = (
        _rounded(v, name)
        for v, name in ((gold, "gold"), (difference, "difference"))
    )
    n = same_length(gold=labels, difference=d)
    at_least(n, 1, "the number of pairs")
    if threshold is not None:
        check_number("threshold", threshold, 0)
    outcome = np.sign(labels).astype(np.int64)
    ties = int((outcome == 0).sum())
    limit = tie_threshold(d, ties) if threshold is None else threshold
    predicted = decide(d, limit)
    accuracy = mean_interval(
        predicted == outcome, clusters=clusters, **options
    )
    return ThreeWay(
        accuracy=accuracy.mean,
        interval=accuracy.interval,
        threshold=limit,
        predicted=tuple(predicted.tolist()),
        n=n,
        n_gold_ties=ties,
    )


def _rounded(values: ArrayLike, name: str) -> Floats:
    """Return differences without the digits that rounding of their operands makes unreliable."""
    differences = vector(values, name)
    return round_to_scale(
        differences, float(np.abs(differences).max(initial=0.0))
    )


def tie_threshold(difference: Floats, n_ties: int) -> float | None:
    """The (n_ties + 1)-th smallest absolute difference; None when there are no more pairs."""
    ordered = np.sort(np.abs(_rounded(difference, "difference")))
    return float(ordered[n_ties]) if n_ties < len(ordered) else None


def decide(difference: Floats, threshold: float | None) -> Ints:
    """1, 0 or -1 per difference; first is tested before second, None makes all ties."""
    if threshold is None:
        return np.zeros(len(difference), dtype=np.int64)
    difference = _rounded(difference, "difference")
    threshold = float(round_values(threshold))
    second = np.where(-difference >= threshold, -1, 0)
    return np.where(difference >= threshold, 1, second).astype(np.int64)


@dataclass(frozen=True, slots=True)
class TieCalibrated:
    """Pairwise accuracy at the best tie threshold.

    Attributes:
        accuracy: Best share of pairs ordered, or tied, as gold has them.
        interval: Bootstrap interval, the threshold chosen again in each resample.
        threshold: Largest absolute difference that counts as a tie.
        accuracy_without_ties: The same with threshold 0 (only equal scores tie).
        n_pairs: Pairs.
        n_gold_ties: Gold ties among them.
        n_groups: Groups; each pair its own without groups.
    """

    accuracy: float
    interval: Interval | None
    threshold: float
    accuracy_without_ties: float
    n_pairs: int
    n_gold_ties: int
    n_groups: int


def tie_calibrated_accuracy(
    gold_difference: ArrayLike,
    metric_difference: ArrayLike,
    *,
    groups: Clusters = None,
    **options: Unpack[Resampling],
) -> TieCalibrated:
    """Pairwise accuracy with the tie threshold that serves the metric best.

    A pair is right when metric and gold order it alike, or both tie; the metric ties a pair when
    its scores differ by at most the threshold. One threshold serves all pairs: the smallest of
    the best among 0 and all absolute differences. As it is chosen on the data, the value is an
    upper bound. Source: Deutsch, Foster and Freitag 2023, *Ties Matter*.

    Args:
        gold_difference: (n,) human score of the first minus the second; 0 is a tie.
        metric_difference: (n,) the same of the metric.
        groups: One label per pair, such as the item both texts describe: accuracy is then the
            mean over groups of the accuracy within. Default: over all pairs.
        options: See ``Resampling``; groups are resampled.

    Returns:
        The accuracy, 0..1.

    Raises:
        ConfigError: No pairs, different lengths, or a value that is not finite.
    """
    resampling(**options)
    gold = _rounded(gold_difference, "gold")
    metric = _rounded(metric_difference, "metric")
    n = same_length(gold=gold, metric=metric)
    at_least(n, 1, "the number of pairs")
    codes = cluster_codes(groups, n)
    weight = 1.0 / np.bincount(codes)[codes]
    size = np.abs(metric)
    tied = (gold == 0).astype(np.float64) * weight
    ordered = ((gold != 0) & (np.sign(gold) == np.sign(metric))).astype(
        np.float64
    ) * weight

    def best(rows: Ints) -> tuple[float, float, float]:
        return _best(
            size[rows], tied[rows], ordered[rows], float(weight[rows].sum())
        )

    accuracy, threshold, plain = best(np.arange(n))
    # The threshold is chosen again in each resample: choosing it is part of the statistic.
    interval = cluster_bootstrap(lambda rows: best(rows)[0], codes, **options)
    ties = int((gold == 0).sum())
    return TieCalibrated(
        accuracy=accuracy,
        interval=interval,
        threshold=threshold,
        accuracy_without_ties=plain,
        n_pairs=n,
        n_gold_ties=ties,
        n_groups=n_clusters(codes),
    )


def _best(
    size: Floats, tied: Floats, ordered: Floats, total: float
) -> tuple[float, float, float]:
    """Best accuracy, its threshold, and the accuracy at threshold 0, in O(n log n)."""
    order = np.argsort(size, kind="stable")
    values = size[order]
    # With the i smallest differences taken as ties: gold ties among them, right orders beyond.
    right = np.concatenate([[0.0], np.cumsum(tied[order])])
    right += ordered.sum() - np.concatenate([[0.0], np.cumsum(ordered[order])])
    # Ends of equal runs.
    last = np.append(np.flatnonzero(np.diff(values)), len(values) - 1)
    candidates = values[last]
    scores = right[last + 1]
    zero = float(right[np.searchsorted(values, 0.0, side="right")])
    if values[0] > 0:
        candidates = np.concatenate([[0.0], candidates])
        scores = np.concatenate([[zero], scores])
    i = int(np.argmax(scores >= scores.max() - 1e-12 * total))
    return float(scores[i]) / total, float(candidates[i]), zero / total


def pairs_within(
    scores: ArrayLike, groups: Sequence[Any] | NDArray[Any]
) -> tuple[Floats, list[Any]]:
    """All differences ``score_i - score_j`` (i before j) of rows in one group.

    Args:
        scores: (n,) finite scores.
        groups: (n,) label of each row's group, such as its item.

    Returns:
        The differences and the group label of each: call it with human and with metric scores,
        and the pairs come in the same order.

    Raises:
        ConfigError: A value that is not finite, or labels of another number.
    """
    values = vector(scores, "scores")
    codes = cluster_codes(groups, len(values))
    labels = (
        groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
    )
    differences: list[Floats] = [np.empty(0)]
    names: list[Any] = []
    order = np.argsort(codes, kind="stable")
    for rows in (
        np.split(order, np.cumsum(np.bincount(codes))[:-1])
        if len(order)
        else []
    ):
        first, second = np.triu_indices(len(rows), 1)
        differences.append(subtract(values[rows[first]], values[rows[second]]))
        names.extend([labels[rows[0]]] * len(first))
    return np.concatenate(differences), names
