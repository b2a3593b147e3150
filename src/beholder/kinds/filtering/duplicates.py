"""The second pass: exact and near-duplicates, found by sorting one column of hashes at a time.

Two texts about one picture are duplicates; on different pictures they are boilerplate
(``same_text``). A row without a picture is compared by its text alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from numpy.typing import NDArray

from beholder.kinds.filtering.rows import (
    N_BANDS,
    fold_text,
    read_columns,
    read_numbers,
    similarity,
)

Ids = NDArray[np.int64]
Hashes = NDArray[np.uint64]


@dataclass(frozen=True)
class Duplicates:
    """Groups of rows, each as the number of its first row.

    Attributes:
        exact: First row with the same text and picture.
        near: First row of the group of near-duplicates, exact ones included.
        same: First row with the same or nearly the same text, on any picture.
    """

    exact: Ids
    near: Ids
    same: Ids


class _Groups:
    """Union-find over rows; the first row of a group stands for it."""

    def __init__(self, n_rows: int) -> None:
        self.first = np.arange(n_rows)

    def find(self, row: int) -> int:
        first = self.first
        root = row
        while first[root] != root:
            root = int(first[root])
        while first[row] != root:
            first[row], row = root, int(first[row])
        return root

    def join(self, row: int, other_row: int) -> None:
        low, high = sorted((self.find(row), self.find(other_row)))
        self.first[high] = low

    def roots(self) -> Ids:
        """Return the first row of the group of each row."""
        while True:
            shorter = self.first[self.first]
            if (shorter == self.first).all():
                return self.first
            self.first = shorter


def find_duplicates(
    parts: Sequence[Path], threshold: float | None
) -> Duplicates:
    """Return the duplicates among the rows of all parts.

    Args:
        parts: Files of the first pass.
        threshold: Jaccard similarity of near-duplicates; None for exact ones alone.
    """
    texts = read_numbers(parts, "text_hash")
    pictures = read_numbers(parts, "picture_hash")
    n_rows = len(texts)
    exact, same = _Groups(n_rows), _Groups(n_rows)
    order = np.lexsort((pictures, texts))
    _group_equal(same, order, texts)
    _group_equal(exact, order, texts, pictures)
    near = _Groups(n_rows)
    near.first = exact.first.copy()
    if threshold is not None and n_rows:
        with TemporaryDirectory(
            prefix="beholder-", dir=parts[0].parent
        ) as folder:
            _join_near(
                parts, Path(folder), threshold, pictures, texts, near, same
            )
    return Duplicates(exact.first, near.roots(), same.roots())


def _group_equal(
    groups: _Groups, order: Ids, keys: Hashes, *other_columns: Hashes
) -> None:
    """Join the rows of a sorted order that have one key and equal others; 0 is no key."""
    if not len(order):
        return
    is_first = np.ones(len(order), bool)
    is_first[1:] = ~_are_equal(order, 1, keys, *other_columns)
    starts = np.flatnonzero(is_first)
    lowest = np.minimum.reduceat(order, starts)
    groups.first[order] = lowest[np.cumsum(is_first) - 1]


def _are_equal(
    order: Ids, step: int, keys: Hashes, *other_columns: Hashes
) -> NDArray[np.bool_]:
    """Return which rows of an order equal the row some steps before."""
    earlier, later = order[:-step], order[step:]
    are_equal: NDArray[np.bool_] = (keys[earlier] == keys[later]) & (
        keys[later] != 0
    )
    for column in other_columns:
        are_equal &= column[earlier] == column[later]
    return are_equal


def _pairs(
    order: Ids, keys: Hashes, texts: Hashes
) -> Iterator[tuple[int, int]]:
    """Yield rows of one bucket that may be alike: next to each other, or with one between."""
    for step in (1, 2):
        are_equal = _are_equal(order, step, keys)
        earlier, later = order[:-step][are_equal], order[step:][are_equal]
        are_others = texts[earlier] != texts[later]
        yield from zip(
            earlier[are_others].tolist(),
            later[are_others].tolist(),
            strict=True,
        )


def _join_near(
    parts: Sequence[Path],
    folder: Path,
    threshold: float,
    pictures: Hashes,
    texts: Hashes,
    near: _Groups,
    same: _Groups,
) -> None:
    n_rows = len(texts)
    stored = _TextFile(folder / "texts", n_rows)
    bands = np.memmap(
        folder / "bands", np.uint64, "w+", shape=(N_BANDS, n_rows)
    )
    position = 0
    for batch in read_columns(parts, ["text", "bands"]):
        written = batch.column(0).to_pylist()
        stored.add(written)
        hashes = batch.column(1).fill_null(bytes(8 * N_BANDS))
        flat = np.frombuffer(b"".join(hashes.to_pylist()), np.uint64)
        end = position + len(written)
        bands[:, position:end] = flat.reshape(-1, N_BANDS).T
        position = end
    stored.close()
    for band in bands:
        keys = np.array(band)
        # Rows of one picture lie side by side within a bucket.
        order = np.lexsort((pictures, keys))
        for first, second in _pairs(order, keys, texts):
            is_one_picture = pictures[first] == pictures[second]
            groups = near if is_one_picture else same
            if groups.find(first) == groups.find(second):
                continue
            alike = similarity(
                stored.read_text(first), stored.read_text(second)
            )
            if alike >= threshold:
                groups.join(first, second)
                same.join(first, second)


class _TextFile:
    """Folded texts on the disk, read back by the number of their row."""

    def __init__(self, path: Path, n_rows: int) -> None:
        self._path = path
        self._ends = np.zeros(n_rows + 1, np.int64)
        self._n = 0
        self._writer = path.open("wb")

    def add(self, texts: Sequence[str | None]) -> None:
        for text in texts:
            data = fold_text(text or "").encode("utf-8", "surrogatepass")
            self._writer.write(data)
            self._n += 1
            self._ends[self._n] = self._ends[self._n - 1] + len(data)

    def close(self) -> None:
        self._writer.close()
        self._bytes = (
            np.memmap(self._path, np.uint8, "r")
            if (self._ends[-1])
            else np.zeros(0, np.uint8)
        )

    def read_text(self, row: int) -> str:
        data = bytes(self._bytes[self._ends[row] : self._ends[row + 1]])
        return data.decode("utf-8", "surrogatepass")
