"""Ranks and ties of computed numbers: what differs only by rounding is equal.

0.1 + 0.2 and 0.3, or the means of three and of four equal numbers, differ in the last bit. Every
rank, tie, star and win compares numbers that went through one of these functions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from beholder.stats.checks import Floats

DIGITS = 12
"""Significant digits that are trusted: two ways to add up the same numbers differ behind them."""
_MAX_EXPONENT = 300
"""Powers of ten stay finite."""


def round_values(values: ArrayLike) -> Floats:
    """Values with twelve significant digits, each nearest to its decimal number; any shape."""
    numbers = np.asarray(values, dtype=np.float64)
    size = np.abs(numbers)
    # 0, infinity and NaN stay.
    usual = (size > 0) & np.isfinite(size)
    exponents = np.floor(np.log10(size, out=np.zeros_like(size), where=usual))
    return np.where(
        usual, _round_decimals(numbers, DIGITS - 1 - exponents), numbers
    )


def round_to_scale(values: ArrayLike, scale: float) -> Floats:
    """Values without the digits that numbers of this size cannot state, such as differences.

    Args:
        values: Any shape.
        scale: The largest absolute number that they were computed from.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if not 0 < scale < np.inf:
        return numbers
    return _round_decimals(
        numbers, np.array(DIGITS - 1 - np.floor(np.log10(scale)))
    )


def subtract(a: ArrayLike, b: ArrayLike) -> Floats:
    """Subtract: a - b, (n,), and 0 where they are equal but for rounding."""
    x = np.asarray(a, dtype=np.float64)
    y = np.asarray(b, dtype=np.float64)
    return np.where(round_differences(x, y) == 0, 0.0, x - y)


def round_differences(a: ArrayLike, b: ArrayLike) -> Floats:
    """Subtract: a - b, (n,), without the digits that its sides cannot state."""
    x = np.asarray(a, dtype=np.float64)
    y = np.asarray(b, dtype=np.float64)
    sizes = np.abs(np.concatenate([x.ravel(), y.ravel()]))
    return round_to_scale(
        x - y, float(sizes[np.isfinite(sizes)].max(initial=0.0))
    )


def mean_ranks(values: ArrayLike) -> Floats:
    """Ranks from 1, (n,), the lowest value first; ties share the mean of their ranks."""
    # Exact halves, and many times faster than scipy's.
    _, inverse, counts = np.unique(
        round_values(values), return_inverse=True, return_counts=True
    )
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[inverse])


def _round_decimals(numbers: Floats, decimals: Floats) -> Floats:
    # A whole number over an exact power of ten is the float nearest to the decimal number.
    decimals = np.clip(decimals, -_MAX_EXPONENT, _MAX_EXPONENT)
    up = 10.0 ** np.maximum(decimals, 0)
    down = 10.0 ** np.maximum(-decimals, 0)
    return np.asarray(np.rint(numbers * up / down) / up * down)
