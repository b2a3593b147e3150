"""Numbers as people read them, and axes that end on round ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import count

from beholder.base.rounding import fixed
from beholder.records import Interval

MINUS = "\N{MINUS SIGN}"


def show_number(value: float | None, size: float | None = None) -> str:
    """A score with three decimals, large values with fewer; a dash for None.

    Args:
        value: A number.
        size: The largest absolute number of its cell, whose decimals all of the cell have.
    """
    if value is None:
        return "–"
    size = abs(value) if size is None else size
    digits = 3 if size < 10 else 1 if size < 1000 else 0
    return show_fixed(value, digits, commas=False)


def show_fixed(value: float, digits: int, *, commas: bool = True) -> str:
    """A number with so many decimals, by the rule of :mod:`beholder.base.rounding`."""
    return fixed(value, digits, commas=commas).replace("-", MINUS)


def show_interval(interval: Interval | None) -> str:
    """An interval as text, or a dash."""
    if interval is None:
        return "\N{EN DASH}"
    size = max(abs(interval.low), abs(interval.high))
    return f"{show_number(interval.low, size)} to {show_number(interval.high, size)}"


def show_signed(value: float, size: float | None = None) -> str:
    """A difference with its sign; ``size`` as for ``show_number``."""
    text = show_number(value, size)
    return f"+{text}" if value > 0 else text


def show_p(value: float) -> str:
    """A p-value with three decimals, never as 0."""
    return "< 0.001" if value < 0.001 else show_number(value)


def level(low: float, high: float) -> bool:
    """Whether two ends are the same but for rounding."""
    return high - low <= 1e-9 * max(1.0, abs(low), abs(high))


def widened(low: float, high: float) -> tuple[float, float]:
    """Ends of an axis; such as lie around them where they are level."""
    if not level(low, high):
        return low, high
    half = max(0.5, 1e-3 * max(abs(low), abs(high)))
    return low - half, high + half


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from at most ``low`` to at least ``high``, about as many as asked for."""
    low, high = widened(low, high)
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(
        power * factor
        for factor in (1, 2, 2.5, 5, 10)
        if power * factor >= raw * 0.999
    )
    first = math.floor(low / step + 1e-9)
    last = math.ceil(high / step - 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]


def count_ticks(highest: int) -> list[int]:
    """Round counts from 0 to at least ``highest``, about three steps."""
    step = next(n for n in _steps() if 3 * n >= highest)
    return list(range(0, highest + step, step))


def _steps() -> Iterator[int]:
    for power in count():
        yield from (10**power, 2 * 10**power, 5 * 10**power)


def show_tick(value: float, values: list[float]) -> str:
    """A tick's label, with as many decimals as its axis needs."""
    step = values[1] - values[0] if len(values) > 1 else 1.0
    digits = next(
        (d for d in range(7) if abs(round(step, d) - step) < 1e-9), 7
    )
    return f"{value:.{digits}f}".replace("-", MINUS)


def two(value: float | None) -> str:
    """A number with two decimals, or a dash."""
    return "–" if value is None else show_fixed(value, 2)


def whole(value: float | None) -> str:
    """A number without decimals, or a dash."""
    return "–" if value is None else show_fixed(value, 0)
