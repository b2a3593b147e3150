"""Difference of two groups: effect sizes and tests, with Holm's correction for several of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, Unpack, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike

from beholder.base.ranges import check_number
from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats.bootstrap import interval_or_reason, wald_interval
from beholder.stats.checks import (
    Floats,
    Resampling,
    one_of,
    resampling,
    same_length,
    vector,
)
from beholder.stats.ranks import mean_ranks, round_differences, round_values


@dataclass(frozen=True, slots=True)
class Moments:
    """A group given by its mean and sample standard deviation, as papers print it.

    Attributes:
        mean: Mean.
        sd: Sample standard deviation (n - 1); 0 with one value.
        n: Values.
    """

    mean: float
    sd: float
    n: int


Group: TypeAlias = ArrayLike | Moments


def moments(group: Group, name: str) -> Moments:
    """Mean, sample SD and n of a group.

    Raises:
        ConfigError: Scores that are not finite, or impossible moments.
    """
    if isinstance(group, Moments):
        if not (
            np.isfinite([group.mean, group.sd]).all()
            and group.sd >= 0
            and group.n >= 0
        ):
            raise ConfigError(f"{name}: impossible moments {group}")
        return group
    values = vector(group, name)
    if len(values) == 0:
        return Moments(0.0, 0.0, 0)
    # Rounding is not variance.
    if values.min() == values.max():
        return Moments(float(values[0]), 0.0, len(values))
    return Moments(
        float(values.mean()), float(values.std(ddof=1)), len(values)
    )


@dataclass(frozen=True, slots=True)
class Effect:
    """A standardised difference of two group means.

    Attributes:
        name: Name of the effect size.
        value: Difference ``a - b`` in standard deviations; None when it is not defined.
        interval: Its confidence interval; None when the value is.
        n_a: Size of the first group.
        n_b: Size of the second.
        reason: Why the value is None.
    """

    name: str
    value: float | None
    interval: Interval | None
    n_a: int
    n_b: int
    reason: str | None = None


Pooling: TypeAlias = Literal["pooled", "unweighted"]


def cohen_d(
    a: Group, b: Group, *, pooling: Pooling = "pooled", level: float = 0.95
) -> Effect:
    """Cohen's d, ``(mean_a - mean_b) / sd``.

    ``pooled``: the variance is the mean of both weighted by n - 1 (the one of Student's t);
    large-sample interval of Hedges and Olkin 1985. ``unweighted``: the plain mean of both
    variances; interval of Bonett 2008, which allows unequal variances. With groups of equal size
    the two values agree.

    Args:
        a: Scores (n,) of the first group, or its :class:`Moments`.
        b: The second group.
        pooling: Kind of variance.
        level: Confidence level.

    Returns:
        d, positive when ``a`` is higher. None with fewer than two values in a group, or no
        variance.

    Raises:
        ConfigError: Scores that are not finite, or an unknown pooling.
    """
    one_of(pooling, get_args(Pooling), "pooling")
    resampling(1, level)
    x = moments(a, "a")
    y = moments(b, "b")
    name = f"cohen-d {pooling}"
    reason = _undefined(x, y)
    if reason:
        return Effect(
            name=name,
            value=None,
            interval=None,
            n_a=x.n,
            n_b=y.n,
            reason=reason,
        )
    if pooling == "pooled":
        d = (x.mean - y.mean) / pooled_sd(x, y)
        error = (x.n + y.n) / (x.n * y.n) + d**2 / (2 * (x.n + y.n))
    else:
        variance = (x.sd**2 + y.sd**2) / 2
        d = (x.mean - y.mean) / float(np.sqrt(variance))
        df_x = x.n - 1
        df_y = y.n - 1
        error = d**2 * (x.sd**4 / df_x + y.sd**4 / df_y) / (8 * variance**2)
        error += (x.sd**2 / df_x + y.sd**2 / df_y) / variance
    interval = wald_interval(d, float(np.sqrt(error)), level)
    return Effect(
        name=name,
        value=d,
        interval=interval,
        n_a=x.n,
        n_b=y.n,
    )


def hedges_g(a: Group, b: Group, *, level: float = 0.95) -> Effect:
    """Hedges' g: pooled Cohen's d times the exact small-sample correction.

    ``J = gamma(m / 2) / (sqrt(m / 2) gamma((m - 1) / 2))`` with m = n_a + n_b - 2 (Hedges 1981).
    Arguments, result and errors as :func:`cohen_d`.
    """
    d = cohen_d(a, b, level=level)
    if d.value is None or d.interval is None:
        return Effect(
            name="hedges-g",
            value=None,
            interval=None,
            n_a=d.n_a,
            n_b=d.n_b,
            reason=d.reason,
        )
    df = d.n_a + d.n_b - 2
    j = float(
        np.exp(
            scipy.special.gammaln(df / 2) - scipy.special.gammaln((df - 1) / 2)
        )
        / np.sqrt(df / 2)
    )
    interval = Interval(j * d.interval.low, j * d.interval.high, level)
    return Effect(
        name="hedges-g",
        value=j * d.value,
        interval=interval,
        n_a=d.n_a,
        n_b=d.n_b,
    )


def pooled_sd(x: Moments, y: Moments) -> float:
    """Standard deviation with the variances weighted by n - 1."""
    df_x = x.n - 1
    df_y = y.n - 1
    return float(np.sqrt((df_x * x.sd**2 + df_y * y.sd**2) / (df_x + df_y)))


def _undefined(x: Moments, y: Moments) -> str | None:
    if min(x.n, y.n) < 2:
        return f"needs at least two values in each group, got {x.n} and {y.n}"
    if x.sd == 0 and y.sd == 0:
        return "neither group varies"
    return None


@dataclass(frozen=True, slots=True)
class TestResult:
    """A two-sided test of the difference of two groups.

    Attributes:
        name: Name of the test.
        statistic: Its statistic; None when the test cannot be made.
        df: Degrees of freedom, where the test has them.
        p_value: Two-sided p; None when the test cannot be made.
        estimate: Size of the difference, on the scale that ``estimate_name`` says.
        estimate_name: Name of the estimate.
        interval: Confidence interval of the estimate.
        n_a: Size of the first group (pairs, for a paired test).
        n_b: Size of the second.
        reason: Why something is None.
    """

    # Not a test class for pytest.
    __test__ = False

    name: str
    statistic: float | None
    df: float | None
    p_value: float | None
    estimate: float | None
    estimate_name: str
    interval: Interval | None
    n_a: int
    n_b: int
    reason: str | None = None


def t_test(
    a: Group, b: Group, *, equal_variances: bool = False, level: float = 0.95
) -> TestResult:
    """Student's or Welch's t test of two unpaired groups.

    Args:
        a: Scores (n,) of the first group, or its moments.
        b: The second group.
        equal_variances: Student's test (variances pooled by n - 1); otherwise Welch's.
        level: Confidence level of the interval of the difference of means.

    Returns:
        The test; statistic and p None with fewer than two values in a group, or no variance.

    Raises:
        ConfigError: Scores that are not finite.
    """
    resampling(1, level)
    x = moments(a, "a")
    y = moments(b, "b")
    name = "student-t" if equal_variances else "welch-t"
    label = "difference of means"
    difference = x.mean - y.mean
    if reason := _undefined(x, y):
        estimate = difference if min(x.n, y.n) else None
        return TestResult(
            name=name,
            statistic=None,
            df=None,
            p_value=None,
            estimate=estimate,
            estimate_name=label,
            interval=None,
            n_a=x.n,
            n_b=y.n,
            reason=reason,
        )
    outcome = scipy.stats.ttest_ind_from_stats(
        x.mean, x.sd, x.n, y.mean, y.sd, y.n, equal_var=equal_variances
    )
    error_x = x.sd**2 / x.n
    error_y = y.sd**2 / y.n
    # scipy's p is used, but its interval needs arrays, so error and degrees of freedom are made
    # here.
    if equal_variances:
        df = float(x.n + y.n - 2)
        pooled = ((x.n - 1) * x.sd**2 + (y.n - 1) * y.sd**2) / df
        error = np.sqrt(pooled * (1 / x.n + 1 / y.n))
    else:
        share = error_x / (error_x + error_y)
        df = 1 / (share**2 / (x.n - 1) + (1 - share) ** 2 / (y.n - 1))
        error = np.sqrt(error_x + error_y)
    interval = wald_interval(difference, float(error), level, df)
    t, p = map(float, outcome)
    return TestResult(
        name=name,
        statistic=t,
        df=df,
        p_value=p,
        estimate=difference,
        estimate_name=label,
        interval=interval,
        n_a=x.n,
        n_b=y.n,
    )


def mann_whitney(
    a: ArrayLike, b: ArrayLike, *, level: float = 0.95
) -> TestResult:
    """Mann-Whitney U test of two unpaired groups.

    The estimate is the probability of superiority, ``P(a > b) + P(a = b) / 2``; its interval is
    Newcombe's (2006, method 5), which stays sensible at 0 and 1.

    Args:
        a: (n,) scores of the first group.
        b: (m,) scores of the second.
        level: Confidence level.

    Returns:
        The test; None without values in a group. When all values are equal p is 1.

    Raises:
        ConfigError: Scores that are not finite.
    """
    resampling(1, level)
    x = vector(a, "a")
    y = vector(b, "b")
    n = len(x)
    m = len(y)
    x = round_values(x)
    y = round_values(y)
    label = "probability of superiority"
    if min(n, m) == 0:
        reason = f"needs values in each group, got {n} and {m}"
        return TestResult(
            name="mann-whitney",
            statistic=None,
            df=None,
            p_value=None,
            estimate=None,
            estimate_name=label,
            interval=None,
            n_a=n,
            n_b=m,
            reason=reason,
        )
    # scipy divides by the spread of the ranks, which equal values do not have.
    if np.ptp(np.concatenate([x, y])) == 0:
        u = n * m / 2
        p = 1.0
    else:
        u, p = map(
            float, scipy.stats.mannwhitneyu(x, y, alternative="two-sided")
        )
    superiority = u / (n * m)
    interval = _newcombe(superiority, n, m, level)
    return TestResult(
        name="mann-whitney",
        statistic=u,
        df=None,
        p_value=p,
        estimate=superiority,
        estimate_name=label,
        interval=interval,
        n_a=n,
        n_b=m,
    )


def _newcombe(theta: float, m: int, n: int, level: float) -> Interval:
    z = float(scipy.stats.norm.ppf(0.5 + level / 2))
    half = (m + n) / 2 - 1

    def score_equation(centre: float) -> float:
        spread = 1 + half * (
            (1 - centre) / (2 - centre) + centre / (1 + centre)
        )
        return (theta - centre) ** 2 - z**2 * centre * (
            1 - centre
        ) * spread / (m * n)

    # 0 and 1 solve the equation too, whatever theta.
    edge = 1e-12
    low = (
        scipy.optimize.brentq(score_equation, 0.0, min(theta, 1.0 - edge))
        if theta > 0
        else 0.0
    )
    high = (
        scipy.optimize.brentq(score_equation, max(theta, edge), 1.0)
        if theta < 1
        else 1.0
    )
    return Interval(float(low), float(high), level)


def wilcoxon(
    a: ArrayLike, b: ArrayLike, **options: Unpack[Resampling]
) -> TestResult:
    """Wilcoxon signed-rank test of two paired samples; zero differences are left out.

    The estimate is the matched-pairs rank-biserial correlation: the rank sum of positive
    differences minus that of negative ones, over their total (Kerby 2014), in -1..1.

    Args:
        a: (n,) scores of the first system.
        b: (n,) scores of the second on the same items.
        options: See ``Resampling``; pairs are resampled.

    Returns:
        The test; with no difference in any pair, or no pairs, statistic and estimate are None,
        and p is 1 in the first case.

    Raises:
        ConfigError: Different lengths, or scores that are not finite.
    """
    resampling(**options)
    x = vector(a, "a")
    y = vector(b, "b")
    n = same_length(a=x, b=y)
    # Differences that are only rounding count as 0: Wilcoxon's test leaves zeros out.
    difference = round_differences(x, y)
    label = "rank-biserial correlation"
    estimate = _rank_biserial(difference)
    if estimate is None:
        fallback_p, missing_reason = (
            (1.0, "no pair differs") if n else (None, "no pairs")
        )
        return TestResult(
            name="wilcoxon",
            statistic=None,
            df=None,
            p_value=fallback_p,
            estimate=None,
            estimate_name=label,
            interval=None,
            n_a=n,
            n_b=n,
            reason=missing_reason,
        )
    w, p = map(float, scipy.stats.wilcoxon(difference))
    interval, reason = interval_or_reason(
        lambda rows: _rank_biserial(difference[rows]),
        np.arange(n),
        "pairs differ",
        **options,
    )
    return TestResult(
        name="wilcoxon",
        statistic=w,
        df=None,
        p_value=p,
        estimate=estimate,
        estimate_name=label,
        interval=interval,
        n_a=n,
        n_b=n,
        reason=reason,
    )


def _rank_biserial(difference: Floats) -> float | None:
    nonzero = difference[difference != 0]
    if len(nonzero) == 0:
        return None
    ranks = mean_ranks(np.abs(nonzero))
    return float((np.sign(nonzero) * ranks).sum() / ranks.sum())


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down correction; controls the chance of any false discovery.

    Args:
        p_values: p of each test, None for a test that could not be made: it stays None and does
            not count among the tests.

    Returns:
        Adjusted p values in the given order, at most 1.

    Raises:
        ConfigError: A p value outside 0..1.
    """
    defined = [(p, i) for i, p in enumerate(p_values) if p is not None]
    for p, i in defined:
        if not 0.0 <= p <= 1.0:
            raise ConfigError(
                f"p_values: expected numbers in 0..1, got {p} at position {i}"
            )
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, i) in enumerate(sorted(defined)):
        # The running maximum keeps adjusted values in the order of the raw ones.
        highest = max(highest, min(1.0, p * (len(defined) - rank)))
        adjusted[i] = highest
    return adjusted


def significance_clusters(
    values: Sequence[float | None],
    p_value: Callable[[int, int], float | None],
    *,
    alpha: float = 0.05,
) -> list[int | None]:
    """Clusters by significance: each has what does not differ significantly from its best.

    The best leads cluster 1; all others are tested against it, p corrected by Holm over these
    tests, and those that are not significantly different join. The best of the rest leads the next
    one, and so on. After the greedy clusters of the WMT metrics tasks (Freitag et al. 2023), which
    do not correct.

    Args:
        values: Value of each system, higher is better; None for one without a value.
        p_value: Two-sided p of two systems by place, uncorrected; None if there is no test:
            such two are not distinguished.
        alpha: Level from which two are different.

    Returns:
        Number of each system's cluster, from 1; None without a value.

    Raises:
        ConfigError: ``alpha`` is no share, or a p value is outside 0..1.
    """
    check_number("alpha", alpha, 0, 1, above=True, below=True)
    clusters: list[int | None] = [None] * len(values)
    ranked = [
        (float(round_values(value)), place)
        for place, value in enumerate(values)
        if value is not None
    ]
    # Of equal values the first by place leads, so that the result does not depend on sorting.
    remaining = [
        place
        for _, place in sorted(ranked, key=lambda entry: (-entry[0], entry[1]))
    ]
    number = 0
    while remaining:
        number += 1
        leader, *challengers = remaining
        clusters[leader] = number
        corrected = holm([p_value(leader, place) for place in challengers])
        remaining = []
        for place, p in zip(challengers, corrected, strict=True):
            if p is None or p >= alpha:
                clusters[place] = number
            else:
                remaining.append(place)
    return clusters
