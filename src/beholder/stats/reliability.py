"""Reliability of several raters: Cronbach's alpha, Kendall's W, mean correlation, spread."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, Unpack

import numpy as np
import scipy
from numpy.typing import ArrayLike

from beholder.errors import ConfigError
from beholder.records import Estimate, Interval
from beholder.stats.agreement import Agreement, bootstrap_agreement
from beholder.stats.bootstrap import describe_few_sources, mean_interval
from beholder.stats.checks import (
    Floats,
    Ints,
    Resampling,
    matrix,
    one_of,
    resampling,
    vector,
)
from beholder.stats.correlation import CorrelationKind, coefficient
from beholder.stats.intraclass import mean_squares
from beholder.stats.ranks import round_values


def cronbach_alpha(ratings: ArrayLike, *, level: float = 0.95) -> Agreement:
    """Cronbach's alpha of a complete items by raters table, with Feldt's F-based interval.

    ``k / (k - 1) * (1 - sum of rater variances / variance of item sums)``, which equals
    ``ICC(3,k)``. Source: Cronbach 1951; interval: Feldt, Woodruff and Salih 1987.

    Args:
        ratings: (n_items, n_raters), complete.
        level: Confidence level.

    Returns:
        Alpha, at most 1, higher is more consistent; can be negative. None with fewer than two
        items or raters, and when item sums do not vary.

    Raises:
        ConfigError: Missing or infinite ratings.
    """
    resampling(1, level)
    table = matrix(ratings, "ratings")
    n, k = table.shape
    few = _describe_few(n, k)
    ms = None if few else mean_squares(table)
    alpha = interval = None
    reason: str | None = few or "item sums do not vary"
    if ms is not None and ms.items != 0.0:
        alpha = (ms.items - ms.error) / ms.items
        reason = describe_few_sources(n)
    if alpha is not None and not reason:
        df1 = n - 1
        df2 = (n - 1) * (k - 1)
        tail = (1.0 - level) / 2.0
        low, high = (
            1.0 - (1.0 - alpha) * float(scipy.stats.f.ppf(share, df1, df2))
            for share in (1.0 - tail, tail)
        )
        interval = Interval(low, high, level)
    return Agreement(
        method="cronbach-alpha",
        value=alpha,
        interval=interval,
        n_items=n,
        n_raters=k,
        reason=reason,
    )


def _describe_few(n: int, k: int) -> str:
    """Return why n items and k raters are too few; empty if they are enough."""
    if min(n, k) >= 2:
        return ""
    return f"needs at least two items and two raters, got {n} and {k}"


def kendall_w(ratings: ArrayLike, **options: Unpack[Resampling]) -> Agreement:
    """Kendall's coefficient of concordance W over complete rankings, corrected for ties.

    Each rater's column is ranked (mean ranks for ties). W = 0 is no concordance, 1 is full. p:
    Friedman's chi-square ``k (n - 1) W`` with n - 1 degrees of freedom. Source: Kendall and Smith
    1939; Siegel and Castellan 1988 for ties.

    Args:
        ratings: (n_items, n_raters), complete; scores or ranks.
        options: See ``Resampling``.

    Returns:
        W in 0..1; None with fewer than two items or raters, and when no rater separates items.

    Raises:
        ConfigError: Missing or infinite ratings.
    """
    table = matrix(ratings, "ratings")
    n, k = table.shape
    few = _describe_few(n, k)
    value = None if few else _concordance(table)
    p = (
        None
        if value is None
        else float(scipy.stats.chi2.sf(k * (n - 1) * value, n - 1))
    )
    return bootstrap_agreement(
        "kendall-w",
        lambda rows: _concordance(table[rows]),
        n_items=n if k >= 2 else 0,
        n_raters=k,
        undefined=few or "no rater separates the items",
        **options,
        p_value=p,
    )


def _concordance(table: Floats) -> float | None:
    n, k = table.shape
    if n < 2:
        return None
    ranks = scipy.stats.rankdata(round_values(table), axis=0)
    sums = ranks.sum(axis=1)
    # The sum of squared deviations of each rater's ranks is (n^3 - n - ties) / 12.
    within = float(((ranks - ranks.mean(axis=0)) ** 2).sum())
    if within == 0.0:
        return None
    between = float(((sums - sums.mean()) ** 2).sum())
    return min(1.0, between / (float(k) * within))


def mean_pairwise_correlation(
    ratings: ArrayLike,
    kind: CorrelationKind = "pearson",
    *,
    clusters: Sequence[Hashable] | None = None,
    **options: Unpack[Resampling],
) -> Agreement:
    """Mean correlation over all pairs of raters, each pair over the items both rated.

    Args:
        ratings: (n_items, n_raters); NaN or None is missing.
        kind: Name of the coefficient.
        clusters: Cluster of each item (its picture); whole clusters are resampled.
        options: See ``Resampling``.

    Returns:
        Mean in -1..1. A pair that is not defined (a constant rater, fewer than two common items)
        is left out and counted in ``reason``; None when no pair is left.

    Raises:
        ConfigError: Infinite ratings, or an unknown kind.
    """
    table = matrix(ratings, "ratings", missing=True)
    n, k = table.shape
    pairs = list(combinations(range(k), 2))
    defined = [
        pair
        for pair, r in _pairwise(table, kind, pairs).items()
        if r is not None
    ]

    def statistic(rows: Ints) -> float | None:
        correlations = _pairwise(table[rows], kind, defined)
        values = [r for r in correlations.values() if r is not None]
        return (
            float(np.mean(values))
            if values and len(values) == len(defined)
            else None
        )

    result = bootstrap_agreement(
        f"mean pairwise {kind}",
        statistic,
        n_items=n,
        n_raters=k,
        undefined="no pair of raters varies over two common items",
        **options,
        clusters=clusters,
    )
    # A mean over fewer pairs than there are is stated as such, even if it has an interval.
    lost = len(pairs) - len(defined)
    if result.value is None or not lost:
        return result
    reason = (
        f"{lost} of {len(pairs)} pairs of raters are not defined and left out"
    )
    return replace(
        result,
        reason=f"{reason}; {result.reason}" if result.reason else reason,
    )


def _pairwise(
    table: Floats, kind: str, pairs: Iterable[tuple[int, int]]
) -> dict[tuple[int, int], float | None]:
    """Correlation of pairs of columns, each over the rows where both have a number."""
    function = coefficient(kind)
    rated = ~np.isnan(table)
    correlations = {}
    for i, j in pairs:
        both = rated[:, i] & rated[:, j]
        correlations[i, j] = function(table[both, i], table[both, j])
    return correlations


@dataclass(frozen=True, slots=True)
class Spread:
    """Spread of the ratings of one item.

    Attributes:
        sd: Mean within-item standard deviation.
        range: Mean within-item range (highest minus lowest).
        item_sd: Per item; None for an item with fewer than two ratings.
        item_range: Per item, likewise.
        n_items: Items with at least two ratings.
        ddof: Number subtracted from the count in the variance.
    """

    sd: Estimate
    range: Estimate
    item_sd: tuple[float | None, ...]
    item_range: tuple[float | None, ...]
    n_items: int
    ddof: int


def within_item_spread(
    ratings: ArrayLike,
    *,
    ddof: int = 1,
    **options: Unpack[Resampling],
) -> Spread:
    """Standard deviation and range of the ratings of each item, and their means over items.

    Args:
        ratings: (n_items, n_raters); NaN or None is missing. Items with fewer than two ratings
            have no spread and do not enter the means.
        ddof: 1 for the sample standard deviation, 0 for that of these ratings alone.
        options: See ``Resampling``.

    Raises:
        ConfigError: Infinite ratings, ddof not 0 or 1, or no item with two ratings.
    """
    if ddof not in (0, 1):
        raise ConfigError(f"ddof: expected 0 or 1, got {ddof}")
    table = matrix(ratings, "ratings", missing=True)
    rows = [row[~np.isnan(row)] for row in table]
    sds = [float(r.std(ddof=ddof)) if len(r) >= 2 else None for r in rows]
    ranges = [float(r.max() - r.min()) if len(r) >= 2 else None for r in rows]
    defined = [
        [v for v in values if v is not None] for values in (sds, ranges)
    ]
    if not defined[0]:
        raise ConfigError(
            "ratings: no item has two ratings, so there is no spread to measure"
        )
    sd, span = (mean_interval(values, **options) for values in defined)
    return Spread(
        sd=sd,
        range=span,
        item_sd=tuple(sds),
        item_range=tuple(ranges),
        n_items=len(defined[0]),
        ddof=ddof,
    )


@dataclass(frozen=True, slots=True)
class ErrorCorrelation:
    """Correlation of judges' errors.

    Attributes:
        mean: Mean over pairs of judges, with interval over items.
        pairs: Pearson correlation per pair of judges (columns i < j); None where a judge's errors
            do not vary over the items both judged.
        error: Mean error per judge: signed bias, or share wrong; None for a judge without answers.
        kind: ``signed`` or ``wrong``.
    """

    mean: Agreement
    pairs: dict[tuple[int, int], float | None]
    error: tuple[float | None, ...]
    kind: str


def error_correlation(
    answers: ArrayLike,
    gold: ArrayLike,
    kind: Literal["signed", "wrong"] = "signed",
    **options: Unpack[Resampling],
) -> ErrorCorrelation:
    """Pearson correlation between judges of their errors.

    Judges that agree because both are right share no errors; a panel gains only from judges whose
    errors are not correlated. 0: independent errors, 1: a second judge adds nothing.

    Args:
        answers: (n_items, n_judges) answers; NaN or None is missing.
        gold: (n_items,) the truth.
        kind: ``signed``: answer minus gold; ``wrong``: 1 where they differ (for verdicts, coded
            as numbers), which gives the phi coefficient.
        options: See ``Resampling``.

    Raises:
        ConfigError: Shapes that do not pair, or values that are not finite.
    """
    one_of(kind, ("signed", "wrong"), "kind")
    table = matrix(answers, "answers", missing=True)
    truth = vector(gold, "gold")
    if len(table) != len(truth):
        raise ConfigError(f"answers: {len(table)} items, gold: {len(truth)}")
    errors = table - truth[:, None]
    if kind == "wrong":
        errors = np.where(
            np.isnan(errors), np.nan, (errors != 0).astype(np.float64)
        )
    mean = mean_pairwise_correlation(errors, **options)
    columns = (column[~np.isnan(column)] for column in errors.T)
    error = tuple(float(c.mean()) if len(c) else None for c in columns)
    pairs = _pairwise(
        errors, "pearson", combinations(range(errors.shape[1]), 2)
    )
    return ErrorCorrelation(
        mean=mean,
        pairs=pairs,
        error=error,
        kind=kind,
    )
