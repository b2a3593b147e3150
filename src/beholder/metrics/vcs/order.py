"""Narrative order of one direction: the distance score (NAS-D) and the line score (NAS-L).

Both look at the matches of the source chunks in their order. NAS-D asks whether each match lies in
its mapping window; NAS-L asks whether the line from match to match moves as in a text of the same
order. Two readings exist: the published one, and the one with its defects corrected.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from beholder.metrics.vcs.band import IdealBand
from beholder.metrics.vcs.windows import IntArray, Windows

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
