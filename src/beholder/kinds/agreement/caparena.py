"""The protocol of CapArena: battles of captions, and the models behind them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from beholder.errors import ConfigError
from beholder.kinds.agreement.docent import (
    COEFFICIENTS,
    differences,
    field,
    outcomes,
)
from beholder.records import interval_ends
from beholder.stats.bootstrap import replicate_interval
from beholder.stats.checks import Floats, Ints
from beholder.stats.correlation import coefficient
from beholder.stats.ratings import elo, elo_replicates

Battle: TypeAlias = Mapping[str, Any]

MOST_RESAMPLES = 200
"""Resamples of pictures at the model level: each plays all battles 20 times."""
_OUTCOMES = {"model1": 1, "model2": -1, "equal": 0, "skip": 0, "bad": 0}


def agreement(
    battles: Sequence[Battle],
    scores: Mapping[str, float] | Mapping[str, Mapping[str, float]],
    *,
    n_resamples: int = 0,
) -> dict[str, float | None]:
    """Agreement of a metric with CapArena's human battles, at caption and at model level.

    Battles with a side "human" are left out. Caption level: accuracy of three outcomes with the
    tie threshold from the gold tie rate, over all battles and per cluster. Model level: Spearman
    and Kendall (tau-b) between the integer Elo ratings of the models from gold and from
    predicted winners (:func:`beholder.stats.elo`, both with the same resamples).

    Args:
        battles: One mapping per battle: ``model1``, ``model2``, ``generation1``, ``generation2``
            (keys of ``scores``), ``winner`` (``model1``, ``model2``; ``equal``, ``skip`` and
            ``bad`` are ties) and ``cluster``.
        scores: Per generation its score, or a mapping with its ``f1``; higher is better.
        n_resamples: Bootstrap resamples of pictures (``source`` of a battle, else each its own)
            for the model level; 0 for no intervals. At most ``MOST_RESAMPLES`` are drawn.

    Returns:
        ``caption_overall``, ``caption_{cluster}`` (blanks as underscores), ``model_spearman`` and
        ``model_kendall``, these two with ``_low`` and ``_high`` if there are resamples. A
        correlation that is not defined (one model, or constant ratings) is None. When all battles
        are ties every pair is predicted a tie and the accuracies are 1; the public code raises
        there.

    Raises:
        ConfigError: No battle without a human, a missing field, an unknown winner, a
            generation without a score, or a score that is not finite.
    """
    n_battles = len(battles)
    battles = [
        battle
        for i, battle in enumerate(battles)
        if "human"
        not in (field(battle, "model1", i), field(battle, "model2", i))
    ]
    if not battles:
        raise ConfigError(
            f"battles: none of {n_battles} is between two models"
        )
    # The tie threshold is set so that as many battles are predicted ties as
    # people called ties.
    gold = np.array([_outcome(battle, i) for i, battle in enumerate(battles)])
    predicted = outcomes(differences(battles, scores, "f1"), gold)
    is_right = predicted == gold
    result: dict[str, float | None] = {
        "caption_overall": float(is_right.mean())
    }
    clusters = np.array(
        [
            str(field(battle, "cluster", i)).replace(" ", "_")
            for i, battle in enumerate(battles)
        ]
    )
    for cluster in dict.fromkeys(clusters.tolist()):
        result[f"caption_{cluster}"] = float(
            is_right[clusters == cluster].mean()
        )
    gold_ratings, predicted_ratings = (
        _ratings(battles, outcome) for outcome in (gold, predicted)
    )
    n = min(n_resamples, MOST_RESAMPLES)
    # Both ratings come from the same resamples, so their correlation can be
    # resampled.
    replicates = list(
        zip(
            _resample_ratings(battles, gold, n),
            _resample_ratings(battles, predicted, n),
            strict=True,
        )
        if n
        else []
    )
    for name, kind in COEFFICIENTS.items():
        correlation = coefficient(kind)
        result[f"model_{name}"] = correlation(gold_ratings, predicted_ratings)
        if replicates:
            interval = replicate_interval(
                [_correlate(correlation, *pair) for pair in replicates]
            )
            low, high = interval_ends(interval) or (None, None)
            result |= {f"model_{name}_low": low, f"model_{name}_high": high}
    return result


def _correlate(
    correlation: Callable[[Floats, Floats], float | None],
    gold: Floats,
    predicted: Floats,
) -> float | None:
    """Correlate the ratings of the models that occur in a resample; None for fewer than two."""
    # A resample may contain no battle of a model.
    has_rating = np.isfinite(gold)
    return (
        correlation(gold[has_rating], predicted[has_rating])
        if has_rating.sum() > 1
        else None
    )


def _resample_ratings(
    battles: Sequence[Battle], outcome: Ints, n_resamples: int
) -> Floats:
    ratings = elo_replicates(
        *_sides(battles),
        (outcome + 1) / 2,
        clusters=[battle.get("source", n) for n, battle in enumerate(battles)],
        n_resamples=n_resamples,
    )
    # Whole numbers, as the protocol has them.
    return np.floor(ratings + 0.5)


def _sides(battles: Sequence[Battle]) -> tuple[list[str], list[str]]:
    """Return the models of each battle."""
    first, second = (
        [battle[side] for battle in battles] for side in ("model1", "model2")
    )
    return first, second


def _outcome(battle: Battle, position: int) -> int:
    winner = field(battle, "winner", position)
    if winner not in _OUTCOMES:
        expected = ", ".join(_OUTCOMES)
        raise ConfigError(
            f"battles[{position}]: winner: expected {expected}, got {winner!r}"
        )
    return _OUTCOMES[winner]


def _ratings(battles: Sequence[Battle], outcome: Ints) -> Floats:
    """Integer Elo rating per model; the order depends on the battles alone."""
    ratings = elo(*_sides(battles), (outcome + 1) / 2)
    return np.array([rating.rating for rating in ratings], dtype=np.float64)
