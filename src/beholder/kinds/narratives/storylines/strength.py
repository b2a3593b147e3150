"""Coherence of a sequence and where it breaks, and how far two sequences are apart (DTW)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from beholder.errors import ConfigError
from beholder.kinds.narratives.config import JSD, Base, Scale
from beholder.kinds.narratives.storylines.space import Floats, Space


@dataclass(frozen=True, slots=True)
class Coherence:
    """Coherence of one sequence of n pictures, 0..1, higher is better.

    Attributes:
        steps: Theta of each picture with the next, n - 1 numbers.
        minimum: The weakest link.
        mean: Their arithmetic mean.
        geometric_mean: Their geometric mean ("reliability").
        weakest: Index of the step with the minimum, the first of equals; step i leads from
            picture i to i + 1.
        signature: Signature of theta with its scale; only compare numbers with the same signature.
    """

    steps: tuple[float, ...]
    minimum: float
    mean: float
    geometric_mean: float
    weakest: int
    signature: str


def coherence(
    embeddings: ArrayLike,
    distributions: ArrayLike | None = None,
    jsd: JSD = "divergence",
    base: Base = 2.0,
    scale: Scale = "raw",
) -> Coherence:
    """Return the coherence of a sequence from its vectors in order.

    theta(i, i+1) = sqrt(S * T), S = 1 - arccos(cosine) / pi, T = 1 - JSD of the distributions, or 1
    without them: Keith et al., Electronics 2025, 14, 4199, equation 1. The scale ``minmax`` and the
    reading as a distance are those of the code of arXiv 2501.09884 and of Narrative Trails.

    Args:
        embeddings: (n, D) vectors, n >= 2.
        distributions: (n, C) cluster memberships, or None.
        jsd: ``divergence`` or its root, ``distance``.
        base: Base of the logarithm: 2 or ``"e"``.
        scale: ``raw``, or ``minmax`` over all pairs *given here*; see ``coherence_of``.

    Raises:
        ConfigError: Fewer than two pictures, or numbers that cannot be used.
    """
    space = Space.from_embeddings(
        embeddings, distributions, jsd=jsd, base=base, scale=scale
    )
    return coherence_of(space, range(len(space)))


def coherence_of(space: Space, positions: ArrayLike | range) -> Coherence:
    """Return the coherence of the sequence at some positions of a collection.

    Raises:
        ConfigError: Fewer than two positions.
    """
    order = np.asarray(positions, dtype=np.intp)
    if len(order) < 2:
        raise ConfigError(
            f"coherence needs at least two pictures, got {len(order)}"
        )
    steps = space.steps(order)
    # A step of theta 0 has log -inf, which makes the geometric mean 0, as it must be.
    with np.errstate(divide="ignore"):
        geometric = float(np.exp(np.log(steps).mean()))
    return Coherence(
        steps=tuple(float(step) for step in steps),
        minimum=float(steps.min()),
        mean=float(steps.mean()),
        geometric_mean=geometric,
        weakest=int(steps.argmin()),
        signature=space.signature,
    )


@dataclass(frozen=True, slots=True)
class WarpedAlignment:
    """The cheapest alignment of two sequences.

    Attributes:
        cost: Sum of Euclidean distances along the path.
        normalised: ``cost`` divided by the number of cells of the path; 0 for equal sequences.
        path: (i, j) pairs from (0, 0) to (n - 1, m - 1).
    """

    cost: float
    normalised: float
    path: tuple[tuple[int, int], ...]


def dtw(a: ArrayLike, b: ArrayLike) -> WarpedAlignment:
    """Align two sequences with steps (1, 1), (1, 0) and (0, 1), all of weight 1.

    Lower is closer. On ties the path goes back diagonally, else along ``a``, else along ``b``; the
    cost does not depend on that, the normalised cost can. It is the cost of the cheapest path over
    its length, not the least mean cost. No scaling is applied to the vectors.

    Args:
        a: (n, D) vectors.
        b: (m, D) vectors.

    Raises:
        ConfigError: A sequence is empty, not finite, or of another dimension.
    """
    first, second = (np.asarray(x, dtype=np.float64) for x in (a, b))
    if (
        first.ndim != 2
        or second.ndim != 2
        or first.shape[1:] != second.shape[1:]
    ):
        raise ConfigError(
            f"dtw: expected (n, D) and (m, D), got {first.shape} and {second.shape}"
        )
    if not (len(first) and len(second)):
        raise ConfigError("dtw: a sequence is empty")
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise ConfigError("dtw: vectors must be finite")
    total = _accumulated(cdist(first, second))
    path = _traced(total)
    cost = float(total[-1, -1])
    return WarpedAlignment(cost, cost / len(path), path)


def _accumulated(cost: Floats) -> Floats:
    """Return the least cost to each cell, by anti-diagonals: one depends on the two before."""
    n, m = cost.shape
    total = np.full((n + 1, m + 1), np.inf)
    total[0, 0] = 0.0
    for diagonal in range(n + m - 1):
        i = np.arange(max(0, diagonal - m + 1), min(n, diagonal + 1))
        j = diagonal - i
        least_before = np.minimum(
            np.minimum(total[i, j], total[i, j + 1]), total[i + 1, j]
        )
        total[i + 1, j + 1] = cost[i, j] + least_before
    return total[1:, 1:]


def _traced(total: Floats) -> tuple[tuple[int, int], ...]:
    i, j = total.shape[0] - 1, total.shape[1] - 1
    path = [(i, j)]
    while i or j:
        if not i:
            j -= 1
        elif not j:
            i -= 1
        else:
            costs_before = (
                total[i - 1, j - 1],
                total[i - 1, j],
                total[i, j - 1],
            )
            move = costs_before.index(min(costs_before))
            # 0 goes diagonally, 1 along the first sequence, 2 along the second.
            if move != 2:
                i -= 1
            if move != 1:
                j -= 1
        path.append((i, j))
    return tuple(reversed(path))
