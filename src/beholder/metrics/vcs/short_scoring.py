"""The values of VCS-short: how word matches become a score. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beholder.embed.base import FloatArray
from beholder.metrics.vcs.combine import clip, comprehension, f_measure, harmonic, semantic
from beholder.metrics.vcs.scoring import Alignment, vcs_values
from beholder.metrics.vcs.setting import Setting

BETA = 0.5
"""What a short caption says wrong counts twice as much as what it leaves out."""

DISCOUNT = 0.1
"""The most that whole-text similarity, and that word order, can each take off."""


@dataclass(frozen=True, slots=True, eq=False)
class WordAlignment:
    """The words of a candidate against those of one reference.

    Attributes:
        alignment: Matches of both directions.
        gas: Cosine of the whole texts.
        candidate_weights: Weight of each word of the candidate, (G,).
        reference_weights: Weight of each word of the reference, (R,).
    """

    alignment: Alignment
    gas: float
    candidate_weights: FloatArray
    reference_weights: FloatArray

    @property
    def precision(self) -> FloatArray:
        """Similarity of the match of each word of the candidate, (G,)."""
        return self.alignment.precision.similarities


def best_over(pairs: Sequence[WordAlignment]) -> FloatArray:
    """Similarity of each word of the candidate to its best match in any reference, (G,)."""
    best: FloatArray = np.max([pair.precision for pair in pairs], axis=0)
    return best


def short_values(pair: WordAlignment, precision: FloatArray, setting: Setting) -> dict[str, float]:
    """All values of VCS-short by name, headline first.

    Args:
        pair: The candidate against one reference.
        precision: Similarity that counts for each word of the candidate, (G,): of its match in
            this reference, or in any.
        setting: Parameters.
    """
    values = vcs_values(pair.alignment, pair.gas, setting)
    if setting.rules == "fixed":
        weights = pair.candidate_weights, pair.reference_weights
        values["las_precision"] = clip(float(np.average(precision, weights=weights[0])))
        recall = pair.alignment.recall.similarities
        values["las_recall"] = clip(float(np.average(recall, weights=weights[1])))
        values["las"] = f_measure(values["las_precision"], values["las_recall"], BETA)
        values["sas"] = values["las"] * (1 - DISCOUNT * (1 - values["gas"]))
        values["vcs"] = values["sas"] * (1 - DISCOUNT * (1 - values["nas"]))
        return values
    values["las_precision"] = float(precision.mean())
    values["las"] = harmonic(values["las_precision"], values["las_recall"])
    values["sas"] = semantic(values["gas"], values["las"])
    values["vcs"] = comprehension(values["sas"], values["nas"])
    return values
