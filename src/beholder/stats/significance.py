"""Tests of the difference of two groups, and Holm's correction for several of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import optimize
from scipy import stats as sps

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats.bootstrap import cluster_bootstrap
from beholder.stats.checks import Floats, Ints, resampling, same_length, vector
from beholder.stats.effects import Group, moments


@dataclass(frozen=True, slots=True)
class TestResult:
    """A two-sided test of the difference of two groups.

    Attributes:
        name: Which test.
        statistic: Its statistic; None when the test cannot be made.
        df: Degrees of freedom, where the test has them.
        p_value: Two-sided p; None when the test cannot be made.
        estimate: Size of the difference, on the scale that ``estimate_name`` says.
        estimate_name: What the estimate is.
        interval: Confidence interval of the estimate.
        n_a: Size of the first group (pairs, for a paired test).
        n_b: Size of the second.
        reason: Why something is None.
    """

    __test__ = False  # not a test class for pytest

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


def t_test(a: Group, b: Group, *, equal_variances: bool = False, level: float = 0.95) -> TestResult:
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
    x, y = moments(a, "a"), moments(b, "b")
    name = "student-t" if equal_variances else "welch-t"
    label = "difference of means"
    if min(x.n, y.n) < 2 or (x.sd == 0 and y.sd == 0):
        few = min(x.n, y.n) < 2
        reason = (
            f"needs at least two values in each group, got {x.n} and {y.n}"
            if few
            else "neither group varies"
        )
        known = x.mean - y.mean if min(x.n, y.n) else None
        return TestResult(name, None, None, None, known, label, None, x.n, y.n, reason)
    result = sps.ttest_ind_from_stats(
        x.mean, x.sd, x.n, y.mean, y.sd, y.n, equal_var=equal_variances
    )
    difference = x.mean - y.mean
    error_x, error_y = x.sd**2 / x.n, y.sd**2 / y.n
    if equal_variances:
        df = float(x.n + y.n - 2)
        pooled = ((x.n - 1) * x.sd**2 + (y.n - 1) * y.sd**2) / df
        error = np.sqrt(pooled * (1 / x.n + 1 / y.n))
    else:
        share = error_x / (error_x + error_y)
        df = 1 / (share**2 / (x.n - 1) + (1 - share) ** 2 / (y.n - 1))
        error = np.sqrt(error_x + error_y)
    half = float(sps.t.ppf(0.5 + level / 2, df) * error)
    interval = Interval(difference - half, difference + half, level)
    return TestResult(
        name,
        float(result.statistic),
        df,
        float(result.pvalue),
        difference,
        label,
        interval,
        x.n,
        y.n,
    )


def mann_whitney(a: ArrayLike, b: ArrayLike, *, level: float = 0.95) -> TestResult:
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
    x, y = vector(a, "a"), vector(b, "b")
    label = "probability of superiority"
    if min(len(x), len(y)) == 0:
        reason = f"needs values in each group, got {len(x)} and {len(y)}"
        return TestResult(
            "mann-whitney", None, None, None, None, label, None, len(x), len(y), reason
        )
    both = np.concatenate([x, y])
    if both.min() == both.max():
        u, p = len(x) * len(y) / 2, 1.0
    else:
        result = sps.mannwhitneyu(x, y, alternative="two-sided")
        u, p = float(result.statistic), float(result.pvalue)
    superiority = u / (len(x) * len(y))
    interval = _newcombe(superiority, len(x), len(y), level)
    return TestResult("mann-whitney", u, None, p, superiority, label, interval, len(x), len(y))


def _newcombe(theta: float, m: int, n: int, level: float) -> Interval:
    z = float(sps.norm.ppf(0.5 + level / 2))
    half = (m + n) / 2 - 1

    def off(centre: float) -> float:
        spread = 1 + half * ((1 - centre) / (2 - centre) + centre / (1 + centre))
        return (theta - centre) ** 2 - z**2 * centre * (1 - centre) * spread / (m * n)

    edge = 1e-12  # 0 and 1 solve the equation too, whatever theta
    low = optimize.brentq(off, 0.0, min(theta, 1.0 - edge)) if theta > 0 else 0.0
    high = optimize.brentq(off, max(theta, edge), 1.0) if theta < 1 else 1.0
    return Interval(float(low), float(high), level)


def wilcoxon(
    a: ArrayLike,
    b: ArrayLike,
    *,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 12345,
) -> TestResult:
    """Wilcoxon signed-rank test of two paired samples; zero differences are left out.

    The estimate is the matched-pairs rank-biserial correlation: the rank sum of positive
    differences minus that of negative ones, over their total (Kerby 2014), in -1..1.

    Args:
        a: (n,) scores of the first system.
        b: (n,) scores of the second on the same items.
        n_resamples: Bootstrap resamples of pairs for the interval.
        level: Confidence level.
        seed: Seed of the resampling.

    Returns:
        The test; with no difference in any pair, or no pairs, statistic and estimate are None,
        and p is 1 in the first case.

    Raises:
        ConfigError: Different lengths, or scores that are not finite.
    """
    resampling(n_resamples, level)
    x, y = vector(a, "a"), vector(b, "b")
    n = same_length(a=x, b=y)
    difference = x - y
    label = "rank-biserial correlation"
    estimate = _rank_biserial(difference)
    if estimate is None:
        p = 1.0 if n else None
        empty = "no pair differs" if n else "no pairs"
        return TestResult("wilcoxon", None, None, p, None, label, None, n, n, empty)
    result = sps.wilcoxon(difference)

    def statistic(rows: Ints) -> float | None:
        return _rank_biserial(difference[rows])

    interval = cluster_bootstrap(
        statistic, np.arange(n), n_resamples=n_resamples, level=level, seed=seed, centre=estimate
    )
    reason = None if interval else "too few pairs differ for a bootstrap interval"
    return TestResult(
        "wilcoxon",
        float(result.statistic),
        None,
        float(result.pvalue),
        estimate,
        label,
        interval,
        n,
        n,
        reason,
    )


def _rank_biserial(difference: Floats) -> float | None:
    kept = difference[difference != 0]
    if len(kept) == 0:
        return None
    ranks = sps.rankdata(np.abs(kept))
    return float((np.sign(kept) * ranks).sum() / ranks.sum())


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
    known = [(p, i) for i, p in enumerate(p_values) if p is not None]
    for p, i in known:
        if not 0.0 <= p <= 1.0:
            raise ConfigError(f"p_values: expected numbers in 0..1, got {p} at position {i}")
    adjusted: list[float | None] = [None] * len(p_values)
    highest = 0.0
    for rank, (p, i) in enumerate(sorted(known)):
        highest = max(highest, min(1.0, p * (len(known) - rank)))
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
        values: What each system reached, higher is better; None for one without a value.
        p_value: Two-sided p of two systems by place, uncorrected; None if there is no test:
            such two are not distinguished.
        alpha: Level from which two are different.

    Returns:
        Number of each system's cluster, from 1; None without a value.

    Raises:
        ConfigError: ``alpha`` is no share, or a p value is outside 0..1.
    """
    if not 0.0 < alpha < 1.0:
        raise ConfigError(f"alpha: expected a share between 0 and 1, got {alpha}")
    found: list[int | None] = [None] * len(values)
    known = [(value, place) for place, value in enumerate(values) if value is not None]
    rest = [place for _, place in sorted(known, key=lambda one: (-one[0], one[1]))]
    number = 0
    while rest:
        number += 1
        leader, *others = rest
        found[leader] = number
        corrected = holm([p_value(leader, place) for place in others])
        rest = []
        for place, p in zip(others, corrected, strict=True):
            if p is None or p >= alpha:
                found[place] = number
            else:
                rest.append(place)
    return found
