"""The ideal band of the line score as published: the shortest and longest path through windows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from beholder.metrics.vcs.windows import IntArray, mapping_windows

_BLOCK = 1 << 20  # cells of one step table; bounds memory when one text is far longer


@dataclass(frozen=True, eq=False)
class IdealBand:
    """Shortest (floor) and longest (ceil) path that stays within the windows of one direction.

    A path takes one target position per source chunk; a step costs ``sqrt(1 + dy**2)``.

    Attributes:
        floor: Length of the shortest path; 0 for one source chunk.
        ceil: Length of the longest path; 0 for one source chunk.
        floor_path: Target positions of the shortest path; empty for one source chunk.
        ceil_path: Target positions of the longest path; empty for one source chunk.
    """

    floor: float
    ceil: float
    floor_path: IntArray
    ceil_path: IntArray


@lru_cache(maxsize=512)
def ideal_bands(n_reference: int, n_candidate: int) -> tuple[IdealBand, IdealBand]:
    """Ideal bands of the precision and the recall direction, on windows in float form."""
    precision, recall = mapping_windows(n_reference, n_candidate, exact=False)
    return _band(precision.starts, precision.ends), _band(recall.starts, recall.ends)


def _band(starts: IntArray, ends: IntArray) -> IdealBand:
    if len(starts) < 2:
        nothing = np.empty(0, dtype=np.int64)
        return IdealBand(0.0, 0.0, nothing, nothing)
    shortest = longest = np.zeros(ends[0] - starts[0])
    back_shortest, back_longest = [], []
    for column in range(1, len(starts)):
        # Sums are built from left to right in float64 and the first of equal ones wins, as in the
        # published code: which of several shortest paths is taken depends on it.
        rows = np.arange(starts[column], ends[column])
        before = np.arange(starts[column - 1], ends[column - 1])
        (shortest, step), (longest, stride) = _extend(rows, before, shortest, longest)
        back_shortest.append(step)
        back_longest.append(stride)
    return IdealBand(
        float(shortest.min()),
        float(longest.max()),
        _walk_back(int(shortest.argmin()), back_shortest, starts),
        _walk_back(int(longest.argmax()), back_longest, starts),
    )


_Column = tuple[npt.NDArray[np.float64], IntArray]


def _extend(
    rows: IntArray,
    before: IntArray,
    shortest: npt.NDArray[np.float64],
    longest: npt.NDArray[np.float64],
) -> tuple[_Column, _Column]:
    """Best sums at each row of a column, and the offset in the column before they come from."""
    low, high = np.empty(len(rows)), np.empty(len(rows))
    low_from = np.empty(len(rows), dtype=np.int64)
    high_from = np.empty(len(rows), dtype=np.int64)
    height = max(1, _BLOCK // len(before))
    for top in range(0, len(rows), height):
        part = slice(top, top + height)
        step = np.sqrt(1.0 + (rows[part, None] - before) ** 2)
        sums = shortest + step
        low_from[part], low[part] = sums.argmin(axis=1), sums.min(axis=1)
        sums = longest + step
        high_from[part], high[part] = sums.argmax(axis=1), sums.max(axis=1)
    return (low, low_from), (high, high_from)


def _walk_back(end: int, back: list[IntArray], starts: IntArray) -> IntArray:
    offsets = [end]
    for column in reversed(back):
        offsets.append(int(column[offsets[-1]]))
    return np.array(offsets[::-1], dtype=np.int64) + starts
