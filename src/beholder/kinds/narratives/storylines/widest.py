"""The exact max-min path.

Of all time-ordered paths of K pictures, the one whose weakest link is strongest; among equal ones,
that with the highest mean. A path must remember on its way the topics that it covers: a small
automaton, so that a programme over (state, position) is exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from beholder.base.ranges import check_number
from beholder.errors import ConfigError
from beholder.kinds.narratives.storylines.space import (
    Floats,
    Places,
    Space,
    StorylinePath,
    ends,
    path_through,
)

_TARGETS = 128
MAX_CELLS = 1 << 28
"""Theta of more pairs does not fit into memory: 1 GB in single precision."""
MAX_TOPICS = 10
"""Sets of topics double with each one."""


@dataclass(frozen=True, slots=True)
class Tile:
    """Steps into some targets from all sources that may come right before them.

    Attributes:
        targets: Positions, as a slice.
        sources: Positions, as a slice.
        theta: (targets, sources); minus infinity where a step is not allowed.
    """

    targets: slice
    sources: slice
    theta: Floats

    def above(self, floor: float) -> Tile:
        """Return the tile without the steps below a theta."""
        theta = np.where(self.theta >= floor, self.theta, -np.inf)
        return Tile(self.targets, self.sources, theta)


def earliest_sources(
    n: int,
    *,
    window: int | None,
    days: int | None,
    dates: NDArray[np.int64] | None,
) -> Places:
    """Return per position the earliest one that may come right before it.

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
        check_number("window", window, 1, whole=True)
        earliest = np.maximum(0, np.arange(n) - window)
    if days is not None:
        if dates is None or days < 0:
            raise ConfigError(
                f"days={days}: needs dated pictures and a number of at least 0"
            )
        earliest = np.maximum(
            earliest, np.searchsorted(dates, dates - days, side="left")
        )
    return earliest


def maxmin(
    space: Space,
    k: int,
    *,
    source: int | None = None,
    target: int | None = None,
    window: int | None = None,
    days: int | None = None,
    dates: ArrayLike | None = None,
    topics: ArrayLike | None = None,
    cover: int = 0,
) -> StorylinePath:
    """Extract the storyline of exactly K pictures whose weakest link is strongest.

    Two dynamic programmes over layers of the path, O(K n^2) in vectorised steps, O(K n w) with a
    window of w: the first finds the best possible weakest link, the second the highest mean among
    the paths that reach it. Ties go to earlier pictures. Nothing is sampled: equal input gives an
    equal path.

    Args:
        space: The collection, its rows in order of time.
        k: Pictures of a storyline.
        source: Position it starts at; None leaves that free.
        target: Position it ends at; None leaves that free.
        window: A step goes at most so many positions ahead.
        days: A step goes at most so many days ahead; needs ``dates``.
        dates: (n,) day numbers, not decreasing.
        topics: (n,) topic per picture as an integer from 0, or -1 for none.
        cover: At least so many different topics are visited (exact; at most 10 topics).

    Raises:
        ConfigError: An argument is wrong, no path fits it, or there are too many steps.
    """
    # First the weakest link of the best path over all steps, then, over steps at least as strong,
    # the path of the highest sum (K is fixed, so the highest mean).
    first, last = ends(space, source, target, k)
    day_numbers = None if dates is None else np.asarray(dates, dtype=np.int64)
    earliest = earliest_sources(
        len(space), window=window, days=days, dates=day_numbers
    )
    labels = None if topics is None else np.asarray(topics, dtype=np.intp)
    memory = topic_states(len(space), labels, cover)
    tiles = list(_tiles(space, first, last, earliest))
    programme = _Programme(memory, k, source, target)
    weakest = programme.best_weakest_link(tiles, space.vectors.dtype)
    if weakest == -np.inf:
        raise ConfigError(
            f"no path of {k} pictures leads from position {first} to {last} under the given"
            " window and topics; widen the window, or ask for fewer pictures or topics"
        )
    path = programme.best_sum_path([tile.above(weakest) for tile in tiles])
    return path_through(space, path)


def _tiles(
    space: Space, first: int, last: int, earliest: Places
) -> Iterator[Tile]:
    """Yield the steps in order of targets; paths start anywhere, so the first has none."""
    spans = []
    for start in range(first + 1, last + 1, _TARGETS):
        stop = min(start + _TARGETS, last + 1)
        origin = max(first, int(earliest[start:stop].min()))
        spans.append((slice(start, stop), slice(origin, stop - 1)))
    cells = sum((t.stop - t.start) * (s.stop - s.start) for t, s in spans)
    if cells > MAX_CELLS:
        raise ConfigError(
            f"the pictures have {cells:,} steps, more than {MAX_CELLS:,}; limit them by a window"
        )
    for targets, sources in spans:
        theta = space.theta(targets, sources)
        source_positions = np.arange(sources.start, sources.stop)
        target_positions = np.arange(targets.start, targets.stop)[:, None]
        # A step goes forward, and no further than the window allows.
        theta[
            (source_positions >= target_positions)
            | (source_positions < earliest[targets, None])
        ] = -np.inf
        yield Tile(targets, sources, theta)


@dataclass(frozen=True, slots=True)
class TopicStates:
    """The sets of topics that a path has visited, as bits of an integer.

    Attributes:
        moves: (n_states, n) state after a step to a position; a path starts in state 0.
        accepted: (n_states,) whether a path may end in a state.
    """

    moves: Places
    accepted: NDArray[np.bool_]


def topic_states(n: int, topics: Places | None, cover: int) -> TopicStates:
    """Return the states of paths that must visit at least ``cover`` topics.

    Raises:
        ConfigError: ``cover`` exceeds the number of topics, or there are too many topics.
    """
    if cover == 0:
        return TopicStates(np.zeros((1, n), dtype=np.intp), np.array([True]))
    if topics is None:
        raise ConfigError(f"cover={cover} needs a topic for each picture")
    n_topics = int(topics.max()) + 1
    if cover > n_topics:
        raise ConfigError(
            f"cover={cover}: the collection has {n_topics} topics"
        )
    if n_topics > MAX_TOPICS:
        raise ConfigError(
            f"cover={cover}: {n_topics} topics are too many to follow exactly (at most"
            f" {MAX_TOPICS}); make fewer, larger topics"
        )
    # A state is the set of visited topics as bits, hence the limit on topics.
    bits = np.where(topics >= 0, 1 << np.maximum(topics, 0), 0)
    states = np.arange(1 << n_topics)
    sizes = np.array([state.bit_count() for state in states.tolist()])
    return TopicStates(states[:, None] | bits[None, :], sizes >= cover)


@dataclass(frozen=True, slots=True)
class _Programme:
    """Paths of ``k`` pictures, grown by a picture at a time from all states and positions."""

    memory: TopicStates
    k: int
    source: int | None
    target: int | None

    def best_weakest_link(
        self, tiles: Sequence[Tile], dtype: DTypeLike
    ) -> float:
        """Return the theta of the weakest link of the best path; minus infinity without paths."""
        best = self._start(np.inf, dtype)
        for _ in range(self.k - 1):
            best, _ = self._grow(tiles, best, np.minimum)
        return float(self._accepted(best).max())

    def best_sum_path(self, tiles: Sequence[Tile]) -> list[int]:
        """Return the positions of the path with the highest mean."""
        best = self._start(0.0, np.float64)
        pointers = []
        for _ in range(self.k - 1):
            best, came_from = self._grow(tiles, best, np.add)
            pointers.append(came_from)
        # Cells are state * n + position; the walk back keeps the position alone.
        path = [int(self._accepted(best).argmax())]
        for came_from in reversed(pointers):
            path.append(int(came_from.flat[path[-1]]))
        return [cell % best.shape[1] for cell in reversed(path)]

    def _start(self, value: float, dtype: DTypeLike) -> Floats:
        best = np.full(self.memory.moves.shape, -np.inf, dtype)
        n = self.memory.moves.shape[1]
        starts = np.arange(n) if self.source is None else [self.source]
        best[self.memory.moves[0, starts], starts] = value
        return best

    def _accepted(self, best: Floats) -> Floats:
        allowed = np.where(self.memory.accepted[:, None], best, -np.inf)
        if self.target is not None:
            is_other = np.arange(best.shape[1]) != self.target
            allowed[:, is_other] = -np.inf
        return allowed

    def _grow(
        self, tiles: Sequence[Tile], best: Floats, join: np.ufunc
    ) -> tuple[Floats, NDArray[np.int64]]:
        """Return the best value per state and position of paths of one more picture.

        Args:
            tiles: The steps.
            best: Best value of the paths so far, per state and position.
            join: The value of a path with one more step.

        Returns:
            The values, and the cell (state * n + position) that each came from.
        """
        # Block by block of targets; only states that some path has reached are grown.
        grown = np.full_like(best, -np.inf)
        came_from = np.zeros(best.shape, dtype=np.int64)
        for tile in tiles:
            rows = np.arange(len(tile.theta))
            at = rows + tile.targets.start
            reached = (best[:, tile.sources] > -np.inf).any(axis=1)
            for state in np.flatnonzero(reached).tolist():
                values = join(tile.theta, best[state, tile.sources])
                sources = values.argmax(axis=1)
                value = values[rows, sources]
                into = self.memory.moves[state, tile.targets]
                better = value > grown[into, at]
                grown[into[better], at[better]] = value[better]
                origin = sources[better] + tile.sources.start
                came_from[into[better], at[better]] = (
                    state * best.shape[1] + origin
                )
        return grown, came_from
