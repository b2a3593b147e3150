"""Bradley-Terry strengths of systems from battles, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from beholder.records import Interval
from beholder.stats.bootstrap import describe_few_sources
from beholder.stats.checks import (
    Floats,
    Ints,
    cluster_codes,
    n_clusters,
    resampling,
)
from beholder.stats.correlation import Clusters
from beholder.stats.ratings import encode_battles

_MAX_STEPS = 200


@dataclass(frozen=True, slots=True)
class Strength:
    """Strength of one system.

    Attributes:
        system: Its name.
        value: Log-odds against the average system (strengths sum to 0): ``a`` beats ``b`` with
            probability ``1 / (1 + exp(b - a))``. None when it has no finite estimate.
        interval: Wald interval; None when the value is, or with too few clusters.
        n_battles: Battles it took part in.
    """

    system: str
    value: float | None
    interval: Interval | None
    n_battles: int


@dataclass(frozen=True, slots=True)
class BradleyTerry:
    """A fitted Bradley-Terry model.

    Attributes:
        strengths: Per system, in order of first appearance.
        n: Battles.
        reason: Why there are no strengths, or no intervals.
    """

    strengths: tuple[Strength, ...]
    n: int
    reason: str | None = None


def bradley_terry(
    first: Sequence[str],
    second: Sequence[str],
    outcome: ArrayLike,
    *,
    clusters: Clusters = None,
    level: float = 0.95,
) -> BradleyTerry:
    """Maximum-likelihood Bradley-Terry strengths; a tie is half a win for each.

    Unlike Elo, the order of the battles does not matter. Intervals are Wald's with the robust
    ("sandwich") covariance, summed over clusters, so that ties and several battles on one image
    are allowed for. Source: Bradley and Terry 1952; existence: Ford 1957.

    Args:
        first: (n,) name of the first system of each battle.
        second: (n,) name of the second.
        outcome: (n,) 1 where the first won, 0 where it lost, 0.5 for a tie.
        clusters: One label per battle.
        level: Confidence level.

    Returns:
        The strengths. They have no finite estimate when the systems fall into two sets of which
        one never loses a point to the other: then all values are None and ``reason`` names one.

    Raises:
        ConfigError: No battles, lists of different lengths, an outcome outside 0..1, or a system
            that meets itself.
    """
    resampling(1, level)
    systems, a, b, score = encode_battles(first, second, outcome)
    m = len(systems)
    wins = np.zeros((m, m))
    np.add.at(wins, (a, b), score)
    np.add.at(wins, (b, a), 1.0 - score)
    battles = np.bincount(a, minlength=m) + np.bincount(b, minlength=m)
    # Ford's condition: a finite estimate exists if every system can reach every other by wins.
    components, label = scipy.sparse.csgraph.connected_components(
        scipy.sparse.csr_array(wins > 0), directed=True, connection="strong"
    )
    values: list[float | None] = [None] * m
    intervals: list[Interval | None] = [None] * m
    reason = None
    if components > 1:
        component = [systems[i] for i in np.flatnonzero(label == label[0])]
        reason = (
            f"no finite strengths: {', '.join(component)} and the other systems did not take "
            "points from each other in both directions"
        )
    else:
        strength, information = _fit(wins)
        values = strength.tolist()
        codes = cluster_codes(clusters, len(score))
        reason = describe_few_sources(n_clusters(codes))
        if not reason:
            error = _standard_errors(
                strength, information, (a, b), score, codes
            )
            half = float(scipy.stats.norm.ppf(0.5 + level / 2)) * error
            ends = zip(
                (strength - half).tolist(),
                (strength + half).tolist(),
                strict=True,
            )
            intervals = [Interval(low, high, level) for low, high in ends]
    rows = zip(systems, values, intervals, battles.tolist(), strict=True)
    return BradleyTerry(
        tuple(Strength(*row) for row in rows), len(score), reason
    )


def _fit(wins: Floats) -> tuple[Floats, Floats]:
    """Maximise the likelihood by Newton's method; return strengths that sum to 0, and information.

    The likelihood is concave, so the maximum is unique where it exists.
    """
    m = len(wins)
    games = wins + wins.T
    strength = np.zeros(m)
    for _ in range(_MAX_STEPS):
        expected = 1.0 / (1.0 + np.exp(strength[None, :] - strength[:, None]))
        gradient = wins.sum(axis=1) - (games * expected).sum(axis=1)
        curvature = games * expected * (1.0 - expected)
        information = np.diag(curvature.sum(axis=1)) - curvature
        # The constant vector is the one flat direction: adding it makes the matrix invertible.
        change = np.linalg.solve(information + 1.0 / m, gradient)
        # No wild first steps.
        change *= min(1.0, 2.0 / max(float(np.abs(change).max()), 1e-300))
        strength = strength + change - change.mean()
        if np.abs(change).max() < 1e-12:
            break
    return strength, information


def _standard_errors(
    strength: Floats,
    information: Floats,
    sides: tuple[Ints, Ints],
    score: Floats,
    codes: Ints,
) -> Floats:
    m = len(strength)
    a, b = sides
    residual = score - 1.0 / (1.0 + np.exp(strength[b] - strength[a]))
    scores = np.zeros((n_clusters(codes), m))
    np.add.at(scores, (codes, a), residual)
    np.add.at(scores, (codes, b), -residual)
    # The pseudo-inverse: the information has no inverse, as a constant added to all changes
    # nothing.
    inverse = np.linalg.inv(information + 1.0 / m) - 1.0 / m
    covariance = inverse @ (scores.T @ scores) @ inverse
    return np.asarray(np.sqrt(np.maximum(np.diag(covariance), 0.0)))
