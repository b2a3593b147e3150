"""Intervals of a mean that stay valid however often one looks (confidence sequences)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats.checks import Floats, vector

GRID = 1001
"""Means that are tried, evenly over the range of the values."""


class Betting:
    """A confidence sequence of a mean, by betting against each possible mean.

    ``interval`` may be read after every value: with probability ``level`` all intervals hold the
    true mean at once. Values must come in random order and be independent (means of pictures, not
    texts of one picture).

    Source: Waudby-Smith and Ramdas 2024, hedged capital; bets by the predictable plug-in.

    Args:
        low: Least possible value.
        high: Greatest possible value.
        level: Confidence level.

    Raises:
        ConfigError: The range is empty or endless, or the level is none.
    """

    def __init__(
        self, low: float = 0.0, high: float = 1.0, level: float = 0.95
    ) -> None:
        if not (math.isfinite(high - low) and low < high and 0 < level < 1):
            raise ConfigError(
                f"low={low}, high={high}, level={level}: expected a range and a level"
            )
        self._low, self._high, self._level = low, high, level
        self._means: Floats = np.linspace(0, 1, GRID)
        self._logs = np.zeros((2, GRID))
        self._open = np.ones(GRID, dtype=bool)
        self._n, self._sum, self._squares, self._variance = 0, 0.0, 0.0, 0.25

    def add(self, value: float) -> None:
        """Take the next value.

        Raises:
            ConfigError: It is outside the range.
        """
        x = (value - self._low) / (self._high - self._low)
        if not -1e-9 <= x <= 1 + 1e-9:
            raise ConfigError(f"{value} is outside {self._low}..{self._high}")
        t = self._n + 1
        alpha = 1 - self._level
        bet = math.sqrt(
            2 * math.log(2 / alpha) / (t * math.log(1 + t) * self._variance)
        )
        with np.errstate(divide="ignore"):
            up = np.minimum(bet, 0.5 / self._means)
            down = np.minimum(bet, 0.5 / (1 - self._means))
        self._logs += np.log1p(
            [up * (x - self._means), -down * (x - self._means)]
        )
        self._open &= self._logs.max(axis=0) - math.log(2) < math.log(
            1 / alpha
        )
        # The next bet may use only values seen so far, so the variance is updated after the bet.
        self._n = t
        self._sum = self._sum + x
        self._squares += (x - (0.5 + self._sum) / (t + 1)) ** 2
        self._variance = (0.25 + self._squares) / (t + 1)

    @property
    def interval(self) -> Interval:
        """The range of the means that are not rejected; a single point if all are rejected."""
        span = self._high - self._low
        open_places = np.flatnonzero(self._open)
        # The values are not independent draws of one range.
        if not len(open_places):
            mean = self._low + span * self._sum / self._n
            return Interval(mean, mean, self._level)
        step = 1 / (GRID - 1)
        first = self._means[open_places[0]] - step
        last = self._means[open_places[-1]] + step
        return Interval(
            self._low + span * max(0.0, float(first)),
            self._low + span * min(1.0, float(last)),
            self._level,
        )


def betting_interval(
    values: ArrayLike, low: float = 0.0, high: float = 1.0
) -> Interval:
    """The 95 % interval of ``Betting`` after all values."""
    sequence = Betting(low, high)
    for value in vector(values, "values"):
        sequence.add(float(value))
    return sequence.interval
