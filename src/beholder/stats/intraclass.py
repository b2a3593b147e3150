"""Intraclass correlation: how much of the variance of ratings lies between items.

Sources: Shrout and Fleiss 1979 (the six forms and their F-based intervals); McGraw and Wong 1996.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import scipy
from numpy.typing import ArrayLike

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats.bootstrap import describe_few_sources
from beholder.stats.checks import Floats, matrix, one_of, resampling

ICCKind: TypeAlias = Literal["1,1", "2,1", "3,1", "1,k", "2,k", "3,k"]
Verdict: TypeAlias = Literal["poor", "moderate", "good", "excellent"]
_KINDS = get_args(ICCKind)
_VERDICTS = get_args(Verdict)
_LIMITS = (0.5, 0.75, 0.9)
"""Lower limits of the verdicts after the first: poor below 0.5, moderate below 0.75, and so on."""


@dataclass(frozen=True, slots=True)
class ICC:
    """An intraclass correlation.

    Attributes:
        kind: One of ``1,1 2,1 3,1 1,k 2,k 3,k``.
        value: The coefficient; None when the ratings leave it undefined. Can be negative.
        interval: F-based interval; None when it has no bounds or the items are too few.
        f: The F ratio that is tested; None when undefined or infinite (raters agree fully).
        df1: Its numerator degrees of freedom.
        df2: Its denominator degrees of freedom.
        p_value: Of F against no differences between items, one-sided as is usual for F.
        n_items: Rows.
        n_raters: Columns.
        reason: Why the value, or the interval, is None.
    """

    kind: str
    value: float | None
    interval: Interval | None
    f: float | None
    df1: int
    df2: int
    p_value: float | None
    n_items: int
    n_raters: int
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class MeanSquares:
    """Mean squares of a complete items by raters table.

    Attributes:
        items: Between items (MSR).
        raters: Between raters (MSC).
        error: Residual of the two-way table (MSE).
        within: Within items (MSW).
        n: Items.
        k: Raters.
    """

    items: float
    raters: float
    error: float
    within: float
    n: int
    k: int


def mean_squares(table: Floats) -> MeanSquares:
    """Two-way analysis of variance of a complete table (n >= 2, k >= 2)."""
    n, k = table.shape
    # Deviations from a value of the table: sums of squares of constant parts are then exactly 0.
    x = table - table[0, 0]
    rows = x.mean(axis=1)
    columns = x.mean(axis=0)
    grand = x.mean()
    scale = float((x**2).sum())
    ss_items = k * float(((rows - grand) ** 2).sum())
    ss_raters = n * float(((columns - grand) ** 2).sum())
    ss_error = float(
        ((x - rows[:, None] - columns[None, :] + grand) ** 2).sum()
    )

    def clean(ss: float, df: int) -> float:
        # Rounding is not variance.
        return 0.0 if ss <= 1e-24 * scale else ss / df

    return MeanSquares(
        items=clean(ss_items, n - 1),
        raters=clean(ss_raters, k - 1),
        error=clean(ss_error, (n - 1) * (k - 1)),
        within=clean(ss_raters + ss_error, n * (k - 1)),
        n=n,
        k=k,
    )


def icc(
    ratings: ArrayLike, kind: ICCKind = "2,1", *, level: float = 0.95
) -> ICC:
    """Intraclass correlation of a complete items by raters table.

    Kinds (Shrout and Fleiss): ``1`` each item has its own raters; ``2`` raters are a random sample
    and their offsets count as disagreement (absolute agreement); ``3`` these raters only, offsets
    do not count (consistency). ``,1`` is the reliability of one rater, ``,k`` that of the mean of
    all k.

    Args:
        ratings: (n_items, n_raters), complete.
        kind: Form of the coefficient.
        level: Confidence level of the F-based interval.

    Returns:
        The coefficient, at most 1, higher is more reliable. None with fewer than two items or
        raters and when all ratings are equal.

    Raises:
        ConfigError: Missing or infinite ratings, or an unknown kind.
    """
    one_of(kind, _KINDS, "kind")
    resampling(1, level)
    table = matrix(ratings, "ratings")
    n, k = table.shape
    df1 = max(n - 1, 0)
    df2 = n * max(k - 1, 0) if kind[0] == "1" else df1 * max(k - 1, 0)

    def undefined(reason: str) -> ICC:
        return ICC(
            kind=kind,
            value=None,
            interval=None,
            f=None,
            df1=df1,
            df2=df2,
            p_value=None,
            n_items=n,
            n_raters=k,
            reason=reason,
        )

    if n < 2 or k < 2:
        return undefined(
            f"needs at least two items and two raters, got {n} and {k}"
        )
    # Plan: mean squares; refusals where the ratios are 0/0; the one-rater form; its interval; for
    # the mean of k raters Spearman-Brown of both ends.
    ms = mean_squares(table)
    if ms.items == 0.0 and ms.within == 0.0:
        return undefined(
            "all ratings are equal: there is no variance to divide"
        )
    noise = ms.within if kind[0] == "1" else ms.error
    if ms.items == 0.0 and noise == 0.0:
        return undefined(
            "items do not differ and raters differ by constant offsets only"
        )
    single = _single(ms, kind, noise)
    average = kind.endswith("k")
    if average and ms.items == 0.0 and kind != "2,k":
        return undefined(
            "items have equal means: the mean of raters has no variance to divide"
        )
    value = _average(ms, kind, noise) if average else single
    if value is None:
        return undefined("the mean of raters has no variance to divide")
    limits = _limits(ms, kind, single, level)
    if limits and average:
        limits = _step_up(limits, k)
    f = ms.items / noise if noise else None
    p = float(scipy.stats.f.sf(f, df1, df2)) if f is not None else 0.0
    # The F distribution allows for few items, but not for few that need not be normal.
    reason = describe_few_sources(n)
    if not (limits or reason):
        reason = "raters agree so little that the interval has no bound"
    interval = Interval(*limits, level) if limits and not reason else None
    return ICC(
        kind=kind,
        value=value,
        interval=interval,
        f=f,
        df1=df1,
        df2=df2,
        p_value=p,
        n_items=n,
        n_raters=k,
        reason=reason,
    )


def spearman_brown(reliability: float, k: float) -> float:
    """Reliability of the mean of ``k`` raters from that of one: ``k r / (1 + (k - 1) r)``.

    Raises:
        ConfigError: ``k`` is not positive, or the formula's denominator is not.
    """
    denominator = 1.0 + (k - 1.0) * reliability
    if k <= 0 or denominator <= 0:
        raise ConfigError(
            f"spearman_brown: not defined for reliability {reliability}, k {k}"
        )
    return k * reliability / denominator


def reliability_verdict(value: float) -> Verdict:
    """The word for a reliability: below 0.5 poor, 0.75 moderate, 0.9 good, else excellent.

    Source: Koo and Li 2016, who ask for the words of both ends of the interval, too.
    """
    verdict: Verdict = _VERDICTS[bisect_right(_LIMITS, value)]
    return verdict


def _step_up(
    limits: tuple[float, float], k: int
) -> tuple[float, float] | None:
    """Spearman-Brown of both ends, or None below -1/(k-1), where it has a pole."""
    if 1.0 + (k - 1.0) * limits[0] <= 0:
        return None
    return spearman_brown(limits[0], k), spearman_brown(limits[1], k)


def _single(ms: MeanSquares, kind: str, noise: float) -> float:
    offsets = ms.k * (ms.raters - ms.error) / ms.n if kind[0] == "2" else 0.0
    return (ms.items - noise) / (ms.items + (ms.k - 1) * noise + offsets)


def _average(ms: MeanSquares, kind: str, noise: float) -> float | None:
    denominator = ms.items + (
        (ms.raters - ms.error) / ms.n if kind[0] == "2" else 0.0
    )
    return (ms.items - noise) / denominator if denominator > 0 else None


def _limits(
    ms: MeanSquares, kind: str, single: float, level: float
) -> tuple[float, float] | None:
    """Interval of the one-rater form, or None where its degrees of freedom are 0/0."""
    n = ms.n
    k = ms.k
    if ms.within == 0.0 or (kind[0] == "3" and ms.error == 0.0):
        return 1.0, 1.0
    upper = 1.0 - (1.0 - level) / 2.0
    if kind[0] != "2":
        noise, df2 = (
            (ms.within, n * (k - 1))
            if kind[0] == "1"
            else (ms.error, (n - 1) * (k - 1))
        )
        f = ms.items / noise
        low = f / scipy.stats.f.ppf(upper, n - 1, df2)
        high = f * scipy.stats.f.ppf(upper, df2, n - 1)
        return float((low - 1) / (low + k - 1)), float(
            (high - 1) / (high + k - 1)
        )
    # Satterthwaite's degrees of freedom, written without dividing by MSE, which may be 0.
    raters = k * single * ms.raters
    residual = (n * (1 + (k - 1) * single) - k * single) * ms.error
    if (raters + residual) ** 2 == 0.0:
        return None
    df = (
        (k - 1)
        * (n - 1)
        * (raters + residual) ** 2
        / ((n - 1) * raters**2 + residual**2)
    )
    f_low = scipy.stats.f.ppf(upper, n - 1, df)
    f_high = scipy.stats.f.ppf(upper, df, n - 1)
    shared = k * ms.raters + (k * n - k - n) * ms.error
    low = n * (ms.items - f_low * ms.error) / (f_low * shared + n * ms.items)
    high = (
        n * (f_high * ms.items - ms.error) / (shared + n * f_high * ms.items)
    )
    return float(low), float(high)
