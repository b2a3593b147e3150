"""Narrative Trails: the path of maximum capacity, of any length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from beholder.errors import ConfigError
from beholder.kinds.narratives.storylines.space import (
    Floats,
    Space,
    StorylinePath,
    ends,
    path_through,
)

_KEEP_BYTES = 400 << 20
_ROWS = 256


def trail(space: Space, *, source: int, target: int, ordered: bool = True) -> StorylinePath:
    """The path whose weakest link is strongest, however many pictures it has.

    Without order of time it is the path in the maximum spanning tree (German, Keith, North 2025).
    With it, the same over steps that go forward: there is no tree then, so the widest path is found
    directly, and it exists for every pair of ends. Of the many paths that are equally wide it is
    one with the fewest pictures; what remains equal is decided by the strongest step.

    O(n^2) time; memory of one matrix up to about 10,000 pictures, of a few rows beyond.

    Args:
        space: The collection; in order of time when ``ordered``.
        source: Position of the first picture.
        target: Position of the last picture.
        ordered: Whether each step must go forward in time.

    Raises:
        ConfigError: A position is outside the collection, or the order forbids the ends.
    """
    if ordered:
        first, last = ends(space, source, target)
        return path_through(space, _forward(space, first, last), "trails")
    for name, position in (("source", source), ("target", target)):
        if not 0 <= position < len(space):
            raise ConfigError(f"{name}: position {position} is outside 0..{len(space) - 1}")
    return path_through(space, _on_tree(space, source, target), "trails")


class _Rows:
    """Rows of theta, made block by block and kept while they fit."""

    def __init__(self, space: Space) -> None:
        self._space = space
        fits = len(space) ** 2 * space.vectors.itemsize <= _KEEP_BYTES
        self._whole = self._all() if fits else None
        self._block: tuple[int, Floats] | None = None

    def __getitem__(self, row: int) -> Floats:
        if self._whole is not None:
            return self._whole[row]  # type: ignore[no-any-return]
        start = row - row % _ROWS
        if self._block is None or self._block[0] != start:
            self._block = start, self._space.theta(slice(start, start + _ROWS))
        return self._block[1][row - start]  # type: ignore[no-any-return]

    def _all(self) -> Floats:
        n = len(self._space)
        whole = np.empty((n, n), dtype=self._space.vectors.dtype)
        for start in range(0, n, _ROWS):
            whole[start : start + _ROWS] = self._space.theta(slice(start, start + _ROWS))
        return whole


def _forward(space: Space, first: int, last: int) -> list[int]:
    inside = space.subset(np.arange(first, last + 1))
    rows = _Rows(inside)
    n = len(inside)
    capacity = np.full(n, -np.inf)
    capacity[0] = np.inf
    for i in range(n - 1):
        reached = np.minimum(rows[i][i + 1 :], capacity[i])
        np.maximum(capacity[i + 1 :], reached, out=capacity[i + 1 :])
    return [first + p for p in _fewest(rows, n, float(capacity[-1]))]


def _fewest(rows: _Rows, n: int, least: float) -> list[int]:
    """The path of fewest pictures whose steps are all at least ``least``."""
    hops = np.full(n, np.inf)
    hops[0] = 0.0
    step = np.zeros(n)
    came_from = np.zeros(n, dtype=np.intp)
    for i in range(n - 1):
        if hops[i] == np.inf:
            continue
        theta, rest = rows[i][i + 1 :], slice(i + 1, n)
        fewer = hops[i] + 1 < hops[rest]
        stronger = (hops[i] + 1 == hops[rest]) & (theta > step[rest])
        better = (theta >= least) & (fewer | stronger)
        hops[rest][better] = hops[i] + 1
        step[rest][better] = theta[better]
        came_from[rest][better] = i
    return _traced(came_from, 0, n - 1)


def _on_tree(space: Space, source: int, target: int) -> list[int]:
    """Grow the maximum spanning tree from the source (Prim) until it has the target."""
    n = len(space)
    rows = _Rows(space) if n <= 10_000 else None
    best = np.full(n, -np.inf)
    came_from = np.full(n, source, dtype=np.intp)
    outside = np.ones(n, dtype=bool)
    at = source
    while at != target:
        outside[at] = False
        theta = rows[at] if rows is not None else space.theta(slice(at, at + 1))[0]
        stronger = outside & (theta > best)
        best[stronger] = theta[stronger]
        came_from[stronger] = at
        at = int(np.where(outside, best, -np.inf).argmax())
    return _traced(came_from, source, target)


def _traced(came_from: NDArray[np.intp], source: int, end: int) -> list[int]:
    path = [end]
    while path[-1] != source:
        path.append(int(came_from[path[-1]]))
    return path[::-1]
