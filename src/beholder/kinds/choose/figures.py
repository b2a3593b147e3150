"""A value of a captioner with its interval, or the reason why it has none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from beholder.records import Interval
from beholder.stats import mean_interval
from beholder.stats.shares import wilson_limits


@dataclass(frozen=True)
class Figure:
    """A value with its interval.

    Attributes:
        value: The value; None if it is not defined.
        low: Lower end of its interval.
        high: Upper end of its interval.
        n: Texts or pictures that it is computed over.
        n_failed: Texts or pictures that have no value.
        reason: Why there is no value or no interval.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    n: int = 0
    n_failed: int = 0
    reason: str = ""


def rate(n_hits: int, n: int, reason: str = "") -> Figure:
    """Return a share with Wilson's interval."""
    if not n:
        return Figure(reason=reason or "there is no text")
    limits = wilson_limits(n_hits, n)
    return Figure(n_hits / n, limits.low, limits.high, n)


def mean_of(values: Mapping[str, float], n: int) -> Figure:
    """Return the mean of the values of pictures, with a bootstrap interval; ``n`` were drawn."""
    if not values:
        return Figure(n_failed=n, reason="not measured")
    estimate = mean_interval([values[key] for key in sorted(values)])
    return figure_of(
        estimate.mean,
        estimate.interval,
        len(values),
        n - len(values),
        estimate.reason or "",
    )


def figure_of(
    value: float,
    interval: Interval | None,
    n: int,
    n_failed: int = 0,
    reason: str = "",
) -> Figure:
    """Return a figure with the ends of an interval."""
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Figure(value, low, high, n, n_failed, reason)
