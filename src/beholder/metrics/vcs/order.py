"""Narrative order of one direction: the distance score (NAS-D) and the line score (NAS-L).

Both look at the matches of the source chunks in their order. NAS-D asks whether each match lies in
its mapping window; NAS-L asks whether the line from match to match moves as in a text of the same
order. Two readings exist: the published one, and the one with its defects corrected.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from beholder.metrics.vcs.windows import IntArray, Windows, mapping_windows
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


Positions: TypeAlias = npt.NDArray[np.float64] | IntArray
"""Places in the target side; between two chunks when the tolerance is not a whole number."""


def distance_score(penalties: npt.NDArray[np.number], windows: Windows, if_none: float) -> float:
    """NAS-D: 1 minus the share of the largest possible penalty.

    Args:
        penalties: Penalised distance of each match.
        windows: Mapping windows of the direction.
        if_none: The score if no penalty is possible because every window spans the whole
            target side, as it does when a text has one chunk.
    """
    if windows.max_penalty == 0:
        return if_none
    return 1.0 - float(penalties.sum()) / windows.max_penalty


def published_penalties(matches: IntArray, windows: Windows, lct: float) -> IntArray:
    """Distance of each match: none up to the tolerance, the whole distance beyond it."""
    distance = windows.distances(matches)
    distance[distance <= lct * windows.unit] = 0
    return distance


def published_line(matches: IntArray, windows: Windows, band: IdealBand, lct: float) -> float:
    """NAS-L as published: the length of the line against the ideal band.

    Steps backward or too far are left out of the length; with a tolerance above 0, backward steps
    count like forward ones, and longer ones up to a second limit count as the step that the
    shortest ideal path makes there.
    """
    if windows.n_source < 2:
        return 1.0
    # Added from left to right like the band, so that a line as long as the floor equals it exactly.
    actual = float(published_steps(matches, windows, band, lct).cumsum()[-1])
    if band.floor <= actual <= band.ceil:
        return 1.0
    if actual < band.floor:
        return actual / band.floor
    return band.ceil / actual


def published_steps(
    matches: IntArray, windows: Windows, band: IdealBand, lct: float
) -> npt.NDArray[np.float64]:
    """Counted length of each step between neighbouring matches, (n_source - 1,)."""
    steps = matches[1:] - matches[:-1]
    limit, extra = _step_limits(windows)
    length = np.sqrt(1.0 + steps**2)
    if lct == 0:
        return np.where((steps >= 0) & (steps <= limit), length, 0.0)
    size = np.abs(steps)
    capped = np.sqrt(1.0 + (band.floor_path[1:] - band.floor_path[:-1]) ** 2)
    return np.where(size <= limit, length, np.where(size <= limit + lct * extra, capped, 0.0))


def _step_limits(windows: Windows) -> tuple[int, int]:
    """Longest accepted step, and by how much each unit of tolerance raises it."""
    ratio = windows.n_target / windows.n_source
    height = math.ceil(ratio)
    if ratio <= 1:
        return height, height
    if 0 < ratio % 1 <= 0.5:
        return 2 * height - 2, height - 1
    return 2 * height - 1, height


def pull_to_windows(matches: IntArray, windows: Windows, lct: float) -> Positions:
    """Matches moved towards their windows by at most the tolerance (``lct`` window units).

    This is how tolerance acts in the corrected rules, for both scores: a chunk that strayed a
    little counts as standing in its window, one that strayed far is let off by as much and no more,
    and the direction in which the line moves is kept.
    """
    if lct == 0:
        return matches
    reach = lct * windows.unit
    move = np.minimum(np.maximum(matches, windows.starts), windows.ends - 1) - matches
    pulled: Positions = matches + np.minimum(np.maximum(move, -reach), reach)
    return pulled


def corrected_penalties(pulled: Positions, windows: Windows) -> npt.NDArray[np.number]:
    """Distance from each pulled match to its window."""
    return np.maximum(np.maximum(windows.starts - pulled, pulled - (windows.ends - 1)), 0)


def corrected_line(pulled: Positions, windows: Windows, lct: float) -> float:
    """NAS-L as corrected: the mean over steps of how well each fits the windows at its two ends.

    A step that some path within the windows makes counts 1; a shorter or a longer one counts the
    ratio of the two lengths ``sqrt(1 + dy**2)``; one backward counts 0, unless both its ends can
    lie in their windows and it is within the tolerance. One source chunk has no step and scores 1.
    """
    if windows.n_source < 2:
        return 1.0
    return float(corrected_steps(pulled, windows, lct).mean())


def corrected_steps(pulled: Positions, windows: Windows, lct: float) -> npt.NDArray[np.float64]:
    """What each step between neighbouring matches counts, 0..1, (n_source - 1,)."""
    steps = pulled[1:] - pulled[:-1]
    shortest = np.maximum(windows.starts[1:] - windows.ends[:-1] + 1, -lct * windows.unit)
    longest = windows.ends[1:] - 1 - windows.starts[:-1]
    nearest = np.minimum(np.maximum(steps, shortest), longest)
    made, fit = 1.0 + steps * steps, 1.0 + nearest * nearest
    credit: npt.NDArray[np.float64] = np.sqrt(np.minimum(made, fit) / np.maximum(made, fit))
    credit[(steps < 0) & (steps < shortest)] = 0.0
    return credit
