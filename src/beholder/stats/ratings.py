"""Elo ratings with bootstrap, exactly as CapArena's protocol, all resamples stepped at once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import ConfigError
from beholder.options import check_list
from beholder.records import Interval
from beholder.stats.checks import (
    Floats,
    Ints,
    at_least,
    cluster_codes,
    resampling,
    vector,
)

# 128 MB of 32-bit indices at most, and once more transposed.
_DRAW_CELLS = 1 << 25
# Gathered at once; small, to stay in the cache.
_STEPS = 64


@dataclass(frozen=True, slots=True)
class EloRating:
    """Rating of one system.

    Attributes:
        system: Its name.
        rating: Median over resamples plus 0.5, truncated to an integer, as the protocol has it.
        median: The median before that.
        interval: Percentile interval over resamples.
        one_pass: Rating after one round of the battles in their order.
        n_battles: Battles it took part in.
    """

    system: str
    rating: int
    median: float
    interval: Interval
    one_pass: float
    n_battles: int


def elo(
    first: Sequence[str],
    second: Sequence[str],
    outcome: ArrayLike,
    *,
    k: float = 4.0,
    scale: float = 400.0,
    base: float = 10.0,
    start: float = 1000.0,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 42,
) -> tuple[EloRating, ...]:
    """Elo ratings of systems from battles, with a bootstrap over battles.

    In each resample n battles are drawn with replacement (``numpy.random.RandomState(seed)``, one
    draw after another) and played in the drawn order:
    ``rating += k * (outcome - 1 / (1 + base ** ((other - rating) / scale)))``. A system that is
    not drawn has no rating in that resample. Time O(n * n_resamples), vectorised over resamples;
    memory at most a quarter GB whatever n is.

    Args:
        first: (n,) name of the first system of each battle.
        second: (n,) name of the second.
        outcome: (n,) 1 where the first won, 0 where it lost, 0.5 for a tie.
        k: Step.
        scale: Scale of the logistic curve.
        base: Base of it.
        start: Rating before the first battle.
        n_resamples: Resamples.
        level: Confidence level of the intervals.
        seed: Seed; the same seed and number of battles give the same draws.

    Returns:
        One rating per system, in order of first appearance.

    Raises:
        ConfigError: No battles, lists of different lengths, an outcome outside 0..1, a system
            that meets itself, or a system that is in no resample.
    """
    resampling(n_resamples, level)
    systems, a, b, score = encode_battles(first, second, outcome)
    n = len(score)
    step = k, scale, base, start
    # First the battles in their own order.
    played = np.empty((n_resamples + 1, len(systems)))
    rng = np.random.RandomState(seed)
    trials = max(1, _DRAW_CELLS // n)
    for begin in range(0, len(played), trials):
        part = played[begin : begin + trials]
        draws = np.empty((len(part), n), dtype=np.int32)
        for trial, row in enumerate(draws, start=begin):
            row[:] = (
                rng.randint(0, n, size=n, dtype=np.int32)
                if trial
                else np.arange(n)
            )
        # An expected score of 1 / (1 + infinity) is 0.
        with np.errstate(over="ignore"):
            part[:] = _play(draws, a, b, score, step)
    one_pass = played[0]
    replicates = played[1:]
    absent = np.isnan(replicates).all(axis=0)
    # A system of few battles may be missing from every resample; its median would be undefined.
    if bool(absent.any()):
        name = systems[int(np.argmax(absent))]
        raise ConfigError(
            f"n_resamples: {name!r} is in none of {n_resamples} resamples; ask more"
        )
    medians = np.nanmedian(replicates, axis=0)
    tail = (1.0 - level) / 2.0
    low, high = np.nanquantile(replicates, [tail, 1.0 - tail], axis=0)
    battles = np.bincount(a, minlength=len(systems)) + np.bincount(
        b, minlength=len(systems)
    )
    rows = zip(
        systems,
        *(v.tolist() for v in (medians, low, high, one_pass, battles)),
        strict=True,
    )
    return tuple(
        EloRating(
            system=name,
            rating=int(median + 0.5),
            median=median,
            interval=Interval(start, end, level),
            one_pass=once,
            n_battles=n,
        )
        for name, median, start, end, once, n in rows
    )


def elo_replicates(
    first: Sequence[str],
    second: Sequence[str],
    outcome: ArrayLike,
    *,
    clusters: Sequence[Hashable] | None = None,
    n_resamples: int = 200,
    n_passes: int = 20,
    seed: int = 42,
) -> Floats:
    """Elo ratings of resampled data, for the interval of what is computed from ratings.

    In each resample whole clusters (pictures) are drawn with replacement; a rating is the median
    over passes, in each of which n battles of these clusters are drawn and played. The same
    clusters, numbers and seed give the same draws, whatever the outcomes.

    Args:
        first: (n,) name of the first system of each battle.
        second: (n,) name of the second.
        outcome: (n,) 1 where the first won, 0 where it lost, 0.5 for a tie.
        clusters: Cluster of each battle; by default each is a cluster.
        n_resamples: Resamples of clusters.
        n_passes: Passes in each; :func:`elo` takes 1000, and fewer widen the interval.
        seed: Seed of all draws.

    Returns:
        (n_resamples, n_systems) ratings in order of first appearance; NaN for a system without a
        battle in a resample.

    Raises:
        ConfigError: As of :func:`elo`.
    """
    systems, a, b, score = encode_battles(first, second, outcome)
    n = len(score)
    rows_by_cluster = _group_rows(cluster_codes(clusters, n))
    rng = np.random.default_rng(seed)
    ratings = np.empty((n_resamples, len(systems)))
    at_once = max(1, _DRAW_CELLS // (n * n_passes))
    for begin in range(0, n_resamples, at_once):
        part = ratings[begin : begin + at_once]
        draws = np.empty((len(part) * n_passes, n), dtype=np.int32)
        for resample in range(len(part)):
            chosen = rng.integers(
                len(rows_by_cluster), size=len(rows_by_cluster)
            )
            rows = np.concatenate(
                [rows_by_cluster[cluster] for cluster in chosen]
            )
            places = slice(resample * n_passes, (resample + 1) * n_passes)
            draws[places] = rng.choice(rows, size=(n_passes, n))
        # An expected score of 1 / (1 + infinity) is 0.
        with np.errstate(over="ignore"):
            played = _play(draws, a, b, score, (4.0, 400.0, 10.0, 1000.0))
        passes = played.reshape(len(part), n_passes, len(systems))
        absent = np.isnan(passes).all(axis=1, keepdims=True)
        medians = np.nanmedian(
            np.where(absent, 0.0, passes), axis=1, keepdims=True
        )
        part[:] = np.where(absent, np.nan, medians)[:, 0]
    return ratings


def _group_rows(codes: Ints) -> list[Ints]:
    """The rows of each cluster."""
    order = np.argsort(codes, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


def encode_battles(
    first: Sequence[str], second: Sequence[str], outcome: ArrayLike
) -> tuple[list[str], Ints, Ints, Floats]:
    """Names in order of first appearance, both sides as indices into them, and the outcomes.

    Raises:
        ConfigError: No battles, lists of different lengths, an outcome outside 0..1, or a system
            that meets itself.
    """
    check_list("first", first)
    check_list("second", second)
    score = vector(outcome, "outcome")
    n = len(score)
    at_least(n, 1, "the number of battles")
    if not len(first) == len(second) == n:
        raise ConfigError(
            f"battles: expected lists of one length, got {len(first)}, {len(second)} and {n}"
        )
    index: dict[str, int] = {}
    sides = [
        (index.setdefault(x, len(index)), index.setdefault(y, len(index)))
        for x, y in zip(first, second, strict=True)
    ]
    pairs = np.array(sides, dtype=np.int64)
    same = np.flatnonzero(pairs[:, 0] == pairs[:, 1])
    if len(same):
        raise ConfigError(
            f"battles: {first[same[0]]!r} meets itself in battle {same[0]}"
        )
    if bool(((score < 0) | (score > 1)).any()):
        raise ConfigError(
            "outcome: expected 1 (first won), 0 (second won) or 0.5 (tie)"
        )
    return list(index), pairs[:, 0], pairs[:, 1], score


def _play(
    draws: NDArray[np.int32],
    a: Ints,
    b: Ints,
    score: Floats,
    step: tuple[float, float, float, float],
) -> Floats:
    """Ratings after each row of ``draws``; shape (trials, systems), NaN where not drawn."""
    k, scale, base, start = step
    trials, n = draws.shape
    n_systems = int(max(a.max(), b.max())) + 1
    rate = np.log(base) / scale
    # In units of the curve, the new rating is mine + rate * k * (s - 1 / (1 + exp(other - mine))).
    ratings = np.full(trials * n_systems, rate * start)
    gain = rate * k
    points = gain * score
    has_played = np.zeros(trials * n_systems, dtype=bool)
    offset = np.arange(trials, dtype=np.int64) * n_systems
    # One row per step, so that steps read in order.
    positions = np.ascontiguousarray(draws.T)
    for begin in range(0, n, _STEPS):
        part = positions[begin : begin + _STEPS]
        first_places = a.take(part)
        second_places = b.take(part)
        gained = points.take(part)
        first_places += offset
        second_places += offset
        has_played[first_places] = True
        has_played[second_places] = True
        for i, j, s in zip(first_places, second_places, gained, strict=True):
            first_rating = ratings.take(i)
            second_rating = ratings.take(j)
            change = s - gain / (np.exp(second_rating - first_rating) + 1.0)
            ratings[i] = first_rating + change
            ratings[j] = second_rating - change
    ratings[~has_played] = np.nan
    return np.asarray((ratings / rate).reshape(trials, n_systems))
