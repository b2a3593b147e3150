"""chrF: F-score of character n-grams.

The counts are sacrebleu's, and counted here: its scores are out of 100, and scaled back they are
off in the last digit; and it takes longer to load than most data take to score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, TypeAlias

from beholder.embed.base import FloatArray
from beholder.errors import ConfigError, ItemError
from beholder.metrics import Metric, Tools, ValueInfo, param
from beholder.records import Item, ItemScore

Grams: TypeAlias = tuple[Counter[str], ...]


@dataclass(frozen=True)
class ChrF(Metric[list[list[int]]]):
    """chrF: characters runs of length 1..6 that candidate and reference share, as an F-score.

    Precision and recall per length, means of both over the lengths that both texts have, then F
    with recall weighted by beta = 2; of several references the best counts. White space is left
    out. Works in any script without a tokenizer. Range 0..1 (sacrebleu prints 0..100; the same
    numbers as its chrF2), higher is better. The corpus value is made from summed counts.

    Source: Popovic 2015; defaults of Post 2018 (sacrebleu).

    Raises:
        ConfigError: A parameter is out of its range.
    """

    char_order: int = param(6, "longest run of characters", whole=(1, None))
    beta: float = param(2.0, "weight of recall")

    registered_name: ClassVar[str] = "chrf"
    values: ClassVar[tuple[ValueInfo, ...]] = (ValueInfo("chrf", "F of character runs"),)
    corpus_values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("corpus_chrf", "F of character runs, of summed counts"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.beta > 0:
            raise ConfigError(f"beta={self.beta!r}: expected a number above 0")

    async def gather(self, item: Item, tools: Tools) -> list[list[int]]:
        """Counts per reference: candidate's, reference's and shared runs of each length.

        Raises:
            ItemError: A text is empty.
        """
        candidate = _grams(item.candidate, self.char_order)
        if not all(reference.strip() for reference in item.references):
            raise ItemError("a reference is empty")
        return [
            _statistics(candidate, _grams(reference, self.char_order))
            for reference in item.references
        ]

    def score_item(self, item: Item, evidence: list[list[int]]) -> ItemScore:
        """The best reference's F."""
        best = max(evidence, key=self._f)
        return ItemScore({"chrf": self._f(best)}, detail={"statistics": best})

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """F of summed counts."""
        return {"corpus_chrf": self._f([int(count) for count in statistics])}

    def _f(self, statistics: Sequence[int]) -> float:
        precision = recall = 0.0
        lengths = 0
        for start in range(0, len(statistics), 3):
            ours, theirs, shared = statistics[start : start + 3]
            if ours and theirs:
                precision += shared / ours
                recall += shared / theirs
                lengths += 1
        if precision == 0 or recall == 0:
            return 0.0
        precision, recall = precision / lengths, recall / lengths
        weight = self.beta**2
        return min(1.0, (1 + weight) * precision * recall / (weight * precision + recall))


@lru_cache(maxsize=1 << 12)
def _grams(text: str, char_order: int) -> Grams:
    joined = "".join(text.split())
    return tuple(
        Counter(joined[start : start + n] for start in range(len(joined) - n + 1))
        for n in range(1, char_order + 1)
    )


def _statistics(candidate: Grams, reference: Grams) -> list[int]:
    counts: list[int] = []
    for ours, theirs in zip(candidate, reference, strict=True):
        shared = sum(min(count, theirs[gram]) for gram, count in ours.items() if gram in theirs)
        # Of a length that the reference is too short for, nothing goes into sums over items.
        counts += (ours.total() if theirs else 0, theirs.total(), shared)
    return counts
