"""The coarse protocol of DOCENT: pairwise judgments of mistakes, omissions and overall quality.

Differences of scores are compared exactly, as the public code does, so that published figures are
reproduced. Everywhere else numbers that differ by rounding alone are ties (``stats.ranks``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from beholder.data.marks import SCORE_OF
from beholder.errors import ConfigError
from beholder.stats.checks import Floats, Ints
from beholder.stats.correlation import CorrelationKind, correlate

COEFFICIENTS: Mapping[str, CorrelationKind] = {
    "spearman": "spearman",
    "kendall": "tau-b",
}
"""Names in the results, and what they mean."""


def agreement(
    battles: Sequence[Mapping[str, Any]],
    scores: Mapping[str, Mapping[str, float]],
) -> dict[str, float | None]:
    """Agreement of a metric with DOCENT's coarse judgments.

    For each question: the accuracy of three outcomes with the tie threshold from the gold tie
    rate (see :func:`beholder.stats.three_way_accuracy`), and Spearman's and Kendall's (tau-b)
    correlation of score differences with label differences, judgments pooled.

    Args:
        battles: One mapping per judgment: ``generation1`` and ``generation2`` (keys of
            ``scores``) and ``labels``, which gives ``mistakes``, ``omissions`` and
            ``overall_quality`` each a label 0 (first much better) to 4 (second much better),
            with 2 for a tie.
        scores: Per generation its ``precision``, ``recall`` and ``f1``, higher is better.

    Returns:
        ``{question}_accuracy``, ``_spearman``, ``_spearman_pvalue``, ``_kendall`` and
        ``_kendall_pvalue``. A correlation, or its p, that is not defined (constant labels or
        scores, too few judgments) is None. When all labels are ties every pair is predicted a
        tie and the accuracy is 1; the public code raises there.

    Raises:
        ConfigError: No battles, a missing field, a label outside 0..4, a generation without a
            score, or a score that is not finite.
    """
    if not battles:
        raise ConfigError("battles: got none")
    result: dict[str, float | None] = {}
    for question, score in SCORE_OF.items():
        gold = np.array(
            [
                # Published labels run from 0 (first) to 4 (second); ours are
                # positive for the first.
                2.0 - _label(battle, question, i)
                for i, battle in enumerate(battles)
            ]
        )
        difference = differences(battles, scores, score)
        right = outcomes(difference, gold) == np.sign(gold)
        result[f"{question}_accuracy"] = float(right.mean())
        # Ranks of the exact differences: `correlate` would tie those that differ by rounding alone.
        ranks = np.unique(difference, return_inverse=True)[1]
        for name, kind in COEFFICIENTS.items():
            correlation = correlate(gold, ranks, kind, n_resamples=0)
            result[f"{question}_{name}"] = correlation.value
            result[f"{question}_{name}_pvalue"] = correlation.p_value
    return result


def field(battle: Mapping[str, Any], name: str, position: int) -> Any:
    """Return a field of a battle.

    Raises:
        ConfigError: The battle has no such field.
    """
    if name not in battle:
        raise ConfigError(
            f"battles[{position}]: no {name}, got {', '.join(battle)}"
        )
    return battle[name]


def differences(
    battles: Sequence[Mapping[str, Any]], scores: Mapping[str, Any], name: str
) -> Floats:
    """Subtract the second generation's named score from the first's; (n,), one per battle.

    Raises:
        ConfigError: A generation or its score is missing, or the score is not finite.
    """
    first, second = (
        np.array(
            [
                _score_of(scores, field(battle, side, i), name)
                for i, battle in enumerate(battles)
            ]
        )
        for side in ("generation1", "generation2")
    )
    return np.asarray(first - second)


def outcomes(difference: Floats, gold: Floats | Ints) -> Ints:
    """Predict the winners, (n,) of 1, 0 and -1, with as many ties as the gold outcomes have.

    As ``stats.three_way_accuracy``, but differences are compared to the last bit.
    """
    sizes = np.sort(np.abs(difference))
    n_ties = int((gold == 0).sum())
    # The smallest differences are the ties; with gold ties alone every pair is
    # one.
    threshold = sizes[n_ties] if n_ties < len(sizes) else np.inf
    # A difference at the threshold is a preference, tested for the first side first.
    return np.where(
        difference >= threshold, 1, -(-difference >= threshold).astype(int)
    )


def _score_of(scores: Mapping[str, Any], generation: str, name: str) -> float:
    """Return the named score of a generation; a bare number is its only score."""
    if generation not in scores:
        raise ConfigError(f"scores: nothing for generation {generation!r}")
    score = scores[generation]
    if isinstance(score, Mapping):
        if name not in score:
            raise ConfigError(
                f"scores[{generation!r}]: no {name}, got {', '.join(score)}"
            )
        score = score[name]
    if not np.isfinite(score):
        raise ConfigError(f"scores[{generation!r}]: {name} is {score}")
    return float(score)


def _label(battle: Mapping[str, Any], question: str, position: int) -> int:
    label = field(battle, "labels", position).get(question)
    if label not in (0, 1, 2, 3, 4):
        raise ConfigError(
            f"battles[{position}]: {question}: expected 0 to 4, got {label!r}"
        )
    return int(label)
