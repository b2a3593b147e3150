"""Geometry of the page's charts; the templates draw it as SVG."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.records import Interval
from beholder.report.numbers import (
    count_ticks,
    level,
    show_tick,
    ticks,
    widened,
)

if TYPE_CHECKING:
    from beholder.run.manifest import ValueLog

Scores: TypeAlias = NDArray[np.float64]

WIDTH = 640
HEIGHT = 200
_LEFT_MARGIN, _RIGHT_MARGIN, _TOP_MARGIN, _BOTTOM_MARGIN = 62, 14, 14, 42


@dataclass(frozen=True)
class Histogram:
    """A histogram with axes, in units of its view box.

    Attributes:
        bars: Low end, high end and count of each bin that is not empty.
        x_ticks: Round scores of the axis, the first and last at its ends.
        y_ticks: Round counts, from 0.
        mean: Of the scores.
        median: Of the scores.
        n: Number of scores.
    """

    bars: list[tuple[float, float, int]]
    x_ticks: list[float]
    y_ticks: list[int]
    mean: float
    median: float
    n: int
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT_MARGIN
    right: int = WIDTH - _RIGHT_MARGIN
    top: int = _TOP_MARGIN
    bottom: int = HEIGHT - _BOTTOM_MARGIN

    def x(self, score: float) -> float:
        """Return the horizontal position of a score in the view box."""
        low, high = self.x_ticks[0], self.x_ticks[-1]
        share = (score - low) / (high - low)
        return round(self.left + share * (self.right - self.left), 2)

    def y(self, count: float) -> float:
        """Return the vertical position of a count in the view box."""
        share = 1 - count / self.y_ticks[-1]
        return round(self.top + share * (self.bottom - self.top), 2)

    def tick(self, score: float) -> str:
        """Return the label of a tick of scores."""
        return show_tick(score, self.x_ticks)


@dataclass(frozen=True)
class RangeBar:
    """A mean with its interval on the scale of its value, all in percent of the width."""

    mean: float
    low: float | None
    high: float | None


def domain(value: ValueLog, scores: Scores) -> tuple[float, float]:
    """Return the range of an axis: the scale of the value, or the range of the scores if narrow."""
    # The whole scale if the scores fill a quarter of it, else their own range,
    # and a tenth of the scale around a single value.
    lowest, highest = float(scores.min()), float(scores.max())
    # A value without bounds, such as CIDEr, has the range of its scores.
    if value.low is None or value.high is None or value.low >= value.high:
        return widened(lowest, highest)
    low, high = min(lowest, value.low), max(highest, value.high)
    if highest - lowest >= 0.25 * (high - low):
        return low, high
    if not level(lowest, highest):
        return lowest, highest
    width = (high - low) / 10
    return lowest - width / 2, lowest + width / 2


def histogram(value: ValueLog, scores: Scores, bins: int = 24) -> Histogram:
    """Return the histogram of at least one finite score."""
    # Bins divide the steps between ticks, so that no bar crosses a tick.
    marks = ticks(*domain(value, scores))
    steps = len(marks) - 1
    per_step = max(1, round(bins / steps))  # a tick falls on a border of bins
    counts, edges = np.histogram(
        scores, bins=steps * per_step, range=(marks[0], marks[-1])
    )
    bars = [
        (float(start), float(end), int(count))
        for count, start, end in zip(counts, edges, edges[1:], strict=False)
        if count
    ]
    return Histogram(
        bars=bars,
        x_ticks=marks,
        y_ticks=count_ticks(int(counts.max())),
        mean=float(scores.mean()),
        median=float(np.median(scores)),
        n=len(scores),
    )


def sparkline(value: ValueLog, scores: Scores, bins: int = 20) -> list[float]:
    """Return the heights, 0..1, of a small histogram over the whole scale of a value."""
    low, high = scale(value, scores)
    counts, _ = np.histogram(scores, bins=bins, range=(low, high))
    return [round(float(count) / float(counts.max()), 3) for count in counts]


def scale(value: ValueLog, scores: Scores) -> tuple[float, float]:
    """Return the bounds of a value, widened to the scores; without bounds the scores' range."""
    low = min(
        float(scores.min()), value.low if value.low is not None else np.inf
    )
    high = max(
        float(scores.max()), value.high if value.high is not None else -np.inf
    )
    return widened(low, high)


def range_bar(
    mean: float, interval: Interval | None, low: float, high: float
) -> RangeBar:
    """Place a mean and its interval on a scale from ``low`` to ``high``."""

    def percent(score: float) -> float:
        return round(
            min(100.0, max(0.0, 100.0 * (score - low) / (high - low))), 2
        )

    return RangeBar(
        mean=percent(mean),
        low=percent(interval.low) if interval else None,
        high=percent(interval.high) if interval else None,
    )
