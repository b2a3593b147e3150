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
        labels = np.array(
            [_label(battle, question, i) for i, battle in enumerate(battles)]
        )
        difference = differences(battles, scores, score)
        gold = 2.0 - labels
        predicted = outcomes(difference, gold)
        result[f"{question}_accuracy"] = float(
            (predicted == np.sign(gold)).mean()
        )
        # Ranks of the exact differences: `correlate` would tie those that differ by rounding alone.
        ranks = np.unique(difference, return_inverse=True)[1]
        for name, kind in COEFFICIENTS.items():
            found = correlate(gold, ranks, kind, n_resamples=0)
            result[f"{question}_{name}"] = found.value
            result[f"{question}_{name}_pvalue"] = found.p_value
    return result


def field(battle: Mapping[str, Any], name: str, position: int) -> Any:
    """A field of a battle.

    Raises:
        ConfigError: The battle has none of that name.
    """
    if name not in battle:
        raise ConfigError(
            f"battles[{position}]: no {name}, got {', '.join(battle)}"
        )
    return battle[name]


def differences(
    battles: Sequence[Mapping[str, Any]], scores: Mapping[str, Any], name: str
) -> Floats:
    """The named score of the first generation of each battle minus that of the second, (n,).

    Raises:
        ConfigError: A generation or its score is missing, or the score is not finite.
    """
    return np.array(
        [
            _score_of(scores, field(battle, "generation1", i), name)
            - _score_of(scores, field(battle, "generation2", i), name)
            for i, battle in enumerate(battles)
        ]
    )


def outcomes(difference: Floats, gold: Floats | Ints) -> Ints:
    """Predicted winners, (n,): 1, 0, -1, with as many ties as the gold outcomes have.

    As ``stats.three_way_accuracy``, but differences are compared to the last bit.
    """
    n_ties = int((gold == 0).sum())
    sizes = np.sort(np.abs(difference))
    if n_ties == len(sizes):
        return np.zeros(len(sizes), dtype=np.int64)
    threshold = sizes[n_ties]
    is_second = -difference >= threshold
    return np.where(difference >= threshold, 1, np.where(is_second, -1, 0))


def _score_of(scores: Mapping[str, Any], generation: str, name: str) -> float:
    """The named score of a generation; a bare number stands for itself."""
    if generation not in scores:
        raise ConfigError(f"scores: nothing for generation {generation!r}")
    entry = scores[generation]
    if isinstance(entry, Mapping):
        if name not in entry:
            raise ConfigError(
                f"scores[{generation!r}]: no {name}, got {', '.join(entry)}"
            )
        entry = entry[name]
    value = float(entry)
    if not np.isfinite(value):
        raise ConfigError(f"scores[{generation!r}]: {name} is {value}")
    return value


def _label(battle: Mapping[str, Any], question: str, position: int) -> int:
    label = field(battle, "labels", position).get(question)
    if label not in (0, 1, 2, 3, 4):
        raise ConfigError(
            f"battles[{position}]: {question}: expected 0 to 4, got {label!r}"
        )
    return int(label)
