"""Numbers as people read them, and axes that end on round ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count

from beholder.base.rounding import fixed
from beholder.records import Interval

MINUS = "\N{MINUS SIGN}"


def show_number(value: float | None, size: float | None = None) -> str:
    """Format a score with three decimals, large values with fewer; None is a dash.

    Args:
        value: A number.
        size: The largest absolute number of its cell, which sets the decimals of the cell.
    """
    if value is None:
        return "–"
    # The largest number of a cell decides, so that a value and its interval
    # have equal decimals.
    size = abs(value) if size is None else size
    if size < 10:
        digits = 3
    elif size < 1000:
        digits = 1
    else:
        digits = 0
    return show_fixed(value, digits, commas=False)


def show_fixed(value: float, digits: int, *, commas: bool = True) -> str:
    """Format a number with ``digits`` decimals, by the rule of :mod:`beholder.base.rounding`."""
    return fixed(value, digits, commas=commas).replace("-", MINUS)


def show_interval(interval: Interval | None) -> str:
    """Format an interval; None is a dash."""
    if interval is None:
        return "\N{EN DASH}"
    size = max(abs(interval.low), abs(interval.high))
    return f"{show_number(interval.low, size)} to {show_number(interval.high, size)}"


def show_signed(value: float, size: float | None = None) -> str:
    """Format a difference with its sign; ``size`` as for ``show_number``."""
    text = show_number(value, size)
    return f"+{text}" if value > 0 else text


def show_p(value: float) -> str:
    """Format a p-value with three decimals, never as 0."""
    return "< 0.001" if value < 0.001 else show_number(value)


def level(low: float, high: float) -> bool:
    """Return whether two ends are equal but for rounding."""
    return high - low <= 1e-9 * max(1.0, abs(low), abs(high))


def widened(low: float, high: float) -> tuple[float, float]:
    """Return the ends of an axis, moved apart if they are equal."""
    if not level(low, high):
        return low, high
    half = max(0.5, 1e-3 * max(abs(low), abs(high)))
    return low - half, high + half


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Return about ``about`` round numbers from at most ``low`` to at least ``high``."""
    low, high = widened(low, high)
    # The smallest round step (1, 2, 2.5 or 5 times a power of ten) that gives
    # at most about as many ticks.
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(
        power * factor
        for factor in (1, 2, 2.5, 5, 10)
        if power * factor >= raw * 0.999
    )
    # The tolerance keeps an end that is a tick from getting another beyond it.
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def count_ticks(highest: int) -> list[int]:
    """Return round counts from 0 to at least ``highest``, in about three steps."""
    # Counts have no halves, so 2.5 is no step.
    step = next(n for n in _steps() if 3 * n >= highest)
    return list(range(0, highest + step, step))


def _steps() -> Iterator[int]:
    for power in count():
        yield from (10**power, 2 * 10**power, 5 * 10**power)


def show_tick(value: float, values: list[float]) -> str:
    """Format the label of a tick, with as many decimals as its axis needs."""
    step = values[1] - values[0] if len(values) > 1 else 1.0
    digits = next(
        (d for d in range(7) if abs(round(step, d) - step) < 1e-9), 7
    )
    return f"{value:.{digits}f}".replace("-", MINUS)


def two(value: float | None) -> str:
    """Format a number with two decimals; None is a dash."""
    return "–" if value is None else show_fixed(value, 2)


def whole(value: float | None) -> str:
    """Format a number without decimals; None is a dash."""
    return "–" if value is None else show_fixed(value, 0)
