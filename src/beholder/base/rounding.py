"""One rule by which numbers are rounded for people, wherever they are printed.

CSV and JSON keep all digits.
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal

_SIGNIFICANT = 12
"""Digits that are trusted: two ways to add up the same numbers differ behind them."""


def fixed(value: float, digits: int, *, commas: bool = False) -> str:
    """A number with so many decimals; halves go away from zero, and nothing is printed as -0.

    Halves are those of the decimal number that twelve digits show: 0.0345 and a mean of the same
    values that came out as 0.034499999999999996 are both 0.035.

    Args:
        value: A number; one that is not finite is printed as ``nan`` or ``inf``.
        digits: Decimals.
        commas: Whether commas stand between thousands.
    """
    if not math.isfinite(value):
        return str(float(value))
    size = Decimal(value)
    if size and size.adjusted() < _SIGNIFICANT:
        size = Context(prec=_SIGNIFICANT).plus(size)
    rounded = size.quantize(
        Decimal(1).scaleb(-digits), ROUND_HALF_UP, Context(prec=400)
    )
    return format(
        abs(rounded) if rounded.is_zero() else rounded, ",f" if commas else "f"
    )
