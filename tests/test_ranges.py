"""The one check of numbers: what is within a range, and what the message says of all others."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from beholder.base.ranges import check_number
from beholder.errors import ConfigError

SHARE: dict[str, Any] = {"low": 0, "high": 1}
OPEN: dict[str, Any] = {"low": 0, "high": 1, "above": True, "below": True}
COUNT: dict[str, Any] = {"low": 1, "whole": True}
POSITIVE: dict[str, Any] = {"low": 0, "above": True}


def test_numbers_within_a_range_are_taken() -> None:
    for value, bounds in (
        (0, SHARE), (1, SHARE), (0.5, SHARE), (np.float64(1.0), SHARE), (Fraction(1, 3), SHARE),
        (1e-9, OPEN), (0.999, OPEN),
        (1, COUNT), (10**400, COUNT), (np.int64(3), COUNT),
        (1e-9, POSITIVE), (10**400, POSITIVE),
    ):  # fmt: skip
        check_number("x", value, **bounds)


def test_others_are_refused_with_name_value_and_range() -> None:
    share, count = "a number from 0 to 1", "a whole number from 1"
    for value, bounds, expected in (
        (-1e-9, SHARE, share), (1.001, SHARE, share), (math.nan, SHARE, share),
        (True, SHARE, share), ("1", SHARE, share), (None, SHARE, share), (1j, SHARE, share),
        (0, OPEN, "a number between 0 and 1"), (1, OPEN, "a number between 0 and 1"),
        (0, COUNT, count), (1.0, COUNT, count), (True, COUNT, count), (np.float64(2), COUNT, count),
        (0, POSITIVE, "a number above 0"), (math.inf, POSITIVE, "a number above 0"),
        (-math.inf, POSITIVE, "a number above 0"), (math.nan, POSITIVE, "a number above 0"),
    ):  # fmt: skip
        with pytest.raises(ConfigError) as error:
            check_number("x", value, **bounds, hint="leave it out")
        assert (
            str(error.value)
            == f"x={value!r}: expected {expected}; leave it out"
        )
