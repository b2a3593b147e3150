"""The exact max-min path.

Of all time-ordered paths of K pictures, those whose weakest link is strongest; among them, the one
with the highest mean. What a path must remember on its way, topics covered and pictures of other
storylines used, is one small automaton, so that a programme over (state, position) is exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from beholder.errors import ConfigError
from beholder.kinds.narratives.storylines.space import (
    Floats,
    Space,
    StorylinePath,
    ends,
    path_through,
)

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


@dataclass(eq=False)
class Edges:
    """Forward steps between the positions ``first..last`` of a space in order of time.

    Args:
        space: The collection in order of time.
        first: First position a path may use.
        last: Last one.
        earliest: (n,) per position the earliest one that may come right before it.
        near_duplicate: Cosine from which two pictures count as near duplicates, or None; a step
            between them is a last resort.
    """

    space: Space
    first: int
    last: int
    earliest: NDArray[np.intp]
    near_duplicate: float | None

    def __post_init__(self) -> None:
        self._floor = -np.inf
        self._kept: list[Tile] | None = None
        cells = sum(
            (t.stop - t.start) * (s.stop - s.start) for t, s in self._spans()
        )
        self._fits = cells * self.space.vectors.dtype.itemsize <= _BUDGET

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
                Tile(
                    t.targets,
                    t.sources,
                    np.where(t.theta >= floor, t.theta, -np.inf),
                )
                for t in self._kept
            ]
        return other

    def _spans(self) -> Iterator[tuple[slice, slice]]:
        for start in range(self.first + 1, self.last + 1, _TARGETS):
            stop = min(start + _TARGETS, self.last + 1)
            origin = max(self.first, int(self.earliest[start:stop].min()))
            yield slice(start, stop), slice(origin, stop - 1)

    def _tiles(self) -> Iterator[Tile]:
        for targets, sources in self._spans():
            theta = self.space.theta(targets, sources)
            if self.near_duplicate is not None:
                alike = (
                    self.space.cosine(targets, sources) >= self.near_duplicate
                )
                theta[alike] -= 1.0  # more than any theta
            at = np.arange(sources.start, sources.stop)
            own = np.arange(targets.start, targets.stop)[:, None]
            allowed = (at < own) & (at >= self.earliest[targets, None])
            if self._floor > -np.inf:
                allowed &= theta >= self._floor
            theta[~allowed] = -np.inf
            yield Tile(targets, sources, theta)


def earliest_sources(
    n: int,
    *,
    window: int | None,
    days: int | None,
    dates: NDArray[np.int64] | None,
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
            raise ConfigError(
                f"days={days}: needs dated pictures and a number of at least 0"
            )
        earliest = np.maximum(
            earliest, np.searchsorted(dates, dates - days, side="left")
        )
    return earliest


MAX_TOPICS = 10
"""Sets of topics double with each one."""


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
    near_duplicate: float | None = None,
    alternatives: int = 1,
    min_difference: float = 0.5,
) -> list[StorylinePath]:
    """Extract storylines of exactly K pictures.

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
        near_duplicate: Cosine from which two pictures are near duplicates. A step between them is
            a last resort: max-min likes such steps, readers do not.
        alternatives: How many storylines to give, each best under the condition of differing.
        min_difference: A later storyline shares at most ``1 - min_difference`` of its inner
            pictures with all earlier ones together.

    Returns:
        The best storyline first. Fewer than ``alternatives`` when no further one exists.

    Raises:
        ConfigError: An argument is wrong, or no path fits it.
    """
    first, last = ends(space, source, target, k)
    if alternatives < 1:
        raise ConfigError(f"alternatives={alternatives}: expected at least 1")
    if not 0.0 < min_difference <= 1.0:
        raise ConfigError(
            f"min_difference={min_difference}: expected a share above 0, at most 1"
        )
    day_numbers = None if dates is None else np.asarray(dates, dtype=np.int64)
    earliest = earliest_sources(
        len(space), window=window, days=days, dates=day_numbers
    )
    edges = Edges(space, first, last, earliest, near_duplicate)
    labels = None if topics is None else np.asarray(topics, dtype=np.intp)
    reuse = int((1.0 - min_difference) * (k - 2) + 1e-9)
    found: list[StorylinePath] = []
    used: NDArray[np.bool_] | None = None
    while len(found) < alternatives:
        memory = states(len(space), labels, cover, used, reuse)
        weakest = _best_weakest_link(edges, memory, k, source, target)
        if weakest == -np.inf:
            break
        path = _best_sum_path(edges.above(weakest), memory, k, source, target)
        found.append(path_through(space, path))
        used = np.zeros(len(space), dtype=bool) if used is None else used
        used[path[1:-1]] = True
    if not found:
        raise ConfigError(
            f"no path of {k} pictures leads from position {first} to {last} under the given"
            " window and topics; widen the window, or ask for fewer pictures or topics"
        )
    return found


def _initial(
    memory: States, source: int | None, value: float, dtype: DTypeLike
) -> Floats:
    n_states, n = memory.moves.shape
    best = np.full((n_states, n), -np.inf, dtype)
    for position in range(n) if source is None else [source]:
        if memory.start[position] >= 0:
            best[memory.start[position], position] = value
    return best


def _final(best: Floats, memory: States, target: int | None) -> Floats:
    allowed = np.where(memory.accepted[:, None], best, -np.inf)
    if target is None:
        return allowed
    only = np.full_like(allowed, -np.inf)
    only[:, target] = allowed[:, target]
    return only


def _best_weakest_link(
    edges: Edges,
    memory: States,
    k: int,
    source: int | None,
    target: int | None,
) -> float:
    best = _initial(memory, source, np.inf, edges.space.vectors.dtype)
    for _ in range(k - 1):
        best, _ = _one_more(edges, memory, best, np.minimum)
    return float(_final(best, memory, target).max())


def _best_sum_path(
    edges: Edges,
    memory: States,
    k: int,
    source: int | None,
    target: int | None,
) -> list[int]:
    best = _initial(memory, source, 0.0, np.float64)
    pointers = []
    for _ in range(k - 1):
        best, came_from = _one_more(edges, memory, best, np.add)
        pointers.append(came_from)
    path = [int(_final(best, memory, target).argmax())]
    for came_from in reversed(pointers):
        path.append(int(came_from.flat[path[-1]]))
    return [cell % memory.moves.shape[1] for cell in reversed(path)]


def _one_more(
    edges: Edges, memory: States, best: Floats, join: np.ufunc
) -> tuple[Floats, NDArray[np.int64]]:
    """Paths of one more picture: best value per state and position, and the cell it came from.

    Args:
        edges: The steps.
        memory: What paths must remember.
        best: Best value of the paths so far, per state and position.
        join: The value of a path with one more step.
    """
    after = np.full_like(best, -np.inf)
    came_from = np.zeros(best.shape, dtype=np.int64)  # state * n + position
    for tile in edges:
        rows = np.arange(len(tile.theta))
        reached = (best[:, tile.sources] > -np.inf).any(axis=1)
        for state in np.flatnonzero(reached).tolist():
            value_of = join(tile.theta, best[state, tile.sources])
            source_of = value_of.argmax(axis=1)
            value = value_of[rows, source_of]
            into = memory.moves[state, tile.targets]
            at = rows + tile.targets.start
            better = (into >= 0) & (value > after[np.maximum(into, 0), at])
            after[into[better], at[better]] = value[better]
            origin = source_of[better] + tile.sources.start
            came_from[into[better], at[better]] = (
                state * best.shape[1] + origin
            )
    return after, came_from


@dataclass(frozen=True, slots=True)
class States:
    """An automaton over positions.

    Attributes:
        start: (n,) state of a path that starts at a position; -1 forbids it.
        moves: (n_states, n) state after a step to a position; -1 forbids it.
        accepted: (n_states,) whether a path may end in a state.
    """

    start: NDArray[np.intp]
    moves: NDArray[np.intp]
    accepted: NDArray[np.bool_]


def states(
    n: int,
    topics: NDArray[np.intp] | None,
    cover: int,
    used: NDArray[np.bool_] | None,
    reuse: int,
) -> States:
    """Paths that visit at least ``cover`` topics and at most ``reuse`` used pictures.

    Args:
        n: Pictures.
        topics: (n,) topic 0..C-1 per picture, -1 for none; needed when ``cover`` is above 0.
        cover: Different topics to visit.
        used: (n,) pictures of other storylines, or None.
        reuse: How many of them may be used.

    Raises:
        ConfigError: ``cover`` exceeds the number of topics, or there are too many topics.
    """
    masks, into = _topic_moves(n, topics, cover)
    n_counts = 1 if used is None else reuse + 1
    taken = (
        np.zeros(n, dtype=np.intp) if used is None else used.astype(np.intp)
    )
    moves = np.empty((masks * n_counts, n), dtype=np.intp)
    for mask in range(masks):
        for count in range(n_counts):
            after = count + taken
            moves[mask * n_counts + count] = np.where(
                after < n_counts, into[mask] * n_counts + after, -1
            )
    sizes = np.array([mask.bit_count() for mask in range(masks)])
    return States(moves[0], moves, np.repeat(sizes >= cover, n_counts))


def _topic_moves(
    n: int, topics: NDArray[np.intp] | None, cover: int
) -> tuple[int, NDArray[np.intp]]:
    if cover == 0:
        return 1, np.zeros((1, n), dtype=np.intp)
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
    bits = np.where(topics >= 0, 1 << np.maximum(topics, 0), 0)
    return 1 << n_topics, np.arange(1 << n_topics)[:, None] | bits[None, :]
