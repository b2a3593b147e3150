"""Which thing of one text is which thing of the other."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from beholder.embed.base import FloatArray
from beholder.judges.builtin.amounts import amount
from beholder.judges.builtin.settings import Settings
from beholder.judges.builtin.view import View, lower_excluded
from beholder.language.graph import Entity

_HEAD_ONLY = 0.95
"""Similarity of names that share only their last word."""
_NAMESAKE = 0.9
"""Similarity of heads from which two things of a text compete for one counterpart."""
_SECOND_BEST = 0.8
"""Share of the best similarity from which a thing may take its second-best counterpart."""


@dataclass(frozen=True)
class Counterparts:
    """How the entities of a source stand to those of a target.

    Attributes:
        similarity: (n, m), of names, 0..1.
        plain: (n, m), the same before values that exclude each other are set apart.
        strength: (n, m), how likely an entity of the target is meant, 0..1.
        best: (n,), the counterpart of each, or -1 where the target has no entity.
        unpaired: (n,), whether others have taken all its counterparts.
    """

    similarity: FloatArray
    plain: FloatArray
    strength: FloatArray
    best: npt.NDArray[np.intp]
    unpaired: npt.NDArray[np.bool_]


def counterparts(
    source: View, target: View, property_agreement: FloatArray, settings: Settings
) -> Counterparts:
    """Find the counterpart of each entity by name, then by what is said of it.

    Args:
        source: The text whose entities are looked for.
        target: The text in which they are looked for.
        property_agreement: (n, m), 0..1, how well what is said of them agrees.
        settings: The judge's numbers.
    """
    n, m = len(source.graph.entities), len(target.graph.entities)
    if not n or not m:
        empty = np.zeros((n, m))
        return Counterparts(
            empty, empty, empty, np.full(n, -1, np.intp), np.zeros(n, dtype=np.bool_)
        )
    heads = _HEAD_ONLY * (source.heads @ target.heads.T)
    plain = np.clip(np.maximum(source.names @ target.names.T, heads), 0.0, 1.0)
    similarity = plain.copy()
    lower_excluded(similarity, source.head_values, target.head_values, settings.excluded)
    fit = similarity * (1.0 + settings.context * property_agreement)
    best = np.argmax(fit, axis=1)
    unpaired = _resolve(source, target, fit, similarity, best)
    top = np.maximum(fit[np.arange(n), best], 1e-9)[:, None]
    strength = np.minimum(fit / top, 1.0) ** settings.identity * np.sqrt(similarity)
    return Counterparts(similarity, plain, strength, best, unpaired)


def _resolve(
    source: View,
    target: View,
    fit: FloatArray,
    similarity: FloatArray,
    best: npt.NDArray[np.intp],
) -> npt.NDArray[np.bool_]:
    """Give like things counterparts of their own; ``best`` is changed in place.

    Returns:
        (n,), which things find all their counterparts taken.
    """
    unpaired = np.zeros(len(best), dtype=np.bool_)
    claims: dict[int, list[int]] = defaultdict(list)
    for entity in source.graph.entities:
        if entity.kind == "thing" and entity.polarity and entity.member_of is None:
            claims[int(best[entity.index])].append(entity.index)
    crowded = [
        place
        for place, claimants in claims.items()
        if len(_namesakes(source, claimants)) > _room(target.graph.entities[place])
    ]
    if not crowded:
        return unpaired
    from scipy.optimize import linear_sum_assignment  # here: few texts need it, loading is slow

    rows, columns = linear_sum_assignment(-fit)
    assigned = dict(zip(rows.tolist(), columns.tolist(), strict=True))
    for place in crowded:
        claimants = _namesakes(source, claims[place])
        claimants.sort(key=lambda i: (assigned.get(i) != place, -fit[i, place], i))
        for index in claimants[int(_room(target.graph.entities[place])) :]:
            other = assigned.get(index)
            if (
                other is not None
                and other != place
                and similarity[index, other] >= _SECOND_BEST * similarity[index, place]
            ):
                best[index] = other
            else:
                unpaired[index] = True
    return unpaired


def _namesakes(source: View, claimants: list[int]) -> list[int]:
    """Those claimants that share their head with another: "a man ... another man"."""
    if len(claimants) < 2:
        return claimants
    heads = source.heads[claimants]
    like = (heads @ heads.T >= _NAMESAKE).sum(axis=1) > 1
    return [index for index, shared in zip(claimants, like, strict=True) if shared]


def _room(entity: Entity) -> float:
    """How many things an entity stands for."""
    known = amount(entity)
    return float("inf") if known is None else max(known, 1)
