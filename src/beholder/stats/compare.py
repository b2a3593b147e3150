"""Does one metric agree with people better than another on the same data?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import scipy
from numpy.typing import ArrayLike

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats.bootstrap import interval_or_reason
from beholder.stats.checks import (
    Floats,
    Ints,
    cluster_codes,
    n_clusters,
    one_of,
    resampling,
    same_length,
    vector,
)
from beholder.stats.correlation import (
    Clusters,
    Coefficient,
    CorrelationKind,
    coefficient,
    on_resamples,
)
from beholder.stats.ranks import mean_ranks

DifferenceTest: TypeAlias = Literal["permutation", "williams", "steiger"]


@dataclass(frozen=True, slots=True)
class CorrelationDifference:
    """Difference of two correlations with the same third variable.

    Attributes:
        kind: Name of the coefficient.
        test: Test that gave p.
        a: Correlation of the first metric with gold; None when undefined.
        b: Likewise of the second.
        difference: ``a - b``; None when either is.
        interval: Paired bootstrap interval of the difference; None when it cannot be given.
        statistic: Williams' t (n - 3 degrees of freedom) or Steiger's Z; None for permutation.
        p_value: Two-sided; None when the test cannot be made.
        n: Rows.
        n_clusters: Independent clusters that were resampled or swapped.
        reason: Why a value, p or interval is None.
    """

    kind: str
    test: str
    a: float | None
    b: float | None
    difference: float | None
    interval: Interval | None
    statistic: float | None
    p_value: float | None
    n: int
    n_clusters: int
    reason: str | None = None


def compare_correlations(
    a: ArrayLike,
    b: ArrayLike,
    gold: ArrayLike,
    kind: CorrelationKind = "pearson",
    *,
    test: DifferenceTest = "permutation",
    clusters: Clusters = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 12345,
) -> CorrelationDifference:
    """Test whether two metrics correlate differently with gold on the same rows.

    ``permutation`` swaps the two metrics' scores, brought to one scale (z-scores; for rank
    coefficients z-scores of ranks), at random rows and counts differences at least as large
    (Deutsch et al. 2021, PERM-INPUTS). ``williams`` is Williams' t for overlapping dependent
    correlations, ``steiger`` Steiger's Z with the mean correlation (Steiger 1980). The latter two
    suppose normal scores and independent rows, are approximate for Spearman, and refuse tau.

    Args:
        a: (n,) scores of the first metric.
        b: (n,) scores of the second.
        gold: (n,) human judgments.
        kind: Name of the coefficient.
        test: Name of the test.
        clusters: One label per row; whole clusters are resampled and swapped.
        n_resamples: Bootstrap resamples, and random swaps of the permutation test (p is at least
            ``1 / (n_resamples + 1)``).
        level: Confidence level of the interval.
        seed: Seed of both.

    Returns:
        The difference; None with a constant side or fewer than three rows.

    Raises:
        ConfigError: Different lengths, values that are not finite, unknown names, or clusters
            or tau with a test that does not allow for them.
    """
    one_of(test, get_args(DifferenceTest), "test")
    if clusters is not None and test != "permutation":
        raise ConfigError(
            f"test: {test} supposes independent rows; with clusters use permutation"
        )
    if kind.startswith("tau") and test != "permutation":
        raise ConfigError(
            f"test: {test} does not know the variance of {kind}; use permutation"
        )
    resampling(n_resamples, level)
    x = vector(a, "a")
    y = vector(b, "b")
    z = vector(gold, "gold")
    n = same_length(a=x, b=y, gold=z)
    function = coefficient(kind)
    codes = cluster_codes(clusters, n)
    units = n_clusters(codes)
    r_a = function(x, z)
    r_b = function(y, z)
    if r_a is None or r_b is None or n < 3:
        reason = (
            "fewer than three rows"
            if n < 3
            else "a metric or gold is constant"
        )
        return CorrelationDifference(
            kind=kind,
            test=test,
            a=r_a,
            b=r_b,
            difference=None,
            interval=None,
            statistic=None,
            p_value=None,
            n=n,
            n_clusters=units,
            reason=reason,
        )
    # The bootstrap resamples rows of all three vectors together: the correlations share gold.
    difference = r_a - r_b
    of_x = on_resamples(kind, x, z)
    of_y = on_resamples(kind, y, z)

    def statistic(rows: Ints) -> float | None:
        first = of_x(x[rows], z[rows])
        second = of_y(y[rows], z[rows])
        return None if first is None or second is None else first - second

    interval, few = interval_or_reason(
        statistic,
        codes,
        "clusters vary",
        n_resamples=n_resamples,
        level=level,
        seed=seed,
    )
    value: float | None = None
    p: float | None
    if test == "permutation":
        p = _permutation_p(
            function, kind, (x, y, z), difference, codes, n_resamples, seed
        )
    else:
        r_ab = function(x, y)
        # Both vary, else their correlation with gold had no value.
        assert r_ab is not None
        formula = williams if test == "williams" else steiger
        value, p = formula(r_a, r_b, r_ab, n)
    why = few
    if p is None:
        missing = (
            f"{test}'s test is not defined for n={n} or a full correlation"
        )
        why = f"{few}; {missing}" if few else missing
    return CorrelationDifference(
        kind=kind,
        test=test,
        a=r_a,
        b=r_b,
        difference=difference,
        interval=interval,
        statistic=value,
        p_value=p,
        n=n,
        n_clusters=units,
        reason=why,
    )


def williams(
    r_a: float, r_b: float, r_ab: float, n: int
) -> tuple[float | None, float | None]:
    """Williams' t and two-sided p for ``r_a - r_b``, two correlations with one third variable.

    Args:
        r_a: Correlation of metric a with gold.
        r_b: Correlation of metric b with gold.
        r_ab: Correlation of the metrics with each other.
        n: Rows.

    Returns:
        t with n - 3 degrees of freedom and p; (None, None) for n < 4 and for a full correlation;
        (0, 1) when the two correlations are equal.
    """
    if n < 4:
        return None, None
    if r_a == r_b:
        return 0.0, 1.0
    determinant = 1 - r_a**2 - r_b**2 - r_ab**2 + 2 * r_a * r_b * r_ab
    mean = (r_a + r_b) / 2
    spread = (
        2 * (n - 1) / (n - 3) * max(determinant, 0.0)
        + mean**2 * (1 - r_ab) ** 3
    )
    if spread <= 0 or r_ab <= -1:
        return None, None
    t = (r_a - r_b) * float(np.sqrt((n - 1) * (1 + r_ab) / spread))
    return t, float(2 * scipy.stats.t.sf(abs(t), n - 3))


def steiger(
    r_a: float, r_b: float, r_ab: float, n: int
) -> tuple[float | None, float | None]:
    """Return Steiger's Z, with the mean correlation in its covariance, and its two-sided p.

    Arguments and undefined cases are those of :func:`williams`.
    """
    if n < 4 or max(abs(r_a), abs(r_b)) >= 1:
        return None, None
    if r_a == r_b:
        return 0.0, 1.0
    mean = (r_a + r_b) / 2
    psi = r_ab * (1 - 2 * mean**2) - mean**2 * (1 - 2 * mean**2 - r_ab**2) / 2
    denominator = 2 - 2 * psi / (1 - mean**2) ** 2
    if denominator <= 0:
        return None, None
    z = float(
        (np.arctanh(r_a) - np.arctanh(r_b)) * np.sqrt((n - 3) / denominator)
    )
    return z, float(2 * scipy.stats.norm.sf(abs(z)))


def _permutation_p(
    function: Coefficient,
    kind: str,
    data: tuple[Floats, Floats, Floats],
    observed: float,
    codes: Ints,
    n_resamples: int,
    seed: int,
) -> float:
    x, y = (
        scipy.stats.zscore(v if kind == "pearson" else mean_ranks(v))
        for v in data[:2]
    )
    z = data[2]
    # Independent of the bootstrap's draws.
    rng = np.random.default_rng([seed, 1])
    as_extreme = 1
    for _ in range(n_resamples):
        swap = (rng.random(n_clusters(codes)) < 0.5)[codes]
        first = function(np.where(swap, y, x), z)
        second = function(np.where(swap, x, y), z)
        if (
            first is None
            or second is None
            or abs(first - second) >= abs(observed) - 1e-12
        ):
            # A swap that leaves no correlation counts against a difference.
            as_extreme += 1
    return as_extreme / (n_resamples + 1)
