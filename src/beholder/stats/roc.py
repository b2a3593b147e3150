"""How well low scores find errors, whatever the threshold: the area under the ROC curve."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from beholder.records import Interval
from beholder.stats.alerts import documents
from beholder.stats.bootstrap import cluster_bootstrap
from beholder.stats.checks import Floats, Ints, cluster_codes, resampling


@dataclass(frozen=True, slots=True)
class AlertAUC:
    """Area under the ROC curve of alerts.

    Attributes:
        auc: Chance that a marked part has a lower score than one that is not, ties counting half;
            0.5 for scores that know nothing. None when gold marks no part, or all.
        interval: Bootstrap interval over documents; None when it cannot be given.
        replicates: The value of each resample, aligned between equal documents; None where it is
            not defined.
        n_documents: Documents.
        n_parts: Parts (tokens, sentences) of all documents.
        n_gold: Parts that gold marks.
        reason: Why the area or its interval is None.
    """

    auc: float | None
    interval: Interval | None
    replicates: tuple[float | None, ...]
    n_documents: int
    n_parts: int
    n_gold: int
    reason: str | None = None


def alert_auc(
    scores: Sequence[ArrayLike],
    labels: Sequence[ArrayLike],
    *,
    clusters: Sequence[Hashable] | None = None,
    n_resamples: int = 1000,
    level: float = 0.95,
    seed: int = 12345,
) -> AlertAUC:
    """Area under the ROC curve, the parts of all documents pooled.

    Args:
        scores: Per document, (n_parts,) scores, low meaning an error; infinity for a part that
            never alerts.
        labels: Per document, (n_parts,) 1 for a part that gold marks as an error, else 0.
        clusters: What each document belongs to (its picture); whole clusters are resampled.
        n_resamples: Bootstrap resamples; 0 for no interval.
        level: Confidence level.
        seed: Seed of the resampling.

    Raises:
        ConfigError: As :func:`beholder.stats.alert_f1`.
    """
    s, g = documents(scores, labels)
    if n_resamples:
        resampling(n_resamples, level)
    pooled, gold = np.concatenate(s), np.concatenate(g)
    levels = np.unique(pooled, return_inverse=True)[1]
    document = np.repeat(np.arange(len(s)), [len(x) for x in s])
    wrong = gold == 1
    n_levels = int(levels.max()) + 1 if len(levels) else 0
    replicates: list[float | None] = []

    def area(rows: Ints) -> float | None:
        weight = np.bincount(rows, minlength=len(s)).astype(np.float64)[document]
        marked, plain = (
            np.bincount(levels[which], weights=weight[which], minlength=n_levels)
            for which in (wrong, ~wrong)
        )
        return area_of_levels(marked.astype(np.float64), plain.astype(np.float64))

    def kept(rows: Ints) -> float | None:
        replicates.append(area(rows))
        return replicates[-1]

    auc = area(np.arange(len(s)))
    counts = (len(s), len(gold), int(wrong.sum()))
    reason: str | None = None
    if auc is None:
        reason = "gold marks no part, or every part: there are no two classes"
        return AlertAUC(None, None, (), *counts, reason)
    if not n_resamples:
        return AlertAUC(auc, None, (), *counts)
    codes = cluster_codes(clusters, len(s))
    interval = cluster_bootstrap(kept, codes, n_resamples=n_resamples, level=level, seed=seed)
    if interval is None:
        reason = "too few documents have marks for a bootstrap interval"
    return AlertAUC(auc, interval, tuple(replicates), *counts, reason)


def area_of_levels(wrong: Floats, right: Floats) -> float | None:
    """The area under the ROC curve; None if one of the two has no weight.

    Args:
        wrong: (n_levels,) weight of what should have low scores, lowest level of the score first.
        right: (n_levels,) weight of what should have high ones.
    """
    pairs = wrong.sum() * right.sum()
    if pairs == 0:
        return None
    above = right.sum() - np.cumsum(right)
    return float((wrong * (above + right / 2)).sum() / pairs)
