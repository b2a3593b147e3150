"""Vectors of words and short phrases from the built-in static embedding, kept in memory."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.static import StaticEmbedder

_MOST = 50_000
"""Phrases kept; about 50 MB."""
_EMBEDDER = StaticEmbedder()
_known: dict[str, FloatArray] = {}


def vectors(phrases: Sequence[str]) -> FloatArray:
    """Vectors of length one, (n, D), zero for an empty phrase and for unknown scripts."""
    new = [phrase for phrase in dict.fromkeys(("", *phrases)) if phrase not in _known]
    if len(_known) + len(new) > _MOST:
        _known.clear()
        new = list(dict.fromkeys(("", *phrases)))
    if new:
        _known.update(zip(new, _embed(new), strict=True))
    if not phrases:
        return np.zeros((0, len(_known[""])), dtype=np.float32)
    return np.stack([_known[phrase] for phrase in phrases])


def _embed(phrases: list[str]) -> FloatArray:
    # This embedder never waits: its coroutine ends at the first step, and no event loop is needed,
    # which would cost more than the vectors.
    try:
        _EMBEDDER.embed(phrases).send(None)
    except StopIteration as done:
        made: FloatArray = done.value
        return made
    raise RuntimeError("the static embedder waited for something")
