"""Biases of a judge: length, authors, places, seats, chance.

Regressions have standard errors that hold for unequal variances (HC3), or for texts of one picture
that resemble each other (CR1). Too few data give a reason instead of a number.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from beholder.records import Interval
from beholder.stats.bootstrap import mean_interval, wald_interval
from beholder.stats.checks import (
    Floats,
    cluster_codes,
    n_clusters,
    same_length,
    vector,
)
from beholder.stats.shares import wilson_limits

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

LEAST_TEXTS = 30
LEAST_PICTURES = 20
LEAST_SPREAD = 0.2
"""Standard deviation of log2 words."""
LEAST_CLUSTERS = 10
"""Pictures whose texts are clusters of a regression."""
LEAST_ENDS = 5
"""Wrong sentences in the first third of their texts, and in the last."""
OWN_UNIT = "grade for its own texts"
PLACE_UNIT = "share found, last minus first"


@dataclass(frozen=True, slots=True)
class Bias:
    """One entry of a judge's bias card.

    Attributes:
        name: Influence that was tested.
        value: The estimate; 0 is no bias. None if there are not enough data.
        interval: Its confidence interval, or None.
        n: Texts or pictures.
        unit: Unit of ``value``.
        reason: Why there is no value; empty if there is one.
    """

    name: str
    n: int
    unit: str
    value: float | None = None
    interval: Interval | None = None
    reason: str = ""


def length_bias(
    words: ArrayLike,
    judged: ArrayLike,
    human: ArrayLike,
    pictures: Sequence[Hashable] | None = None,
    *,
    least: int = LEAST_TEXTS,
) -> Bias:
    """Estimate the rise of a grade when a text of the same human grade has twice the words.

    The slope of the judge's grades on log2 of the words, with the human grade held constant. Errors
    of the human grades draw it towards the slope without them.

    Args:
        words: Words of each text, (n,), above 0.
        judged: Grades of the judge, (n,).
        human: Grades of people, (n,), on any scale.
        pictures: Picture of each text; standard errors are then clustered.
        least: Fewer texts give a reason instead of a number.

    Raises:
        ConfigError: Values that are not finite, or of different lengths.
    """
    x = vector(words, "words")
    y = vector(judged, "judged")
    z = vector(human, "human")
    n = same_length(words=x, judged=y, human=z)
    unit = "grade for twice the words"
    # A unit of log2 is a doubling of the words, so the slope has a meaning of its own.
    doublings = np.log2(np.maximum(x, 1.0))
    design = np.column_stack([np.ones(n), doublings, z])
    reason = ""
    if n < least:
        reason = f"{n} texts with a label, {least} are needed"
    elif float(np.std(doublings, ddof=1)) < LEAST_SPREAD:
        reason = "the texts are of nearly one length"
    elif (
        pictures is not None
        and (n_pictures := len(set(pictures))) < LEAST_CLUSTERS
    ):
        reason = f"texts of {n_pictures} pictures, {LEAST_CLUSTERS} are needed"
    elif np.linalg.matrix_rank(design) < design.shape[1]:
        reason = "length and human grade cannot be separated"
    elif float(_leverage(design).max()) > 1 - 1e-9:
        reason = "one text alone decides it"
    if reason:
        return Bias(
            name="length",
            n=n,
            unit=unit,
            reason=reason,
        )
    value, interval = _slope(design, y, pictures)
    return Bias(
        name="length",
        value=value,
        interval=interval,
        n=n,
        unit=unit,
    )


def own_text_bias(
    own: ArrayLike, others: ArrayLike, *, least: int = LEAST_PICTURES
) -> Bias:
    """Estimate how much more a judge overrates texts of its own model than those of others.

    Args:
        own: Mean of (judge - people) for the judge's own texts of each picture, (pictures,), both
            on one scale.
        others: The same for the others' texts of these pictures, (pictures,).
        least: Fewer pictures give a reason instead of a number.

    Returns:
        The mean difference over pictures, with Student's interval.

    Raises:
        ConfigError: Values that are not finite, or of different lengths.
    """
    x = vector(own, "own")
    y = vector(others, "others")
    same_length(own=x, others=y)
    what = "pictures with texts of its own and of others"
    return mean_bias("own texts", OWN_UNIT, x - y, what, least=least)


def mean_bias(
    name: str, unit: str, values: ArrayLike, what: str, *, least: int
) -> Bias:
    """A mean of differences that are 0 for a judge without the bias, with Student's interval.

    Args:
        name: See ``Bias``.
        unit: See ``Bias``.
        values: A difference per independent unit.
        what: Noun for the values, for the reason.
        least: Fewer values give a reason instead of a number.
    """
    x = vector(values, name)
    n = len(x)
    if n < least:
        return _too_few(name, unit, n, what, least)
    error = float(np.std(x, ddof=1) / np.sqrt(n))
    mean = float(x.mean())
    return Bias(
        name=name,
        value=mean,
        interval=wald_interval(mean, error, df=n - 1),
        n=n,
        unit=unit,
    )


def _too_few(name: str, unit: str, n: int, what: str, least: int) -> Bias:
    reason = f"{n} {what}, {least} are needed"
    return Bias(name=name, n=n, unit=unit, reason=reason)


def share_bias(
    name: str, unit: str, changed: Sequence[bool], what: str, *, least: int
) -> Bias:
    """A share of answers that change although nothing they are about does; Wilson's interval.

    Args:
        name: See ``Bias``.
        unit: See ``Bias``.
        changed: Whether each changed.
        what: Noun for the questions, for the reason.
        least: Fewer answers give a reason instead of a number.
    """
    n = len(changed)
    if n < least:
        return _too_few(name, unit, n, what, least)
    return Bias(
        name=name,
        value=sum(changed) / n,
        interval=wilson_limits(sum(changed), n),
        n=n,
        unit=unit,
    )


def seat_bias(
    orders: Sequence[tuple[int, int]],
    pictures: Sequence[Hashable] | None = None,
) -> tuple[Bias, Bias]:
    """Estimate the advantage of the first seat, and the share of pairs that the order decides.

    Args:
        orders: Per pair who won in each of both orders: 1 the first seat, -1 the second, 0 a tie.
        pictures: Picture of each pair; intervals then resample pictures.

    Returns:
        (Pairs that the first seat won in both orders - pairs that the second won) / pairs; the
        share of pairs whose winner changes with the order.
    """
    # A seat counts only if it wins in both orders; otherwise the order or a tie decided.
    both = [(a == b) * a for a, b in orders]
    flipped = [x != 0 for x in both]
    pairs = "pairs in both orders"
    unit, share = (
        "pairs won by the first seat alone",
        "share of pairs whose order decides",
    )
    seat = mean_bias("seat", unit, both, pairs, least=LEAST_TEXTS)
    flips = share_bias("flips", share, flipped, pairs, least=LEAST_TEXTS)
    if pictures is None or seat.reason or len(set(flipped)) == 1:
        return seat, flips
    if (n := len(set(pictures))) < LEAST_CLUSTERS:
        reason = f"pairs of {n} pictures, {LEAST_CLUSTERS} are needed"
        seat, flips = (
            Bias(
                name=x.name,
                n=x.n,
                unit=x.unit,
                reason=reason,
            )
            for x in (seat, flips)
        )
        return seat, flips
    seat, flips = (
        replace(
            bias, interval=mean_interval(x, clusters=list(pictures)).interval
        )
        for bias, x in ((seat, both), (flips, flipped))
    )
    return seat, flips


def place_bias(
    places: ArrayLike,
    found: ArrayLike,
    pictures: Sequence[Hashable],
    *,
    wrong: bool = True,
) -> Bias:
    """Compare the shares of wrong sentences that a judge finds at the end and start of texts.

    Args:
        places: Relative place, 0 to 1, of each sentence that people call wrong.
        found: Whether the judge finds fault with it, 1 or 0.
        pictures: Picture of each; standard errors are clustered by it.
        wrong: False if the sentences are those that people call right: false alarms.

    Returns:
        The slope of a linear probability model.

    Raises:
        ConfigError: Values that are not finite, or of different lengths.
    """
    x = vector(places, "places")
    y = vector(found, "found")
    n = same_length(places=x, found=y)
    name = "place of the sentence" if wrong else "place, false alarms"
    kind = "wrong" if wrong else "right"
    ends = min(int((x < 1 / 3).sum()), int((x > 2 / 3).sum()))
    if (
        n < LEAST_TEXTS
        or len(set(pictures)) < LEAST_CLUSTERS
        or ends < LEAST_ENDS
    ):
        reason = (
            f"{n} {kind} sentences of {len(set(pictures))} pictures, {ends} in the first or last"
            f" third; {LEAST_TEXTS}, {LEAST_CLUSTERS} and {LEAST_ENDS} are needed"
        )
        return Bias(
            name=name,
            n=n,
            unit=PLACE_UNIT,
            reason=reason,
        )
    value, interval = _slope(np.column_stack([np.ones(n), x]), y, pictures)
    return Bias(
        name=name,
        value=value,
        interval=interval,
        n=n,
        unit=PLACE_UNIT,
    )


def _leverage(design: Floats) -> Floats:
    """Return the leverage of each row, 0 to 1: its weight in its own fitted value."""
    return np.asarray((design * np.linalg.pinv(design).T).sum(axis=1))


def _slope(
    design: Floats, y: Floats, pictures: Sequence[Hashable] | None
) -> tuple[float, Interval]:
    """Return the second coefficient by least squares, and its interval."""
    n, k = design.shape
    bread = np.linalg.inv(design.T @ design)
    weights = bread @ design.T
    beta = weights @ y
    errors = y - design @ beta
    if pictures is None:
        # HC3: residuals divided by 1 - leverage, for unequal variances of independent texts.
        scores = design * (errors / (1 - _leverage(design)))[:, None]
        df = n - k
        factor = 1.0
    else:
        # CR1: scores summed over pictures, with the usual correction for few clusters.
        codes = cluster_codes(list(pictures), n)
        groups = n_clusters(codes)
        scores = np.zeros((groups, k))
        np.add.at(scores, codes, design * errors[:, None])
        df = groups - 1
        factor = groups / (groups - 1)
    error = float(np.sqrt(factor * (bread @ scores.T @ scores @ bread)[1, 1]))
    slope = float(beta[1])
    return slope, wald_interval(slope, error, df=df)
