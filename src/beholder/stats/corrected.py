"""A judge's mean or rate, corrected by human labels.

``corrected_mean`` takes labels of some of the texts (PPI++, by picture), ``corrected_rate`` the
sensitivity and specificity that labels show, as counts, and ``corrected_share`` as verdicts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

from beholder.errors import ConfigError
from beholder.records import Interval
from beholder.stats.bootstrap import (
    percentile_interval,
    sum_replicates,
    wald_interval,
)
from beholder.stats.checks import (
    Floats,
    Ints,
    cluster_codes,
    cluster_rows,
    cluster_sums,
    n_clusters,
    same_length,
    vector,
)

N_RESAMPLES = 2000
LEAST_PICTURES = 5
"""Labelled pictures below which there is no correction."""
FEW_PICTURES = 15
"""Labelled pictures below which intervals may be too narrow, as simulations show."""
FEW_OF_CLASS = 5
"""Labels of one of two values below which intervals may be too narrow."""
UNLIKE = 0.001
"""Chance below which labelled pictures are no random sample, by the judge's own values."""
LEAST_LABELS = 20
"""Labels of each class below which sensitivity and specificity say too little."""
LEAST_INFORMATION = 0.2
"""Least sensitivity + specificity - 1: below it, verdicts hardly depend on the truth."""


@dataclass(frozen=True, slots=True)
class CorrectedMean:
    """A mean from three sources.

    Attributes:
        judge: Mean of the judge over all texts; biased if the judge is.
        labels: Mean of the labels, with its interval.
        labels_interval: See ``labels``.
        corrected: Mean of the labels plus what the judge says the other texts add.
        corrected_interval: See ``corrected``.
        weight: Weight of the judge, 0 to 1; 0 if it does not agree with the labels.
        p_value: Of the corrected mean being 0; for differences.
        n: Texts.
        n_labels: Labelled texts.
        n_pictures: Labelled pictures.
        n_effective: Number of labels whose mean alone would have the corrected variance.
    """

    judge: float
    labels: float
    labels_interval: Interval
    corrected: float
    corrected_interval: Interval
    weight: float
    p_value: float
    n: int
    n_labels: int
    n_pictures: int
    n_effective: float


def _sides(
    labels: ArrayLike | Sequence[float | None],
    judged: ArrayLike,
    clusters: Sequence[Any] | None,
) -> tuple[Floats, Floats, Floats, Ints, Ints]:
    """Split data into labelled texts and texts of pictures without any label.

    Returns:
        Labels, the judge's values of the labelled texts, its values of the other texts, and the
        picture codes of both.
    """
    f = vector(judged, "judged")
    y = vector(labels, "labels", missing=True)
    codes = cluster_codes(clusters, same_length(labels=y, judged=f))
    is_labelled = ~np.isnan(y)
    # An unlabelled text of a labelled picture belongs to neither side: it depends on both.
    is_elsewhere = ~np.isin(codes, codes[is_labelled])
    labelled_codes, other_codes = (
        cluster_codes(codes[side], int(side.sum()))
        for side in (is_labelled, is_elsewhere)
    )
    return (
        y[is_labelled],
        f[is_labelled],
        f[is_elsewhere],
        labelled_codes,
        other_codes,
    )


def corrected_mean(
    labels: ArrayLike | Sequence[float | None],
    judged: ArrayLike,
    clusters: Sequence[Any] | None = None,
    *,
    level: float = 0.95,
    rules: Literal["fixed", "public"] = "fixed",
) -> CorrectedMean:
    """The mean that people would give, from a judge of all texts and people's labels of some.

    Prediction-powered inference with a tuned weight (PPI++), over pictures: the labelled pictures
    must be a random sample of all. Of a picture that is labelled in part, texts without a label
    are left out. Intervals are Student's t over pictures. Because the weight is fitted to the
    labelled pictures, their residuals are divided by 1 - leverage (HC3); if one picture alone
    carries the weight, the judge does not count.

    Args:
        labels: (n,) labels of people; NaN or None for texts without one.
        judged: (n,) the judge's values, on the scale of the labels.
        clusters: (n,) which picture each text describes; None if each describes its own.
        level: Confidence level.
        rules: ``public`` gives the interval of the authors' code: normal, each text by itself.

    Raises:
        ConfigError: Fewer than five labelled or two other pictures, or the judge's means of both
            are too far apart for a random sample.

    Source: Angelopoulos et al., PPI++ (arXiv 2311.01453); HC3: MacKinnon and White 1985. The
        version by picture is ours.
    """
    public = rules == "public"
    y, f, unlabelled, codes, other_codes = _sides(
        labels, judged, None if public else clusters
    )
    k = n_clusters(codes)
    n_others = n_clusters(other_codes)
    if k < LEAST_PICTURES or n_others < 2:
        raise ConfigError(
            f"{k} pictures have labels and {n_others} have none; at least {LEAST_PICTURES} and 2"
            " are needed"
        )
    # Plan: variances of both sides from influences of pictures, a check that the labelled pictures
    # are a random sample, the weight that minimises the variance, and the leverage-corrected
    # variance.
    label_influence = _influence(y, codes)
    judge_influence = _influence(f, codes)
    other_influence = _influence(unlabelled, other_codes)
    fitted = 0 if public else 1
    label_variance = label_influence @ label_influence / (k - fitted) / k
    other_variance = (
        other_influence @ other_influence / (n_others - fitted) / n_others
    )
    difference = float(unlabelled.mean() - f.mean())
    pooled = float(
        judge_influence @ judge_influence + other_influence @ other_influence
    ) / (k + n_others - 2)
    if (
        alike := _chance(
            difference, pooled * (1 / k + 1 / n_others), k + n_others - 2
        )
    ) < UNLIKE:
        raise ConfigError(
            f"the judge's mean is {f.mean():.3g} with a label and {unlabelled.mean():.3g} without"
            f" one (p {alike:.1g}); label a random sample of the pictures"
        )
    if public:
        # The authors' code takes one variance of all texts and ignores pictures.
        pooled = np.concatenate([f, unlabelled]).var(ddof=1)
    covariance = label_influence @ judge_influence / (k - fitted)
    weight = (
        float(np.clip(covariance / ((1 + k / n_others) * pooled), 0, 1))
        if pooled
        else 0.0
    )
    leverage = np.zeros(k)
    if weight and not public:
        leverage = np.bincount(codes) / len(y) + judge_influence**2 / (
            judge_influence @ judge_influence
        )
        # A picture with leverage 1 fixes the weight alone, and 1 - leverage would divide by 0.
        weight *= bool(leverage.max() < 1 - 1e-9)
    variance = label_variance
    if weight:
        residual = (label_influence - weight * judge_influence) / (
            1 - leverage
        )
        variance = residual @ residual / k**2 + weight**2 * other_variance
    estimate = float(y.mean() + weight * difference)
    df = math.inf if public else k - 1

    return CorrectedMean(
        judge=float(np.concatenate([f, unlabelled]).mean()),
        labels=float(y.mean()),
        labels_interval=wald_interval(
            float(y.mean()), math.sqrt(label_variance), level, df
        ),
        corrected=estimate,
        corrected_interval=wald_interval(
            estimate, math.sqrt(variance), level, df - bool(weight)
        ),
        weight=weight,
        p_value=_chance(estimate, float(variance), df - bool(weight)),
        n=len(y) + len(unlabelled),
        n_labels=len(y),
        n_pictures=k,
        n_effective=len(y) * float(label_variance / variance)
        if variance
        else math.inf,
    )


def _chance(value: float, variance: float, df: float) -> float:
    """Two-sided p of Student's t."""
    if variance <= 0:
        return float(value == 0)
    return float(2 * scipy.stats.t.sf(abs(value) / math.sqrt(variance), df))


def _influence(values: Floats, codes: Ints) -> Floats:
    """Return each picture's influence on the mean: its sum minus its size times the mean.

    Shape (pictures,). Divided by the mean size, so that its variance gives that of the mean.
    """
    sums = cluster_sums(codes, values)
    sizes = np.bincount(codes)
    return np.asarray((sums - values.mean() * sizes) / sizes.mean())


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
    shares; with labels of the same data, ``corrected_mean`` gives narrower intervals. Verdicts
    count as independent; ``corrected_share`` resamples pictures.

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
    if (
        min(positives, found, missed, rejected, false_alarms) < 0
        or not 0 < n >= positives
    ):
        raise ConfigError(
            f"{positives} positive of {n} verdicts: expected counts from 0 to n > 0"
        )
    yes = found + missed
    no = rejected + false_alarms
    if min(yes, no) < LEAST_LABELS:
        raise ConfigError(
            f"{yes} positive and {no} negative labels; at least {LEAST_LABELS} of each are needed"
        )
    sensitivity = found / yes
    specificity = rejected / no
    raw = positives / n
    informed = sensitivity + specificity - 1
    if informed < LEAST_INFORMATION:
        raise ConfigError(
            f"sensitivity {sensitivity:.2f} + specificity {specificity:.2f} - 1 is {informed:.2f};"
            f" below {LEAST_INFORMATION} the verdicts say too little to correct their rate"
        )
    rate, variance = _corrected(raw, n, sensitivity, yes, specificity, no)
    # Lang and Reiczigel's interval: Agresti and Coull's adjustment of the rate and of both
    # accuracies, and a shift of the centre.
    z = float(scipy.stats.norm.ppf((1 + level) / 2))
    se = (found + 1) / (yes + 2)
    sp = (rejected + 1) / (no + 2)
    around, spread = _corrected(
        (positives + z * z / 2) / (n + z * z),
        n + z * z,
        se,
        yes + 2,
        sp,
        no + 2,
    )
    of_yes = around * se * (1 - se) / (yes + 2)
    of_no = (1 - around) * sp * (1 - sp) / (no + 2)
    centre = around + 2 * z * z * (of_yes - of_no)
    half = z * math.sqrt(spread)
    return CorrectedRate(
        raw=raw,
        rate=min(1.0, max(0.0, rate)),
        error=math.sqrt(variance),
        interval=Interval(
            max(0.0, centre - half), min(1.0, centre + half), level
        ),
        sensitivity=sensitivity,
        specificity=specificity,
        clipped=not 0 <= rate <= 1,
    )


def corrected_share(
    labels: ArrayLike | Sequence[float | None],
    judged: ArrayLike,
    clusters: Sequence[Any] | None = None,
    *,
    level: float = 0.95,
) -> CorrectedRate:
    """``corrected_rate`` of verdicts; several of a picture are resampled together.

    Args:
        labels: (n,) 1 or 0, what people said; NaN or None for verdicts without a label.
        judged: (n,) 1 or 0, the verdicts.
        clusters: As for ``corrected_mean``.
        level: Confidence level.

    Raises:
        ConfigError: As for ``corrected_rate``, or labels of too few pictures.
    """
    t, s, unlabelled, codes, other_codes = _sides(labels, judged, clusters)
    if not (len(t) and len(unlabelled)):
        raise ConfigError(
            f"{len(t)} verdicts have labels and {len(unlabelled)} have none"
        )
    # Plan: the closed-form rate from four counts; then resamples of pictures on both sides for the
    # interval, because verdicts of one picture are not independent.
    cells = {
        "found": s * t,
        "missed": (1 - s) * t,
        "rejected": (1 - s) * (1 - t),
        "false_alarms": s * (1 - t),
    }
    labelled = cluster_rows(codes, np.stack([*cells.values()], axis=1))
    counts = dict(zip(cells, map(int, labelled.sum(axis=0)), strict=True))
    rate = corrected_rate(
        int(unlabelled.sum()), len(unlabelled), **counts, level=level
    )
    # Every verdict is of its own picture: the closed form holds, and no resampling is needed.
    if len(labelled) == len(s) and n_clusters(other_codes) == len(unlabelled):
        return rate
    verdict_sums = cluster_rows(
        other_codes, np.stack([unlabelled, np.ones_like(unlabelled)], axis=1)
    )
    if min(len(labelled), len(verdict_sums)) < LEAST_PICTURES:
        raise ConfigError(
            f"labels of {len(labelled)} pictures and verdicts of {len(verdict_sums)} others leave"
            f" its interval undefined; at least {LEAST_PICTURES} of each are needed"
        )
    # Drawn apart.
    (tp, fn, tn, fp), (yes, n) = (
        sum_replicates(sums, n_resamples=N_RESAMPLES, seed=(12345, number)).T
        for number, sums in enumerate((labelled, verdict_sums))
    )
    with np.errstate(divide="ignore", invalid="ignore"):
        right = tn / (tn + fp)
        informed = tp / (tp + fn) + right - 1
        rates = np.where(
            informed > 0, (yes / n + right - 1) / informed, np.nan
        )
    rates = rates[np.isfinite(rates)]
    if len(rates) < 0.95 * N_RESAMPLES:
        raise ConfigError(
            f"labels of {len(labelled)} pictures leave its interval undefined"
        )
    interval = percentile_interval(np.clip(rates, 0.0, 1.0), level)
    # There are enough pictures of each.
    assert interval is not None
    return replace(rate, error=float(rates.std(ddof=1)), interval=interval)


def _corrected(
    share: float,
    n: float,
    sensitivity: float,
    yes: int,
    specificity: float,
    no: int,
) -> tuple[float, float]:
    """Return Rogan and Gladen's rate and its variance by the delta method."""
    informed = sensitivity + specificity - 1
    rate = (share + specificity - 1) / informed
    variance = share * (1 - share) / n
    variance += rate**2 * sensitivity * (1 - sensitivity) / yes
    variance += (1 - rate) ** 2 * specificity * (1 - specificity) / no
    return rate, variance / informed**2
