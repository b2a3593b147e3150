"""Correlation of a metric with people: Pearson, Spearman, Kendall tau-b and tau-c, partial."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial as partial_of
from typing import Any, Literal, TypeAlias, Unpack

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats.bootstrap import interval_or_reason
from beholder.stats.checks import (
    Floats,
    Ints,
    Resampling,
    cluster_codes,
    n_clusters,
    one_of,
    resampling,
    same_length,
    vector,
)
from beholder.stats.ranks import mean_ranks, round_values

CorrelationKind: TypeAlias = Literal["pearson", "spearman", "tau-b", "tau-c"]
Clusters: TypeAlias = Sequence[Any] | NDArray[Any] | None
Coefficient: TypeAlias = Callable[[Floats, Floats], float | None]


class ClusterResampling(Resampling, total=False):
    """``Resampling`` of whole clusters: one label per row."""

    clusters: Clusters


@dataclass(frozen=True, slots=True)
class Correlation:
    """A correlation coefficient.

    Attributes:
        kind: ``pearson``, ``spearman``, ``tau-b`` or ``tau-c``; ``partial`` names the covariate's
            presence: ``partial spearman``.
        value: In -1..1; None when it is not defined on these values.
        interval: Percentile bootstrap interval over clusters; None when it cannot be given.
        p_value: Two-sided, rows taken as independent; None when there is no such test.
        n: Pairs.
        n_clusters: Independent clusters that were resampled.
        reason: Why a value, p or interval is None.
    """

    kind: str
    value: float | None
    interval: Interval | None
    p_value: float | None
    n: int
    n_clusters: int
    reason: str | None = None


def correlate(
    x: ArrayLike,
    y: ArrayLike,
    kind: CorrelationKind = "pearson",
    *,
    clusters: Clusters = None,
    **options: Unpack[Resampling],
) -> Correlation:
    """Correlation of two score vectors with p and a bootstrap interval.

    Ties: Spearman takes mean ranks; tau-b divides by the untied pairs of each side; tau-c
    (Stuart) by ``n^2 (m - 1) / 2m`` with m the smaller number of distinct values. Kendall's tau
    takes O(n log n). p: t with n - 2 degrees of freedom (Pearson, Spearman), scipy's exact or
    asymptotic test (Kendall). p supposes independent rows: with ``clusters``, trust the interval.

    Args:
        x: (n,) finite numbers, such as metric scores.
        y: (n,) finite numbers, such as ratings.
        kind: Name of the coefficient.
        clusters: One label per pair; whole clusters (items, images) are resampled together.
        options: See ``Resampling``; no resamples give no interval. Beyond 4096 clusters each
            resample draws 4096 and its deviation is scaled by ``sqrt(4096 / n_clusters)``.

    Returns:
        The correlation; value None with fewer than two pairs or a constant side, p and interval
        None with two pairs (any two pairs correlate fully).

    Raises:
        ConfigError: Different lengths, a value that is not finite, or an unknown kind.
    """
    a = vector(x, "x")
    b = vector(y, "y")
    n = same_length(x=a, y=b)
    function = coefficient(kind)
    codes = cluster_codes(clusters, n)
    reason = _undefined(a, b)
    value = None if reason else function(a, b)
    without_interval = Correlation(
        kind=kind,
        value=value,
        interval=None,
        p_value=None,
        n=n,
        n_clusters=n_clusters(codes),
        reason=reason or "a side is constant up to rounding",
    )
    if value is None:
        return without_interval
    if n == 2:
        return replace(
            without_interval,
            p_value=1.0 if kind.startswith("tau") else None,
            reason="any two pairs correlate fully: no p and no interval",
        )
    is_tau = kind.startswith("tau")
    p = (
        float(scipy.stats.kendalltau(round_values(a), round_values(b)).pvalue)
        if is_tau
        else t_test_of_correlation(value, n - 2)
    )
    resampled = on_resamples(kind, a, b)
    interval, reason = _interval(
        lambda rows: resampled(a[rows], b[rows]), codes, **options
    )
    return replace(
        without_interval, interval=interval, p_value=p, reason=reason
    )


def pearson(
    x: ArrayLike, y: ArrayLike, **options: Unpack[ClusterResampling]
) -> Correlation:
    """Pearson's r; arguments and result as :func:`correlate`."""
    return correlate(x, y, "pearson", **options)


def spearman(
    x: ArrayLike, y: ArrayLike, **options: Unpack[ClusterResampling]
) -> Correlation:
    """Spearman's rho; arguments and result as :func:`correlate`."""
    return correlate(x, y, "spearman", **options)


def kendall(
    x: ArrayLike,
    y: ArrayLike,
    *,
    variant: Literal["b", "c"] = "b",
    **options: Unpack[ClusterResampling],
) -> Correlation:
    """Kendall's tau-b or tau-c; other arguments and result as :func:`correlate`."""
    one_of(variant, ("b", "c"), "variant")
    return correlate(x, y, "tau-c" if variant == "c" else "tau-b", **options)


def partial(
    x: ArrayLike,
    y: ArrayLike,
    control: ArrayLike,
    kind: CorrelationKind = "pearson",
    *,
    clusters: Clusters = None,
    **options: Unpack[Resampling],
) -> Correlation:
    """Correlation of x and y with one covariate (such as text length) out.

    ``(r_xy - r_xz r_yz) / sqrt((1 - r_xz^2) (1 - r_yz^2))`` with r of the given kind. A constant
    covariate leaves the plain correlation. p: t with n - 3 degrees of freedom for Pearson and
    Spearman; Kendall's partial tau has no known distribution, so its p is None.

    Args:
        x: (n,) finite numbers.
        y: (n,) finite numbers.
        control: (n,) the covariate.
        kind: Name of the coefficient.
        clusters: As in :func:`correlate`.
        options: See ``Resampling``.

    Returns:
        As :func:`correlate`; value None also with fewer than three pairs and where the covariate
        determines x or y.

    Raises:
        ConfigError: As :func:`correlate`.
    """
    a = vector(x, "x")
    b = vector(y, "y")
    z = vector(control, "control")
    n = same_length(x=a, y=b, control=z)
    function = coefficient(kind)
    codes = cluster_codes(clusters, n)

    def statistic(rows: Ints) -> float | None:
        return partial_coefficient(function, a[rows], b[rows], z[rows])

    reason = _undefined(a, b) or ("fewer than three pairs" if n < 3 else None)
    value = None if reason else statistic(np.arange(n))
    interval = p = None
    if value is None:
        reason = reason or "the covariate determines x or y"
    else:
        is_tau = kind.startswith("tau")
        df = n - 2 if z.min() == z.max() else n - 3
        p = None if is_tau else t_test_of_correlation(value, df)
        interval, reason = _interval(statistic, codes, **options)
        if p is None:
            why = "no test" if is_tau else "no degrees of freedom"
            reason = f"p: {why}" + (f"; {reason}" if reason else "")
    return Correlation(
        kind=f"partial {kind}",
        value=value,
        interval=interval,
        p_value=p,
        n=n,
        n_clusters=n_clusters(codes),
        reason=reason,
    )


def coefficient(kind: str) -> Coefficient:
    """Return a function of two vectors that gives the coefficient, or None where it is undefined.

    Raises:
        ConfigError: Unknown kind.
    """
    one_of(kind, _COEFFICIENTS, "kind")
    return _COEFFICIENTS[kind]


def on_resamples(kind: str, x: Floats, y: Floats) -> Coefficient:
    """Return the coefficient for resamples of x and y.

    Tau-c keeps the number of distinct values of all rows: a resample that misses a value would
    otherwise be scaled differently.
    """
    if kind != "tau-c" or len(x) < 2:
        return coefficient(kind)
    x = round_values(x)
    y = round_values(y)
    classes = min(len(np.unique(x)), len(np.unique(y)))

    def tau_c(resampled_x: Floats, resampled_y: Floats) -> float | None:
        tau = _tau(resampled_x, resampled_y, "c")
        if tau is None:
            return None
        n_classes = min(
            len(np.unique(round_values(v))) for v in (resampled_x, resampled_y)
        )
        return tau * (1 - 1 / n_classes) / (1 - 1 / classes)

    return tau_c


def t_test_of_correlation(r: float, df: int) -> float | None:
    """Two-sided p of a correlation by Student's t; None without degrees of freedom."""
    if df < 1:
        return None
    if abs(r) >= 1.0:
        return 0.0
    return float(
        2 * scipy.stats.t.sf(abs(r) * np.sqrt(df / ((1 + r) * (1 - r))), df)
    )


def _pearson(x: Floats, y: Floats) -> float | None:
    if len(x) < 2 or x.min() == x.max() or y.min() == y.max():
        return None
    # Scaled by the largest value first, so that tiny and huge scores neither vanish nor overflow.
    a, b = (v / np.abs(v).max() for v in (x, y))
    a = a - a.mean()
    b = b - b.mean()
    norm_a = float(np.sqrt((a**2).sum()))
    norm_b = float(np.sqrt((b**2).sum()))
    # Only rounding differs.
    if min(norm_a, norm_b) < 1e-13 * np.sqrt(len(a)):
        return None
    r = float(((a / norm_a) * (b / norm_b)).sum())
    # A full correlation, but for rounding.
    return float(np.sign(r)) if abs(r) > 1 - 1e-14 else r


def _spearman(x: Floats, y: Floats) -> float | None:
    if len(x) < 2:
        return None
    return _pearson(mean_ranks(x), mean_ranks(y))


def _tau(x: Floats, y: Floats, variant: str) -> float | None:
    x = round_values(x)
    y = round_values(y)
    if len(x) < 2 or x.min() == x.max() or y.min() == y.max():
        return None
    # The p is not used here; this way is quickest.
    method = "auto" if len(x) == 2 else "asymptotic"
    return float(
        scipy.stats.kendalltau(x, y, method=method, variant=variant).statistic
    )


_COEFFICIENTS: dict[str, Coefficient] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "tau-b": partial_of(_tau, variant="b"),
    "tau-c": partial_of(_tau, variant="c"),
}


def partial_coefficient(
    function: Coefficient, x: Floats, y: Floats, z: Floats
) -> float | None:
    """The coefficient of x and y with z partialled out; None where it is not defined."""
    r_xy = function(x, y)
    if r_xy is None:
        return None
    r_xz = function(x, z)
    r_yz = function(y, z)
    # Both x and y vary, so z does not: nothing to take out.
    if r_xz is None or r_yz is None:
        return r_xy
    unexplained = (1 - r_xz**2) * (1 - r_yz**2)
    if unexplained < 1e-24:
        return None
    return float(
        np.clip((r_xy - r_xz * r_yz) / np.sqrt(unexplained), -1.0, 1.0)
    )


def _undefined(x: Floats, y: Floats) -> str | None:
    if len(x) < 2:
        return f"needs at least two pairs, got {len(x)}"
    for name, v in (("x", x), ("y", y)):
        if v.min() == v.max():
            return f"{name} is constant"
    return None


def _interval(
    statistic: Callable[[Ints], float | None],
    codes: Ints,
    **options: Unpack[Resampling],
) -> tuple[Interval | None, str | None]:
    """The interval, or None with the reason."""
    if options.get("n_resamples") == 0:
        return None, None
    resampling(**options)
    return interval_or_reason(statistic, codes, "clusters vary", **options)


def ranking_correlation(
    gold: Mapping[str, float],
    predicted: Mapping[str, float],
    kind: CorrelationKind = "spearman",
    **options: Unpack[Resampling],
) -> Correlation:
    """Correlation over systems of their gold and predicted scores.

    Args:
        gold: Gold score per system, such as its Elo rating from human battles.
        predicted: Score per system by a metric; the same systems.
        kind: Name of the coefficient.
        options: See ``Resampling``; systems are resampled.

    Returns:
        As :func:`beholder.stats.correlate`.

    Raises:
        ConfigError: The two do not have the same systems.
    """
    if gold.keys() != predicted.keys():
        unmatched = sorted(gold.keys() ^ predicted.keys())
        raise ConfigError(
            f"systems: gold and predicted differ in {', '.join(unmatched)}"
        )
    return correlate(
        list(gold.values()), [predicted[s] for s in gold], kind, **options
    )
