"""The values of VCS-short: how word matches become a score. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beholder.embed.base import FloatArray
from beholder.metrics.vcs.combine import comprehension, f_measure, harmonic, semantic
from beholder.metrics.vcs.scoring import ChunkAlignment, local, vcs_values
from beholder.metrics.vcs.setting import Setting

BETA = 0.5
"""What a short caption says wrong counts twice as much as what it leaves out."""

FLOOR = 0.2
"""Similarity that words have by chance: the like of it, and less, counts 0."""

DISCOUNT = 0.2
"""The most that word order can take off: a witness of little weight in so short a text."""


@dataclass(frozen=True, slots=True, eq=False)
class WordAlignment:
    """The words of a candidate against those of one reference.

    Attributes:
        alignment: Matches of both directions.
        gas: Cosine of the whole texts.
        candidate_weights: Weight of each word of the candidate, (G,).
        reference_weights: Weight of each word of the reference, (R,).
    """

    alignment: ChunkAlignment
    gas: float
    candidate_weights: FloatArray
    reference_weights: FloatArray

    @property
    def precision(self) -> FloatArray:
        """Similarity of the match of each word of the candidate, (G,)."""
        return self.alignment.precision.similarities


def pair_values(pair: WordAlignment, setting: Setting) -> dict[str, float]:
    """All values of the candidate against one reference by name, headline first."""
    values = vcs_values(pair.alignment, pair.gas, setting)
    if setting.rules == "fixed":
        recall = pair.alignment.recall.similarities
        values["las_precision"] = _weighted(pair.precision, pair.candidate_weights)
        values["las_recall"] = _weighted(recall, pair.reference_weights)
    return _combine(values, setting)


def best_over(pairs: Sequence[WordAlignment]) -> FloatArray:
    """Similarity of each word of the candidate to its best match in any reference, (G,)."""
    best: FloatArray = np.max([pair.precision for pair in pairs], axis=0)
    return best


def union_values(
    pairs: Sequence[WordAlignment], each: Sequence[dict[str, float]], setting: Setting
) -> dict[str, float]:
    """All values of the candidate against several references together.

    Each word of the candidate counts at its best match in any reference; recall, whole-text
    similarity and narrative alignment each at the reference where it is best.

    Args:
        pairs: The candidate against each reference.
        each: ``pair_values`` of each.
        setting: Parameters.
    """
    # Of references with the same NAS any order would do; its parts decide.
    best = max(each, key=lambda found: [found["nas"], *found.values()])
    values = dict(best)
    precision = best_over(pairs)
    values["las_precision"] = (
        _weighted(precision, pairs[0].candidate_weights)
        if setting.rules == "fixed"
        else float(precision.mean())
    )
    values["las_recall"] = max(found["las_recall"] for found in each)
    values["gas"] = max(found["gas"] for found in each)
    return _combine(values, setting)


def _weighted(similarities: FloatArray, weights: FloatArray) -> float:
    """Weighted mean of the shares by which similarities exceed chance, 0..1."""
    shares = np.clip((similarities - FLOOR) / (1 - FLOOR), 0, 1)
    return float(np.average(shares, weights=weights))


def _combine(values: dict[str, float], setting: Setting) -> dict[str, float]:
    """Set LAS, SAS and VCS from their parts."""
    precision, recall = values["las_precision"], values["las_recall"]
    if setting.rules == "fixed":
        values["las"] = f_measure(precision, recall, BETA)
        values["sas"] = harmonic(values["las"], values["gas"])
        values["vcs"] = values["sas"] * (1 - DISCOUNT * (1 - values["nas"]))
    else:
        values["las"] = local(precision, recall, setting)
        values["sas"] = semantic(values["gas"], values["las"])
        values["vcs"] = comprehension(values["sas"], values["nas"])
    return values
