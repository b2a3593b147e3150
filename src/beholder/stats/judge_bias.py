"""What else than quality a judge's grades follow: the length of a text, and who wrote it.

Regressions have standard errors that hold for unequal variances (HC3), or for texts of one picture
that resemble each other (CR1). Too few data give a reason instead of a number.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats as sps

from beholder.records import Interval
from beholder.stats.checks import Floats, cluster_codes, same_length, vector

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LEAST_TEXTS = 30
LEAST_PICTURES = 20
LEAST_SPREAD = 0.2
"""Standard deviation of log2 words."""
LEAST_CLUSTERS = 10
"""Pictures whose texts are clusters of a regression."""


@dataclass(frozen=True, slots=True)
class Bias:
    """One entry of a judge's bias card.

    Attributes:
        name: What the grades were found, or not found, to follow.
        value: The estimate; 0 is no bias. None if there are not enough data.
        interval: Its confidence interval, or None.
        n: Texts or pictures.
        unit: What ``value`` counts.
        reason: Why there is no value; empty if there is one.
    """

    name: str
    value: float | None
    interval: Interval | None
    n: int
    unit: str
    reason: str = ""


def length_bias(
    words: ArrayLike,
    judged: ArrayLike,
    human: ArrayLike,
    pictures: Sequence[Hashable] | None = None,
    *,
    level: float = 0.95,
    least: int = LEAST_TEXTS,
) -> Bias:
    """How much a grade rises when a text of the same human grade has twice the words.

    The slope of the judge's grades on log2 of the words, with the human grade held constant. Errors
    of the human grades draw it towards the slope without them.

    Args:
        words: Words of each text, (n,), above 0.
        judged: Grades of the judge, (n,).
        human: Grades of people, (n,), on any scale.
        pictures: Picture of each text; standard errors are then clustered.
        level: Confidence level.
        least: Fewer texts give a reason instead of a number.

    Raises:
        ConfigError: Values that are not finite, or of different lengths.
    """
    x, y, z = (
        vector(one, name) for one, name in ((words, "words"), (judged, "judged"), (human, "human"))
    )
    n = same_length(words=x, judged=y, human=z)
    unit = "grade for twice the words"
    doublings = np.log2(np.maximum(x, 1.0))
    if n < least or float(np.std(doublings, ddof=1)) < LEAST_SPREAD:
        few = f"{n} texts with a label, {least} are needed"
        reason = few if n < least else "the texts are of nearly one length"
        return Bias("length", None, None, n, unit, reason)
    if pictures is not None and (n_pictures := len(set(pictures))) < LEAST_CLUSTERS:
        reason = f"texts of {n_pictures} pictures, {LEAST_CLUSTERS} are needed"
        return Bias("length", None, None, n, unit, reason)
    design = np.column_stack([np.ones(n), doublings, z])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return Bias("length", None, None, n, unit, "length and human grade cannot be separated")
    if float(_leverage(design).max()) > 1 - 1e-9:
        return Bias("length", None, None, n, unit, "one text alone decides it")
    value, interval = _slope(design, y, pictures, level)
    return Bias("length", value, interval, n, unit)


def own_text_bias(
    own: ArrayLike, others: ArrayLike, *, level: float = 0.95, least: int = LEAST_PICTURES
) -> Bias:
    """How much more a judge overrates texts of its own model than those of others.

    Args:
        own: Mean of (judge - people) for the judge's own texts of each picture, (pictures,), both
            on one scale.
        others: The same for the others' texts of these pictures, (pictures,).
        level: Confidence level.
        least: Fewer pictures give a reason instead of a number.

    Returns:
        The mean difference over pictures, with Student's interval.

    Raises:
        ConfigError: Values that are not finite, or of different lengths.
    """
    x, y = vector(own, "own"), vector(others, "others")
    n = same_length(own=x, others=y)
    unit = "grade for its own texts"
    if n < least:
        reason = f"{n} pictures with texts of its own and of others, {least} are needed"
        return Bias("own texts", None, None, n, unit, reason)
    gaps = x - y
    mean, error = float(gaps.mean()), float(np.std(gaps, ddof=1) / np.sqrt(n))
    return Bias("own texts", mean, _student(mean, error, n - 1, level), n, unit)


def _leverage(design: Floats) -> Floats:
    """How much each row decides its own fitted value, 0 to 1."""
    hat: Floats = (design * np.linalg.pinv(design).T).sum(axis=1)
    return hat


def _slope(
    design: Floats, y: Floats, pictures: Sequence[Hashable] | None, level: float
) -> tuple[float, Interval]:
    """The second coefficient by least squares, and its interval."""
    n, k = design.shape
    bread = np.linalg.inv(design.T @ design)
    weights = bread @ design.T
    beta = weights @ y
    errors = y - design @ beta
    if pictures is None:
        scores, df, factor = design * (errors / (1 - _leverage(design)))[:, None], n - k, 1.0
    else:
        codes = cluster_codes(list(pictures), n)
        groups = int(codes.max()) + 1
        scores = np.zeros((groups, k))
        np.add.at(scores, codes, design * errors[:, None])
        df, factor = groups - 1, groups / (groups - 1)
    error = float(np.sqrt(factor * (bread @ scores.T @ scores @ bread)[1, 1]))
    slope = float(beta[1])
    return slope, _student(slope, error, df, level)


def _student(value: float, error: float, df: int, level: float) -> Interval:
    reach = float(sps.t.ppf((1 + level) / 2, df)) * error
    return Interval(value - reach, value + reach, level)
