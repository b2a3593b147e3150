"""Numbers within a range: one check, with one wording, for options, parameters and arguments."""

from __future__ import annotations

import math
from numbers import Integral, Real
from typing import Any

from beholder.errors import ConfigError


def check_number(
    name: str,
    value: object,
    low: float,
    high: float = math.inf,
    *,
    above: bool = False,
    below: bool = False,
    whole: bool = False,
    hint: str = "",
) -> None:
    """Refuse a value that is not a finite number within two bounds.

    Args:
        name: Name of the option or argument.
        value: Its value.
        low: Least number.
        high: Greatest number.
        above: Whether the number must be above the least one.
        below: Whether the number must be below the greatest one.
        whole: Whether only whole numbers are taken.
        hint: Alternative for the user, for the message.

    Raises:
        ConfigError: Names the option and its value.
    """
    # bool is a subclass of int, and limit=True is a mistake, not 1.
    is_number = isinstance(value, Integral if whole else Real)
    if is_number and not isinstance(value, bool):
        number: Any = value
        is_low = number <= low if above else number < low
        is_high = number >= high if below else number > high
        # nan is neither low nor high, and below nothing.
        if number < math.inf and not is_low and not is_high:
            return
    expected = "a whole number" if whole else "a number"
    if above and below:
        expected += f" between {low:g} and {high:g}"
    else:
        expected += f" above {low:g}" if above else f" from {low:g}"
        if high < math.inf:
            expected += f" to {high:g}"
    ending = f"; {hint}" if hint else ""
    raise ConfigError(f"{name}={value!r}: expected {expected}{ending}")
