"""Best match: for each chunk of one side, the chunk of the other side with the same content.

The most similar chunk wins, unless others come close: then the one nearest to the mapping window.
Several chunks may match the same one, and each has a match, however weak.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from beholder.embed.base import FloatArray
from beholder.metrics.vcs.windows import IntArray, Windows

_BLOCK = 1 << 15  # cells looked at together: stays in cache, and bounds memory


def similarity_band(best: FloatArray, cutoff: float, control: float) -> FloatArray:
    """Least similarity at which a chunk is a candidate match.

    The band below the best similarity m is ``(m - cutoff) / (m * control)`` wide, and has no width
    when m is not above the cutoff (exact ties of the best are candidates all the same).

    Args:
        best: Highest similarity of each source chunk, (n_source,).
        cutoff: Best similarity from which the band opens, 0..1.
        control: Divides the band; larger is stricter.
    """
    # Written in the order of the published code, in the dtype of the similarities: ties at the edge
    # of the band depend on the rounding.
    margin = (1 - cutoff) - (1 - best)
    np.maximum(margin, 0, out=margin)
    margin /= np.where(margin > 0, best, 1)
    margin /= control
    band: FloatArray = best - margin
    return band


def candidates(similarity: FloatArray, cutoff: float, control: float) -> npt.NDArray[np.bool_]:
    """Which chunks come close enough to the best one to be the match, (n_source, n_target)."""
    band = similarity_band(similarity.max(axis=1), cutoff, control)
    close: npt.NDArray[np.bool_] = similarity >= band[:, None]
    return close


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
    matches: IntArray = similarity.argmax(axis=1)
    candidate = candidates(similarity, cutoff, control)
    if np.count_nonzero(candidate) > len(matches):
        open_rows = (np.add.reduce(candidate, axis=1) > 1).nonzero()[0]
        block = max(1, _BLOCK // similarity.shape[1])
        for top in range(0, len(open_rows), block):
            rows = open_rows[top : top + block]
            starts, ends = windows.starts[rows, None], windows.ends[rows, None]
            matches[rows] = _nearest(similarity[rows], candidate[rows], starts, ends)
    return matches


def _nearest(
    similarity: FloatArray, candidate: np.ndarray, starts: IntArray, ends: IntArray
) -> IntArray:
    n_target = similarity.shape[1]
    positions = np.arange(n_target)
    distance = np.maximum(starts - positions, positions - (ends - 1))
    np.maximum(distance, 0, out=distance)
    distance = np.where(candidate, distance, n_target)
    nearest = distance == np.minimum.reduce(distance, axis=1, keepdims=True)
    best: IntArray = np.where(nearest, similarity, -np.inf).argmax(axis=1)
    return best
