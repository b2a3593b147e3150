"""Coherence of a sequence: how close each picture is to the next, and where it breaks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from beholder.errors import ConfigError
from beholder.kinds.narratives.settings import JSD, Base, Scale
from beholder.kinds.narratives.storylines.space import Space


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
        signature: How theta was made, scale included; compare only numbers of one signature.
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
    *,
    limits: tuple[float, float] | None = None,
) -> Coherence:
    """Coherence of a sequence from its vectors in order.

    theta(i, i+1) = sqrt(S * T), S = 1 - arccos(cosine) / pi, T = 1 - JSD of the distributions, or 1
    without them: Keith et al., Electronics 2025, 14, 4199, equation 1. The scale ``minmax`` and the
    reading as a distance are those of the code of arXiv 2501.09884 and of Narrative Trails.

    Args:
        embeddings: (n, D) vectors, n >= 2.
        distributions: (n, C) cluster memberships, or None.
        jsd: ``divergence`` or its root, ``distance``.
        base: Base of the logarithm: 2 or ``"e"``.
        scale: ``raw``, or ``minmax`` over all pairs *given here* unless ``limits`` says otherwise.
        limits: Lowest and highest S of the whole collection (``Space.range``), for ``minmax``.

    Raises:
        ConfigError: Fewer than two pictures, or numbers that cannot be used.
    """
    space = Space.of(embeddings, distributions, jsd=jsd, base=base, scale=scale, limits=limits)
    return coherence_of(space, range(len(space)))


def coherence_of(space: Space, positions: ArrayLike | range) -> Coherence:
    """Coherence of the sequence at some positions of a collection.

    Raises:
        ConfigError: Fewer than two positions.
    """
    order = np.asarray(positions, dtype=np.intp)
    if len(order) < 2:
        raise ConfigError(f"coherence needs at least two pictures, got {len(order)}")
    steps = space.steps(order)
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
