"""Words in the texts of many subjects: one file of all texts, looked through piece by piece."""

from __future__ import annotations

import tempfile
import threading
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

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
        starts = self._starts.copy()  # texts may be added meanwhile
        found: list[int] = []
        for first, last in _pieces(starts):
            found += _texts_with(needle, self._read(starts[first], starts[last]), starts, first)
        return np.array(found, dtype=np.int64)

    def close(self) -> None:
        """Give up the file."""
        self._file.close()

    def _read(self, start: int, end: int) -> bytes:
        with self._reading:
            self._file.seek(start)
            return self._file.read(end - start)


def _pieces(starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First text and the one behind the last of each piece; a long text is a piece alone."""
    first, n = 0, len(starts) - 1
    while first < n:
        last = max(first + 1, bisect_right(starts, starts[first] + _PIECE) - 1)
        yield first, last
        first = last


def _texts_with(needle: bytes, piece: bytes, starts: Sequence[int], first: int) -> Iterator[int]:
    base, text = starts[first], first - 1
    at = piece.find(needle)
    while at >= 0:
        text = bisect_right(starts, base + at, lo=text + 1) - 1
        yield text
        at = piece.find(needle, starts[text + 1] - base)
