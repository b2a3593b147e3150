"""Closeness of pictures of a collection: theta = sqrt(S * T), in blocks or pair by pair.

S is the angular similarity of two vectors, T the topic similarity of two cluster distributions
(Keith et al. 2025, equation 1). Three readings of T and two scales of S are in use in the
literature; every result names its own in ``Space.signature``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from beholder.errors import ConfigError
from beholder.kinds.narratives.config import JSD, Base, Scale
from beholder.stats.checks import floats

Floats: TypeAlias = NDArray[np.floating[Any]]
Places: TypeAlias = NDArray[np.intp]
"""Positions of pictures."""

FLOAT32_FROM = 3000
"""Collections of more pictures are kept in single precision: theta is then good to about 1e-6."""

_NEAR = 0.999  # beyond it arccos loses digits, and angles come from differences of vectors
_BLOCK = 1024
_PAIRS = 1 << 13


@dataclass(frozen=True, eq=False)
class Space:
    """The vectors of a collection and how they are compared; made by ``Space.of``.

    Attributes:
        vectors: (n, D), rows of length 1.
        distributions: (n, C), rows that sum to 1, or None: T is then 1.
        jsd: Whether T is one minus the Jensen-Shannon divergence or its root, the distance.
        base: Base of its logarithm.
        scale: ``raw``: S in 0..1 as the angle gives it. ``minmax``: S stretched so that the least
            similar pair of the collection has 0 and the most similar one 1.
        limits: The S that become 0 and 1 under ``minmax``; None means those of this collection.
    """

    vectors: Floats
    distributions: Floats | None
    jsd: JSD
    base: float
    scale: Scale
    limits: tuple[float, float] | None

    @classmethod
    def from_embeddings(
        cls,
        embeddings: ArrayLike,
        distributions: ArrayLike | None = None,
        *,
        jsd: JSD = "divergence",
        base: Base = 2.0,
        scale: Scale = "raw",
    ) -> Space:
        """Check and prepare vectors.

        Args:
            embeddings: (n, D) finite vectors of any length above 0.
            distributions: (n, C) non-negative cluster memberships, not all 0 in a row; rows are
                scaled to sum to 1.
            jsd: See the class.
            base: See the class; 2 or ``"e"``.
            scale: See the class.

        Raises:
            ConfigError: A shape, number or name is wrong; says which.
        """
        if jsd not in ("divergence", "distance"):
            raise ConfigError(
                f"jsd={jsd!r}: expected 'divergence' or 'distance'"
            )
        if scale not in ("raw", "minmax"):
            raise ConfigError(f"scale={scale!r}: expected 'raw' or 'minmax'")
        number = math.e if base == "e" else base
        if isinstance(number, str) or not number > 1.0:
            raise ConfigError(f"base={base!r}: expected 2 or 'e'")
        vectors = _matrix(embeddings, "embeddings")
        length = np.linalg.norm(vectors, axis=1, keepdims=True)
        if not length.all():
            row = int(np.flatnonzero(length == 0)[0])
            raise ConfigError(
                f"embeddings: row {row} is all zero and has no direction"
            )
        memberships = None
        if distributions is not None:
            memberships = _distributions(distributions, len(vectors))
        # Large collections in single precision: half the memory, and theta to six digits.
        dtype = np.float32 if len(vectors) > FLOAT32_FROM else np.float64
        return cls(
            vectors=np.ascontiguousarray(vectors / length, dtype=dtype),
            distributions=None
            if memberships is None
            else memberships.astype(dtype),
            jsd=jsd,
            base=float(number),
            scale=scale,
            limits=None,
        )

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def signature(self) -> str:
        """Return the settings of theta: ``theta|jsd:divergence|base:2|scale:raw|topics:none``."""
        base = "e" if self.base == math.e else f"{self.base:g}"
        topics = (
            "none"
            if self.distributions is None
            else self.distributions.shape[1]
        )
        # A subset keeps the scale of its collection, which must show in the signature.
        limits_text = (
            ""
            if self.limits is None
            else "({:.6g},{:.6g})".format(*self.limits)
        )
        return f"theta|jsd:{self.jsd}|base:{base}|scale:{self.scale}{limits_text}|topics:{topics}"

    @cached_property
    def range(self) -> tuple[float, float]:
        """Return the lowest and highest S over pairs of different pictures.

        Raises:
            ConfigError: Fewer than two pictures, or all pairs equally similar.
        """
        if self.limits is not None:
            return self.limits
        if len(self) < 2:
            raise ConfigError("scale='minmax' needs at least two pictures")
        # The upper triangle in blocks of rows: all pairs at once need n^2 numbers.
        low, high = 1.0, 0.0
        for start in range(0, len(self), _BLOCK):
            rows = slice(start, start + _BLOCK)
            block = self._angular(self.vectors[rows], self.vectors[start:])
            low = min(low, float(block.min()))
            np.fill_diagonal(block, 0.0)  # a picture with itself is no pair
            high = max(high, float(block.max()))
        if not low < high:
            raise ConfigError(
                f"scale='minmax': all pairs are equally similar (S = {low:g}); use scale='raw'"
            )
        return low, high

    def theta(
        self, rows: slice = slice(None), columns: slice = slice(None)
    ) -> Floats:
        """Return theta of pictures with others, (rows, columns), in 0..1; higher is closer."""
        similar = self._scaled(
            self._angular(self.vectors[rows], self.vectors[columns])
        )
        if self.distributions is None:
            return np.sqrt(similar)
        p, q = self.distributions[rows], self.distributions[columns]
        return np.sqrt(similar * self._topic_grid(p, q))

    def theta_of_pairs(self, first: ArrayLike, second: ArrayLike) -> Floats:
        """Return theta of pairs of positions, shape (n_pairs,)."""
        i, j = (
            np.asarray(first, dtype=np.intp),
            np.asarray(second, dtype=np.intp),
        )
        # In blocks, so that memory does not grow with the number of pairs.
        if len(i) > _PAIRS:
            starts = range(0, len(i), _PAIRS)
            parts = [
                self.theta_of_pairs(i[s : s + _PAIRS], j[s : s + _PAIRS])
                for s in starts
            ]
            return np.concatenate(parts)
        similar = self._scaled(
            _angles_to_similarity(_angles(self.vectors[i], self.vectors[j]))
        )
        if self.distributions is None:
            return np.sqrt(similar)
        p, q = self.distributions[i], self.distributions[j]
        topics = self._topics(_entropy(p), _entropy(q), _entropy((p + q) / 2))
        return np.sqrt(similar * topics)

    def steps(self, positions: ArrayLike) -> Floats:
        """Return theta of each picture of a sequence with the next, shape (length - 1,)."""
        sequence = np.asarray(positions, dtype=np.intp)
        return self.theta_of_pairs(sequence[:-1], sequence[1:])

    def subset(self, positions: ArrayLike) -> Space:
        """Return the space of some pictures, on the scale of the whole collection."""
        rows = np.asarray(positions, dtype=np.intp)
        return Space(
            vectors=self.vectors[rows],
            distributions=None
            if self.distributions is None
            else self.distributions[rows],
            jsd=self.jsd,
            base=self.base,
            scale=self.scale,
            limits=self.range if self.scale == "minmax" else None,
        )

    def _scaled(self, similar: Floats) -> Floats:
        if self.scale == "raw":
            return similar
        low, high = self.range
        return np.asarray(np.clip((similar - low) / (high - low), 0.0, 1.0))

    def _angular(self, a: Floats, b: Floats) -> Floats:
        cosine = a @ b.T
        # arccos loses digits near cosines of 1 and -1: these pairs get the formula of Kahan.
        near_pairs = np.argwhere(np.abs(cosine) > _NEAR)
        np.clip(cosine, -1.0, 1.0, out=cosine)
        similar = _angles_to_similarity(np.arccos(cosine, out=cosine))
        for start in range(0, len(near_pairs), 1 << 16):
            i, j = near_pairs[start : start + (1 << 16)].T
            similar[i, j] = _angles_to_similarity(_angles(a[i], b[j]))
        return similar

    def _topic_grid(self, p: Floats, q: Floats) -> Floats:
        middle = np.zeros((len(p), len(q)), dtype=p.dtype)
        # Cluster by cluster: a (rows, columns, clusters) array would not fit into memory.
        for c in range(p.shape[1]):
            m = (p[:, c, None] + q[None, :, c]) / 2
            middle -= xlogy(m, m)
        return self._topics(_entropy(p)[:, None], _entropy(q)[None, :], middle)

    def _topics(self, of_p: Floats, of_q: Floats, of_middle: Floats) -> Floats:
        divergence: Floats = (of_middle - (of_p + of_q) / 2) / math.log(
            self.base
        )
        divergence = np.clip(divergence, 0.0, 1.0)
        return 1.0 - (
            divergence if self.jsd == "divergence" else np.sqrt(divergence)
        )


def _angles(a: Floats, b: Floats) -> Floats:
    """Return the angle of each pair of rows, accurate near 0 and near pi (formula of Kahan)."""
    wide_a, wide_b = a.astype(np.float64), b.astype(np.float64)
    difference = np.linalg.norm(wide_a - wide_b, axis=-1)
    total = np.linalg.norm(wide_a + wide_b, axis=-1)
    return np.asarray(2.0 * np.arctan2(difference, total))


def _angles_to_similarity(angles: Floats) -> Floats:
    angles *= -1.0 / math.pi
    angles += 1.0
    return angles


def _entropy(p: Floats) -> Floats:
    return np.asarray(-xlogy(p, p).sum(axis=-1))


def _matrix(values: ArrayLike, name: str) -> Floats:
    matrix = floats(values, name, "an array of numbers")
    if matrix.ndim != 2 or not len(matrix):
        raise ConfigError(
            f"{name}: expected shape (n, D) with n > 0, got {matrix.shape}"
        )
    if not np.isfinite(matrix).all():
        row = int(np.flatnonzero(~np.isfinite(matrix).all(axis=1))[0])
        raise ConfigError(f"{name}: row {row} is not finite")
    return matrix


def _distributions(values: ArrayLike, n: int) -> Floats:
    memberships = _matrix(values, "distributions")
    if len(memberships) != n:
        raise ConfigError(
            f"distributions: expected {n} rows, got {len(memberships)}"
        )
    total = memberships.sum(axis=1, keepdims=True)
    wrong_rows = np.flatnonzero(
        (memberships < 0).any(axis=1) | (total[:, 0] <= 0)
    )
    if wrong_rows.size:
        raise ConfigError(
            f"distributions: row {int(wrong_rows[0])} is negative somewhere or all zero; give every"
            " picture a membership (uniform if nothing is known)"
        )
    return np.asarray(memberships / total)


@dataclass(frozen=True, slots=True)
class StorylinePath:
    """A path through a collection.

    Attributes:
        positions: Places in the collection, in the order of the story.
        steps: Theta of each picture with the next.
        warnings: Warnings to read before using it.
    """

    positions: tuple[int, ...]
    steps: tuple[float, ...]
    warnings: tuple[str, ...] = ()

    @property
    def weakest(self) -> float:
        """Return the smallest step; 1 for a single picture."""
        return min(self.steps, default=1.0)

    @property
    def mean(self) -> float:
        """Return the mean of the steps; 1 for a single picture."""
        return sum(self.steps) / len(self.steps) if self.steps else 1.0


def path_through(
    space: Space, positions: Sequence[int], warnings: tuple[str, ...] = ()
) -> StorylinePath:
    """Return the path through some positions, with its steps on the scale of the space."""
    order = tuple(int(position) for position in positions)
    steps = tuple(float(step) for step in space.steps(order))
    return StorylinePath(order, steps, warnings)


def ends(
    space: Space, source: int | None, target: int | None, k: int | None = None
) -> tuple[int, int]:
    """Return the first and last position that a path, of ``k`` pictures if set, may use.

    Raises:
        ConfigError: A position is outside the collection, the target is not after the source, or
            there are fewer pictures than ``k``.
    """
    first = 0 if source is None else source
    last = len(space) - 1 if target is None else target
    for name, position in (("source", first), ("target", last)):
        if not 0 <= position < len(space):
            raise ConfigError(
                f"{name}: position {position} is outside 0..{len(space) - 1}"
            )
    if first >= last:
        raise ConfigError(
            f"the source (position {first}) must stand before the target ({last}) in time"
        )
    n = last - first + 1
    if k is not None and not 2 <= k <= n:
        raise ConfigError(
            f"k={k}: between the ends there are 2 to {n} pictures to choose (positions {first} to"
            f" {last})"
        )
    return first, last
