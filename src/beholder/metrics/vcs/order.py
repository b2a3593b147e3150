"""Mapping windows, the best match near them, and the narrative order of one direction.

If two texts describe the same events in the same order, chunk i of the one stands near position
``i * length ratio`` of the other. A window is the half-open range of such positions. The most
similar chunk is the match, unless others come close: then the one nearest to the window.

Order has two scores: the distance score (NAS-D) and the line score (NAS-L).

Both look at the matches of the source chunks in their order. NAS-D asks whether each match lies in
its mapping window; NAS-L asks whether the line from match to match moves as in a text of the same
order. Two readings exist: the published one, and the one with its defects corrected.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import add
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from beholder.embed.base import FloatArray

IntArray: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Windows:
    """The windows of one direction, one per chunk of the side that is walked (the source side).

    Attributes:
        starts: First target position of each window, (n_source,).
        lasts: Last target position of each window, (n_source,).
        ends: One past the last target position, (n_source,).
        ranges: Both side by side, (n_source, 2).
        index: 0 .. n_source - 1.
        n_target: Chunks of the side that is looked into.
        unit: One step of tolerance in target positions: the length ratio rounded to the nearest
            integer (halves down), at least 1.
        max_penalty: Sum over windows of the distance to the farther end of the target side.
    """

    starts: IntArray
    lasts: IntArray
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
        """Return the number of positions that each match is outside its window; 0 inside."""
        distance: IntArray = np.maximum(
            self.starts - matches, matches - self.lasts
        )
        return np.maximum(distance, 0, out=distance)

    # The shortest (floor) and longest (ceil) path that stays within the windows takes one target
    # position per source chunk; a step costs sqrt(1 + dy**2). Each is searched when first needed.

    @cached_property
    def floor(self) -> float:
        """Length of the shortest path; 0 for one source chunk."""
        return self._least(1)

    @cached_property
    def ceil(self) -> float:
        """Length of the longest path; 0 for one source chunk."""
        return abs(self._least(-1))

    # Windows of one or two rows, the usual case, have a faster search.
    def _least(self, sign: int) -> float:
        if self.n_target <= 2 * self.n_source:
            return _two_row_least(self, sign)
        return min(deque(self._sums(sign), maxlen=1)[0])

    @cached_property
    def floor_path(self) -> IntArray:
        """Target positions of the shortest path; empty for one source chunk."""
        return self._path(1)

    @cached_property
    def ceil_path(self) -> IntArray:
        """Target positions of the longest path; empty for one source chunk."""
        return self._path(-1)

    # Sums are built from left to right in float64 and the first of equal ones wins, as in the
    # published code: which of several shortest paths is taken depends on it.

    def _sums(self, sign: int) -> Iterator[list[float]]:
        """Yield the least sums of signed costs of the paths to each row of each window."""
        starts, ends = self.starts.tolist(), self.ends.tolist()
        column = [0.0] * (ends[0] - starts[0])
        yield column
        for before, start, end in zip(
            starts, starts[1:], ends[1:], strict=False
        ):
            into = _costs_into(start - before, end - start, len(column), sign)
            if isinstance(into[0], list):
                column = [min(map(add, column, costs)) for costs in into]
            else:
                so_far = np.array(column)
                column = [float((so_far + costs).min()) for costs in into]
            yield column

    # Walks back from the best end; at each window the step that led to its sum
    # is taken.
    def _path(self, sign: int) -> IntArray:
        columns = list(self._sums(sign))
        if len(columns) < 2:
            return _NO_PATH
        starts = self.starts
        offsets = [columns[-1].index(min(columns[-1]))]
        for place in range(len(columns) - 1, 0, -1):
            ahead = int(starts[place] - starts[place - 1]) + offsets[-1]
            before = columns[place - 1]
            sums = list(
                map(add, before, _costs(ahead, ahead - len(before), sign))
            )
            offsets.append(sums.index(min(sums)))
        return np.array(offsets[::-1], dtype=np.int64) + starts


@lru_cache(maxsize=512)
def mapping_windows(
    n_reference: int, n_candidate: int, *, exact: bool
) -> tuple[Windows, Windows]:
    """Return the windows of both directions.

    Args:
        n_reference: Chunks of the reference, at least 1.
        n_candidate: Chunks of the candidate, at least 1.
        exact: Floor the window starts in integers. False multiplies in float64 as the published
            code does, which floors one too low for some sizes (30 with 22, 30 with 26, ...).

    Returns:
        Precision windows (ranges of the reference, one per candidate chunk) and recall windows
        (ranges of the candidate, one per reference chunk).
    """
    longer, shorter = (
        max(n_reference, n_candidate),
        min(n_reference, n_candidate),
    )
    positions = np.arange(longer, dtype=np.int64)
    index = positions[:shorter]
    starts = (
        index * longer // shorter
        if exact
        else (index * (longer / shorter)).astype(np.int64)
    )
    height = -(-longer // shorter)
    direct = _windows(starts, starts + height, index, longer)
    # A chunk of the longer side expects the shorter-side chunks whose windows contain it, which
    # start at its position or less than a height before. Starts grow, so these are neighbours.
    last = starts.searchsorted(positions, side="right")
    first = np.zeros(longer, dtype=np.int64)
    first[height:] = last[:-height]
    reverse = _windows(first, last, positions, shorter)
    return (
        (direct, reverse) if n_reference >= n_candidate else (reverse, direct)
    )


def _windows(
    starts: IntArray,
    ends: IntArray,
    index: IntArray,
    n_target: int,
    # Halves round down, as published.
) -> Windows:
    ratio = n_target / len(starts)
    unit = 1 if ratio <= 1 else math.ceil(ratio) - (0 < ratio % 1 <= 0.5)
    worst = int(np.add.reduce(np.maximum(starts, n_target - ends)))
    ranges = np.empty((len(starts), 2), dtype=np.int64)
    ranges[:, 0], ranges[:, 1] = starts, ends
    lasts = ends - 1
    for array in (
        starts,
        lasts,
        ends,
        ranges,
        index,
    ):  # shared by all pairs of these lengths
        array.setflags(write=False)
    return Windows(starts, lasts, ends, ranges, index, n_target, unit, worst)


_TINY = 1e-30  # the best similarity of a band that is open is larger
_BLOCK = 1 << 15  # cells looked at together: stays in cache, and bounds memory


def similarity_band(
    best: FloatArray, cutoff: float, control: float
) -> FloatArray:
    """Return the least similarity at which a chunk is a candidate match.

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
    margin /= np.maximum(best, _TINY)  # no division by 0
    margin /= control
    band: FloatArray = best - margin
    return band


def best_match(
    similarity: FloatArray, windows: Windows, cutoff: float, control: float
) -> IntArray:
    """Return the index of the match of each source chunk.

    Among the chunks within the similarity band: smallest distance to the window, then highest
    similarity, then lowest index.

    Args:
        similarity: (n_source, n_target), finite.
        windows: Mapping windows of the direction.
        cutoff: See ``similarity_band``.
        control: See ``similarity_band``.
    """
    starts, lasts = windows.starts, windows.lasts
    return _best_match(
        similarity, starts, lasts, cutoff, control, similarity.dtype
    )


def best_matches(
    similarity: FloatArray,
    precision: Windows,
    recall: Windows,
    cutoff: float,
    control: float,
) -> tuple[IntArray, IntArray]:
    """Return ``best_match`` of both directions.

    Args:
        similarity: (R, G), finite.
        precision: Windows of the candidate chunks.
        recall: Windows of the reference chunks.
        cutoff: See ``similarity_band``.
        control: See ``similarity_band``.
    """
    n_reference, n_candidate = similarity.shape
    shape = n_candidate + n_reference, max(n_reference, n_candidate)
    if shape[0] * shape[1] > _BLOCK:
        turned = np.ascontiguousarray(
            similarity.T
        )  # whole rows are taken from it
        forward = best_match(turned, precision, cutoff, control)
        return forward, best_match(similarity, recall, cutoff, control)
    # So few cells are searched faster than numpy is called: both directions are one matrix.
    stacked = np.empty(
        shape
    )  # numpy finds the largest of float64 faster than of float32
    stacked.fill(-np.inf)
    stacked[:n_candidate, :n_reference] = similarity.T
    stacked[n_candidate:, :n_candidate] = similarity
    starts = np.concatenate((precision.starts, recall.starts))
    lasts = np.concatenate((precision.lasts, recall.lasts))
    matches = _best_match(
        stacked, starts, lasts, cutoff, control, similarity.dtype
    )
    return matches[:n_candidate], matches[n_candidate:]


def _best_match(
    similarity: FloatArray,
    starts: IntArray,
    lasts: IntArray,
    cutoff: float,
    control: float,
    dtype: np.dtype[Any],
) -> IntArray:
    matches: IntArray = similarity.argmax(axis=1)
    # The first of the most similar chunks is the match already if it lies inside its window.
    outside = ((matches < starts) | (matches > lasts)).nonzero()[0]
    width = similarity.shape[1]
    positions = np.arange(width)
    block = max(1, _BLOCK // width)
    for top in range(0, len(outside), block):
        rows = outside[top : top + block]
        cells = similarity.take(rows, axis=0)
        best = similarity[rows, matches.take(rows)].astype(dtype)
        band = similarity_band(best, cutoff, control)
        # Distance of each position before or after the window; below 1 inside of it.
        distance = starts.take(rows)[:, None] - positions
        np.maximum(
            distance, positions - lasts.take(rows)[:, None], out=distance
        )
        np.putmask(distance, cells < band[:, None], width)
        least = np.maximum(np.minimum.reduce(distance, axis=1), 0)
        np.putmask(cells, distance > least[:, None], -np.inf)
        matches[rows] = cells.argmax(axis=1)
    return matches


_NO_PATH: IntArray = np.empty(0, dtype=np.int64)
_TALL = 64  # kinds of steps from which numpy adds faster than a loop


@lru_cache(maxsize=64)
def _costs_into(ahead: int, rows: int, height: int, sign: int) -> list[Any]:
    """Return the costs of steps to each row of a window from the rows of the one before.

    Args:
        ahead: Distance from the start of the window before.
        rows: Rows of the window.
        height: Rows of the window before.
        sign: Of the costs.
    """
    listed = _costs(ahead + rows - 1, ahead - height, sign)
    costs = listed if len(listed) < _TALL else np.array(listed)
    return [costs[top : top + height] for top in range(rows - 1, -1, -1)]


def _two_row_least(windows: Windows, sign: int) -> float:
    """Return the least sum of signed costs for windows of one or two rows."""
    starts, lasts = windows.starts, windows.lasts
    before = starts[:-1]
    steps = ((starts + lasts)[1:] - before - before).tolist()
    low, high = (
        0.0,
        0.0 if lasts[0] > starts[0] else math.inf,
    )  # inf without a second row
    for up, level, down, second in map(
        # low and high are the least sums that end in the first and second row.
        _TWO_ROW_STEPS[sign].__getitem__,
        steps,
    ):
        stay, fall = low + level, high + down
        if second:
            rise, keep = low + up, high + level
            high = rise if rise < keep else keep
        else:
            high = math.inf
        low = stay if stay < fall else fall
    return min(low, high)


def _costs(first: int, stop: int, sign: int) -> list[float]:
    """Return costs of steps by ``first`` rows, one less, and so on, to before ``stop``."""
    return [
        sign * math.sqrt(1 + step * step) for step in range(first, stop, -1)
    ]


_TWO_ROW_STEPS = {
    sign: [
        (*_costs(up, up - 3, sign), second)
        for up in (1, 2, 3)
        for second in (False, True)
    ]
    for sign in (1, -1)
}
"""By twice how far a window starts after the one before plus its rows less 1: costs of the steps
from the first row to the second, from each row to the same and from the second to the first, and
whether the window has a second row."""


Positions: TypeAlias = npt.NDArray[np.float64] | IntArray
"""Places in the target side; between two chunks when the tolerance is not a whole number."""


def distance_score(
    penalties: npt.NDArray[np.number], windows: Windows, if_none: float
) -> float:
    """Return NAS-D: 1 minus the share of the largest possible penalty.

    Args:
        penalties: Penalised distance of each match.
        windows: Mapping windows of the direction.
        if_none: The score if no penalty is possible because every window spans the whole
            target side, as it does when a text has one chunk.
    """
    if windows.max_penalty == 0:
        return if_none
    return 1.0 - float(np.add.reduce(penalties)) / windows.max_penalty


def published_penalties(
    matches: IntArray, windows: Windows, lct: float
) -> IntArray:
    """Return the distance of each match: 0 up to the tolerance, the whole distance beyond it."""
    distance = windows.distances(matches)
    if lct:
        distance *= distance > lct * windows.unit
    return distance


def published_line(matches: IntArray, windows: Windows, lct: float) -> float:
    """Return NAS-L as published, 0..1: 1 for a line as long as the ideal band allows, else less.

    Steps backward or too far are left out of the length; with a tolerance above 0, backward steps
    count like forward ones, and longer ones up to a second limit count as the step that the
    shortest ideal path makes there.
    """
    if windows.n_source < 2:
        return 1.0
    # Added from left to right like the band, so that a line as long as the floor equals it exactly.
    actual = float(
        np.add.accumulate(published_steps(matches, windows, lct))[-1]
    )
    if actual < windows.floor:
        return actual / windows.floor
    return 1.0 if actual <= windows.ceil else windows.ceil / actual


def published_steps(
    matches: IntArray, windows: Windows, lct: float
) -> npt.NDArray[np.float64]:
    """Return the counted length of each step between neighbouring matches, (n_source - 1,)."""
    steps = matches[1:] - matches[:-1]
    limit, extra = _step_limits(windows)
    # Without tolerance a step of -1 is place 0 of the table; steps out of
    # range clip to its ends, 0.
    if lct == 0:
        steps += 1
        return _strict_lengths(limit).take(steps, mode="clip")
    size, length = np.abs(steps), np.sqrt(1.0 + steps * steps)
    capped = np.sqrt(1.0 + np.diff(windows.floor_path) ** 2)
    return np.where(
        size <= limit,
        length,
        np.where(size <= limit + lct * extra, capped, 0.0),
    )


@lru_cache(maxsize=64)
def _strict_lengths(limit: int) -> npt.NDArray[np.float64]:
    """Return step lengths at place step + 1; 0 at both ends, for steps that are not accepted."""
    return np.array(
        [0.0, *(math.sqrt(1 + step * step) for step in range(limit + 1)), 0.0]
    )


def _step_limits(windows: Windows) -> tuple[int, int]:
    """Return the longest accepted step, and its increase for each unit of tolerance."""
    ratio = windows.n_target / windows.n_source
    height = math.ceil(ratio)
    if ratio <= 1:
        return height, height
    if 0 < ratio % 1 <= 0.5:
        return 2 * height - 2, height - 1
    return 2 * height - 1, height


def pull_to_windows(
    matches: IntArray, windows: Windows, lct: float
) -> Positions:
    """Move matches towards their windows by at most the tolerance (``lct`` window units).

    This is how tolerance acts in the corrected rules, for both scores: a chunk that strayed a
    little counts as standing in its window, one that strayed far is let off by as much and no more,
    and the direction in which the line moves is kept.
    """
    if lct == 0:
        return matches
    reach = lct * windows.unit
    move = (
        np.minimum(np.maximum(matches, windows.starts), windows.lasts)
        - matches
    )
    pulled: Positions = matches + np.minimum(np.maximum(move, -reach), reach)
    return pulled


def corrected_penalties(
    pulled: Positions, windows: Windows
) -> npt.NDArray[np.number]:
    """Return the distance from each pulled match to its window."""
    return np.maximum(
        np.maximum(windows.starts - pulled, pulled - windows.lasts), 0
    )


def corrected_line(pulled: Positions, windows: Windows, lct: float) -> float:
    """Return NAS-L as corrected: the mean fit of the steps to the windows at their two ends.

    A step that some path within the windows makes counts 1; a shorter or a longer one counts the
    ratio of the two lengths ``sqrt(1 + dy**2)``; one backward counts 0, unless both its ends can
    lie in their windows and it is within the tolerance. One source chunk has no step and scores 1.
    """
    if windows.n_source < 2:
        return 1.0
    counted = corrected_steps(pulled, windows, lct)
    return float(np.add.reduce(counted)) / len(counted)


def corrected_steps(
    pulled: Positions, windows: Windows, lct: float
) -> npt.NDArray[np.float64]:
    """Return the credit of each step between neighbouring matches, 0..1, (n_source - 1,)."""
    steps = pulled[1:] - pulled[:-1]
    starts, lasts = windows.starts, windows.lasts
    # The steps that some path within the two windows can make.
    shortest = np.maximum(starts[1:] - lasts[:-1], -lct * windows.unit)
    longest = lasts[1:] - starts[:-1]
    nearest = np.minimum(np.maximum(steps, shortest), longest)
    # Squares of the lengths: the root of their ratio is the ratio of the
    # lengths.
    step_squares, nearest_squares = (
        1.0 + steps * steps,
        1.0 + nearest * nearest,
    )
    credit: npt.NDArray[np.float64] = np.sqrt(
        np.minimum(step_squares, nearest_squares)
        / np.maximum(step_squares, nearest_squares)
    )
    # A step backward beyond what windows or tolerance allow has no credit.
    credit *= steps >= np.minimum(shortest, 0)
    return credit
