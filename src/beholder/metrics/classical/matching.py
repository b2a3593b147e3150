"""Greedy matching: each part of a text finds its most similar part of the other text."""

from __future__ import annotations

import numpy as np

from beholder.embed.base import FloatArray


def greedy_match(
    similarity: FloatArray, candidate_weights: FloatArray, reference_weights: FloatArray
) -> tuple[float, float]:
    """Precision and recall of a soft overlap.

    Args:
        similarity: (n, m), of each part of the candidate with each of the reference.
        candidate_weights: (n,), not negative, one of them above 0.
        reference_weights: (m,), likewise.

    Returns:
        Weighted mean over the candidate's parts of the best similarity, and the same over the
        reference's; both within the range of the similarities.
    """
    return (
        _weighted_mean(similarity.max(axis=1), candidate_weights),
        _weighted_mean(similarity.max(axis=0), reference_weights),
    )


def _weighted_mean(values: FloatArray, weights: FloatArray) -> float:
    mean = (values * weights).sum() / weights.sum()
    return float(np.clip(mean, values.min(), values.max()))  # rounding must not leave the range
