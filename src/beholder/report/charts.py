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
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 14, 42


@dataclass(frozen=True)
class Bar:
    """One bin of a histogram: its place in the drawing, its range and its count."""

    x: float
    y: float
    width: float
    height: float
    low: float
    high: float
    count: int


@dataclass(frozen=True)
class Histogram:
    """A histogram with axes, in units of its view box."""

    bars: list[Bar]
    x_ticks: list[tuple[float, str]]
    y_ticks: list[tuple[float, str]]
    mean: float
    median: float
    mean_x: float
    median_x: float
    n: int
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT
    top: int = _TOP
    bottom: int = HEIGHT - _BOTTOM


@dataclass(frozen=True)
class RangeBar:
    """A mean with its interval on the scale of its value, all in percent of the width."""

    mean: float
    low: float | None
    high: float | None


def domain(value: ValueLog, scores: Scores) -> tuple[float, float]:
    """The range an axis shows: all that is possible, or where the scores are if that is narrow."""
    least, most = float(scores.min()), float(scores.max())
    bounded = (
        value.low is not None
        and value.high is not None
        and value.low < value.high
    )
    low = min(least, value.low) if bounded and value.low is not None else least
    high = (
        max(most, value.high) if bounded and value.high is not None else most
    )
    if bounded and most - least >= 0.25 * (high - low):
        return low, high
    if not bounded or not level(least, most):
        return widened(least, most)
    width = (high - low) / 10
    return least - width / 2, least + width / 2


def histogram(value: ValueLog, scores: Scores, bins: int = 24) -> Histogram:
    """Histogram of at least one finite score."""
    marks = ticks(*domain(value, scores))
    low, high = marks[0], marks[-1]
    steps = len(marks) - 1
    per_step = max(1, round(bins / steps))  # a tick falls on a border of bins
    counts, edges = np.histogram(
        scores, bins=steps * per_step, range=(low, high)
    )
    levels = count_ticks(int(counts.max()))
    plot_width, plot_height = WIDTH - _LEFT - _RIGHT, HEIGHT - _TOP - _BOTTOM

    def x(score: float) -> float:
        return round(_LEFT + (score - low) / (high - low) * plot_width, 2)

    def y(count: float) -> float:
        return round(_TOP + (1 - count / levels[-1]) * plot_height, 2)

    bars = [
        Bar(
            x=x(start) + 0.75,
            y=y(int(count)),
            width=round(plot_width / len(counts) - 1.5, 2),
            height=round(HEIGHT - _BOTTOM - y(int(count)), 2),
            low=float(start),
            high=float(end),
            count=int(count),
        )
        for count, start, end in zip(counts, edges, edges[1:], strict=False)
        if count
    ]
    mean, median = float(scores.mean()), float(np.median(scores))
    return Histogram(
        bars=bars,
        x_ticks=[(x(mark), show_tick(mark, marks)) for mark in marks],
        y_ticks=[(y(level), f"{level:,}") for level in levels],
        mean=mean,
        median=median,
        mean_x=x(mean),
        median_x=x(median),
        n=len(scores),
    )


def sparkline(value: ValueLog, scores: Scores, bins: int = 20) -> list[float]:
    """Heights 0..1 of a small histogram over the whole scale of a value."""
    low, high = scale(value, scores)
    counts, _ = np.histogram(scores, bins=bins, range=(low, high))
    return [round(float(count) / float(counts.max()), 3) for count in counts]


def scale(value: ValueLog, scores: Scores) -> tuple[float, float]:
    """The bounds of a value, widened to the scores; the range of the scores without bounds."""
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
