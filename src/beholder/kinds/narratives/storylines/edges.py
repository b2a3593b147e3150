"""The steps a path may take: theta of each picture with those that may come before it, in tiles.

A tile covers some targets and all their sources, so that a layer of a dynamic programme is a few
operations on contiguous arrays. Tiles are kept while they fit a budget, otherwise made again.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.errors import ConfigError
from beholder.kinds.narratives.storylines.space import Floats, Space

_TARGETS = 128
_BUDGET = 1 << 30  # bytes of tiles kept


@dataclass(frozen=True, slots=True)
class Tile:
    """Steps into the targets ``t0..t1`` from the sources ``s0..s1``.

    Attributes:
        targets: Positions, as a slice.
        sources: Positions, as a slice.
        theta: (targets, sources); minus infinity where a step is not allowed.
    """

    targets: slice
    sources: slice
    theta: Floats


class Edges:
    """Forward steps between the positions ``first..last`` of a space in order of time.

    Args:
        space: The collection in order of time.
        first: First position a path may use.
        last: Last one.
        earliest: (n,) per position the earliest one that may come right before it.
        near_duplicate: Cosine from which two pictures count as near duplicates, or None.
        penalty: Taken off the theta of a step between near duplicates; 1 makes it a last resort.
    """

    def __init__(
        self,
        space: Space,
        first: int,
        last: int,
        earliest: NDArray[np.intp],
        *,
        near_duplicate: float | None = None,
        penalty: float = 1.0,
    ) -> None:
        self._space = space
        self._first, self._last = first, last
        self._earliest = earliest
        self._near_duplicate = near_duplicate
        self._penalty = penalty
        self._floor = -np.inf
        self._kept: list[Tile] | None = None
        self._fits = self._bytes() <= _BUDGET

    def __iter__(self) -> Iterator[Tile]:
        """Tiles in order of targets; paths may start anywhere, so the first target has none."""
        if not self._fits:
            yield from self._tiles()
            return
        if self._kept is None:
            self._kept = list(self._tiles())
        yield from self._kept

    def above(self, floor: float) -> Edges:
        """The same edges without those below a theta."""
        other = copy(self)
        other._floor = floor
        if self._kept is not None:
            other._kept = [
                Tile(t.targets, t.sources, np.where(t.theta >= floor, t.theta, -np.inf))
                for t in self._kept
            ]
        return other

    def _spans(self) -> Iterator[tuple[slice, slice]]:
        for start in range(self._first + 1, self._last + 1, _TARGETS):
            stop = min(start + _TARGETS, self._last + 1)
            origin = max(self._first, int(self._earliest[start:stop].min()))
            yield slice(start, stop), slice(origin, stop - 1)

    def _bytes(self) -> int:
        itemsize: int = self._space.vectors.dtype.itemsize
        cells: int = sum((t.stop - t.start) * (s.stop - s.start) for t, s in self._spans())
        return itemsize * cells

    def _tiles(self) -> Iterator[Tile]:
        for targets, sources in self._spans():
            theta = self._space.theta(targets, sources)
            if self._near_duplicate is not None:
                alike = self._space.cosine(targets, sources) >= self._near_duplicate
                theta[alike] -= self._penalty
            at = np.arange(sources.start, sources.stop)
            own = np.arange(targets.start, targets.stop)[:, None]
            allowed = (at < own) & (at >= self._earliest[targets, None])
            if self._floor > -np.inf:
                allowed &= theta >= self._floor
            theta[~allowed] = -np.inf
            yield Tile(targets, sources, theta)


def earliest_sources(
    n: int, *, window: int | None, days: int | None, dates: NDArray[np.int64] | None
) -> NDArray[np.intp]:
    """Per position, the earliest one that may come right before it.

    Args:
        n: Pictures.
        window: A step goes at most so many positions ahead; None for any.
        days: A step goes at most so many days ahead; None for any.
        dates: (n,) day numbers, not decreasing; needed for ``days``.

    Raises:
        ConfigError: A window below 1, or days without dates.
    """
    earliest = np.zeros(n, dtype=np.intp)
    if window is not None:
        if window < 1:
            raise ConfigError(f"window={window}: expected at least 1 position")
        earliest = np.maximum(0, np.arange(n) - window)
    if days is not None:
        if dates is None or days < 0:
            raise ConfigError(f"days={days}: needs dated pictures and a number of at least 0")
        earliest = np.maximum(earliest, np.searchsorted(dates, dates - days, side="left"))
    return earliest
