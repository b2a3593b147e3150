"""Three-way pairwise accuracy: first better, tie, second better (DOCENT and CapArena protocol)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats.bootstrap import mean_interval
from beholder.stats.checks import Floats, Ints, at_least, same_length, vector
from beholder.stats.correlation import Clusters


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
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 12345,
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
        n_resamples: Bootstrap resamples.
        level: Confidence level.
        seed: Seed of the resampling.

    Returns:
        The accuracy, 0..1. When all gold labels are ties, every pair is predicted a tie: the
        accuracy is 1 and says nothing of the metric.

    Raises:
        ConfigError: No pairs, different lengths, a value that is not finite, or a negative
            threshold.
    """
    labels, d = vector(gold, "gold"), vector(difference, "difference")
    n = same_length(gold=labels, difference=d)
    at_least(n, 1, "the number of pairs")
    if threshold is not None and not threshold >= 0:
        raise ConfigError(f"threshold: expected a number >= 0, got {threshold}")
    outcome = np.sign(labels).astype(np.int64)
    ties = int((outcome == 0).sum())
    limit = tie_threshold(d, ties) if threshold is None else threshold
    predicted = decide(d, limit)
    accuracy = mean_interval(
        predicted == outcome,
        clusters=clusters,
        n_resamples=n_resamples,
        level=level,
        seed=seed,
    )
    return ThreeWay(accuracy.mean, accuracy.interval, limit, tuple(predicted.tolist()), n, ties)


def tie_threshold(difference: Floats, n_ties: int) -> float | None:
    """The (n_ties + 1)-th smallest absolute difference; None when there are no more pairs."""
    ordered = np.sort(np.abs(difference))
    return float(ordered[n_ties]) if n_ties < len(ordered) else None


def decide(difference: Floats, threshold: float | None) -> Ints:
    """1, 0 or -1 per difference; first is tested before second, None makes all ties."""
    if threshold is None:
        return np.zeros(len(difference), dtype=np.int64)
    second = np.where(-difference >= threshold, -1, 0)
    return np.where(difference >= threshold, 1, second).astype(np.int64)
