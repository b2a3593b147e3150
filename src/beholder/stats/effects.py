"""Effect sizes of the difference of two groups, from scores or from printed means and SDs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy import special
from scipy import stats as sps

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats.checks import resampling, vector


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
        if not (np.isfinite([group.mean, group.sd]).all() and group.sd >= 0 and group.n >= 0):
            raise ConfigError(f"{name}: impossible moments {group}")
        return group
    values = vector(group, name)
    if len(values) == 0:
        return Moments(0.0, 0.0, 0)
    if values.min() == values.max():  # rounding is not variance
        return Moments(float(values[0]), 0.0, len(values))
    return Moments(float(values.mean()), float(values.std(ddof=1)), len(values))


@dataclass(frozen=True, slots=True)
class Effect:
    """A standardised difference of two group means.

    Attributes:
        name: Which effect size.
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


def cohen_d(a: Group, b: Group, *, pooling: Pooling = "pooled", level: float = 0.95) -> Effect:
    """Cohen's d, ``(mean_a - mean_b) / sd``.

    ``pooled``: the variance is the mean of both weighted by n - 1 (the one of Student's t);
    large-sample interval of Hedges and Olkin 1985. ``unweighted``: the plain mean of both
    variances; interval of Bonett 2008, which allows unequal variances. With groups of equal size
    the two values agree.

    Args:
        a: Scores (n,) of the first group, or its :class:`Moments`.
        b: The second group.
        pooling: Which variance.
        level: Confidence level.

    Returns:
        d, positive when ``a`` is higher. None with fewer than two values in a group, or no
        variance.

    Raises:
        ConfigError: Scores that are not finite, or an unknown pooling.
    """
    if pooling not in ("pooled", "unweighted"):
        raise ConfigError(f"pooling: expected pooled or unweighted, got {pooling!r}")
    resampling(1, level)
    x, y = moments(a, "a"), moments(b, "b")
    name = f"cohen-d {pooling}"
    reason = _undefined(x, y)
    if reason:
        return Effect(name, None, None, x.n, y.n, reason)
    if pooling == "pooled":
        d = (x.mean - y.mean) / pooled_sd(x, y)
        error = (x.n + y.n) / (x.n * y.n) + d**2 / (2 * (x.n + y.n))
    else:
        variance = (x.sd**2 + y.sd**2) / 2
        d = (x.mean - y.mean) / float(np.sqrt(variance))
        df_x, df_y = x.n - 1, y.n - 1
        error = d**2 * (x.sd**4 / df_x + y.sd**4 / df_y) / (8 * variance**2)
        error += (x.sd**2 / df_x + y.sd**2 / df_y) / variance
    half = float(sps.norm.ppf(0.5 + level / 2) * np.sqrt(error))
    return Effect(name, d, Interval(d - half, d + half, level), x.n, y.n)


def hedges_g(a: Group, b: Group, *, level: float = 0.95) -> Effect:
    """Hedges' g: pooled Cohen's d times the exact small-sample correction.

    ``J = gamma(m / 2) / (sqrt(m / 2) gamma((m - 1) / 2))`` with m = n_a + n_b - 2 (Hedges 1981).
    Arguments, result and errors as :func:`cohen_d`.
    """
    d = cohen_d(a, b, level=level)
    if d.value is None or d.interval is None:
        return Effect("hedges-g", None, None, d.n_a, d.n_b, d.reason)
    df = d.n_a + d.n_b - 2
    j = float(np.exp(special.gammaln(df / 2) - special.gammaln((df - 1) / 2)) / np.sqrt(df / 2))
    interval = Interval(j * d.interval.low, j * d.interval.high, level)
    return Effect("hedges-g", j * d.value, interval, d.n_a, d.n_b)


def pooled_sd(x: Moments, y: Moments) -> float:
    """Standard deviation with the variances weighted by n - 1."""
    df_x, df_y = x.n - 1, y.n - 1
    return float(np.sqrt((df_x * x.sd**2 + df_y * y.sd**2) / (df_x + df_y)))


def _undefined(x: Moments, y: Moments) -> str | None:
    if min(x.n, y.n) < 2:
        return f"needs at least two values in each group, got {x.n} and {y.n}"
    if x.sd == 0 and y.sd == 0:
        return "neither group varies"
    return None
