"""Mapping windows: where in the other text a chunk's match is expected.

If two texts describe the same events in the same order, chunk i of the one stands near position
``i * length ratio`` of the other. A window is the half-open range of such positions.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from beholder.embed.base import FloatArray

IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Windows:
    """The windows of one direction, one per chunk of the side that is walked (the source side).

    Attributes:
        starts: First target position of each window, (n_source,).
        ends: One past the last target position, (n_source,).
        ranges: Both side by side, (n_source, 2).
        index: 0 .. n_source - 1.
        n_target: Chunks of the side that is looked into.
        unit: One step of tolerance in target positions: the length ratio rounded to the nearest
            integer (halves down), at least 1.
        max_penalty: Sum over windows of the distance to the farther end of the target side.
    """

    starts: IntArray
    ends: IntArray
    ranges: IntArray
    index: IntArray
    n_target: int
    unit: int
    max_penalty: int

    @property
    def n_source(self) -> int:
        """Chunks of the side that is walked."""
        return len(self.starts)

    def distances(self, matches: IntArray) -> IntArray:
        """How many positions each match lies outside its window; 0 inside."""
        distance: IntArray = np.maximum(self.starts - matches, matches - self.ends + 1)
        return np.maximum(distance, 0, out=distance)


@lru_cache(maxsize=512)
def mapping_windows(n_reference: int, n_candidate: int, exact: bool) -> tuple[Windows, Windows]:
    """Windows of both directions.

    Args:
        n_reference: Chunks of the reference, at least 1.
        n_candidate: Chunks of the candidate, at least 1.
        exact: Floor the window starts in integers. False multiplies in float64 as the published
            code does, which floors one too low for some sizes (30 with 22, 30 with 26, ...).

    Returns:
        Precision windows (ranges of the reference, one per candidate chunk) and recall windows
        (ranges of the candidate, one per reference chunk).
    """
    longer, shorter = max(n_reference, n_candidate), min(n_reference, n_candidate)
    index = np.arange(shorter, dtype=np.int64)
    if exact:
        starts = index * longer // shorter
    else:
        starts = np.floor(index * (longer / shorter)).astype(np.int64)
    ends = np.minimum(starts + -(-longer // shorter), longer)
    direct = _windows(starts, ends, longer)
    # A chunk of the longer side expects the shorter-side chunks whose windows contain it. Starts
    # and ends both grow, so these are neighbours and two searches find them.
    positions = np.arange(longer, dtype=np.int64)
    reverse = _windows(
        np.searchsorted(ends, positions, side="right"),
        np.searchsorted(starts, positions, side="right"),
        shorter,
    )
    return (direct, reverse) if n_reference >= n_candidate else (reverse, direct)


def _windows(starts: IntArray, ends: IntArray, n_target: int) -> Windows:
    ratio = n_target / len(starts)
    unit = 1 if ratio <= 1 else math.ceil(ratio) - (0 < ratio % 1 <= 0.5)
    worst = int(np.maximum(starts, n_target - ends).sum())
    ranges = np.stack([starts, ends], axis=1)
    index = np.arange(len(starts))
    for array in (starts, ends, ranges, index):  # shared by all pairs of texts of these lengths
        array.setflags(write=False)
    return Windows(starts, ends, ranges, index, n_target, unit, worst)


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
