"""Guards against texts that raise a score without being better; each gives a factor from 0 to 1.

A guard reads the text and the references alone, so it costs nothing beside the metric.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from dataclasses import dataclass

from beholder.base.ranges import check_number
from beholder.records import Item
from beholder.text import words


class RewardGuard(ABC):
    """A reduction of the reward for texts of one kind."""

    @abstractmethod
    def factor(self, item: Item) -> float:
        """Return the share of the reward that is left, from 0 (nothing) to 1 (all)."""


@dataclass(frozen=True)
class LengthGuard(RewardGuard):
    """A text longer than the longest reference by more than so many times is paid less.

    The factor is ``limit / ratio`` beyond the limit, so that twice the limit is paid half. Without
    references nothing is taken.

    Attributes:
        limit: Words of the text over words of the longest reference, above 0.

    Raises:
        ConfigError: The limit is not above 0.
    """

    limit: float = 1.5

    def __post_init__(self) -> None:
        check_number("limit", self.limit, 0, above=True, hint="1.5 is usual")

    def factor(self, item: Item) -> float:
        """Return ``limit / ratio`` for a text beyond the limit, else 1."""
        longest = max(
            (len(words(text)) for text in item.references), default=0
        )
        n = len(words(item.candidate))
        # Without references there is no usual length to compare with.
        if not longest or n <= self.limit * longest:
            return 1.0
        return self.limit * longest / n


@dataclass(frozen=True)
class RepetitionGuard(RewardGuard):
    """A text that says the same words again is paid less, by the share of its n-grams said before.

    The factor is the share of distinct n-grams; where references repeat themselves, too (lists,
    refrains), it is that share over the least share of a reference, at most 1.

    Attributes:
        n: Words of an n-gram, from 1.

    Raises:
        ConfigError: ``n`` is below 1.
    """

    n: int = 3

    def __post_init__(self) -> None:
        check_number("n", self.n, 1, whole=True)

    def factor(self, item: Item) -> float:
        """Return the share of distinct n-grams, relative to that of the references."""
        # Lists and refrains repeat words; a text may repeat as much as its
        # most repetitive reference.
        usual = min(
            (self._distinct(text) for text in item.references), default=1.0
        )
        return min(1.0, self._distinct(item.candidate) / usual)

    def _distinct(self, text: str) -> float:
        tokens = [text[start:end].lower() for start, end in words(text)]
        grams = Counter(
            zip(*(tokens[k:] for k in range(self.n)), strict=False)
        )
        # A text shorter than n words has no n-gram, and so repeats none.
        return len(grams) / grams.total() if grams else 1.0


GUARDS = (LengthGuard(), RepetitionGuard())
"""Those that ``reward`` has if none are named."""
