"""Vectors of words and short phrases from the built-in static embedding, kept in memory."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.static import phrase_vectors

_MAX_ROWS = 50_000
"""Phrases kept; about 40 MB."""


class VectorTable:
    """Vectors by phrase, in one matrix: those of many phrases are one look-up. Safe in threads.

    Args:
        max_rows: Phrases kept; when there are more, all are dropped.
    """

    def __init__(self, max_rows: int) -> None:
        self.max_rows = max_rows
        self._rows: dict[str, int] = {}
        self._table: FloatArray = np.zeros((0, 0), dtype=np.float32)
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._rows)

    def __call__(self, phrases: Sequence[str]) -> FloatArray:
        """Vectors of length one, (n, D), zero for an empty phrase and for unknown scripts."""
        with self._lock:
            rows = list(map(self._rows.get, phrases))
            if None in rows or not self._rows:
                self._add(dict.fromkeys(("", *phrases)))
                rows = [self._rows[phrase] for phrase in phrases]
            unit_vectors: FloatArray = self._table.take(
                np.array(rows, np.intp), axis=0
            )
        return unit_vectors

    def _add(self, phrases: Collection[str]) -> None:
        new = [phrase for phrase in phrases if phrase not in self._rows]
        # A full table is cleared rather than evicted row by row: texts of one
        # run share words, and the next calls fill it again.
        if len(self._rows) + len(new) > len(self._table):
            self._rows.clear()
            new = list(phrases)
        new_vectors = phrase_vectors(new)
        if not self._rows:  # pages that are not written to take no memory
            self._table = np.zeros(
                (max(self.max_rows, len(new)), new_vectors.shape[1]),
                dtype=np.float32,
            )
        first = len(self._rows)
        self._table[first : first + len(new)] = new_vectors
        self._rows.update(
            zip(new, range(first, first + len(new)), strict=True)
        )


vectors = VectorTable(_MAX_ROWS)
"""The vectors of words and short phrases that all texts share."""
