"""The published ways of extraction, for comparison with them: Narrative Maps and Narrative Trails.

Maps is a linear program. One unit of flow goes from source to target; the expected number of its
pictures is K. The program maximises a variable ``minedge`` that every step with flow x and
coherence c bounds by 1 - x + c. Splitting the flow over a few routes therefore lifts ``minedge`` to
1, whatever the coherences: at that bound the solution is one of very many, chosen by the solver and
not by coherence, and the storyline carries a warning that says so. ``maxmin`` solves what the
program sets out to solve.

Source: Keith Norambuena, Mitra, North 2021 and arXiv 2501.09884, as their public code states it.
Trails is the path of maximum capacity, of any length (German, Keith, North 2025).
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import scipy
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array

from beholder.errors import ConfigError
from beholder.kinds.narratives.storylines.space import (
    Floats,
    Places,
    Space,
    StorylinePath,
    ends,
    path_through,
)
from beholder.kinds.narratives.storylines.widest import earliest_sources

MAX_EDGES = 500_000
"""A program of more steps takes hours and gigabytes."""

_AT_BOUND = 1e-6


def narrative_map(
    space: Space,
    k: int,
    *,
    source: int,
    target: int,
    window: int | None = None,
) -> StorylinePath:
    """Extract the main storyline of a narrative map.

    ``k`` is the *expected* number of pictures under the flow; the storyline may be longer or
    shorter.

    Args:
        space: The collection in order of time.
        k: Expected number of pictures.
        source: Position of the first picture.
        target: Position of the last picture.
        window: A step goes at most so many positions ahead.

    Raises:
        ConfigError: An argument is wrong, the program is too large or has no solution.
    """
    first, last = ends(space, source, target, k)
    n = last - first + 1
    span = space.subset(np.arange(first, last + 1))
    earliest = earliest_sources(n, window=window, days=None, dates=None)
    n_steps = int((np.arange(n) - earliest).sum())
    if n_steps > MAX_EDGES:
        raise ConfigError(
            f"a narrative map over {n} pictures has {n_steps} steps, more than {MAX_EDGES};"
            " give a window, or use maxmin"
        )
    # Steps are built by head and then sorted by tail, as the route needs them.
    head = np.repeat(np.arange(n), np.arange(n) - earliest)
    tail = np.concatenate(
        [np.arange(first, j) for j, first in enumerate(earliest)]
    )
    by_tail = np.lexsort((head, tail))
    tail, head = tail[by_tail], head[by_tail]
    coherence = np.minimum(span.theta_of_pairs(tail, head), 1.0)
    objective, flow = _solve(n, k, tail, head, coherence)
    path = _likeliest_route(n, k, tail, head, flow)
    warnings = []
    # See the module: at its bound the solution is arbitrary.
    if objective > 1.0 - _AT_BOUND:
        warnings.append(
            f"the program reached its bound (minedge = {objective:.6f}): its solution is arbitrary"
            f" among very many (HiGHS of scipy {scipy.__version__}); use maxmin for the path whose"
            " weakest link is strongest"
        )
    return path_through(space, [first + p for p in path], tuple(warnings))


def _solve(
    n: int,
    k: int,
    tail: Places,
    head: Places,
    coherence: Floats,
) -> tuple[float, Floats]:
    """Return the best ``minedge`` and the flow of each step.

    The activity of a picture is its inflow (its outflow, for the source), so that flow balance and
    the count of pictures need no variables of their own: a picture between the ends has as much
    flow in as out, and all inflows together are k - 1.
    """
    # Variables: the flow of each step, then minedge. Equalities: flow balance of each picture and
    # the count of pictures; inequalities: minedge of each step and inflow of at most 1.
    n_edges = len(tail)
    edge = np.arange(n_edges)
    ones = np.ones(n_edges)
    balance = coo_array(
        (np.r_[ones, -ones], (np.r_[tail, head], np.r_[edge, edge])),
        shape=(n, n_edges + 1),
    ).tocsr()
    count = csr_array(np.r_[ones, 0.0][None, :])
    equal = scipy.sparse.vstack([balance, count], format="csr")
    required = np.zeros(n + 1)
    required[0], required[n - 1], required[n] = 1.0, -1.0, k - 1
    weakest = coo_array(
        (
            np.ones(2 * n_edges),
            (np.r_[edge, edge], np.r_[edge, np.full(n_edges, n_edges)]),
        )
    ).tocsr()
    inflow = coo_array((ones, (head, edge)), shape=(n, n_edges + 1)).tocsr()
    solution = linprog(
        c=np.r_[np.zeros(n_edges), -1.0],
        A_ub=scipy.sparse.vstack([weakest, inflow], format="csr"),
        b_ub=np.r_[1.0 + coherence, np.ones(n)],
        A_eq=equal,
        b_eq=required,
        bounds=(0.0, 1.0),
        method="highs",
    )
    if solution.status != 0:
        raise ConfigError(
            f"the narrative map has no solution for k={k}: {solution.message}"
        )
    return -float(solution.fun), np.maximum(solution.x[:-1], 0.0)


def _likeliest_route(
    n: int,
    k: int,
    tail: Places,
    head: Places,
    flow: Floats,
) -> list[int]:
    """Return the route of highest likelihood: product of the shares of outflow and the activities.

    As published: pictures and steps under 0.1 / k are dropped, and a picture keeps its
    ceil(sqrt(k)) largest steps.
    """
    # Shortest path by -log likelihood; all steps go forward, so one pass in order is enough.
    activity = np.bincount(head, weights=flow, minlength=n)
    activity[0] = 1.0
    least = 0.1 / k
    cost = np.full(n, np.inf)
    cost[0] = 0.0
    came_from = np.full(n, -1, dtype=np.intp)
    starts = np.searchsorted(tail, np.arange(n + 1))
    for position in range(n - 1):
        if activity[position] <= least or cost[position] == np.inf:
            continue
        part = slice(starts[position], starts[position + 1])
        heads, flows = head[part], flow[part]
        keep = (flows > least) & (activity[heads] > least)
        heads, flows = heads[keep], flows[keep]
        # At most ceil(sqrt(k)) steps per picture, as in the public code.
        largest = np.argsort(-flows, kind="stable")[: math.ceil(math.sqrt(k))]
        heads, flows = heads[largest], flows[largest]
        reached = (
            cost[position]
            - np.log(flows / flows.sum())
            - np.log(activity[heads])
        )
        better = reached < cost[heads]
        cost[heads[better]] = reached[better]
        came_from[heads[better]] = position
    if cost[n - 1] == np.inf:
        raise ConfigError(
            f"the narrative map of k={k} has no route from source to target with noticeable flow"
        )
    return _traced(came_from)


ROWS_AT_ONCE = 256
"""Rows of the matrix of coherence that are computed at once."""


def trail(space: Space, *, source: int, target: int) -> StorylinePath:
    """Extract the path whose weakest link is strongest, however many pictures it has.

    In any order it would be the path in the maximum spanning tree (German, Keith, North 2025).
    Steps here go forward in time: there is no tree then, so the widest path is found directly, and
    it exists for every pair of ends. Of the many paths that are equally wide it is one with the
    fewest pictures; what remains equal is decided by the strongest step.

    O(n^2) time; memory of a few rows.

    Args:
        space: The collection in order of time.
        source: Position of the first picture.
        target: Position of the last picture.

    Raises:
        ConfigError: A position is outside the collection, or the order forbids the ends.
    """
    first, last = ends(space, source, target)
    span = space.subset(np.arange(first, last + 1))
    # Two passes: the capacity of the widest path, then the shortest path of that capacity.
    capacity = np.full(len(span), -np.inf)
    capacity[0] = np.inf
    for i, theta in _steps(span):
        later = capacity[i + 1 :]
        np.maximum(later, np.minimum(theta, capacity[i]), out=later)
    path = _fewest(span, float(capacity[-1]))
    return path_through(space, [first + p for p in path])


def _steps(space: Space) -> Iterator[tuple[int, Floats]]:
    """Yield each picture with its theta with all later ones, computed some rows at a time."""
    for start in range(0, len(space), ROWS_AT_ONCE):
        for row, theta in enumerate(
            space.theta(slice(start, start + ROWS_AT_ONCE), slice(start, None))
        ):
            yield start + row, theta[row + 1 :]


def _fewest(space: Space, least: float) -> list[int]:
    """Return the path of fewest pictures whose steps are all at least ``least``."""
    n = len(space)
    # Steps weaker than the bound are left out; all others count as one.
    hops = np.full(n, np.inf)
    hops[0] = 0.0
    strongest = np.zeros(n)
    came_from = np.zeros(n, dtype=np.intp)
    for i, theta in _steps(space):
        if hops[i] == np.inf:
            continue
        later = slice(i + 1, n)
        fewer = hops[i] + 1 < hops[later]
        stronger = (hops[i] + 1 == hops[later]) & (theta > strongest[later])
        better = (theta >= least) & (fewer | stronger)
        hops[later][better] = hops[i] + 1
        strongest[later][better] = theta[better]
        came_from[later][better] = i
    return _traced(came_from)


def _traced(came_from: Places) -> list[int]:
    """Return the path from the first to the last position, by the predecessor of each."""
    path = [len(came_from) - 1]
    while path[-1] != 0:
        path.append(int(came_from[path[-1]]))
    return path[::-1]
