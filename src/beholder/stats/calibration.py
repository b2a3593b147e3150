"""Fit of probabilities of yes to labels: Brier score and calibration error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import ConfigError
from beholder.records import Estimate, Interval
from beholder.stats.bootstrap import interval_or_reason, mean_interval
from beholder.stats.checks import (
    Floats,
    Ints,
    Resampling,
    at_least,
    cluster_codes,
    one_of,
    same_length,
    vector,
)

N_BINS = 10


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Answers of similar probability.

    Attributes:
        probability: Mean probability of yes.
        share: Share of them whose label is yes.
        n: Answers.
    """

    probability: float
    share: float
    n: int


def brier_score(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    clusters: Sequence[Any] | NDArray[Any] | None = None,
    **options: Unpack[Resampling],
) -> Estimate:
    """Mean squared distance of probabilities from labels (Brier 1950), with a bootstrap interval.

    0 is best; a judge that always answers 0.5 has 0.25.

    Args:
        probabilities: (n,) probabilities of yes.
        labels: (n,) 1 for yes, 0 for no.
        clusters: One label per answer; whole clusters are resampled.
        options: See ``Resampling``.

    Raises:
        ConfigError: No answers, different lengths, a probability outside 0 to 1, or another label.
    """
    p, y = _check_answers(probabilities, labels)
    return mean_interval((p - y) ** 2, clusters=clusters, **options)


def expected_calibration_error(
    probabilities: ArrayLike,
    labels: ArrayLike,
    *,
    n_bins: int = N_BINS,
    clusters: Sequence[Any] | NDArray[Any] | None = None,
    **options: Unpack[Resampling],
) -> Estimate:
    """Mean distance of probabilities from the shares of yes, over bins with equally many answers.

    0 is best. Chance moves the shares of small bins, so that the error of a perfectly calibrated
    judge is above 0, and that of resamples above that of the data. The interval allows for both:
    its upper end is the percentile of the bootstrap, its lower end that of the reversed ("basic")
    bootstrap, or 0 if a perfectly calibrated judge with these probabilities reaches the value in
    more than 5 % of draws. It may lie below the value.

    Args:
        probabilities: (n,) probabilities of yes.
        labels: (n,) 1 for yes, 0 for no.
        n_bins: Bins; see ``reliability_bins``.
        clusters: One label per answer; whole clusters are resampled.
        options: See ``Resampling``.

    Raises:
        ConfigError: As for ``brier_score``, or no bin.
    """
    p, y = _check_answers(probabilities, labels)
    at_least(n_bins, 1, "n_bins")
    value = _calibration_error(p, y, n_bins)
    interval, reason = interval_or_reason(
        lambda rows: _calibration_error(p[rows], y[rows], n_bins),
        cluster_codes(clusters, len(p)),
        "answers vary",
        **options,
    )
    if interval is not None:
        draws = _draw_calibrated_errors(p, n_bins, **options)
        reversed_end = max(0.0, 2 * value - interval.high)
        low = reversed_end if value > np.quantile(draws, 0.95) else 0.0
        interval = Interval(low, interval.high, interval.level)
    return Estimate(value, interval, len(p), reason)


def reliability_bins(
    probabilities: ArrayLike, labels: ArrayLike, *, n_bins: int = N_BINS
) -> list[ReliabilityBin]:
    """Return the answers in bins of similar probability, from the lowest, without empty ones.

    Bins have equally many answers where probabilities differ. Equal probabilities share a bin, so
    the order of the answers does not matter: an answer belongs to the bin of its first rank.

    Args:
        probabilities: (n,) probabilities of yes.
        labels: (n,) 1 for yes, 0 for no.
        n_bins: Bins at most.
    """
    p, y = _check_answers(probabilities, labels)
    bins = _bin_places(p, n_bins)
    return [
        ReliabilityBin(
            probability=float(p[here].mean()),
            share=float(y[here].mean()),
            n=int(here.sum()),
        )
        for here in (bins == place for place in np.unique(bins))
    ]


def _check_answers(
    probabilities: ArrayLike, labels: ArrayLike
) -> tuple[Floats, Floats]:
    p = vector(probabilities, "probabilities")
    y = vector(labels, "labels")
    at_least(
        same_length(probabilities=p, labels=y), 1, "the number of answers"
    )
    outside = p[(p < 0) | (p > 1)]
    if outside.size:
        raise ConfigError(
            f"probabilities: expected numbers from 0 to 1, got {outside[0]}"
        )
    for label in np.unique(y):
        one_of(float(label), (0.0, 1.0), "labels")
    return p, y


def _bin_places(p: Floats, n_bins: int) -> Ints:
    first_ranks = np.searchsorted(np.sort(p), p, side="left")
    places: Ints = first_ranks * n_bins // len(p)
    return places


def _draw_calibrated_errors(
    p: Floats, n_bins: int, **options: Unpack[Resampling]
) -> Floats:
    """Draw the errors of a judge whose probabilities are right: labels follow them."""
    rng = np.random.default_rng([options.get("seed", 12345), 1])
    draws = rng.random((options.get("n_resamples", 1000), len(p)))
    return np.array(
        [
            _calibration_error(p, (row < p).astype(float), n_bins)
            for row in draws
        ]
    )


def _calibration_error(p: Floats, y: Floats, n_bins: int) -> float:
    # The distance of a bin times its size is the sum of p - y in it.
    sums = np.bincount(_bin_places(p, n_bins), weights=p - y)
    return float(np.abs(sums).sum() / len(p))
