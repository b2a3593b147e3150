"""Narrative Trails: the path of maximum capacity, of any length."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from beholder.kinds.narratives.storylines.space import (
    Floats,
    Space,
    StorylinePath,
    check_positions,
    ends,
    path_through,
    traced,
)

_ROWS = 256


def trail(space: Space, *, source: int, target: int, ordered: bool = True) -> StorylinePath:
    """The path whose weakest link is strongest, however many pictures it has.

    Without order of time it is the path in the maximum spanning tree (German, Keith, North 2025).
    With it, the same over steps that go forward: there is no tree then, so the widest path is found
    directly, and it exists for every pair of ends. Of the many paths that are equally wide it is
    one with the fewest pictures; what remains equal is decided by the strongest step.

    O(n^2) time; memory of a few rows.

    Args:
        space: The collection; in order of time when ``ordered``.
        source: Position of the first picture.
        target: Position of the last picture.
        ordered: Whether each step must go forward in time.

    Raises:
        ConfigError: A position is outside the collection, or the order forbids the ends.
    """
    if not ordered:
        check_positions(space, source=source, target=target)
        return path_through(space, _on_tree(space, source, target), "trails")
    first, last = ends(space, source, target)
    inside = space.subset(np.arange(first, last + 1))
    capacity = np.full(len(inside), -np.inf)
    capacity[0] = np.inf
    for i, theta in _steps(inside):
        rest = capacity[i + 1 :]
        np.maximum(rest, np.minimum(theta, capacity[i]), out=rest)
    path = _fewest(inside, float(capacity[-1]))
    return path_through(space, [first + p for p in path], "trails")


def _steps(space: Space) -> Iterator[tuple[int, Floats]]:
    """Each picture with its theta with all later ones, made some rows at a time."""
    for start in range(0, len(space), _ROWS):
        for row, theta in enumerate(space.theta(slice(start, start + _ROWS), slice(start, None))):
            yield start + row, theta[row + 1 :]


def _fewest(space: Space, least: float) -> list[int]:
    """The path of fewest pictures whose steps are all at least ``least``."""
    n = len(space)
    hops = np.full(n, np.inf)
    hops[0] = 0.0
    strongest = np.zeros(n)
    came_from = np.zeros(n, dtype=np.intp)
    for i, theta in _steps(space):
        if hops[i] == np.inf:
            continue
        rest = slice(i + 1, n)
        fewer = hops[i] + 1 < hops[rest]
        stronger = (hops[i] + 1 == hops[rest]) & (theta > strongest[rest])
        better = (theta >= least) & (fewer | stronger)
        hops[rest][better] = hops[i] + 1
        strongest[rest][better] = theta[better]
        came_from[rest][better] = i
    return traced(came_from, 0, n - 1)


def _on_tree(space: Space, source: int, target: int) -> list[int]:
    """Grow the maximum spanning tree from the source (Prim) until it has the target."""
    n = len(space)
    best = np.full(n, -np.inf)
    came_from = np.full(n, source, dtype=np.intp)
    outside = np.ones(n, dtype=bool)
    at = source
    while at != target:
        outside[at] = False
        theta = space.theta(slice(at, at + 1))[0]
        stronger = outside & (theta > best)
        best[stronger] = theta[stronger]
        came_from[stronger] = at
        at = int(np.where(outside, best, -np.inf).argmax())
    return traced(came_from, source, target)
