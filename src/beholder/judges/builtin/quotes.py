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
        self._before: npt.NDArray[np.int32] = np.zeros((n + 1, m + 1), np.int32)
        self._after: npt.NDArray[np.int32] = np.zeros((n + 1, m + 1), np.int32)
        for i in range(n):
            self._before[i + 1, 1:] = (self._before[i, :-1] + 1) * (b == a[i])
        for i in range(n - 1, -1, -1):
            self._after[i, :-1] = (self._after[i + 1, 1:] + 1) * (b == a[i])

    def run(self, first: int, last: int) -> int:
        """Words of the longest shared run over the source's words first..last, 0 if there is none.

        Args:
            first: The first word that it must have.
            last: One past the last word that it must have.
        """
        before, after = self._before[last], self._after[last]
        length = (before + after)[before >= last - first]
        return int(length.max(initial=0))
