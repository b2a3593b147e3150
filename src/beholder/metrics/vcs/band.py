"""The ideal band of the line score as published: the shortest and longest path through windows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np

from beholder.metrics.vcs.windows import IntArray, mapping_windows
from beholder.records import Span

_NARROW = 24  # up to this height of windows, lists are faster than arrays

_Pick: TypeAlias = Callable[[list[float]], float]
_Column: TypeAlias = tuple[list[float], list[int]]


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
    extend = _extend if int((ends - starts).max()) <= _NARROW else _extend_wide
    first, last = starts.tolist(), ends.tolist()
    shortest = longest = [0.0] * (last[0] - first[0])
    back_shortest, back_longest = [], []
    for column in range(1, len(first)):
        before, rows = (first[column - 1], last[column - 1]), (first[column], last[column])
        shortest, step = extend(before, rows, shortest, min)
        longest, stride = extend(before, rows, longest, max)
        back_shortest.append(step)
        back_longest.append(stride)
    floor, ceil = min(shortest), max(longest)
    return IdealBand(
        floor,
        ceil,
        _walk_back(shortest.index(floor), back_shortest, starts),
        _walk_back(longest.index(ceil), back_longest, starts),
    )


# Sums are built from left to right in float64 and the first of equal ones wins, as in the published
# code: which of several shortest paths is taken depends on it.


def _extend(before: Span, rows: Span, sums: list[float], pick: _Pick) -> _Column:
    """Best sum at each row of a column, and the offset in the column before it comes from."""
    best, origin = [], []
    for row in range(*rows):
        reached = [
            so_far + math.sqrt(1.0 + (row - from_row) ** 2)
            for so_far, from_row in zip(sums, range(*before), strict=True)
        ]
        best.append(pick(reached))
        origin.append(reached.index(best[-1]))
    return best, origin


def _extend_wide(before: Span, rows: Span, sums: list[float], pick: _Pick) -> _Column:
    """The same for wide windows, a row at a time in numpy."""
    so_far, from_rows = np.array(sums), np.arange(*before)
    locate = np.argmin if pick is min else np.argmax
    best, origin = [], []
    for row in range(*rows):
        reached = so_far + np.sqrt(1.0 + (row - from_rows) ** 2)
        origin.append(int(locate(reached)))
        best.append(float(reached[origin[-1]]))
    return best, origin


def _walk_back(end: int, back: list[list[int]], starts: IntArray) -> IntArray:
    offsets = [end]
    for column in reversed(back):
        offsets.append(column[offsets[-1]])
    return np.array(offsets[::-1], dtype=np.int64) + starts
