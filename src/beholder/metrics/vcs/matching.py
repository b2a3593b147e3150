"""Best match: for each chunk of one side, the chunk of the other side that it tells of.

The most similar chunk wins, unless others come close: then the one nearest to the mapping window.
Several chunks may match the same one, and each has a match, however weak.
"""

from __future__ import annotations

import numpy as np

from beholder.embed.base import FloatArray
from beholder.metrics.vcs.windows import IntArray, Windows


def similarity_band(similarity: FloatArray, cutoff: float, control: float) -> FloatArray:
    """Least similarity at which a chunk is a candidate match, per source chunk.

    The band below the best similarity m is ``(m - cutoff) / (m * control)`` wide, and has no width
    when m is not above the cutoff (exact ties of the best are candidates all the same).

    Args:
        similarity: (n_source, n_target).
        cutoff: Best similarity from which the band opens, 0..1.
        control: Divides the band; larger is stricter.
    """
    best = similarity.max(axis=1)
    # Written in the order of the published code, in the dtype of the similarities: ties at the edge
    # of the band depend on the rounding.
    margin = (1 - cutoff) - (1 - best)
    np.maximum(margin, 0, out=margin)
    margin /= np.where(margin > 0, best, 1)
    margin /= control
    return best - margin  # type: ignore[no-any-return]


def best_match(similarity: FloatArray, windows: Windows, cutoff: float, control: float) -> IntArray:
    """Index of the match of each source chunk.

    Among the chunks within the similarity band: smallest distance to the window, then highest
    similarity, then lowest index.

    Args:
        similarity: (n_source, n_target), finite.
        windows: Mapping windows of the direction.
        cutoff: See ``similarity_band``.
        control: See ``similarity_band``.
    """
    candidate = similarity >= similarity_band(similarity, cutoff, control)[:, None]
    matches: IntArray = similarity.argmax(axis=1)
    open_rows = np.flatnonzero(np.count_nonzero(candidate, axis=1) > 1)
    if open_rows.size:
        matches[open_rows] = _nearest(
            similarity[open_rows],
            candidate[open_rows],
            windows.starts[open_rows],
            windows.ends[open_rows],
        )
    return matches


def _nearest(
    similarity: FloatArray, candidate: np.ndarray, starts: IntArray, ends: IntArray
) -> IntArray:
    positions = np.arange(similarity.shape[1], dtype=np.int64)
    distance = np.maximum(starts[:, None] - positions, positions - (ends[:, None] - 1))
    np.maximum(distance, 0, out=distance)
    distance[~candidate] = similarity.shape[1]
    nearest = distance == distance.min(axis=1, keepdims=True)
    return np.where(nearest, similarity, -np.inf).argmax(axis=1)
