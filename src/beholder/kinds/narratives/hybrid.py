"""Captions first, pictures where it matters: screen all by captions, look at some, combine."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from beholder import stats
from beholder.errors import ConfigError
from beholder.kinds.narratives.compared import Number
from beholder.kinds.narratives.config import Rule
from beholder.kinds.narratives.storylines.space import Floats
from beholder.records import interval_ends
from beholder.tables import heading

Checked: TypeAlias = Literal["looked at", "held out", "not looked at"]


@dataclass(frozen=True, slots=True, kw_only=True)
class HybridCheck:
    """Ratings against those by sight, over the mean of judges of each narrative.

    Attributes:
        narratives: ``looked at``: the combined ratings; they contain what they are compared with.
            ``held out``: narratives that were looked at, each predicted from its captions on a
            scale learned from the others. ``not looked at``: predicted ratings, if all
            narratives were rated by sight too.
        n: Narratives.
        error: Root of the mean squared difference, in points of the scale.
        error_of_mean: The same if each narrative got the mean by sight of those that the scale is
            learned from; None for narratives that were looked at.
        gain: Mean squared error of giving each the mean, minus that of the ratings; above 0 they
            are nearer to sight.
        gain_low: Lower end of its bootstrap interval (95 %) over narratives.
        gain_high: Upper end.
        r: Pearson's correlation; None where it is not defined.
        sd: SD of the ratings.
        sd_sight: SD of the ratings by sight; where ``sd`` is far below, ratings are shrunk.
    """

    narratives: Annotated[
        Checked, heading("against sight, narratives", "text")
    ]
    n: Annotated[int, heading("n", "count")]
    error: Annotated[float, heading("error (points)", "hundredths")]
    error_of_mean: Annotated[
        Number, heading("error of giving each the mean", "hundredths")
    ]
    gain: Annotated[
        Number,
        heading("gain over the mean (points²)", "hundredths", interval=True),
    ] = None
    gain_low: Number = None
    gain_high: Number = None
    r: Annotated[Number, heading("Pearson r")]
    sd: Annotated[Number, heading("SD", "hundredths")]
    sd_sight: Annotated[Number, heading("SD of sight", "hundredths")]


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Ratings from both ways of judging.

    Attributes:
        ratings: (n, K), on the scale of sight; NaN where a judge has no caption rating, and for
            narratives that were not looked at if captions are not trusted.
        weight: Share of sight in a narrative that was judged both ways.
        slope: Sight per caption rating: ``intercept + slope * caption`` is a caption rating on the
            scale of sight.
        intercept: See ``slope``.
        n_seen: Narratives that were judged by sight as well.
        learned: Whether the weight was learned.
        trusted: Whether captions predict sight: on narratives that were held out the interval of
            ``gain`` is above 0, and so is the slope.
        checks: Comparison of the ratings with those by sight.
    """

    ratings: tuple[tuple[float, ...], ...]
    weight: float
    slope: float
    intercept: float
    n_seen: int
    learned: bool
    trusted: bool
    checks: tuple[HybridCheck, ...]


def held_out_check(checks: Iterable[HybridCheck]) -> HybridCheck:
    """Return the check over narratives that were held out."""
    return next(c for c in checks if c.narratives == "held out")


def choose(captions: ArrayLike, share: float, rule: Rule) -> list[int]:
    """Choose the narratives to rate by sight.

    Args:
        captions: (n, K) ratings by captions; NaN is missing. A narrative without any rating is
            looked at first: captions say nothing about it.
        share: 0..1 of the narratives; rounded up.
        rule: ``uncertain``: where judges disagree most. ``top``: the best rated.

    Returns:
        Positions in order.
    """
    table = np.asarray(captions, dtype=np.float64)
    has_vote = ~np.isnan(table)
    # Differences below 1e-9 are rounding, and ties must stay ties: equal input, equal choice.
    count = np.maximum(has_vote.sum(axis=1), 1)
    mean = np.where(has_vote, table, 0.0).sum(axis=1) / count
    spread = (
        np.where(has_vote, (table - mean[:, None]) ** 2, 0.0).sum(axis=1)
        / count
    )
    key = spread if rule == "uncertain" else mean
    key = np.where(
        has_vote.any(axis=1), np.round(key, 9), np.inf
    )  # ties stay ties
    # 0.07 * 100 is 7.000000000000001: rounding up must not add a narrative for that.
    n_chosen = math.ceil(share * len(table) - 1e-9)
    return sorted(int(i) for i in np.argsort(-key, kind="stable")[:n_chosen])


def combine(
    captions: ArrayLike,
    sight: ArrayLike,
    *,
    weight: Number = None,
    withheld: ArrayLike | None = None,
) -> Hybrid:
    """Combine caption ratings of all narratives with sight ratings of some.

    Caption ratings are put on the scale of sight by least squares over the narratives with both.
    A narrative with both gets ``weight * sight + (1 - weight) * caption``, the others their caption
    rating on that scale, judge by judge. A learned weight is the one with the least error against
    what noiseless sight would say: with e_s = within-narrative variance of sight / K and e_c =
    residual variance of the regression - e_s, it is e_c / (e_c + e_s).

    Least squares pull ratings towards the mean, the more the less captions say of sight, and an
    agreement of judges does not see it. So the scale is tried on narratives that are held out, one
    by one. Unless the interval of the gain over giving each the mean is above 0, narratives that
    were not looked at get no rating: a gain of a tenth of a point on some dozens is chance.

    Args:
        captions: (n, K) ratings; NaN is missing.
        sight: (n, K) ratings; NaN where a narrative was not looked at.
        weight: Share of sight, 0..1; None learns it.
        withheld: (n, K) ratings by sight of narratives that were not looked at, where they are
            known; they enter a check and nothing else.

    Raises:
        ConfigError: Tables of different shapes, or fewer than three narratives with both to
            learn from.
    """
    caption_ratings, sight_ratings = (
        np.asarray(t, dtype=np.float64) for t in (captions, sight)
    )
    if (
        caption_ratings.shape != sight_ratings.shape
        or caption_ratings.ndim != 2
    ):
        raise ConfigError(
            f"hybrid: expected two (n, K) tables, got {caption_ratings.shape},"
            f" {sight_ratings.shape}"
        )
    # Learn scale and weight where both ways have all ratings, mix, fill the others from captions,
    # then decide by held-out narratives whether filled ratings are shown at all.
    has_both = ~np.isnan(caption_ratings).any(axis=1) & ~np.isnan(
        sight_ratings
    ).any(axis=1)
    if has_both.sum() < 3:
        raise ConfigError(
            f"hybrid: {int(has_both.sum())} narratives have all ratings both ways, the scales need"
            " at least 3; look at a larger share"
        )
    x, y = (
        caption_ratings[has_both].mean(axis=1),
        sight_ratings[has_both].mean(axis=1),
    )
    slope, intercept, residual = _calibration(x, y)
    learned = weight is None
    if weight is None:
        weight = _learned_weight(sight_ratings[has_both], residual)
    on_scale = intercept + slope * caption_ratings
    has_sight = ~np.isnan(sight_ratings)
    unseen = np.asarray(np.isnan(sight_ratings).all(axis=1))
    mixed = weight * sight_ratings + (1.0 - weight) * on_scale
    # If only captions failed, sight alone counts.
    ratings = np.where(
        has_sight, np.where(np.isnan(mixed), sight_ratings, mixed), on_scale
    )
    held_out = _held_out(x, y)
    checks = [
        _check("looked at", ratings[has_both].mean(axis=1), y, None),
        held_out,
    ]
    # Only a study that rated everything by sight can check what it predicted.
    if withheld is not None:
        withheld_sight = np.where(
            unseen[:, None], np.asarray(withheld, dtype=np.float64), np.nan
        )
        is_complete = ~np.isnan(withheld_sight + caption_ratings).any(axis=1)
        if is_complete.any():
            truth = withheld_sight[is_complete].mean(axis=1)
            baseline = np.full(len(truth), y.mean())
            checks.append(
                _check(
                    "not looked at",
                    on_scale[is_complete].mean(axis=1),
                    truth,
                    baseline,
                )
            )
    trusted = (
        slope > 0 and held_out.gain_low is not None and held_out.gain_low > 0
    )
    if not trusted:
        ratings = np.where(unseen[:, None], np.nan, ratings)
    return Hybrid(
        ratings=tuple(tuple(float(value) for value in row) for row in ratings),
        weight=float(weight),
        slope=slope,
        intercept=intercept,
        n_seen=int((~unseen).sum()),
        learned=learned,
        trusted=trusted,
        checks=tuple(checks),
    )


def _held_out(x: Floats, y: Floats) -> HybridCheck:
    """Predict each narrative from the others, by the scale and by the mean, and check both."""
    predicted, baseline = np.empty(len(x)), np.empty(len(x))
    for position in range(len(x)):
        training = np.arange(len(x)) != position
        slope, intercept, _ = _calibration(x[training], y[training])
        predicted[position] = intercept + slope * x[position]
        baseline[position] = y[training].mean()
    return _check("held out", predicted, y, baseline)


def _check(
    narratives: Checked,
    ratings: Floats,
    sight: Floats,
    baseline: Floats | None,
) -> HybridCheck:
    has_sd = len(sight) > 1
    gain = (
        (None, None, None)
        if baseline is None
        else _gain(ratings, sight, baseline)
    )
    return HybridCheck(
        narratives=narratives,
        n=len(sight),
        error=_rmse(ratings, sight),
        error_of_mean=None if baseline is None else _rmse(baseline, sight),
        r=stats.pearson(ratings, sight).value if len(sight) > 2 else None,
        sd=float(ratings.std(ddof=1)) if has_sd else None,
        sd_sight=float(sight.std(ddof=1)) if has_sd else None,
        gain=gain[0],
        gain_low=gain[1],
        gain_high=gain[2],
    )


def _gain(
    ratings: Floats, sight: Floats, baseline: Floats
) -> tuple[float, Number, Number]:
    comparison = stats.paired_difference(
        (baseline - sight) ** 2, (ratings - sight) ** 2
    )
    low, high = interval_ends(comparison.interval) or (None, None)
    return comparison.mean, low, high


def _rmse(a: Floats, b: Floats) -> float:
    return float(np.sqrt(np.mean((a - b) ** 2)))


def _calibration(x: Floats, y: Floats) -> tuple[float, float, float]:
    # Equal captions for all narratives predict the mean, with slope 0.
    centred = x - x.mean()
    scatter = float(centred @ centred)
    slope = float(centred @ y) / scatter if scatter > 0 else 0.0
    intercept = float(y.mean() - slope * x.mean())
    errors = y - intercept - slope * x
    return slope, intercept, float(errors @ errors) / max(1, len(x) - 2)


def _learned_weight(sight: Floats, residual: float) -> float:
    judges = sight.shape[1]
    noise = (
        float(sight.var(axis=1, ddof=1).mean()) / judges if judges > 1 else 0.0
    )
    # The residuals contain the noise of sight; what is left is the error of captions. Weights go
    # with the other's variance, as for a mean of two independent measurements.
    caption_error = max(residual - noise, 0.0)
    return (
        caption_error / (caption_error + noise)
        if caption_error + noise > 0
        else 1.0
    )
