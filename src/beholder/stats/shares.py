"""Limits of a share of independent cases."""

from __future__ import annotations

import math

import scipy

from beholder.errors import ConfigError
from beholder.records import Interval


def wilson_limits(
    n_hits: int, n_cases: int, *, confidence: float = 0.95
) -> Interval:
    """Return the limits of a share, both from 0 to 1; they never shrink to a point.

    Args:
        n_hits: Cases that have the property.
        n_cases: Cases in all, 1 or more.
        confidence: Confidence of the two limits together.

    Raises:
        ConfigError: There is no case, or there are more hits than cases.

    Source: Wilson 1927.
    """
    if not 0 <= n_hits <= n_cases or not n_cases:
        raise ConfigError(
            f"{n_hits} of {n_cases}: expected a case or more, and at most as many hits as cases"
        )
    z = float(scipy.special.ndtri((1 + confidence) / 2))
    share = n_hits / n_cases
    scale = 1 + z**2 / n_cases
    centre = (share + z**2 / (2 * n_cases)) / scale
    spread = share * (1 - share) / n_cases + z**2 / (4 * n_cases**2)
    half = z * math.sqrt(spread) / scale
    return Interval(
        max(0.0, centre - half), min(1.0, centre + half), confidence
    )
