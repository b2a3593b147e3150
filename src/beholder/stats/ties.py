"""Pairwise accuracy with tie calibration: ties are predictions, not accidents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.records import Interval
from beholder.stats.bootstrap import cluster_bootstrap
from beholder.stats.checks import (
    Floats,
    Ints,
    at_least,
    cluster_codes,
    resampling,
    same_length,
    vector,
)


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
    groups: Sequence[Any] | NDArray[Any] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 12345,
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
        n_resamples: Bootstrap resamples of groups.
        level: Confidence level.
        seed: Seed of the resampling.

    Returns:
        The accuracy, 0..1.

    Raises:
        ConfigError: No pairs, different lengths, or a value that is not finite.
    """
    resampling(n_resamples, level)
    gold, metric = vector(gold_difference, "gold"), vector(metric_difference, "metric")
    n = same_length(gold=gold, metric=metric)
    at_least(n, 1, "the number of pairs")
    codes = cluster_codes(groups, n)
    weight = 1.0 / np.bincount(codes)[codes]
    size = np.abs(metric)
    tied = (gold == 0).astype(np.float64) * weight
    ordered = ((gold != 0) & (np.sign(gold) == np.sign(metric))).astype(np.float64) * weight

    def best(rows: Ints) -> tuple[float, float, float]:
        return _best(size[rows], tied[rows], ordered[rows], float(weight[rows].sum()))

    accuracy, threshold, plain = best(np.arange(n))
    interval = cluster_bootstrap(
        lambda rows: best(rows)[0],
        codes,
        n_resamples=n_resamples,
        level=level,
        seed=seed,
        centre=accuracy,
    )
    ties = int((gold == 0).sum())
    return TieCalibrated(accuracy, interval, threshold, plain, n, ties, int(codes.max()) + 1)


def _best(size: Floats, tied: Floats, ordered: Floats, total: float) -> tuple[float, float, float]:
    """Best accuracy, its threshold, and the accuracy at threshold 0, in O(n log n)."""
    order = np.argsort(size, kind="stable")
    values = size[order]
    # With the i smallest differences taken as ties: gold ties among them, right orders beyond.
    right = np.concatenate([[0.0], np.cumsum(tied[order])])
    right += ordered.sum() - np.concatenate([[0.0], np.cumsum(ordered[order])])
    last = np.append(np.flatnonzero(np.diff(values)), len(values) - 1)  # ends of equal runs
    candidates, scores = values[last], right[last + 1]
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
    labels = groups.tolist() if isinstance(groups, np.ndarray) else list(groups)
    differences: list[Floats] = [np.empty(0)]
    names: list[Any] = []
    order = np.argsort(codes, kind="stable")
    for rows in np.split(order, np.cumsum(np.bincount(codes))[:-1]) if len(order) else []:
        first, second = np.triu_indices(len(rows), 1)
        differences.append(values[rows[first]] - values[rows[second]])
        names.extend([labels[rows[0]]] * len(first))
    return np.concatenate(differences), names
