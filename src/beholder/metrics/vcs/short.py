"""The metric VCS-short: VCS over words, for captions of a sentence, with several references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.exact import products
from beholder.errors import ItemError
from beholder.metrics.base import Metric, ValueInfo
from beholder.metrics.bounds import Bounds
from beholder.metrics.params import param
from beholder.metrics.tools import Tools
from beholder.metrics.vcs.combine import best_reference, mean_values
from beholder.metrics.vcs.drawing import score_figure, score_steps
from beholder.metrics.vcs.evidence import (
    EmbeddedText,
    Parts,
    VCSEvidence,
    embed_parts,
    named_texts,
)
from beholder.metrics.vcs.findings import alignment_detail, chunk_units, chunk_verdicts
from beholder.metrics.vcs.metric import VALUES
from beholder.metrics.vcs.scoring import align, cosine
from beholder.metrics.vcs.setting import Setting
from beholder.metrics.vcs.short_scoring import (
    WordAlignment,
    best_over,
    pair_values,
    union_values,
)
from beholder.metrics.vcs.words import content_words, identity
from beholder.records import Item, ItemScore, Unit
from beholder.text import frequency

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_HELP = {
    "vcs": "VCS-short: SAS, lowered by up to a fifth when NAS is low",
    "sas": "semantic alignment: harmonic mean of GAS and LAS",
    "las": "local alignment: F-beta of its precision and recall, beta 0.5",
    "las_precision": "weighted mean similarity of the candidate's words to those of all references",
    "las_recall": "weighted mean similarity of the reference's words to those of the candidate",
}


@dataclass(frozen=True)
class VCSShort(Metric[VCSEvidence]):
    """VCS-short: VCS with words for chunks, for captions of a sentence or two.

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

    rules: Literal["fixed", "paper", "package", "head"] = param("fixed", "rule set")
    lct: float = param(0, "local chronology tolerance in window units; 0 is strict")
    context_cutoff: float = param(0.6, "best similarity from which near-best matches count")
    context_window_control: float = param(4.0, "larger leaves fewer near-best matches")
    nas_blend_factor: float = param(0.0, "rules='head': 1 window coverage .. -1 length imbalance")
    nas_coverage_cutoff: float = param(0.5, "rules='head': coverage at which its penalty is full")
    stop_words: Literal["english", "none"] = param("english", "words left out")
    embedder: str = param("static", "text embedder", tool="embedder")
    references: Literal["union", "best", "mean"] = param("union", "several references")

    registered_name: ClassVar[str] = "vcs_short"
    bounds: ClassVar[Bounds] = Bounds(compares="words")
    values: ClassVar[tuple[ValueInfo, ...]] = tuple(
        replace(info, help=_HELP.get(info.name, info.help.replace("chunks", "words")))
        for info in VALUES
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.setting  # checked when made

    @cached_property
    def setting(self) -> Setting:
        """The parameters of the arithmetic."""
        return Setting(
            self.rules,
            self.lct,
            self.context_cutoff,
            self.context_window_control,
            self.nas_blend_factor,
            self.nas_coverage_cutoff,
        )

    def identities(self, tools: Tools) -> dict[str, str]:
        """Identity of the embedder, the stop list with its tokenizer, and the word weights."""
        found = super().identities(tools) | {"stop_words": identity(self.stop_words)}
        if self.rules == "fixed":
            found["rules"] = f"fixed@{frequency.IDENTITY}"
        return found

    async def gather(self, item: Item, tools: Tools) -> VCSEvidence:
        """Find and embed the words of all texts of an item, and the texts.

        Raises:
            ItemError: A text has no word, or none that the embedder knows.
        """
        parts: list[Parts] = []
        for name, text in named_texts(item):
            found, spans = content_words(text, self.stop_words)
            if not found:
                raise ItemError(f"the {name} has no word: VCS-short needs at least one")
            parts.append(Parts(name, text, spans, found))
        n_parts = [len(each.spans) for each in parts]
        self.bounds.check_pairs(n_parts[0], n_parts[1:], self.registered_name)
        embedded = await embed_parts(tools, self.embedder, parts)
        return VCSEvidence(embedded[0], tuple(embedded[1:]), self.identities(tools))

    def score_item(self, item: Item, evidence: VCSEvidence) -> ItemScore:
        """Align the candidate's words with each reference's and join by the reference rule."""
        candidate = _words(item.candidate, evidence.candidate)
        pairs = [
            self._align(text, reference, candidate, evidence.candidate)
            for text, reference in zip(item.references, evidence.references, strict=True)
        ]
        each = [pair_values(pair, self.setting) for pair in pairs]
        best = best_reference(each, item.references)
        values, precision = each[best], pairs[best].precision
        if self.references == "union":
            values, precision = union_values(pairs, each, self.setting), best_over(pairs)
        elif self.references == "mean":
            values = mean_values(each)
        units = self._units(item, evidence, pairs[best], precision, best)
        detail = alignment_detail(pairs[best].alignment, best)
        return ItemScore(values, units, self.signature(evidence.identities), detail)

    def figure(self, score: ItemScore) -> Figure:
        """Draw the alignment of the words; see ``VCS.figure``.

        Raises:
            ConfigError: The score is of another metric and has no alignment.
        """
        return score_figure(score, self.setting)

    def steps(self, score: ItemScore) -> dict[str, Figure]:
        """Draw how the score of one item came about, step by step; see ``VCS.steps``.

        Raises:
            ConfigError: The score is of another metric and has no alignment.
        """
        return score_steps(score, self.setting)

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
            same = np.array(reference_words)[:, None] == np.array(candidate_words)
            similarity = np.where(same, similarity.dtype.type(1), similarity)
        return WordAlignment(
            align(similarity, self.setting),
            cosine(reference.whole, candidate.whole),
            _weights(candidate_words),
            _weights(reference_words),
        )

    def _units(
        self,
        item: Item,
        evidence: VCSEvidence,
        pair: WordAlignment,
        precision: FloatArray,
        index: int,
    ) -> tuple[Unit, ...]:
        detail = alignment_detail(pair.alignment, index)
        verdicts = chunk_verdicts(detail, self.setting)
        units = chunk_units(
            pair.alignment,
            verdicts,
            {"candidate": item.candidate, "reference": item.references[index]},
            {"candidate": evidence.candidate.spans, "reference": evidence.references[index].spans},
            index,
            kind="word",
        )
        return tuple(
            _with_any_reference(unit, float(precision[place]), self.context_cutoff)
            if unit.side == "candidate"
            else unit
            for place, unit in enumerate(units)
        )


def _words(text: str, embedded: EmbeddedText) -> list[str]:
    return [text[start:end].lower() for start, end in embedded.spans]


def _weights(words: Sequence[str]) -> FloatArray:
    return np.array([frequency.weight(word) for word in words])


def _with_any_reference(unit: Unit, similarity: float, cutoff: float) -> Unit:
    """The unit with the score of its best match in any reference."""
    found_elsewhere = unit.verdict == "unmatched" and similarity >= cutoff
    return replace(unit, score=similarity, verdict="match" if found_elsewhere else unit.verdict)
