"""CIDEr and CIDEr-D: n-gram vectors weighted by how rare an n-gram is among the images."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeAlias

from beholder.metrics.base import ValueInfo
from beholder.metrics.classical.frequencies import ORDERS, Frequencies, FrequencyMetric
from beholder.metrics.classical.tokens import TokenizedTexts, Words, ngrams
from beholder.records import Item, ItemScore

Weights: TypeAlias = dict[str, float]

SCALE = 10.0
SIGMA = 6.0

_CACHED = 1 << 14


@dataclass(frozen=True)
class CIDEr(FrequencyMetric):
    """CIDEr: cosine of tf-idf vectors of word runs, mean over lengths 1..4 and over references.

    The weight of a run of words is its count times ``log(images / images whose references have
    it)``. Times 10, as usual: range 0..10, higher is better; 10 only when all references equal the
    candidate. Plain words: the published first version stems them.

    A word is worth something only where other images lack it, so scores depend on the images of the
    run (their hash stands in the signature) unless ``df`` names a saved table; one image alone
    scores 0, with a warning.

    Source: Vedantam et al. 2015. ``cider_d`` is what captioning leaderboards call CIDEr.

    Raises:
        ConfigError: A parameter is unknown.
    """

    registered_name: ClassVar[str] = "cider"
    values: ClassVar[tuple[ValueInfo, ...]] = (ValueInfo("cider", "CIDEr, 0 to 10", high=SCALE),)
    clips: ClassVar[bool] = False

    def score_item(self, item: Item, evidence: TokenizedTexts) -> ItemScore:
        """Compare with each reference and take the mean."""
        weigh = self._weigher
        candidate = weigh(evidence.candidate)
        total = 0.0
        for words in evidence.references:
            reference = weigh(words)
            similar = sum(
                _similarity(ours, our_norm, theirs, their_norm, self.clips)
                for (ours, our_norm), (theirs, their_norm) in zip(candidate, reference, strict=True)
            )
            if self.clips:
                # Differences are counted in pairs of words, as the published code does.
                gap = max(0, len(evidence.candidate) - 1) - max(0, len(words) - 1)
                similar *= math.exp(-(gap**2) / (2 * SIGMA**2))
            total += similar / len(ORDERS)
        value = min(SCALE, SCALE * total / len(evidence.references))
        return ItemScore(
            {self.registered_name: value}, signature=self.signature(self._identities())
        )

    @cached_property
    def _weigher(self) -> _Weigher:
        return _Weigher(self.known())


@dataclass(frozen=True)
class CIDErD(CIDEr):
    """CIDEr-D, which leaderboards and caption evaluation code call CIDEr: it is harder to game.

    As ``cider``, but a run of words counts at most as often as in the reference, and a reference of
    another length counts less: a Gaussian of the difference in length, sigma 6. Range 0..10, higher
    is better.

    Source: Vedantam et al. 2015.

    Raises:
        ConfigError: A parameter is unknown.
    """

    registered_name: ClassVar[str] = "cider_d"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("cider_d", "CIDEr-D, 0 to 10", high=SCALE),
    )
    clips: ClassVar[bool] = True


class _Weigher:
    """tf-idf vectors of texts with their lengths; those of references are met again and kept."""

    def __init__(self, table: Frequencies) -> None:
        self._table = table
        self._known: dict[Words, tuple[tuple[Weights, float], ...]] = {}

    def __call__(self, words: Words) -> tuple[tuple[Weights, float], ...]:
        found = self._known.get(words)
        if found is None:
            found = tuple(self._vector(words, order) for order in ORDERS)
            if len(self._known) >= _CACHED:
                self._known.clear()
            self._known[words] = found
        return found

    def _vector(self, words: Words, order: int) -> tuple[Weights, float]:
        counts, n = self._table.counts, self._table.n_documents
        weights = {
            gram: count * math.log(n / max(1, counts.get(gram, 0)))
            for gram, count in Counter(map(" ".join, ngrams(words, order))).items()
        }
        return weights, math.sqrt(sum(weight * weight for weight in weights.values()))


def _similarity(
    ours: Weights, our_norm: float, theirs: Weights, their_norm: float, clips: bool
) -> float:
    if our_norm == 0 or their_norm == 0:
        return 0.0
    dot = 0.0
    for gram, weight in ours.items():
        other = theirs.get(gram)
        if other is not None:
            dot += (min(weight, other) if clips else weight) * other
    return dot / (our_norm * their_norm)
