"""Granular baselines: parts of both texts, each scored by its most similar part of the other."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.exact import products
from beholder.errors import ItemError
from beholder.metrics import Bounds, Metric, Tools, ValueInfo, param
from beholder.metrics.classical.embedding import unit_range
from beholder.metrics.classical.rouge import f_beta
from beholder.records import Item, ItemScore, Span, Unit
from beholder.text.tokenize import words


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a text.

    Attributes:
        kind: What it is.
        text: As words, for people and for the embedder.
        spans: Where it stands.
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

    bounds: ClassVar[Bounds] = Bounds(compares="parts")
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("f1", "harmonic mean of both"),
        ValueInfo("precision", "mean over the candidate's parts"),
        ValueInfo("recall", "mean over a reference's parts, best over references"),
    )

    @abstractmethod
    def parts(self, text: str, tools: Tools) -> list[Part]:
        """The parts of a text."""

    async def gather(self, item: Item, tools: Tools) -> EmbeddedParts:
        """Cut all texts into parts and embed these.

        Raises:
            ItemError: A text has no parts.
        """
        sides = [self.parts(text, tools) for text in (item.candidate, *item.references)]
        for name, parts in zip(
            ["the candidate"] + [f"reference {i}" for i in range(1, len(sides))], sides, strict=True
        ):
            if not parts:
                raise ItemError(f"{name} has nothing that {self.registered_name} could compare")
        self.bounds.check_pairs(len(sides[0]), list(map(len, sides[1:])), self.registered_name)
        vectors = await tools.embed(self.embedder, [part.text for side in sides for part in side])
        return EmbeddedParts(sides[0], sides[1:], vectors)

    def score_item(self, item: Item, evidence: EmbeddedParts) -> ItemScore:
        """Best cosine per part, means, units."""
        n_ours = len(evidence.candidate)
        similar = unit_range(products(evidence.vectors[:n_ours], evidence.vectors[n_ours:]))
        ours = similar.max(axis=1)
        units = _units(evidence.candidate, ours, None)
        recalls, start = [], 0
        for index, parts in enumerate(evidence.references):
            theirs = similar[:, start : start + len(parts)].max(axis=0)
            units += _units(parts, theirs, index)
            recalls.append(float(np.mean(theirs)))
            start += len(parts)
        precision, recall = float(np.mean(ours)), max(recalls)
        values = {"f1": f_beta(precision, recall), "precision": precision, "recall": recall}
        return ItemScore(values, tuple(units))


def _units(parts: Sequence[Part], scores: FloatArray, reference: int | None) -> list[Unit]:
    return [
        Unit(
            part.kind,
            part.text,
            "candidate" if reference is None else "reference",
            part.spans,
            score=float(score),
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

    n: int = param(4, "words per run", whole=(1, None))
    splitter: str = param("rules", "sentence splitter", tool="splitter")

    registered_name: ClassVar[str] = "ngram_embed"

    def parts(self, text: str, tools: Tools) -> list[Part]:
        """Runs of words of each sentence."""
        found = []
        for sentence in tools.splitter(self.splitter).split(text):
            places = words(sentence.of(text))
            for first in range(max(1, len(places) - self.n + 1) if places else 0):
                run = places[first : first + self.n]
                span = (sentence.start + run[0][0], sentence.start + run[-1][1])
                found.append(Part("ngram", text[span[0] : span[1]], (span,)))
        return found
