"""The true rate behind verdicts of known sensitivity and specificity."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy import stats as sps

from beholder.errors import ConfigError
from beholder.records import Interval

LEAST_LABELS = 20
"""Labels of each class below which sensitivity and specificity say too little."""
LEAST_INFORMATION = 0.2
"""Least sensitivity + specificity - 1: below it, verdicts hardly depend on the truth."""


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """A rate corrected for the mistakes of whoever gave the verdicts.

    Attributes:
        raw: Share of positive verdicts.
        rate: The corrected rate, clipped to 0..1.
        error: Its standard error.
        interval: Adjusted interval; it need not be centred on ``rate``.
        sensitivity: Share of truly positive labels with a positive verdict.
        specificity: Share of truly negative labels with a negative verdict.
        clipped: Whether the correction led out of 0..1.
    """

    raw: float
    rate: float
    error: float
    interval: Interval
    sensitivity: float
    specificity: float
    clipped: bool


def corrected_rate(
    positives: int,
    n: int,
    *,
    found: int,
    missed: int,
    rejected: int,
    false_alarms: int,
    level: float = 0.95,
) -> CorrectedRate:
    """The rate that people would find, from verdicts whose mistakes were counted elsewhere.

    Use it if the labels come from other data than the verdicts, where classes may have other
    shares; with labels of the same data, ``corrected_mean`` gives narrower intervals. Texts count
    as independent: with several texts a picture the interval is too narrow.

    Args:
        positives: Positive verdicts in the data of interest.
        n: All verdicts there.
        found: Labels that say positive, and so does the verdict.
        missed: Labels that say positive, and the verdict negative.
        rejected: Labels that say negative, and so does the verdict.
        false_alarms: Labels that say negative, and the verdict positive.
        level: Confidence level.

    Raises:
        ConfigError: A count is negative, fewer than 20 labels of a class, or verdicts that hardly
            depend on the labels.

    Source: Rogan and Gladen 1978; interval of Lang and Reiczigel 2014.
    """
    if min(positives, found, missed, rejected, false_alarms) < 0 or not 0 < n >= positives:
        raise ConfigError(f"{positives} positive of {n} verdicts: expected counts from 0 to n > 0")
    yes, no = found + missed, rejected + false_alarms
    if min(yes, no) < LEAST_LABELS:
        raise ConfigError(
            f"{yes} positive and {no} negative labels; at least {LEAST_LABELS} of each are needed"
        )
    sensitivity, specificity, raw = found / yes, rejected / no, positives / n
    informed = sensitivity + specificity - 1
    if informed < LEAST_INFORMATION:
        raise ConfigError(
            f"sensitivity {sensitivity:.2f} + specificity {specificity:.2f} - 1 is {informed:.2f};"
            f" below {LEAST_INFORMATION} the verdicts say too little to correct their rate"
        )
    rate, variance = _corrected(raw, n, sensitivity, yes, specificity, no)
    z = float(sps.norm.ppf((1 + level) / 2))
    se, sp = (found + 1) / (yes + 2), (rejected + 1) / (no + 2)
    around, spread = _corrected(
        (positives + z * z / 2) / (n + z * z), n + z * z, se, yes + 2, sp, no + 2
    )
    of_yes, of_no = around * se * (1 - se) / (yes + 2), (1 - around) * sp * (1 - sp) / (no + 2)
    centre, half = around + 2 * z * z * (of_yes - of_no), z * math.sqrt(spread)
    return CorrectedRate(
        raw=raw,
        rate=min(1.0, max(0.0, rate)),
        error=math.sqrt(variance),
        interval=Interval(max(0.0, centre - half), min(1.0, centre + half), level),
        sensitivity=sensitivity,
        specificity=specificity,
        clipped=not 0 <= rate <= 1,
    )


def _corrected(
    share: float, n: float, sensitivity: float, yes: int, specificity: float, no: int
) -> tuple[float, float]:
    """Rate and its variance."""
    informed = sensitivity + specificity - 1
    rate = (share + specificity - 1) / informed
    variance = share * (1 - share) / n
    variance += rate**2 * sensitivity * (1 - sensitivity) / yes
    variance += (1 - rate) ** 2 * specificity * (1 - specificity) / no
    return rate, variance / informed**2
