"""The metric VCS-short: VCS over words, for captions of a sentence, with several references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from beholder.base.fingerprint import digest_data_file
from beholder.embed.base import FloatArray
from beholder.embed.exact import products
from beholder.metrics import Bounds, Tools, param
from beholder.metrics.base import f1, f_beta
from beholder.metrics.vcs import scoring
from beholder.metrics.vcs.evidence import (
    AlignedMetric,
    EmbeddedText,
    VCSEvidence,
)
from beholder.metrics.vcs.findings import alignment_detail
from beholder.metrics.vcs.metric import VALUES
from beholder.records import Item, ItemScore, Span, Unit
from beholder.text import frequency, words

_HELP = {
    "vcs": "VCS-short: SAS, lowered by up to a fifth when NAS is low",
    "sas": "semantic alignment: harmonic mean of GAS and LAS",
    "las": "local alignment: F-beta of its precision and recall, beta 0.5",
    "las_precision": "weighted mean similarity of the candidate's words to those of all references",
    "las_recall": "weighted mean similarity of the reference's words to those of the candidate",
}


@dataclass(frozen=True)
class VCSShort(AlignedMetric):
    """VCS-short: VCS with words as chunks, for captions of one or two sentences.

    Stop words and punctuation are left out; each other word, in lower case, is embedded by itself
    and matched to the words of the reference as the chunks of VCS are.

    Range 0..1, higher is better, 1 for equal texts, under the default rules. They weight words by
    how much they say (``beholder.text.frequency``), leave out what similarity words have by
    chance, count precision twice as much as recall, join LAS and GAS by their harmonic mean, and
    let word order take off a fifth at most; ``docs/vcs.md`` says why. ``rules="paper"`` (or
    ``package``, ``head``) computes VCS over words literally.

    Several references: ``union`` (default) takes each word of the candidate at its best match in
    any reference, and recall, GAS and NAS each at the reference where it is best; ``best`` takes
    all from the reference with the highest score; ``mean`` averages over the references. Units and
    detail show the reference with the highest score in each case.

    Source: the VCS paper (Video Comprehension Score, 2025), which describes VCS-short in words and
    leaves tokens, stop words, case and several references open.

    Raises:
        ConfigError: A parameter is out of its range.
    """

    rules: Literal["fixed", "paper", "package", "head"] = param(
        "fixed", "rule set"
    )
    lct: float = param(
        0, "local chronology tolerance in window units; 0 is strict"
    )
    context_cutoff: float = param(
        0.6, "best similarity from which near-best matches count"
    )
    context_window_control: float = param(
        4.0, "larger leaves fewer near-best matches"
    )
    nas_blend_factor: float = param(
        0.0, "rules='head': 1 window coverage .. -1 length imbalance"
    )
    nas_coverage_cutoff: float = param(
        0.5, "rules='head': coverage at which its penalty is full"
    )
    stop_words: Literal["english", "none"] = param("english", "words left out")
    embedder: str = param("static", "text embedder", tool="embedder")
    references: Literal["union", "best", "mean"] = param(
        "union", "several references"
    )

    registered_name = "vcs_short"
    bounds = Bounds(compares="words")
    values = tuple(
        replace(
            info,
            help=_HELP.get(info.name, info.help.replace("chunks", "words")),
        )
        for info in VALUES
    )

    def identities(self, tools: Tools) -> dict[str, str]:
        """Identities of the embedder and of the stop list."""
        return super().identities(tools) | {
            "stop_words": identity(self.stop_words)
        }

    def cut(
        self, name: str, text: str, tools: Tools
    ) -> tuple[Sequence[Span], Sequence[str]]:
        """Return the words of a text without stop words."""
        word_texts, spans = content_words(text, self.stop_words)
        return spans, word_texts

    def score_item(self, item: Item, evidence: VCSEvidence) -> ItemScore:
        """Align the candidate's words with each reference's and combine by the reference rule."""
        candidate = _words(item.candidate, evidence.candidate)
        pairs = [
            self._align(text, reference, candidate, evidence.candidate)
            for text, reference in zip(
                item.references, evidence.references, strict=True
            )
        ]
        values_by_reference = [
            pair_values(pair, self.setting) for pair in pairs
        ]
        best = scoring.best_reference(values_by_reference, item.references)
        values, precision = values_by_reference[best], pairs[best].precision
        # Under the union each word has its best match anywhere; the units show
        # it.
        if self.references == "union":
            values, precision = (
                union_values(pairs, values_by_reference, self.setting),
                best_over(pairs),
            )
        elif self.references == "mean":
            values = scoring.mean_values(values_by_reference)
        alignment = pairs[best].alignment
        units = tuple(
            _with_any_reference(
                unit, float(precision[place]), self.context_cutoff
            )
            if unit.side == "candidate"
            else unit
            for place, unit in enumerate(
                self.chunk_units(item, evidence, alignment, best, kind="word")
            )
        )
        return ItemScore(
            values, units, detail=alignment_detail(alignment, best)
        )

    def _align(
        self,
        reference_text: str,
        reference: EmbeddedText,
        candidate_words: Sequence[str],
        candidate: EmbeddedText,
    ) -> WordAlignment:
        reference_words = _words(reference_text, reference)
        similarity = products(reference.chunks, candidate.chunks)
        if self.rules == "fixed":
            # A word equals itself, also where the embedder does not know it.
            same = np.array(reference_words)[:, None] == np.array(
                candidate_words
            )
            similarity = np.where(same, similarity.dtype.type(1), similarity)
        weights = (_weights(candidate_words), _weights(reference_words))
        gas = scoring.cosine(reference.whole_text, candidate.whole_text)
        return WordAlignment(
            scoring.align(similarity, self.setting), gas, *weights
        )


def _words(text: str, embedded: EmbeddedText) -> list[str]:
    return [text[start:end].lower() for start, end in embedded.spans]


def _weights(words: Sequence[str]) -> FloatArray:
    return np.array([frequency.weight(word) for word in words])


def _with_any_reference(unit: Unit, similarity: float, cutoff: float) -> Unit:
    """Return the unit with the score of its best match in any reference."""
    # A word that another reference has is no mistake.
    is_elsewhere = unit.verdict == "unmatched" and similarity >= cutoff
    return replace(
        unit,
        score=similarity,
        verdict="match" if is_elsewhere else unit.verdict,
    )


StopWords: TypeAlias = Literal["english", "none"]

_ENGLISH = Path(__file__).with_name("stop_words_english.txt")


def identity(stop_words: StopWords) -> str:
    """Return the name of the stop list in signatures, with a digest of it."""
    return (
        f"english@{digest_data_file(_ENGLISH)[:12]}"
        if stop_words == "english"
        else stop_words
    )


def content_words(
    text: str, stop_words: StopWords
) -> tuple[list[str], list[Span]]:
    """Return the words of a text in lower case without stop words, and their character ranges.

    A text of stop words alone keeps them all: something has to be compared.
    """
    all_words = [
        (text[start:end].lower(), (start, end)) for start, end in words(text)
    ]
    stops = _english() if stop_words == "english" else frozenset()
    # The list has straight apostrophes.
    kept_words = [
        (word, span)
        for word, span in all_words
        if word.replace("’", "'") not in stops
    ] or all_words
    return [word for word, _ in kept_words], [span for _, span in kept_words]


@cache
def _english() -> frozenset[str]:
    lines = _ENGLISH.read_text(encoding="utf-8").splitlines()
    return frozenset(
        word
        for line in lines
        if not line.startswith("#")
        for word in line.split()
    )


BETA = 0.5
"""A mistake of a short caption counts twice as much as an omission."""

FLOOR = 0.2
"""Similarity that words have by chance: the like of it, and less, counts 0."""

DISCOUNT = 0.2
"""The most that word order can take off: a witness of little weight in so short a text."""


@dataclass(frozen=True, slots=True, eq=False)
class WordAlignment:
    """The words of a candidate against those of one reference.

    Attributes:
        alignment: Matches of both directions.
        gas: Cosine of the whole texts.
        candidate_weights: Weight of each word of the candidate, (G,).
        reference_weights: Weight of each word of the reference, (R,).
    """

    alignment: scoring.ChunkAlignment
    gas: float
    candidate_weights: FloatArray
    reference_weights: FloatArray

    @property
    def precision(self) -> FloatArray:
        """Similarity of the match of each word of the candidate, (G,)."""
        return self.alignment.precision.similarities


def pair_values(
    pair: WordAlignment, setting: scoring.Setting
) -> dict[str, float]:
    """Return all values of the candidate against one reference by name, headline first."""
    values = scoring.vcs_values(pair.alignment, pair.gas, setting)
    if setting.rules == "fixed":
        recall = pair.alignment.recall.similarities
        values["las_precision"] = _mean_above_chance(
            pair.precision, pair.candidate_weights
        )
        values["las_recall"] = _mean_above_chance(
            recall, pair.reference_weights
        )
    return _combine(values, setting)


def best_over(pairs: Sequence[WordAlignment]) -> FloatArray:
    """Return the similarity of each candidate word to its best match in any reference, (G,)."""
    best: FloatArray = np.max([pair.precision for pair in pairs], axis=0)
    return best


def union_values(
    pairs: Sequence[WordAlignment],
    each: Sequence[dict[str, float]],
    setting: scoring.Setting,
) -> dict[str, float]:
    """Return all values of the candidate against several references together.

    Each word of the candidate counts at its best match in any reference; recall, whole-text
    similarity and narrative alignment each at the reference where it is best.

    Args:
        pairs: The candidate against each reference.
        each: ``pair_values`` of each.
        setting: Parameters.
    """
    # Of references with the same NAS any order would do; its parts decide.
    best = max(
        each,
        key=lambda reference_values: [
            reference_values["nas"],
            *reference_values.values(),
        ],
    )
    values = dict(best)
    precision = best_over(pairs)
    values["las_precision"] = (
        _mean_above_chance(precision, pairs[0].candidate_weights)
        if setting.rules == "fixed"
        else float(precision.mean())
    )
    values["las_recall"] = max(
        reference_values["las_recall"] for reference_values in each
    )
    values["gas"] = max(reference_values["gas"] for reference_values in each)
    return _combine(values, setting)


def _mean_above_chance(similarities: FloatArray, weights: FloatArray) -> float:
    """Return the weighted mean of the shares by which similarities exceed chance, 0..1."""
    shares = np.clip((similarities - FLOOR) / (1 - FLOOR), 0, 1)
    return float(np.average(shares, weights=weights))


def _combine(
    values: dict[str, float], setting: scoring.Setting
) -> dict[str, float]:
    """Set LAS, SAS and VCS from their parts."""
    # Under the fixed rules word order lowers SAS a little; published rules
    # join SAS and NAS.
    precision, recall = values["las_precision"], values["las_recall"]
    if setting.rules == "fixed":
        values["las"] = f_beta(precision, recall, BETA)
        values["sas"] = f1(values["las"], values["gas"])
        values["vcs"] = values["sas"] * (1 - DISCOUNT * (1 - values["nas"]))
    else:
        values["las"] = scoring.local(precision, recall, setting)
        values["sas"] = scoring.semantic(values["gas"], values["las"])
        values["vcs"] = scoring.comprehension(values["sas"], values["nas"])
    return values
