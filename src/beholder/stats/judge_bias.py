"""What else than quality a judge's grades follow: length, authorship, place and seat.

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
LEAST_WRONG, LEAST_MARKED_PICTURES, LEAST_IN_A_THIRD = 30, 10, 5
LEAST_PAIRS = 30


@dataclass(frozen=True, slots=True)
class Bias:
    """One entry of a judge's bias card.

    Attributes:
        name: What the grades were found, or not found, to follow.
        value: The estimate; 0 is no bias. None if there are not enough data.
        interval: Its confidence interval, or None.
        n: Texts, pictures, sentences or pairs.
        unit: What ``value`` counts.
        reason: Why there is no value; empty if there is one.
        p_value: Of the sign test, for seats.
    """

    name: str
    value: float | None
    interval: Interval | None
    n: int
    unit: str
    reason: str = ""
    p_value: float | None = None


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
    if pictures is not None and (n_pictures := len(set(pictures))) < LEAST_MARKED_PICTURES:
        reason = f"texts of {n_pictures} pictures, {LEAST_MARKED_PICTURES} are needed"
        return Bias("length", None, None, n, unit, reason)
    design = np.column_stack([np.ones(n), doublings, z])
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return Bias("length", None, None, n, unit, "length and human grade cannot be separated")
    if float(_leverage(design).max()) > 1 - 1e-9:
        return Bias("length", None, None, n, unit, "one text alone decides it")
    value, interval = _slope(design, y, pictures, level)
    return Bias("length", value, interval, n, unit)


def own_text_bias(
    own_judged: ArrayLike,
    own_human: ArrayLike,
    other_judged: ArrayLike,
    other_human: ArrayLike,
    *,
    level: float = 0.95,
    least: int = LEAST_PICTURES,
) -> Bias:
    """How much more a judge overrates texts of its own model than those of others.

    The mean over pictures of (judge - people) for its own texts minus the same for others' texts.

    Args:
        own_judged: Mean grade of the judge for its own texts of each picture, (pictures,).
        own_human: The same by people, on the judge's scale.
        other_judged: Mean grade of the judge for others' texts of the same pictures.
        other_human: The same by people.
        level: Confidence level.
        least: Fewer pictures give a reason instead of a number.

    Raises:
        ConfigError: Values that are not finite, or of different lengths.
    """
    names = ("own_judged", "own_human", "other_judged", "other_human")
    given = dict(zip(names, (own_judged, own_human, other_judged, other_human), strict=True))
    values = {name: vector(one, name) for name, one in given.items()}
    n = same_length(**values)
    unit = "grade for its own texts"
    if n < least:
        reason = f"{n} pictures with texts of its own and of others, {least} are needed"
        return Bias("own texts", None, None, n, unit, reason)
    own, own_people, others, other_people = values.values()
    gaps = (own - own_people) - (others - other_people)
    reach = sps.t.ppf((1 + level) / 2, n - 1) * np.std(gaps, ddof=1) / np.sqrt(n)
    mean = float(gaps.mean())
    return Bias(
        "own texts", mean, Interval(mean - float(reach), mean + float(reach), level), n, unit
    )


def place_bias(
    places: ArrayLike,
    found: ArrayLike,
    pictures: Sequence[Hashable],
    *,
    level: float = 0.95,
) -> Bias:
    """How much more often a judge finds a wrong sentence at the end of a text than at its start.

    Args:
        places: Relative place, 0 to 1, of each sentence that people call wrong, (n,).
        found: 1 where the judge calls it wrong, otherwise 0, (n,).
        pictures: Picture of each sentence; standard errors are clustered.
        level: Confidence level.

    Raises:
        ConfigError: Values that are not finite, or of different lengths.
    """
    x, y = vector(places, "places"), vector(found, "found")
    n = same_length(places=x, found=y)
    unit = "share found at the end, minus at the start"
    n_pictures = len(set(pictures))
    ends = min(int((x < 1 / 3).sum()), int((x > 2 / 3).sum()))
    if n < LEAST_WRONG or n_pictures < LEAST_MARKED_PICTURES or ends < LEAST_IN_A_THIRD:
        reason = (
            f"{n} wrong sentences of {n_pictures} pictures, {ends} in the first or last third;"
            f" {LEAST_WRONG}, {LEAST_MARKED_PICTURES} and {LEAST_IN_A_THIRD} are needed"
        )
        return Bias("place of a sentence", None, None, n, unit, reason)
    value, interval = _slope(np.column_stack([np.ones(n), x]), y, pictures, level)
    return Bias("place of a sentence", value, interval, n, unit)


def seat_bias(both_first: int, both_second: int, n: int) -> Bias:
    """How much more often the text shown first wins, over pairs that were shown in both orders.

    Args:
        both_first: Pairs in which the first text won in both orders.
        both_second: Pairs in which the second text won in both orders.
        n: All pairs.

    Returns:
        The difference as a share of all pairs, with the p-value of an exact sign test.
    """
    unit = "share of pairs won by the first seat, minus by the second"
    if n < LEAST_PAIRS:
        return Bias("seat", None, None, n, unit, f"{n} pairs, {LEAST_PAIRS} are needed")
    flips = both_first + both_second
    p = float(sps.binomtest(both_first, flips).pvalue) if flips else 1.0
    return Bias("seat", (both_first - both_second) / n, None, n, unit, p_value=p)


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
    reach = float(sps.t.ppf((1 + level) / 2, df)) * error
    slope = float(beta[1])
    return slope, Interval(slope - reach, slope + reach, level)
