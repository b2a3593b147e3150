"""What a filter leaves: bad rows among kept and dropped ones, from labels of a random part.

Each stratum is labelled at random, so a total is the sum of rows times the share of bad labels
(Horvitz and Thompson 1952). Limits join Wilson's limits of the strata by the method of variance
estimates recovery (MOVER; Zou and Donner 2008), which stays honest when no label is bad.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats.shares import wilson_limits

CONFIDENCE = 0.95
FEWEST_LABELS = 30
"""Labels of a stratum below which its share says little."""
HALVINGS = 60
"""Halvings of an interval from 0 to 1: enough for the last bit of a float."""


@dataclass(frozen=True)
class Stratum:
    """Rows of one decision and one band of scores, some of which people labelled.

    Attributes:
        name: Its name in messages.
        n_rows: Rows of it.
        n_labels: Rows of it that were drawn at random and labelled.
        n_bad: Labels that say bad.
        is_kept: Whether the filter keeps its rows.
    """

    name: str
    n_rows: int
    n_labels: int
    n_bad: int
    is_kept: bool

    def __post_init__(self) -> None:
        if not 0 <= self.n_bad <= self.n_labels <= self.n_rows:
            raise ConfigError(
                f"stratum {self.name}: {self.n_bad} bad of {self.n_labels} labels of"
                f" {self.n_rows} rows; expected bad labels at most the labels, and labels at most"
                " the rows"
            )

    @property
    def share(self) -> float:
        """Share of bad labels, from 0 to 1."""
        return self.n_bad / self.n_labels

    def limits(self, confidence: float) -> Interval:
        """Wilson's limits of the share, which is known where all rows are labelled."""
        if self.n_labels == self.n_rows:
            return Interval(self.share, self.share, confidence)
        return wilson_limits(self.n_bad, self.n_labels, confidence=confidence)


@dataclass(frozen=True)
class Rate:
    """A share with its limits, all from 0 to 1; NaN without rows.

    Attributes:
        value: The share.
        low: Lower limit.
        high: Upper limit.
    """

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Remaining:
    """The effect of a filter, by the labels.

    Attributes:
        n_dropped_bad: Bad rows among the dropped ones, with limits.
        n_kept_bad: Bad rows among the kept ones, with limits.
        precision: Share of bad rows among the dropped ones.
        rate_left: Share of bad rows among the kept ones.
        recall: Share of the bad rows that were dropped.
        rate_before: Share of bad rows before the filter.
        n_good_lost: Good rows that were dropped.
        share_good_lost: Their share of all good rows.
    """

    n_dropped_bad: Rate
    n_kept_bad: Rate
    precision: Rate
    rate_left: Rate
    recall: Rate
    rate_before: float
    n_good_lost: float
    share_good_lost: float


def weighted_total(
    strata: Sequence[Stratum],
    weight: Callable[[Stratum], float],
    *,
    confidence: float = CONFIDENCE,
) -> Rate:
    """Return the weighted number of bad rows over strata, with MOVER limits.

    Args:
        strata: Strata with a label or more each.
        weight: Weight of a bad row of a stratum; may be negative.
        confidence: Confidence of the limits.

    Raises:
        ConfigError: A stratum has rows and no label.
    """
    total = below = above = 0.0
    for stratum in strata:
        if not stratum.n_rows:
            continue
        if not stratum.n_labels:
            raise ConfigError(
                f"stratum {stratum.name} has {stratum.n_rows:,} rows and no label: label at least"
                f" {FEWEST_LABELS} of stratum {stratum.name}"
            )
        factor = weight(stratum) * stratum.n_rows
        limits = stratum.limits(confidence)
        total += factor * stratum.share
        to_low = factor * (stratum.share - limits.low)
        to_high = factor * (limits.high - stratum.share)
        if factor < 0:
            to_low, to_high = -to_high, -to_low
        below += to_low**2
        above += to_high**2
    return Rate(total, total - math.sqrt(below), total + math.sqrt(above))


def estimate_remaining(
    strata: Sequence[Stratum], *, confidence: float = CONFIDENCE
) -> Remaining:
    """Return precision, recall and the rate of bad rows left, with limits.

    Args:
        strata: All strata of kept and dropped rows. Those with rows need labels.
        confidence: Confidence of the limits, two-sided.

    Raises:
        ConfigError: A stratum has rows and no label, or there are no rows.
    """
    dropped = [stratum for stratum in strata if not stratum.is_kept]
    kept = [stratum for stratum in strata if stratum.is_kept]
    n_dropped = sum(stratum.n_rows for stratum in dropped)
    n_kept = sum(stratum.n_rows for stratum in kept)
    if not n_dropped + n_kept:
        raise ConfigError("no stratum has a row; filter rows first")
    caught = weighted_total(dropped, lambda _: 1.0, confidence=confidence)
    left = weighted_total(kept, lambda _: 1.0, confidence=confidence)
    n_bad = caught.value + left.value
    n_good = n_dropped + n_kept - n_bad
    n_good_lost = n_dropped - caught.value
    return Remaining(
        n_dropped_bad=caught,
        n_kept_bad=left,
        precision=_per_row(caught, n_dropped),
        rate_left=_per_row(left, n_kept),
        recall=_recall(strata, caught.value, n_bad, confidence),
        rate_before=n_bad / (n_dropped + n_kept),
        n_good_lost=n_good_lost,
        share_good_lost=n_good_lost / n_good if n_good else math.nan,
    )


def _per_row(total: Rate, n_rows: int) -> Rate:
    """Return a total as a share of rows, with limits from 0 to 1."""
    if not n_rows:
        return Rate(math.nan, math.nan, math.nan)
    return Rate(
        total.value / n_rows,
        max(0.0, total.low / n_rows),
        min(1.0, total.high / n_rows),
    )


def _recall(
    strata: Sequence[Stratum],
    n_caught: float,
    n_bad: float,
    confidence: float,
) -> Rate:
    """Return the recall with its limits.

    A recall r is within the limits while 0 lies in the interval of (1 - r) dropped - r kept.
    """
    if not n_bad:
        return Rate(math.nan, 0.0, 1.0)

    def interval_at(recall: float) -> Rate:
        return weighted_total(
            strata,
            lambda stratum: -recall if stratum.is_kept else 1 - recall,
            confidence=confidence,
        )

    value = n_caught / n_bad
    low = _boundary(lambda r: interval_at(r).low > 0, 0.0, value)
    high = _boundary(lambda r: interval_at(r).high >= 0, value, 1.0)
    return Rate(value, low, high)


def _boundary(
    is_below: Callable[[float], bool], low: float, high: float
) -> float:
    """Return the place from low to high where a condition stops to hold."""
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if is_below(middle):
            low = middle
        else:
            high = middle
    return (low + high) / 2


def allocate_labels(
    n_labels: int,
    n_rows: Sequence[int],
    guesses: Sequence[float],
    *,
    fewest: int = FEWEST_LABELS,
) -> list[int]:
    """Return how many labels each stratum gets: in proportion to rows times spread.

    No stratum gets more labels than it has rows, nor fewer than ``fewest`` while it has them; so
    the sum may exceed ``n_labels``.

    Args:
        n_labels: Labels in all.
        n_rows: Rows of each stratum.
        guesses: Guessed share of bad rows of each stratum, from 0 to 1.
        fewest: Labels that each stratum gets at least.

    Source: Neyman 1934.
    """
    weights = [
        rows * math.sqrt(guess * (1 - guess))
        for rows, guess in zip(n_rows, guesses, strict=True)
    ]
    total = sum(weights)
    shares = [weight / total if total else 0.0 for weight in weights]
    return [
        min(rows, max(fewest, round(n_labels * share)))
        for rows, share in zip(n_rows, shares, strict=True)
    ]
