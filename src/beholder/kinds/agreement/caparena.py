"""The protocols of CapArena and CapArena-Auto: battles of captions, and the models behind them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from beholder.base.grouping import by_key
from beholder.errors import ConfigError
from beholder.kinds.agreement.docent import (
    COEFFICIENTS,
    differences,
    field,
    outcomes,
)
from beholder.records import ends_of
from beholder.stats.bootstrap import replicate_interval
from beholder.stats.checks import Floats, Ints
from beholder.stats.correlation import coefficient
from beholder.stats.ratings import elo, elo_replicates

MOST_RESAMPLES = 200
"""Resamples of pictures at the model level: each plays all battles 20 times."""
_OUTCOMES = {"model1": 1, "model2": -1, "equal": 0, "skip": 0, "bad": 0}


def agreement(
    battles: Sequence[Mapping[str, Any]],
    scores: Mapping[str, float] | Mapping[str, Mapping[str, float]],
    *,
    auto: bool = False,
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
        auto: Battles of CapArena-Auto, whose ``cluster`` is the baseline: models are compared
            by their mean net wins (:func:`net_wins`) instead of Elo ratings.
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
    kept = [
        battle
        for i, battle in enumerate(battles)
        if "human"
        not in (field(battle, "model1", i), field(battle, "model2", i))
    ]
    if not kept:
        raise ConfigError(
            f"battles: none of {len(battles)} is between two models"
        )
    gold = np.array(
        [_outcome(battle, i) for i, battle in enumerate(kept)], dtype=np.int64
    )
    predicted = outcomes(differences(kept, scores, "f1"), gold)
    right = predicted == gold
    result: dict[str, float | None] = {"caption_overall": float(right.mean())}
    clusters = [
        str(field(b, "cluster", i)).replace(" ", "_")
        for i, b in enumerate(kept)
    ]
    for cluster in dict.fromkeys(clusters):
        result[f"caption_{cluster}"] = float(
            right[np.array(clusters) == cluster].mean()
        )
    of: Callable[[Sequence[Mapping[str, Any]], Ints], Floats] = (
        net_wins if auto else _ratings
    )
    gold_ratings, predicted_ratings = of(kept, gold), of(kept, predicted)
    replicates: list[tuple[Floats, Floats]] = []
    if n_resamples:
        resample = _resample_net_wins if auto else _resample_ratings
        n = min(n_resamples, MOST_RESAMPLES)
        replicates = list(
            zip(
                resample(kept, gold, n),
                resample(kept, predicted, n),
                strict=True,
            )
        )
    for name, kind in COEFFICIENTS.items():
        correlation = coefficient(kind)
        result[f"model_{name}"] = correlation(gold_ratings, predicted_ratings)
        if replicates:
            interval = replicate_interval(
                [_correlate(correlation, *pair) for pair in replicates]
            )
            low, high = ends_of(interval) or (None, None)
            result |= {f"model_{name}_low": low, f"model_{name}_high": high}
    return result


def _correlate(
    correlation: Callable[[Floats, Floats], float | None],
    gold: Floats,
    predicted: Floats,
) -> float | None:
    """Correlation of the ratings of the models that a resample has battles of."""
    known = np.isfinite(gold)
    return (
        correlation(gold[known], predicted[known]) if known.sum() > 1 else None
    )


def _sources(battles: Sequence[Mapping[str, Any]]) -> list[Any]:
    return [
        battle.get("source", place) for place, battle in enumerate(battles)
    ]


def _resample_ratings(
    battles: Sequence[Mapping[str, Any]], outcome: Ints, n_resamples: int
) -> Floats:
    ratings = elo_replicates(
        [battle["model1"] for battle in battles],
        [battle["model2"] for battle in battles],
        (outcome + 1) / 2,
        clusters=_sources(battles),
        n_resamples=n_resamples,
    )
    return np.floor(ratings + 0.5)  # whole numbers, as the protocol has them


def _resample_net_wins(
    battles: Sequence[Mapping[str, Any]], outcome: Ints, n_resamples: int
) -> Iterator[Floats]:
    rows = by_key(
        (source, place) for place, source in enumerate(_sources(battles))
    )
    clusters = [np.array(places) for places in rows.values()]
    rng = np.random.default_rng(42)
    for _ in range(n_resamples):
        drawn = rng.integers(len(clusters), size=len(clusters))
        places = np.concatenate([clusters[cluster] for cluster in drawn])
        yield net_wins([battles[place] for place in places], outcome[places])


def _outcome(battle: Mapping[str, Any], position: int) -> int:
    winner = field(battle, "winner", position)
    if winner not in _OUTCOMES:
        known = ", ".join(_OUTCOMES)
        raise ConfigError(
            f"battles[{position}]: winner: expected {known}, got {winner!r}"
        )
    return _OUTCOMES[winner]


def net_wins(battles: Sequence[Mapping[str, Any]], outcome: Ints) -> Floats:
    """Score of each evaluated model in CapArena-Auto, in order of appearance.

    Against each baseline the wins minus the losses, halved (there are 200 battles each, so that
    the score lies in -100..100); then the mean over the baselines, of which one has no battle with
    itself and counts 0 there, as in the authors' ``caparena_auto_scores.py``.

    Args:
        battles: As ``agreement`` takes them; ``cluster`` is the baseline.
        outcome: (n,) 1 where the first side wins, -1 where the second does, 0 for a tie.
    """
    baselines = {battle["cluster"] for battle in battles}
    total: dict[Any, float] = defaultdict(float)
    for battle, won in zip(battles, outcome, strict=True):
        first = battle["model1"] != battle["cluster"]
        total[battle["model1" if first else "model2"]] += (
            float(won) if first else -float(won)
        )
    return np.array(list(total.values())) / 2 / len(baselines)


def _ratings(battles: Sequence[Mapping[str, Any]], outcome: Ints) -> Floats:
    """Integer Elo rating per model; the order depends on the battles alone."""
    ratings = elo(
        [battle["model1"] for battle in battles],
        [battle["model2"] for battle in battles],
        (outcome + 1) / 2,
    )
    return np.array([rating.rating for rating in ratings], dtype=np.float64)
