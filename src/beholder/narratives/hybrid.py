"""Captions first, pictures where it matters: screen all by captions, look at some, combine."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from beholder.errors import ConfigError
from beholder.narratives.space import Floats

Rule: TypeAlias = Literal["uncertain", "top"]


@dataclass(frozen=True, slots=True)
class Hybrid:
    """Ratings from both ways of judging.

    Attributes:
        ratings: (n, K), on the scale of sight; NaN where a judge has no caption rating.
        weight: Share of sight in a narrative that was judged both ways.
        slope: Sight per caption rating: ``intercept + slope * caption`` is a caption rating on the
            scale of sight.
        intercept: See ``slope``.
        n_seen: Narratives that were judged by sight as well.
        learned: Whether the weight was learned.
    """

    ratings: tuple[tuple[float, ...], ...]
    weight: float
    slope: float
    intercept: float
    n_seen: int
    learned: bool


def choose(captions: ArrayLike, share: float, rule: Rule) -> list[int]:
    """The narratives to look at.

    Args:
        captions: (n, K) ratings by captions; NaN is missing. A narrative without any rating is
            looked at first: captions have told nothing of it.
        share: 0..1 of the narratives; rounded up.
        rule: ``uncertain``: where judges disagree most. ``top``: the best rated.

    Returns:
        Positions in order.

    Raises:
        ConfigError: A share outside 0..1 or an unknown rule.
    """
    if not 0.0 <= share <= 1.0:
        raise ConfigError(f"share={share}: expected a number from 0 to 1")
    if rule not in ("uncertain", "top"):
        raise ConfigError(f"rule={rule!r}: expected 'uncertain' or 'top'")
    table = np.asarray(captions, dtype=np.float64)
    known = ~np.isnan(table)
    count = np.maximum(known.sum(axis=1), 1)
    mean = np.where(known, table, 0.0).sum(axis=1) / count
    spread = np.where(known, (table - mean[:, None]) ** 2, 0.0).sum(axis=1) / count
    key = spread if rule == "uncertain" else mean
    key = np.where(known.any(axis=1), np.round(key, 9), np.inf)  # ties stay ties
    n_chosen = math.ceil(share * len(table) - 1e-9)
    return sorted(int(i) for i in np.argsort(-key, kind="stable")[:n_chosen])


def combine(captions: ArrayLike, sight: ArrayLike, *, weight: float | None = None) -> Hybrid:
    """Combine caption ratings of all narratives with sight ratings of some.

    Caption ratings are put on the scale of sight by least squares over the narratives with both.
    A narrative with both gets ``weight * sight + (1 - weight) * caption``, the others their caption
    rating on that scale, judge by judge. A learned weight is the one with the least error against
    what noiseless sight would say: with e_s = within-narrative variance of sight / K and e_c =
    residual variance of the regression - e_s, it is e_c / (e_c + e_s).

    Args:
        captions: (n, K) ratings; NaN is missing.
        sight: (n, K) ratings; NaN where a narrative was not looked at.
        weight: Share of sight, 0..1; None learns it.

    Raises:
        ConfigError: Tables of different shapes, a weight outside 0..1, or fewer than three
            narratives with both to learn from.
    """
    words, looks = (np.asarray(t, dtype=np.float64) for t in (captions, sight))
    if words.shape != looks.shape or words.ndim != 2:
        raise ConfigError(f"hybrid: expected two (n, K) tables, got {words.shape}, {looks.shape}")
    if weight is not None and not 0.0 <= weight <= 1.0:
        raise ConfigError(f"weight={weight}: expected a number from 0 to 1")
    both = ~np.isnan(words).any(axis=1) & ~np.isnan(looks).any(axis=1)
    if both.sum() < 3:
        raise ConfigError(
            f"hybrid: {int(both.sum())} narratives have all ratings both ways, the scales need at"
            " least 3; look at a larger share"
        )
    slope, intercept, residual = _calibration(words[both].mean(axis=1), looks[both].mean(axis=1))
    learned = weight is None
    if weight is None:
        weight = _learned_weight(looks[both], residual)
    on_scale = intercept + slope * words
    seen = ~np.isnan(looks)
    mixed = weight * looks + (1.0 - weight) * on_scale
    # Where captions failed but sight did not, sight stands alone.
    ratings = np.where(seen, np.where(np.isnan(mixed), looks, mixed), on_scale)
    rows = tuple(tuple(float(value) for value in row) for row in ratings)
    return Hybrid(rows, float(weight), slope, intercept, int(seen.any(axis=1).sum()), learned)


def _calibration(x: Floats, y: Floats) -> tuple[float, float, float]:
    centred = x - x.mean()
    scatter = float(centred @ centred)
    slope = float(centred @ y) / scatter if scatter > 0 else 0.0
    intercept = float(y.mean() - slope * x.mean())
    errors = y - intercept - slope * x
    return slope, intercept, float(errors @ errors) / max(1, len(x) - 2)


def _learned_weight(sight: Floats, residual: float) -> float:
    judges = sight.shape[1]
    noise = float(sight.var(axis=1, ddof=1).mean()) / judges if judges > 1 else 0.0
    own = max(residual - noise, 0.0)
    return own / (own + noise) if own + noise > 0 else 1.0
