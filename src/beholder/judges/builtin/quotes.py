"""What stands in both texts word by word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


class Quotes:
    """All runs of words that two texts share.

    Args:
        source: Words of the text that is looked for.
        target: Words of the text in which it is looked for.
    """

    def __init__(self, source: Sequence[str], target: Sequence[str]) -> None:
        n, m = len(source), len(target)
        numbers = {word: place for place, word in enumerate(dict.fromkeys((*source, *target)))}
        a = np.array([numbers[word] for word in source], np.intp)
        b = np.array([numbers[word] for word in target], np.intp)
        # Rows that are one longer than they are read shift by one each: what stands in one column
        # goes on word by word in both texts (the target is turned round).
        width = n + m
        equal = np.zeros((n, width + 1), np.bool_)
        equal[:, :m] = a[:, None] == b[::-1]
        lines = equal.ravel()[: n * width].reshape(n, width)
        places = np.arange(n, dtype=np.int32)[:, None]
        begins = np.maximum.accumulate(np.where(lines, 0, places + 1), axis=0)
        ends = np.minimum.accumulate(np.where(lines, n, places)[::-1], axis=0)[::-1]
        # (n + 1, n + m), words of the shared run that ends before a word, and that begins with it.
        self._before: npt.NDArray[np.int32] = np.zeros((n + 1, width), np.int32)
        self._after: npt.NDArray[np.int32] = np.zeros((n + 1, width), np.int32)
        self._before[1:] = places + 1 - begins
        self._after[:-1] = ends - places

    def run(self, first: int, last: int) -> int:
        """Words of the longest shared run over the source's words first..last, 0 if there is none.

        Args:
            first: The first word that it must have.
            last: One past the last word that it must have.
        """
        before, after = self._before[last], self._after[last]
        length = (before + after)[before >= last - first]
        return int(length.max(initial=0))
