"""Agreement of a ranking of texts with people's: the best-agreeing pair of annotators, thresholds.

Pure. A ranking holds one rank per text, 1 = best; equal ranks are ties.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TypeAlias

import numpy as np

from beholder.stats.correlation import coefficient
from beholder.stats.ranks import mean_ranks

Ranking: TypeAlias = Sequence[float]

THRESHOLDS: tuple[float | None, ...] = (None, 0.0, 0.2, 0.4, 0.6, 0.8)
"""Of the published table; None keeps every image."""

MODEL = "model"
# Correlations of five ranks are steps of 0.1; sums of floats are not exact.
_EQUAL = 1e-9


@dataclass(frozen=True, slots=True)
class AnnotatorPair:
    """The two annotators of an image who agree best.

    Attributes:
        first: Name of the one.
        second: Name of the other; names are in alphabetical order.
        agreement: Spearman's correlation of their ranks.
    """

    first: str
    second: str
    agreement: float


def ranks_of(
    scores: Sequence[float], *, higher_is_better: bool
) -> tuple[float, ...]:
    """Return the ranks of scores, 1 = best; equal scores share the average of their ranks."""
    signed = np.asarray(scores, dtype=np.float64) * (
        -1.0 if higher_is_better else 1.0
    )
    return tuple(mean_ranks(signed).tolist())


def rank_correlation(a: Ranking, b: Ranking) -> float | None:
    """Return Spearman's rho of two rankings; None if all texts of one of them are tied."""
    spearman = coefficient("spearman")
    return spearman(
        np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    )


def complete(
    ranks: Mapping[str, Sequence[float | None]],
) -> dict[str, tuple[float, ...]]:
    """The rankings of the annotators who ranked every text, by name in alphabetical order."""
    rankings: dict[str, tuple[float, ...]] = {}
    for name in sorted(ranks):
        ranking = tuple(rank for rank in ranks[name] if rank is not None)
        if len(ranking) == len(ranks[name]):
            rankings[name] = ranking
    return rankings


def best_pairs(ranks: Mapping[str, Ranking]) -> tuple[AnnotatorPair, ...]:
    """Return the pairs of annotators with the highest Spearman correlation.

    One pair, or several that agree equally well. Empty with fewer than two annotators, or if no
    pair has a correlation because an annotator puts all texts level.

    Args:
        ranks: Complete rankings by annotator.
    """
    pairs: list[AnnotatorPair] = []
    for first, second in combinations(sorted(ranks), 2):
        rho = rank_correlation(ranks[first], ranks[second])
        if rho is not None:
            pairs.append(AnnotatorPair(first, second, rho))
    highest = max((pair.agreement for pair in pairs), default=0.0)
    return tuple(pair for pair in pairs if pair.agreement >= highest - _EQUAL)


def correlation_with_pairs(
    ranking: Ranking,
    ranks: Mapping[str, Ranking],
    pairs: Sequence[AnnotatorPair],
) -> float | None:
    """Mean of a ranking's correlations with both annotators of each pair: the image's score.

    From -1 to 1, higher is better. None where the ranking puts all texts level.

    Args:
        ranking: Ranks of the texts.
        ranks: Complete rankings by annotator.
        pairs: One or more pairs; of several that agree equally well each counts alike, so that the
            score does not depend on the names of annotators.
    """
    names = [name for pair in pairs for name in (pair.first, pair.second)]
    correlations = [rank_correlation(ranking, ranks[name]) for name in names]
    defined = [rho for rho in correlations if rho is not None]
    return (
        math.fsum(defined) / len(defined)
        if len(defined) == len(names)
        else None
    )


def joined_pair(
    ranking: Ranking, ranks: Mapping[str, Ranking]
) -> AnnotatorPair | None:
    """The best pair when the model counts as one more annotator, under the name of ``MODEL``.

    The model wins no tie: the pair of people stays. So the agreement is never lower than theirs.
    """
    best = next(iter(best_pairs(ranks)), None)
    for name in sorted(ranks):
        rho = rank_correlation(ranking, ranks[name])
        # The margin keeps a tie with the pair of people from going to the model.
        if rho is not None and (best is None or rho > best.agreement + _EQUAL):
            best = AnnotatorPair(name, MODEL, rho)
    return best


def passes_threshold(agreement: float, threshold: float | None) -> bool:
    """Return whether a best pair with this agreement reaches a threshold; equality passes."""
    return threshold is None or agreement >= threshold - _EQUAL
