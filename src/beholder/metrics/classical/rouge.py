"""ROUGE: longest common subsequence and n-gram overlap."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from beholder.errors import ConfigError
from beholder.metrics import Bounds, ValueInfo, param
from beholder.metrics.classical.tokens import TokenizedTexts, WordMetric, Words, clipped_matches
from beholder.records import Item, ItemScore


@dataclass(frozen=True)
class ROUGE(WordMetric):
    """ROUGE-L, ROUGE-1 and ROUGE-2: words in the same order, and shared words and word pairs.

    ``rouge_l`` is the form of image captioning papers: ``(1 + b^2) P R / (R + b^2 P)`` with b = 1.2
    from the longest common subsequence, P and R each the best over the references. ``rouge_l_f1``,
    ``rouge_1`` and ``rouge_2`` are balanced F1, of the best single reference. No stemming. Range
    0..1, higher is better.

    Source: Lin 2004.

    Raises:
        ConfigError: A parameter is unknown or out of its range.
    """

    beta: float = param(1.2, "weight of recall in rouge_l")

    registered_name: ClassVar[str] = "rouge"
    bounds: ClassVar[Bounds] = Bounds(compares="words")
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("rouge_l", "F of the longest common subsequence, recall weighted by beta"),
        ValueInfo("rouge_l_f1", "F1 of the longest common subsequence"),
        ValueInfo("rouge_1", "F1 of words"),
        ValueInfo("rouge_2", "F1 of pairs of words"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.beta > 0:
            raise ConfigError(f"beta={self.beta!r}: expected a number above 0")

    def score_item(self, item: Item, evidence: TokenizedTexts) -> ItemScore:
        """Compare with each reference, then join."""
        candidate, references = evidence.candidate, evidence.references
        common = lcs_lengths(candidate, references)
        precisions = [length / len(candidate) for length in common]
        recalls = [
            length / len(reference) for length, reference in zip(common, references, strict=True)
        ]
        values = {
            "rouge_l": f_beta(max(precisions), max(recalls), self.beta),
            "rouge_l_f1": max(map(f_beta, precisions, recalls)),
            "rouge_1": _ngram_f1(candidate, references, 1),
            "rouge_2": _ngram_f1(candidate, references, 2),
        }
        return ItemScore(values)


def lcs_lengths(candidate: Words, references: Iterable[Words]) -> list[int]:
    """Length of the longest common subsequence with each reference.

    One row of the usual table is one long integer, and a word costs a few operations on it
    (Crochemore et al. 2001, Hyyro 2004).
    """
    places: dict[str, int] = {}
    for place, word in enumerate(candidate):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(candidate)) - 1
    lengths = []
    for reference in references:
        row = full
        for word in reference:
            matches = row & places.get(word, 0)
            row = ((row + matches) | (row - matches)) & full
        lengths.append(len(candidate) - row.bit_count())
    return lengths


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """``(1 + beta^2) P R / (R + beta^2 P)``; 0 when either is 0."""
    if precision == 0 or recall == 0:
        return 0.0
    # 1 of 1 and 1 must be 1, and rounding can pass it
    return min(1.0, (1 + beta**2) * precision * recall / (recall + beta**2 * precision))


def _ngram_f1(candidate: Words, references: Sequence[Words], order: int) -> float:
    best = 0.0
    for reference in references:
        shared = clipped_matches(candidate, (reference,), order)
        if shared:
            best = max(best, 2 * shared / (len(candidate) + len(reference) - 2 * order + 2))
    return best
