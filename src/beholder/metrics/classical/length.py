"""Length of the candidate: the baseline that every other metric must beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from beholder.metrics import ValueInfo
from beholder.metrics.classical.tokens import TokenizedTexts, WordMetric
from beholder.records import Item, ItemScore


@dataclass(frozen=True)
class Length(WordMetric):
    """Words and characters of the candidate: the baseline for agreement with people.

    People often prefer the longer text, and many metrics follow; what a metric says beyond length
    is what counts. Needs no references. Neither end is better; ``agree`` and ``rank`` take a longer
    text as the better one, so that other metrics can be compared with it.

    Raises:
        ConfigError: A parameter is unknown.
    """

    registered_name: ClassVar[str] = "length"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("words", "words of the candidate", high=1e9, higher_is_better=None),
        ValueInfo("characters", "characters of the candidate", high=1e9, higher_is_better=None),
    )
    required_fields: ClassVar[frozenset[str]] = frozenset()

    def score_item(self, item: Item, evidence: TokenizedTexts) -> ItemScore:
        """Count."""
        n_words, n_characters = len(evidence.candidate), len(item.candidate)
        return ItemScore({"words": float(n_words), "characters": float(n_characters)})
