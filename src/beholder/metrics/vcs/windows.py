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
