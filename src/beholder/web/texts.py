"""Words in the texts of many subjects: one file of all texts, looked through piece by piece."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

_PIECE = 4_000_000
_END = b"\x00"
"""Stands behind every text, so that no match reaches from one into the next."""


class Texts:
    """Texts by position, kept in a file of their own until this is closed.

    A hundred thousand texts of a page each are looked through in about a twentieth of a second, in
    any script; an index of their letters would take longer to make than a run to score.
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(prefix="beholder-view-")  # noqa: SIM115  # `close` gives it up
        self._starts = [0]
        self._reading = threading.Lock()

    def __len__(self) -> int:
        return len(self._starts) - 1

    def add(self, texts: Iterable[str]) -> None:
        """Add texts behind those that are here."""
        self._file.seek(self._starts[-1])
        for text in texts:
            written = text.replace("\x00", " ").casefold().encode("utf-8", "replace") + _END
            self._file.write(written)
            self._starts.append(self._starts[-1] + len(written))
        self._file.flush()

    def having(self, words: str) -> NDArray[np.int64]:
        """Positions of the texts in which the words stand, in any case of letters, ascending."""
        needle = words.replace("\x00", " ").casefold().encode("utf-8", "replace")
        starts = np.array(self._starts, dtype=np.int64)
        found: list[int] = []
        for first, last in self._pieces(starts):
            found += _texts_with(needle, self._read(starts[first], starts[last]), starts, first)
        return np.array(found, dtype=np.int64)

    def close(self) -> None:
        """Give up the file."""
        self._file.close()

    def _pieces(self, starts: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
        """First text and the one behind the last of each piece; a long text is a piece alone."""
        borders = np.searchsorted(starts, np.arange(0, starts[-1] + _PIECE, _PIECE))
        for first, last in pairwise(np.unique([0, *borders, len(starts) - 1]).tolist()):
            if last < len(starts):
                yield first, last

    def _read(self, start: int, end: int) -> bytes:
        with self._reading:
            self._file.seek(int(start))
            return self._file.read(int(end - start))


def _texts_with(
    needle: bytes, piece: bytes, starts: NDArray[np.int64], first: int
) -> Iterator[int]:
    base = int(starts[first])
    at = piece.find(needle)
    while at >= 0:
        text = int(np.searchsorted(starts, base + at, side="right")) - 1
        yield text
        at = piece.find(needle, int(starts[text + 1]) - base)
