"""Figures by which captioners are chosen: rates against limits, repeats, costs and battles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import scipy
from numpy.typing import ArrayLike

from beholder.errors import ConfigError
from beholder.records import Estimate, Interval
from beholder.stats.bootstrap import wald_interval
from beholder.stats.checks import same_length, vector

LimitState: TypeAlias = Literal["met", "missed", "open"]
"""Whether a rate surely meets its limit, surely misses it, or neither."""
Winner: TypeAlias = Literal["first", "second", "tie"]
"""Result of one question about two texts."""


def state_of_limit(interval: Interval, limit: float) -> LimitState:
    """Return whether a rate whose least wanted value is ``limit`` meets it, by its interval."""
    if interval.high < limit:
        return "missed"
    return "met" if interval.low >= limit else "open"


def texts_to_settle(
    rate: float, limit: float, *, level: float = 0.95
) -> int | None:
    """Return the texts with which a rate would surely meet or miss a limit.

    None if the rate is the limit, which no number of texts settles.

    Args:
        rate: Observed rate, which is assumed to stay.
        limit: Least wanted rate, between 0 and 1.
        level: Confidence level.
    """
    if math.isclose(rate, limit):
        return None
    # Wilson's interval ends at the limit where the score test of the limit is at its level.
    z = float(scipy.stats.norm.ppf((1 + level) / 2))
    return math.ceil(z * z * limit * (1 - limit) / (rate - limit) ** 2)


def sd_of_run(first: ArrayLike, second: ArrayLike) -> float:
    """Return the standard deviation of a value between runs over the same pictures.

    Args:
        first: (n,) values of the first run.
        second: (n,) values of the second run on the same pictures.

    Raises:
        ConfigError: There is no pair, or the lengths differ.
    """
    a, b = vector(first, "first"), vector(second, "second")
    if not same_length(first=a, second=b):
        raise ConfigError("there is no picture with two texts")
    return float(np.sqrt(np.mean((a - b) ** 2) / 2))


def collection_cost(
    costs: ArrayLike, n_pictures: int, *, level: float = 0.95
) -> Estimate:
    """Return the cost of a collection from that of a sample, with Student's t interval.

    Args:
        costs: (n,) cost of each picture of the sample, retries and failures included.
        n_pictures: Pictures of the collection.
        level: Confidence level.

    Raises:
        ConfigError: There is no picture.
    """
    sample = vector(costs, "costs")
    n = len(sample)
    if not n:
        raise ConfigError("there is no picture with a cost")
    total = n_pictures * math.fsum(sample.tolist()) / n
    if n < 2:
        return Estimate(total, None, n, "one picture has no spread")
    error = n_pictures * float(sample.std(ddof=1)) / math.sqrt(n)
    interval = wald_interval(total, error, level, n - 1)
    return Estimate(
        total, Interval(max(0.0, interval.low), interval.high, level), n
    )


def battle_score(
    first: Winner | None, swapped: Winner | None
) -> tuple[float, bool] | None:
    """Return the score of the first text from both orders, and whether the judge flipped.

    The strict rule: 1 or 0 where both orders agree on a winner, else 0.5. A flip is another
    winner in the other order. If one answer is missing the other counts; None if both are.

    Args:
        first: Winner with the first text in the first seat.
        swapped: Winner with the texts exchanged, turned back: ``first`` is the same text.
    """
    winners = {winner for winner in (first, swapped) if winner is not None}
    if not winners:
        return None
    if len(winners) == 1:
        return {"first": 1.0, "second": 0.0, "tie": 0.5}[winners.pop()], False
    return 0.5, winners == {"first", "second"}


def mean_interval_t(
    values: Sequence[float], *, level: float = 0.95
) -> Interval | None:
    """Return Student's t interval of a mean; None with fewer than two values."""
    sample = vector(values, "values")
    if len(sample) < 2:
        return None
    error = float(sample.std(ddof=1)) / math.sqrt(len(sample))
    return wald_interval(float(sample.mean()), error, level, len(sample) - 1)
