"""Numbers of texts, pictures or labels that a wanted interval or a wanted power needs."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from beholder.base.ranges import check_number
from beholder.errors import ConfigError
from beholder.stats.checks import cluster_codes, cluster_sums, matrix, vector

_MAX_N = 10**9


def texts_for_mean(
    width: float,
    sd: float,
    *,
    per_picture: float = 1.0,
    icc: float = 0.0,
    level: float = 0.95,
) -> int:
    """Texts for an interval of a mean of at most ``width`` on each side.

    Args:
        width: Half the interval, in the unit of the values.
        sd: Standard deviation of the values of texts.
        per_picture: Texts of one picture; they resemble each other, so more are needed.
        icc: Intraclass correlation of texts of one picture, below 1.
        level: Confidence level.

    Raises:
        ConfigError: A number is out of its range.
    """
    _positive(width=width, sd=sd)
    if per_picture < 1 or not icc <= 1:
        raise ConfigError(
            f"per_picture={per_picture}, icc={icc}: expected at least 1, at most 1"
        )
    return math.ceil(
        (_z(level) * sd / width) ** 2 * max(1.0, 1 + (per_picture - 1) * icc)
    )


def pictures_for_difference(
    delta: float,
    sd: float,
    r: float,
    *,
    power: float = 0.8,
    level: float = 0.95,
    systems: int = 2,
) -> int:
    """Pictures that both systems describe, to find a difference of means.

    Args:
        delta: The difference to find.
        sd: Standard deviation of a system's values over pictures.
        r: Correlation of the two systems' values over pictures.
        power: Probability of finding it.
        level: 1 minus the probability of finding a difference that is none.
        systems: Systems to rank; all pairs are tested, corrected by Bonferroni.

    Raises:
        ConfigError: A number is out of its range.
    """
    _positive(delta=delta, sd=sd)
    if not (-1 <= r <= 1 and 0 < power < 1 and systems >= 2):
        raise ConfigError(
            f"r={r}, power={power}, systems={systems}: out of range"
        )
    pairs = systems * (systems - 1) // 2
    n_errors = _z(1 - (1 - level) / pairs) + float(scipy.stats.norm.ppf(power))
    return max(
        2, math.ceil((n_errors * sd * math.sqrt(2 * (1 - r)) / delta) ** 2)
    )


def items_for_kappa(
    width: float, shares: ArrayLike, *, level: float = 0.95
) -> int:
    """Items for an interval of Cohen's kappa of at most ``width`` on each side.

    Args:
        width: Half the interval.
        shares: (k, k) expected shares of items, by the first and the second rater's category.
        level: Confidence level.

    Raises:
        ConfigError: The shares are not square, do not sum to 1, or all lie in one category.

    Source: Fleiss, Cohen and Everitt 1969.
    """
    _positive(width=width)
    p = matrix(shares, "shares")
    if (
        p.shape[0] != p.shape[1]
        or p.min() < 0
        or not math.isclose(p.sum(), 1, abs_tol=1e-6)
    ):
        raise ConfigError(
            "shares: expected a square table of shares that sum to 1"
        )
    rows = p.sum(axis=1)
    columns = p.sum(axis=0)
    observed = float(np.trace(p))
    chance = float(rows @ columns)
    if chance > 1 - 1e-9:
        raise ConfigError(
            "shares: both raters use one category alone, so kappa is undefined"
        )
    weights = (1 - observed) * np.add.outer(columns, rows)
    same = (1 - chance) - np.diag(weights)
    off = p * weights**2
    variance = float(np.diag(p) @ same**2 + off.sum() - np.trace(off))
    variance -= (observed * chance - 2 * chance + observed) ** 2
    return math.ceil(_z(level) ** 2 * variance / (1 - chance) ** 4 / width**2)


def labels_for_corrected_mean(
    width: float, sd: float, r: float, n_judged: int, *, level: float = 0.95
) -> int:
    """Human labels for an interval of a corrected mean of at most ``width`` on each side.

    Args:
        width: Half the interval.
        sd: Standard deviation of the labels.
        r: Correlation of labels and judge.
        n_judged: Texts that the judge alone rates.
        level: Confidence level.

    Raises:
        ConfigError: A number is out of its range.
    """
    _positive(width=width, sd=sd)
    if not -1 <= r <= 1 or n_judged < 0:
        raise ConfigError(f"r={r}, n_judged={n_judged}: out of range")

    def is_narrow(n: int) -> bool:
        variance_share = 1 - r * r * n_judged / (n_judged + n)
        return _z(level) * sd * math.sqrt(variance_share / n) <= width

    needed = 1 + bisect_left(range(1, _MAX_N), True, key=is_narrow)
    if needed >= _MAX_N:
        raise ConfigError("more than a thousand million items would be needed")
    return needed


def raters_for_reliability(wanted: float, single: float) -> int:
    """Raters (annotators, or repeats of a judge) whose mean has a reliability.

    Args:
        wanted: Reliability of the mean, such as ICC(2,k).
        single: Reliability of one of them, such as ICC(2,1).

    Raises:
        ConfigError: A number is not between 0 and 1.

    Source: Spearman-Brown, solved for the number of raters.
    """
    if not (0 < wanted < 1 and 0 < single < 1):
        raise ConfigError(
            f"reliability={wanted}, single={single}: expected numbers in 0 to 1"
        )
    return max(
        1, math.ceil(round(wanted * (1 - single) / (single * (1 - wanted)), 9))
    )


def _z(level: float) -> float:
    check_number("level", level, 0, 1, above=True, below=True)
    return float(scipy.stats.norm.ppf((1 + level) / 2))


def _positive(**numbers: float) -> None:
    for name, number in numbers.items():
        check_number(name, number, 0, above=True)


@dataclass(frozen=True, slots=True)
class Scatter:
    """Spread of the values of a pilot.

    Attributes:
        sd: Standard deviation of texts.
        icc: Intraclass correlation of texts of one picture; 0 with one text a picture.
        per_picture: Mean number of texts of a picture.
    """

    sd: float
    icc: float
    per_picture: float


def scatter(values: ArrayLike, clusters: Sequence[Hashable]) -> Scatter:
    """Return the spread of a pilot's values by one-way analysis of variance over pictures.

    Args:
        values: (n,) values of texts.
        clusters: (n,) picture of each.

    Raises:
        ConfigError: Fewer than two values, or all are equal.
    """
    pilot = vector(values, "values")
    codes = cluster_codes(clusters, len(pilot))
    if len(pilot) < 2 or np.ptp(pilot) == 0:
        raise ConfigError(
            f"{len(pilot)} values without any spread: a larger pilot is needed"
        )
    sizes = np.bincount(codes)
    n = len(pilot)
    k = len(sizes)
    means = cluster_sums(codes, pilot) / sizes
    icc = 0.0
    if 1 < k < n:
        within = float(((pilot - means[codes]) ** 2).sum()) / (n - k)
        between = float(sizes @ (means - pilot.mean()) ** 2) / (k - 1)
        # The size of a picture that an unbalanced design has on average.
        typical = (n - float(sizes @ sizes) / n) / (k - 1)
        icc = (between - within) / (between + (typical - 1) * within)
    return Scatter(float(pilot.std(ddof=1)), min(1.0, max(0.0, icc)), n / k)
