"""Similarity of embeddings: of whole texts, and of words aligned one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.exact import products
from beholder.errors import ItemError
from beholder.metrics import Bounds, Metric, Tools, ValueInfo, param
from beholder.metrics.classical.matching import greedy_match
from beholder.metrics.classical.rouge import f_beta
from beholder.metrics.classical.tokens import (
    Words,
    item_words,
    tokenizer_identity,
)
from beholder.records import Item, ItemScore
from beholder.text.frequency import IDENTITY as FREQUENCY
from beholder.text.frequency import weight


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Vectors of an item.

    Attributes:
        candidate: (n, D), of the candidate or its parts.
        references: (m, D) of each reference or its parts.
        words: The parts, candidate's first; empty if there is one.
    """

    candidate: FloatArray
    references: tuple[FloatArray, ...]
    words: tuple[Words, ...]


@dataclass(frozen=True)
class Cosine(Metric[Vectors]):
    """Cosine of the embeddings of whole texts, best over references or mean.

    Below 0 counts as 0. Range 0..1, higher is better. A strong baseline with a good embedder, and
    blind to what is attached to what.

    Raises:
        ConfigError: A parameter is unknown.
    """

    embedder: str = param("static", "text embedder", tool="embedder")
    references: Literal["best", "mean"] = param("best", "several references")

    registered_name: ClassVar[str] = "cosine"
    values: ClassVar[tuple[ValueInfo, ...]] = (ValueInfo("cosine", "cosine of the whole texts"),)

    async def gather(self, item: Item, tools: Tools) -> Vectors:
        """Embed all texts.

        Raises:
            ItemError: A reference is empty.
        """
        if not all(reference.strip() for reference in item.references):
            raise ItemError("a reference is empty")
        vectors = await tools.embed(self.embedder, [item.candidate, *item.references])
        return Vectors(vectors[:1], (vectors[1:],), ())

    def score_item(self, item: Item, evidence: Vectors) -> ItemScore:
        """Compare with each reference, then join."""
        similar = unit_range(products(evidence.references[0], evidence.candidate[:1])[:, 0])
        value = similar.max() if self.references == "best" else similar.mean()
        return ItemScore({"cosine": float(value)})


@dataclass(frozen=True)
class TokenF1(Metric[Vectors]):
    """Soft word overlap: each word finds its most similar word on the other side.

    Precision is the weighted mean, over the candidate's words, of the best cosine with a word of
    the reference, recall the same the other way round, F1 their harmonic mean. As BERTScore, but
    over any embedder and one vector per word, so that word order and context do not enter. Words
    are weighted by how rare they are in English (``weights='frequency'``) or all alike. Of several
    references the one with the best F1 counts. Cosines below 0 count as 0. Range 0..1, higher is
    better.

    Source: after Zhang et al. 2020 (BERTScore); weights of Arora et al. 2017.

    Raises:
        ConfigError: A parameter is unknown.
    """

    embedder: str = param("static", "text embedder", tool="embedder")
    tokenizer: Literal["words", "space"] = param(
        "words", "words of any script, case folded, or ready tokens between spaces"
    )
    weights: Literal["frequency", "none"] = param(
        "frequency", "weight of words: rare ones more, or all alike"
    )

    registered_name: ClassVar[str] = "token_f1"
    bounds: ClassVar[Bounds] = Bounds(compares="words")
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("f1", "harmonic mean of both"),
        ValueInfo("precision", "how well the reference covers the candidate's words"),
        ValueInfo("recall", "how well the candidate covers the reference's words"),
    )

    def identities(self, tools: Tools) -> dict[str, str]:
        """Embedder, tokenizer and word weights with their versions."""
        found = super().identities(tools)
        found["tokenizer"] = tokenizer_identity(self.tokenizer)
        found["weights"] = FREQUENCY if self.weights == "frequency" else self.weights
        return found

    async def gather(self, item: Item, tools: Tools) -> Vectors:
        """Embed every distinct word."""
        texts = item_words(item, self.tokenizer)
        sides = (texts.candidate, *texts.references)
        self.bounds.check_pairs(len(sides[0]), list(map(len, sides[1:])), self.registered_name)
        distinct = list(dict.fromkeys(word for side in sides for word in side))
        places = {word: place for place, word in enumerate(distinct)}
        vectors = await tools.embed(self.embedder, distinct)
        embedded = [vectors[[places[word] for word in side]] for side in sides]
        return Vectors(embedded[0], tuple(embedded[1:]), sides)

    def score_item(self, item: Item, evidence: Vectors) -> ItemScore:
        """Align with each reference and keep the best."""
        ours = self._weights(evidence.words[0])
        best = (-1.0, 0.0, 0.0)
        for vectors, words in zip(evidence.references, evidence.words[1:], strict=True):
            similar = unit_range(products(evidence.candidate, vectors))
            precision, recall = greedy_match(similar, ours, self._weights(words))
            best = max(best, (f_beta(precision, recall), precision, recall))
        return ItemScore({info.name: x for info, x in zip(self.values, best, strict=True)})

    def _weights(self, words: Words) -> FloatArray:
        if self.weights == "none":
            return np.ones(len(words))
        return np.array([weight(word) for word in words])


def unit_range(similarity: FloatArray) -> FloatArray:
    """Cosines clipped to 0..1, in float64."""
    return np.clip(similarity.astype(np.float64), 0.0, 1.0)
