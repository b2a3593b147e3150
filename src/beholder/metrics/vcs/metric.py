"""The metric VCS: texts to chunks to vectors, then the pure scoring."""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from beholder.embed.base import FloatArray
from beholder.embed.exact import products
from beholder.errors import ItemError
from beholder.metrics import Bounds, Tools, ValueInfo, param
from beholder.metrics.vcs import scoring
from beholder.metrics.vcs.evidence import AlignedMetric, VCSEvidence
from beholder.metrics.vcs.findings import alignment_detail
from beholder.records import Item, ItemScore, Span
from beholder.text import Segment, word_order, words

TOLERANCE = 1
"""Local chronology tolerance of the fixed rules by default; ``docs/vcs.md`` says why."""

VALUES = (
    ValueInfo(
        "vcs",
        "Video Comprehension Score: (SAS + NAS - 1) / max(SAS, NAS), or 0; by rules='fixed' times"
        " in_order of the detail",
    ),
    ValueInfo("sas", "semantic alignment: (GAS - (1 - LAS)) / LAS, or 0"),
    ValueInfo("gas", "global alignment: cosine of the whole texts"),
    ValueInfo(
        "las", "local alignment: harmonic mean of its precision and recall"
    ),
    ValueInfo(
        "las_precision",
        "mean similarity of the matches of the candidate's chunks",
    ),
    ValueInfo(
        "las_recall",
        "mean similarity of the matches of the reference's chunks",
    ),
    ValueInfo(
        "nas_d", "order by distance: harmonic mean of its precision and recall"
    ),
    ValueInfo(
        "nas_d_precision",
        "how near the candidate's chunks match to where they should",
    ),
    ValueInfo(
        "nas_d_recall",
        "how near the reference's chunks match to where they should",
    ),
    ValueInfo(
        "nas_l", "order by line: harmonic mean of its precision and recall"
    ),
    ValueInfo(
        "nas_l_precision", "how steadily the candidate's matches move on"
    ),
    ValueInfo("nas_l_recall", "how steadily the reference's matches move on"),
    ValueInfo("nas_f1", "harmonic mean of both order scores"),
    ValueInfo(
        "regularizer",
        "what unequal lengths give for nothing",
        higher_is_better=False,
    ),
    ValueInfo(
        "nas",
        "narrative alignment: (NAS-F1 - regularizer) / (1 - regularizer), or 0",
    ),
)


@dataclass(frozen=True)
class VCS(AlignedMetric):
    """Video Comprehension Score: does a long description cover the same content in the same order?

    Sentences (grouped to chunks) of candidate and reference are embedded; each chunk is matched to
    its best counterpart near the place where it is expected. Under the default rules a text of one
    or two sentences is cut at its clauses, so that it has an order. Semantic alignment (SAS: whole
    texts and matched chunks) and narrative alignment (NAS: order of the matches) together give VCS.

    Range 0..1, higher is better, 1 for equal texts, under the default rules. ``rules="paper"``,
    ``"package"`` (video-comprehension-score 1.0.0) and ``"head"`` (its repository in August 2025)
    reproduce the published scores with their defects; there values can leave 0..1 when vectors are
    not of length 1 or similarities are negative.

    Several references: the one with the highest VCS counts (of several level ones the one with the
    highest SAS, then GAS and LAS, then NAS), or the mean over all; units and detail belong to that
    one reference in both cases. The order of the references changes nothing.

    Source: the VCS paper (Video Comprehension Score, 2025); see ``docs/vcs.md`` for formulas and
    for what ``rules="fixed"`` changes and why.

    Raises:
        ConfigError: A parameter is out of its range.
    """

    rules: Literal["fixed", "paper", "package", "head"] = param(
        "fixed", "rule set"
    )
    lct: float | None = param(
        None,
        "local chronology tolerance in window units, 0 is strict; None: 1 in the rules 'fixed', 0"
        " in the published ones",
    )
    chunk_size: int = param(
        1,
        "sentences per chunk (clauses, where a short text is cut at them)",
        whole=(1, math.inf),
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
    embedder: str = param("ordered", "text embedder", tool="embedder")
    splitter: str = param("rules", "sentence splitter", tool="splitter")
    references: Literal["best", "mean"] = param("best", "several references")

    registered_name = "vcs"
    bounds = Bounds(compares="sentences")
    values = VALUES

    @property
    def tolerance(self) -> float:
        """The local chronology tolerance: as it was given, or that of the rules."""
        if self.lct is not None:
            return self.lct
        return TOLERANCE if self.rules == "fixed" else 0

    def config(self) -> dict[str, object]:
        """Return all fields, with the tolerance that the rules set."""
        return super().config() | {"lct": self.tolerance}

    def cut(
        self, name: str, text: str, tools: Tools
    ) -> tuple[Sequence[Span], Sequence[str]]:
        """Return the sentences or clauses of a text, grouped to chunks."""
        segments = tools.splitter(self.splitter).split(text)
        if self.rules == "fixed":
            segments = chunks_of(text, segments)
        starts = range(0, len(segments), self.chunk_size)
        groups = [
            segments[start : start + self.chunk_size] for start in starts
        ]
        spans = [(group[0].start, group[-1].end) for group in groups]
        chunks = [
            " ".join(segment.text_in(text) for segment in group)
            for group in groups
        ]
        # Blanks stand for layout.
        if self.rules == "fixed":
            chunks = [" ".join(chunk.split()) for chunk in chunks]
        return spans, chunks

    def score_item(self, item: Item, evidence: VCSEvidence) -> ItemScore:
        """Align the candidate with each reference and combine by the reference rule."""
        candidate = evidence.candidate
        scored = [
            self._pair(
                reference.chunks,
                candidate.chunks,
                reference.whole_text,
                candidate.whole_text,
            )
            for reference in evidence.references
        ]
        best = scoring.best_reference(
            [values for values, _ in scored], item.references
        )
        values, alignment = scored[best]
        if self.references == "mean":
            values = scoring.mean_values([values for values, _ in scored])
        order_factor = 1.0
        # Vectors of sentences hardly notice words that are out of order within
        # one.
        if self.rules == "fixed":
            order_factor = word_order.in_order(
                item.candidate, item.references, item.language
            )
            values = {**values, "vcs": values["vcs"] * order_factor}
        units = self.chunk_units(item, evidence, alignment, best)
        detail = {
            **alignment_detail(alignment, best),
            "in_order": order_factor,
        }
        return ItemScore(values, units, detail=detail)

    def score_embeddings(
        self,
        reference_chunks: npt.ArrayLike,
        candidate_chunks: npt.ArrayLike,
        reference_text: npt.ArrayLike,
        candidate_text: npt.ArrayLike,
    ) -> ItemScore:
        """Score one pair of texts from ready embeddings, used as given.

        The similarity of two chunks is the dot product of their vectors: for a cosine, give vectors
        of length 1. Arrays of float32 are scored in float32.

        Args:
            reference_chunks: (R, D).
            candidate_chunks: (G, D).
            reference_text: (D,), the whole reference.
            candidate_text: (D,), the whole candidate.

        Returns:
            All values; no units, since the texts are not known; windows, matches and similarities
            in ``detail`` (``beholder.metrics.vcs.alignment_detail`` describes it).

        Raises:
            ItemError: Wrong shapes, a text without chunks, NaN or infinite numbers.
        """
        values, alignment = self._pair(
            _vectors("reference_chunks", reference_chunks, 2),
            _vectors("candidate_chunks", candidate_chunks, 2),
            _vectors("reference_text", reference_text, 1),
            _vectors("candidate_text", candidate_text, 1),
        )
        return ItemScore(
            values, (), self._signature_of_given, alignment_detail(alignment)
        )

    @cached_property
    def _signature_of_given(self) -> str:
        return self.signature({"embedder": "given", "splitter": "given"})

    def _pair(
        self,
        reference_chunks: FloatArray,
        candidate_chunks: FloatArray,
        reference_text: FloatArray,
        candidate_text: FloatArray,
    ) -> tuple[dict[str, float], scoring.ChunkAlignment]:
        if reference_text.shape != candidate_text.shape:
            raise ItemError(
                f"reference_text and candidate_text have different lengths: "
                f"{reference_text.shape[0]} and {candidate_text.shape[0]}"
            )
        if reference_chunks.shape[1] != candidate_chunks.shape[1]:
            raise ItemError(
                f"reference_chunks and candidate_chunks have different widths: "
                f"{reference_chunks.shape[1]} and {candidate_chunks.shape[1]}"
            )
        with np.errstate(
            invalid="ignore", over="ignore"
        ):  # align says where it is not finite
            similarity = products(reference_chunks, candidate_chunks).astype(
                np.result_type(reference_chunks, candidate_chunks)
            )
        alignment = scoring.align(similarity, self.setting)
        gas = scoring.cosine(reference_text, candidate_text)
        return scoring.vcs_values(alignment, gas, self.setting), alignment


def _vectors(name: str, values: npt.ArrayLike, ndim: int) -> FloatArray:
    # float32 is kept: vectors are scored in their own precision.
    try:
        array = np.asarray(values)
        if array.dtype != np.float32 and array.dtype != np.float64:
            array = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ItemError(
            f"{name}: expected an array of numbers: {error}"
        ) from error
    if array.ndim != ndim:
        expected = "(chunks, dimensions)" if ndim == 2 else "(dimensions,)"
        raise ItemError(
            f"{name}: expected an array of shape {expected}, got {array.shape}"
        )
    return array


FEW_SENTENCES = 3
"""A text of fewer sentences is cut at its clauses."""

CLAUSE_WORDS = 5
"""Least number of words of a clause, so that lists and apposed words stay in one piece."""

# A mark inside a number (1,000 or 10:30) has no space after it. Closing quotes and brackets stay
# with what they close. The marks of Arabic, Chinese and Japanese need no space.
_MARK = re.compile(
    r"[,;:][\"'”’»)\]]*(?=\s)|[،؛、\uff0c\uff1b\uff1a][”’»」』）]*|\s[–—-]{1,2}(?=\s)|—"
)
_VISIBLE = re.compile(r"\S")


def chunks_of(text: str, sentences: Sequence[Segment]) -> list[Segment]:
    """Return the chunks of a text under ``rules="fixed"``: sentences, or clauses of one or two.

    Args:
        text: The text.
        sentences: Its sentences, in order.

    Returns:
        The sentences, if there are three or more. Else each sentence is cut after commas,
        semicolons, colons and dashes that leave at least five words on both sides.
    """
    if len(sentences) >= FEW_SENTENCES:
        return list(sentences)
    starts = [start for start, _ in words(text)]
    return [
        clause
        for sentence in sentences
        for clause in _clauses(text, sentence, starts)
    ]


def _clauses(
    text: str, sentence: Segment, starts: Sequence[int]
) -> list[Segment]:
    clauses: list[Segment] = []
    start, end = sentence.start, bisect_left(starts, sentence.end)
    for mark in _MARK.finditer(text, sentence.start, sentence.end):
        # Both what is cut off and what remains must have CLAUSE_WORDS words.
        before = bisect_left(starts, mark.end())
        if (
            min(before - bisect_left(starts, start), end - before)
            >= CLAUSE_WORDS
        ):
            clauses.append(Segment(start, mark.end()))
            start = next(
                _VISIBLE.finditer(text, mark.end())
            ).start()  # a word follows
    return [*clauses, Segment(start, sentence.end)]
