"""Vectors of words and short phrases from the built-in static embedding, kept in memory."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np
from cachetools import LRUCache

from beholder.embed.base import FloatArray
from beholder.embed.static import StaticEmbedder

_MOST = 50_000
"""Phrases kept; about 50 MB."""
_EMBEDDER = StaticEmbedder()
_kept: LRUCache[str, FloatArray] = LRUCache(_MOST)
_lock = threading.Lock()


def vectors(phrases: Sequence[str]) -> FloatArray:
    """Vectors of length one, (n, D), zero for an empty phrase and for unknown scripts."""
    asked = dict.fromkeys(("", *phrases))
    with _lock:
        rows = {phrase: _kept[phrase] for phrase in asked if phrase in _kept}
        new = [phrase for phrase in asked if phrase not in rows]
        if new:
            # Copies: a row that is kept must not keep its whole batch alive.
            made = {phrase: row.copy() for phrase, row in zip(new, _embed(new), strict=True)}
            _kept.update(made)
            rows.update(made)
    if not phrases:
        return np.zeros((0, len(rows[""])), dtype=np.float32)
    return np.stack([rows[phrase] for phrase in phrases])


def _embed(phrases: list[str]) -> FloatArray:
    # This embedder never waits: its coroutine ends at the first step, and no event loop is needed,
    # which would cost more than the vectors.
    try:
        _EMBEDDER.embed(phrases).send(None)
    except StopIteration as done:
        made: FloatArray = done.value
        return made
    raise RuntimeError("the static embedder waited for something")
