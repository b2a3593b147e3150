"""The result that every coefficient of agreement between raters gives."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from beholder.records import Interval
from beholder.stats.bootstrap import interval_or_reason
from beholder.stats.checks import (
    Ints,
    Resampling,
    cluster_codes,
    resampling,
)


@dataclass(frozen=True, slots=True)
class Agreement:
    """A coefficient of agreement between raters.

    Attributes:
        method: Name of the coefficient, with its options.
        value: The coefficient; None when it is not defined on these ratings.
        interval: Its confidence interval; None when it cannot be given.
        n_items: Items that entered.
        n_raters: Raters (columns).
        p_value: Two-sided p against no agreement, where the coefficient has such a test.
        reason: Why the value, or its interval, is None.
    """

    method: str
    value: float | None
    interval: Interval | None
    n_items: int
    n_raters: int
    p_value: float | None = None
    reason: str | None = None


def bootstrap_agreement(
    method: str,
    statistic: Callable[[Ints], float | None],
    *,
    n_items: int,
    n_raters: int,
    undefined: str,
    p_value: float | None = None,
    clusters: Sequence[Hashable] | None = None,
    **options: Unpack[Resampling],
) -> Agreement:
    """Agreement whose interval comes from resampling items, or clusters of them.

    Args:
        method: Name for the result.
        statistic: Takes item indices, returns the coefficient or None where it is not defined.
        n_items: Items to resample.
        n_raters: Raters, for the result.
        undefined: Reason to state when the coefficient has no value on all items.
        p_value: For the result.
        clusters: Cluster of each item; whole clusters are resampled.
        options: See ``Resampling``.
    """
    codes = cluster_codes(clusters, n_items)
    resampling(**options)
    items = np.arange(n_items)
    value = statistic(items) if n_items else None
    if value is None:
        return Agreement(
            method=method,
            value=None,
            interval=None,
            n_items=n_items,
            n_raters=n_raters,
            p_value=None,
            reason=undefined,
        )
    interval, reason = interval_or_reason(
        statistic, codes, "items vary", **options
    )
    return Agreement(
        method=method,
        value=value,
        interval=interval,
        n_items=n_items,
        n_raters=n_raters,
        p_value=p_value,
        reason=reason,
    )
