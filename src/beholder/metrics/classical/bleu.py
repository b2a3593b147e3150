"""BLEU: clipped n-gram precision with a brevity penalty."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from beholder.embed.base import FloatArray
from beholder.metrics import Tools, ValueInfo, param
from beholder.metrics.classical.tokens import TokenizedTexts, WordMetric, Words, clipped_matches
from beholder.metrics.params import installed
from beholder.records import Item, ItemScore

ORDERS = (1, 2, 3, 4)

# The captioning evaluation code keeps a text without 4-grams in common off zero by these.
_TINY, _SMALL = 1e-15, 1e-9


@dataclass(frozen=True)
class BLEU(WordMetric):
    """BLEU-4 with BLEU-1 to BLEU-3: how many of the candidate's word runs a reference has.

    Geometric mean of the clipped n-gram precisions times the brevity penalty ``exp(1 - r / c)``
    for a candidate (c words) shorter than the closest reference (r words). Clipped: an n-gram
    counts at most as often as in the reference that has it most often.

    ``rules="caption"`` (default) is the BLEU of image captioning papers: no smoothing but for a
    constant of 1e-15 that keeps zero counts apart. ``rules="sacrebleu"`` goes through the package
    sacrebleu: exponential smoothing per item (with effective order), none for the corpus. Range
    0..1 (sacrebleu prints 0..100), higher is better. The corpus value is made from summed counts
    and is the BLEU that papers report.

    Source: Papineni et al. 2002; Post 2018 for sacrebleu.

    Raises:
        ConfigError: A parameter is unknown.
    """

    rules: Literal["caption", "sacrebleu"] = param(
        "caption", "as captioning papers count, or as sacrebleu"
    )

    registered_name: ClassVar[str] = "bleu"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("bleu", "BLEU-4"),
        ValueInfo("bleu_1", "BLEU with words alone"),
        ValueInfo("bleu_2", "BLEU up to pairs of words"),
        ValueInfo("bleu_3", "BLEU up to runs of three words"),
    )
    corpus_values: ClassVar[tuple[ValueInfo, ...]] = tuple(
        ValueInfo(f"corpus_{value.name}", f"{value.help}, of summed counts") for value in values
    )

    def identities(self, tools: Tools) -> dict[str, str]:
        """The tokenizer, and the package that counts."""
        found = super().identities(tools)
        if self.rules == "sacrebleu":
            found["rules"] = f"sacrebleu@{installed('sacrebleu')}"
        return found

    def score_item(self, item: Item, evidence: TokenizedTexts) -> ItemScore:
        """Count, then score."""
        statistics = bleu_statistics(evidence.candidate, evidence.references)
        values = zip(self.values, self._values(statistics, smooth=True), strict=True)
        return ItemScore({v.name: x for v, x in values}, detail={"statistics": statistics})

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """BLEU of summed counts."""
        values = self._values([int(count) for count in statistics], smooth=False)
        return dict(zip((v.name for v in self.corpus_values), values, strict=True))

    def _values(self, statistics: Sequence[int], *, smooth: bool) -> list[float]:
        """BLEU-4, then BLEU-1 to BLEU-3."""
        if self.rules == "caption":
            by_order = _caption_bleu(statistics)
        else:
            by_order = _sacrebleu(statistics, smooth=smooth)
        return [by_order[-1], *by_order[:-1]]


def bleu_statistics(candidate: Words, references: Sequence[Words]) -> list[int]:
    """Counts that BLEU is made from; they add up over items.

    Args:
        candidate: Words of the candidate.
        references: Words of each reference.

    Returns:
        Ten numbers: clipped matches of orders 1..4, n-grams of the candidate of orders 1..4, words
        of the candidate, words of the reference nearest in length (the shorter of two).
    """
    matches = [clipped_matches(candidate, references, order) for order in ORDERS]
    length = len(candidate)
    totals = [max(0, length - order + 1) for order in ORDERS]
    nearest = min((abs(len(r) - length), len(r)) for r in references)[1]
    return [*matches, *totals, length, nearest]


def _caption_bleu(statistics: Sequence[int]) -> list[float]:
    matches, totals = statistics[:4], statistics[4:8]
    length, nearest = statistics[8:]
    ratio = (length + _TINY) / (nearest + _SMALL)
    penalty = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
    product, values = 1.0, []
    for order, match, total in zip(ORDERS, matches, totals, strict=True):
        product *= (match + _TINY) / (total + _SMALL)
        values.append(min(1.0, product ** (1 / order) * penalty))
    return values


def _sacrebleu(statistics: Sequence[int], *, smooth: bool) -> list[float]:
    from sacrebleu.metrics import bleu as theirs  # loads slowly, and only these rules need it

    compute: Any = theirs.BLEU.compute_bleu
    return [
        min(
            1.0,
            compute(
                correct=list(statistics[:order]),
                total=list(statistics[4 : 4 + order]),
                sys_len=statistics[8],
                ref_len=statistics[9],
                smooth_method="exp",
                effective_order=smooth,
                max_ngram_order=order,
            ).score
            / 100,
        )
        for order in ORDERS
    ]
