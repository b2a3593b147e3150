"""Similarity of embeddings: of whole texts, of words aligned one by one, and of larger parts."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.exact import products
from beholder.errors import ItemError
from beholder.metrics import Bounds, Metric, Tools, ValueInfo, param
from beholder.metrics.base import f_beta
from beholder.metrics.classical.tokens import (
    Words,
    item_words,
    tokenizer_identity,
)
from beholder.records import Item, ItemScore, Side, Span, Unit
from beholder.text.frequency import identity as frequency_identity
from beholder.text.frequency import weight
from beholder.text.tokenize import words


def greedy_match(
    similarity: FloatArray,
    candidate_weights: FloatArray,
    reference_weights: FloatArray,
) -> tuple[float, float]:
    """Return precision and recall of a soft overlap.

    Args:
        similarity: (n, m), of each part of the candidate with each of the reference.
        candidate_weights: (n,), not negative, one of them above 0.
        reference_weights: (m,), likewise.

    Returns:
        Weighted mean over the candidate's parts of the best similarity, and the same over the
        reference's; both within the range of the similarities.
    """
    return (
        _weighted_mean(similarity.max(axis=1), candidate_weights),
        _weighted_mean(similarity.max(axis=0), reference_weights),
    )


def _weighted_mean(values: FloatArray, weights: FloatArray) -> float:
    mean = (values * weights).sum() / weights.sum()
    # Rounding must not leave the range.
    return float(np.clip(mean, values.min(), values.max()))


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Vectors of an item.

    Attributes:
        candidate: (n, D), of the candidate's words.
        references: (m, D) of each reference's words.
        words: The words, candidate's first.
    """

    candidate: FloatArray
    references: tuple[FloatArray, ...]
    words: tuple[Words, ...]


@dataclass(frozen=True)
class Cosine(Metric[FloatArray]):
    """Cosine of the embeddings of whole texts, best over references or mean.

    Below 0 counts as 0. Range 0..1, higher is better. A strong baseline with a good embedder, and
    blind to what is attached to what.

    Raises:
        ConfigError: A parameter is unknown.
    """

    embedder: str = param("static", "text embedder", tool="embedder")
    references: Literal["best", "mean"] = param("best", "several references")

    registered_name = "cosine"
    values = (ValueInfo("cosine", "cosine of the whole texts"),)

    async def gather(self, item: Item, tools: Tools) -> FloatArray:
        """Embed all texts, the candidate first."""
        return await tools.embed(
            self.embedder, [item.candidate, *item.references]
        )

    def score_item(self, item: Item, evidence: FloatArray) -> ItemScore:
        """Compare with each reference, then take the best or the mean."""
        similar = unit_range(products(evidence[1:], evidence[:1])[:, 0])
        value = similar.max() if self.references == "best" else similar.mean()
        return ItemScore({"cosine": float(value)})


@dataclass(frozen=True)
class TokenF1(Metric[Vectors]):
    """Soft word overlap: each word is matched to the most similar word of the other text.

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
        "words",
        "words of any script, case folded, or ready tokens between spaces",
    )
    weights: Literal["frequency", "none"] = param(
        "frequency", "weight of words: rare ones more, or all alike"
    )

    registered_name = "token_f1"
    bounds = Bounds(compares="words")
    values = (
        ValueInfo("f1", "harmonic mean of both"),
        ValueInfo(
            "precision", "how well the reference covers the candidate's words"
        ),
        ValueInfo(
            "recall", "how well the candidate covers the reference's words"
        ),
    )

    def identities(self, tools: Tools) -> dict[str, str]:
        """Identities of embedder, tokenizer and word weights."""
        identities = super().identities(tools)
        identities["tokenizer"] = tokenizer_identity(self.tokenizer)
        if self.weights == "frequency":
            identities["weights"] = frequency_identity()
        return identities

    async def gather(self, item: Item, tools: Tools) -> Vectors:
        """Embed every distinct word."""
        texts = item_words(item, self.tokenizer)
        sides = (texts.candidate, *texts.references)
        self.bounds.check_pairs(
            len(sides[0]), list(map(len, sides[1:])), self.registered_name
        )
        distinct = list(dict.fromkeys(word for side in sides for word in side))
        places = {word: place for place, word in enumerate(distinct)}
        # A word that is repeated, or in several texts, is embedded once.
        vectors = await tools.embed(self.embedder, distinct)
        embedded = [vectors[[places[word] for word in side]] for side in sides]
        return Vectors(embedded[0], tuple(embedded[1:]), sides)

    def score_item(self, item: Item, evidence: Vectors) -> ItemScore:
        """Align with each reference and keep the best F1."""
        candidate_weights = self._weights(evidence.words[0])
        best = (-1.0, 0.0, 0.0)
        for vectors, reference_words in zip(
            evidence.references, evidence.words[1:], strict=True
        ):
            similar = unit_range(products(evidence.candidate, vectors))
            precision, recall = greedy_match(
                similar, candidate_weights, self._weights(reference_words)
            )
            best = max(best, (f_beta(precision, recall), precision, recall))
        return ItemScore(
            {info.name: x for info, x in zip(self.values, best, strict=True)}
        )

    def _weights(self, words: Words) -> FloatArray:
        if self.weights == "none":
            return np.ones(len(words))
        return np.array([weight(word) for word in words])


def unit_range(similarity: FloatArray) -> FloatArray:
    """Return cosines clipped to 0..1, in float64."""
    return np.clip(similarity.astype(np.float64), 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a text.

    Attributes:
        kind: Kind of the unit made of it.
        text: As words, for people and for the embedder.
        spans: Its characters in the text.
    """

    kind: str
    text: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddedParts:
    """Parts of an item with their vectors.

    Attributes:
        candidate: Parts of the candidate.
        references: Parts of each reference.
        vectors: (n, D), the candidate's parts first, then each reference's.
    """

    candidate: Sequence[Part]
    references: Sequence[Sequence[Part]]
    vectors: FloatArray


@dataclass(frozen=True)
class PartsMetric(Metric[EmbeddedParts]):
    """Base: precision and recall from the best cosine of each part with one of the other text.

    A unit with a low score on the candidate's side is likely a mistake, one on a reference's side
    an omission. A part of the candidate is compared with the parts of all references together.
    """

    embedder: str = param("static", "text embedder", tool="embedder")

    bounds = Bounds(compares="parts")
    values = (
        ValueInfo("f1", "harmonic mean of both"),
        ValueInfo("precision", "mean over the candidate's parts"),
        ValueInfo(
            "recall", "mean over a reference's parts, best over references"
        ),
    )

    @abstractmethod
    def parts(self, text: str, tools: Tools) -> list[Part]:
        """Return the parts of a text."""

    async def gather(self, item: Item, tools: Tools) -> EmbeddedParts:
        """Cut all texts into parts and embed these.

        Raises:
            ItemError: A text has no parts.
        """
        sides = [
            self.parts(text, tools)
            for text in (item.candidate, *item.references)
        ]
        for place, parts in enumerate(sides):
            if not parts:
                name = f"reference {place}" if place else "the candidate"
                raise ItemError(
                    f"{name} has nothing that {self.registered_name} could compare"
                )
        self.bounds.check_pairs(
            len(sides[0]), list(map(len, sides[1:])), self.registered_name
        )
        vectors = await tools.embed(
            # One call for all texts, so that the embedder can batch.
            self.embedder,
            [part.text for side in sides for part in side],
        )
        return EmbeddedParts(sides[0], sides[1:], vectors)

    def score_item(self, item: Item, evidence: EmbeddedParts) -> ItemScore:
        """Score each part by its best cosine; values are means of these."""
        n_candidate = len(evidence.candidate)
        similar = unit_range(
            products(
                evidence.vectors[:n_candidate], evidence.vectors[n_candidate:]
            )
        )
        candidate_best = similar.max(axis=1)
        units = _units(evidence.candidate, candidate_best, None)
        recalls, start = [], 0
        for index, parts in enumerate(evidence.references):
            # The columns of one reference.
            reference_best = similar[:, start : start + len(parts)].max(axis=0)
            units += _units(parts, reference_best, index)
            recalls.append(float(np.mean(reference_best)))
            start += len(parts)
        precision, recall = float(np.mean(candidate_best)), max(recalls)
        values = {
            "f1": f_beta(precision, recall),
            "precision": precision,
            "recall": recall,
        }
        return ItemScore(values, tuple(units))


def _units(
    parts: Sequence[Part], scores: FloatArray, reference: int | None
) -> list[Unit]:
    side: Side = "candidate" if reference is None else "reference"
    return [
        Unit(
            part.kind,
            part.text,
            side,
            part.spans,
            float(score),
            reference_index=reference,
        )
        for part, score in zip(parts, scores, strict=True)
    ]


@dataclass(frozen=True)
class NGramEmbed(PartsMetric):
    """Runs of four words of each sentence, compared by embedding: the 4GramEmbed baseline.

    Each run is scored by its best cosine with a run of the other text; a sentence of fewer words
    is one run. Precision and recall are means of these, F1 their harmonic mean. Range 0..1, higher
    is better.

    Source: the PoSh paper (baseline 4GramEmbed), there with an 8B embedder.

    Raises:
        ConfigError: A parameter is out of its range.
    """

    n: int = param(4, "words per run", whole=(1, math.inf))
    splitter: str = param("rules", "sentence splitter", tool="splitter")

    registered_name = "ngram_embed"

    def parts(self, text: str, tools: Tools) -> list[Part]:
        """Return the runs of n words of each sentence."""
        ngrams = []
        for sentence in tools.splitter(self.splitter).split(text):
            places = words(sentence.text_in(text))
            # A sentence of fewer words is one run.
            for first in range(
                max(1, len(places) - self.n + 1) if places else 0
            ):
                run = places[first : first + self.n]
                span = (
                    sentence.start + run[0][0],
                    sentence.start + run[-1][1],
                )
                ngrams.append(Part("ngram", text[span[0] : span[1]], (span,)))
        return ngrams
