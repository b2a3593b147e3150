"""Overlap of words and of characters: BLEU, ROUGE, chrF and TER."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, TypeAlias

from beholder.asking.params import installed_version
from beholder.embed.base import FloatArray
from beholder.errors import ItemError
from beholder.metrics import Bounds, Metric, Tools, ValueInfo, param
from beholder.metrics.base import f_beta
from beholder.metrics.classical.tokens import (
    TokenizedTexts,
    WordMetric,
    Words,
    clipped_matches,
)
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

    beta: float = param(
        1.2, "weight of recall in rouge_l", number=(0, math.inf), above=True
    )

    registered_name = "rouge"
    bounds = Bounds(compares="words")
    values = (
        ValueInfo(
            "rouge_l",
            "F of the longest common subsequence, recall weighted by beta",
        ),
        ValueInfo("rouge_l_f1", "F1 of the longest common subsequence"),
        ValueInfo("rouge_1", "F1 of words"),
        ValueInfo("rouge_2", "F1 of pairs of words"),
    )

    def score_item(self, item: Item, evidence: TokenizedTexts) -> ItemScore:
        """Compare with each reference, then combine."""
        candidate, references = evidence.candidate, evidence.references
        common = lcs_lengths(candidate, references)
        precisions = [length / len(candidate) for length in common]
        recalls = [
            length / len(reference)
            for length, reference in zip(common, references, strict=True)
        ]
        values = {
            # As the captioning code does, P and R may come from two
            # references.
            "rouge_l": f_beta(max(precisions), max(recalls), self.beta),
            "rouge_l_f1": max(map(f_beta, precisions, recalls)),
            "rouge_1": _ngram_f1(candidate, references, 1),
            "rouge_2": _ngram_f1(candidate, references, 2),
        }
        return ItemScore(values)


def lcs_lengths(candidate: Words, references: Iterable[Words]) -> list[int]:
    """Return the length of the longest common subsequence with each reference.

    One row of the usual table is one long integer, and a word costs a few operations on it
    (Crochemore et al. 2001, Hyyro 2004).
    """
    # Bit i of a word's number is set if the candidate has it at place i.
    places: dict[str, int] = {}
    for place, word in enumerate(candidate):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(candidate)) - 1
    lengths = []
    for reference in references:
        # A bit of the row falls to 0 where the subsequence grows by one.
        row = full
        for word in reference:
            matches = row & places.get(word, 0)
            row = ((row + matches) | (row - matches)) & full
        lengths.append(len(candidate) - row.bit_count())
    return lengths


def _ngram_f1(
    candidate: Words, references: Sequence[Words], order: int
) -> float:
    shares = [0.0]
    for reference in references:
        shared = clipped_matches(candidate, (reference,), order)
        if shared:
            # F1 of counts: twice the shared runs over the runs of both texts.
            n_both = len(candidate) + len(reference) - 2 * order + 2
            shares.append(2 * shared / n_both)
    return max(shares)


# chrF is counted here as sacrebleu counts: its scores are out of 100, and scaled back they are off
# in the last digit; and it takes longer to load than most data take to score.
Grams: TypeAlias = tuple[Counter[str], ...]


@dataclass(frozen=True)
class ChrF(Metric[list[list[int]]]):
    """chrF: character runs of length 1..6 that candidate and reference share, as an F-score.

    Precision and recall per length, means of both over the lengths that both texts have, then F
    with recall weighted by beta = 2; of several references the best counts. White space is left
    out. Works in any script without a tokenizer. Range 0..1 (sacrebleu prints 0..100; the same
    numbers as its chrF2), higher is better. The corpus value is made from summed counts.

    Source: Popovic 2015; defaults of Post 2018 (sacrebleu).

    Raises:
        ConfigError: A parameter is out of its range.
    """

    char_order: int = param(
        6, "longest run of characters", whole=(1, math.inf)
    )
    beta: float = param(
        2.0, "weight of recall", number=(0, math.inf), above=True
    )

    registered_name = "chrf"
    values = (ValueInfo("chrf", "F of character runs"),)
    corpus_values = (
        ValueInfo("corpus_chrf", "F of character runs, of summed counts"),
    )

    async def gather(self, item: Item, tools: Tools) -> list[list[int]]:
        """Count the runs of each length, of each text and shared, for each reference."""
        candidate = _grams(item.candidate, self.char_order)
        return [
            _statistics(candidate, _grams(reference, self.char_order))
            for reference in item.references
        ]

    def score_item(self, item: Item, evidence: list[list[int]]) -> ItemScore:
        """Return the F of the best reference."""
        best = max(evidence, key=self._f)
        return ItemScore({"chrf": self._f(best)}, detail={"statistics": best})

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """Return F of summed counts."""
        return {"corpus_chrf": self._f([int(count) for count in statistics])}

    def _f(self, statistics: Sequence[int]) -> float:
        precision = recall = 0.0
        lengths = 0
        # Lengths that one of the texts is too short for are left out of the
        # means.
        for start in range(0, len(statistics), 3):
            n_candidate, n_reference, shared = statistics[start : start + 3]
            if n_candidate and n_reference:
                precision += shared / n_candidate
                recall += shared / n_reference
                lengths += 1
        if not lengths:
            return 0.0
        return f_beta(precision / lengths, recall / lengths, self.beta)


@lru_cache(maxsize=1 << 12)
def _grams(text: str, char_order: int) -> Grams:
    joined = "".join(text.split())
    return tuple(
        Counter(
            joined[start : start + n] for start in range(len(joined) - n + 1)
        )
        for n in range(1, char_order + 1)
    )


def _statistics(candidate: Grams, reference: Grams) -> list[int]:
    counts: list[int] = []
    for candidate_counts, reference_counts in zip(
        candidate, reference, strict=True
    ):
        shared = sum(
            min(count, reference_counts[gram])
            for gram, count in candidate_counts.items()
            if gram in reference_counts
        )
        # sacrebleu's sums over items leave out a length that the reference is too short for.
        counts += (
            candidate_counts.total() if reference_counts else 0,
            reference_counts.total(),
            shared,
        )
    return counts


@dataclass(frozen=True)
class TER(WordMetric):
    """Translation edit rate: edits (insert, delete, replace, move a run) per word of the reference.

    The edits to the nearest reference over the mean length of the references, as the package
    sacrebleu counts them. 0 for equal texts, no upper end, lower is better. The corpus value is
    all edits over all words. Made for single sentences: the search for moves takes long on long
    texts, so texts over ``max_words`` are refused.

    Source: Snover et al. 2006.

    Raises:
        ConfigError: A parameter is unknown or out of its range.
    """

    max_words: int = param(
        500, "longest text, in words", affects_score=False, whole=(1, math.inf)
    )

    registered_name = "ter"
    values = (
        ValueInfo(
            "ter", "edits per reference word", high=1e9, higher_is_better=False
        ),
    )
    corpus_values = (
        ValueInfo(
            "corpus_ter",
            "all edits over all words",
            high=1e9,
            higher_is_better=False,
        ),
    )

    def identities(self, tools: Tools) -> dict[str, str]:
        """Identities of the tokenizer and of the package that counts."""
        identities = super().identities(tools)
        identities["tokenizer"] += (
            f"+sacrebleu@{installed_version('sacrebleu')}"
        )
        return identities

    async def gather(self, item: Item, tools: Tools) -> TokenizedTexts:
        """Split all texts into words.

        Raises:
            ItemError: A text has no words, or more than ``max_words``.
        """
        texts = await super().gather(item, tools)
        longest = max(map(len, (texts.candidate, *texts.references)))
        if longest > self.max_words:
            raise ItemError(
                f"a text has {longest} words; ter takes up to max_words={self.max_words}"
            )
        return texts

    def score_item(self, item: Item, evidence: TokenizedTexts) -> ItemScore:
        """Count the edits to the nearest reference."""
        from sacrebleu.metrics import ter  # loads slowly

        scorer: Any = ter.TER()
        result = scorer.sentence_score(
            " ".join(evidence.candidate),
            [" ".join(words) for words in evidence.references],
        )
        edits, words = float(result.num_edits), float(result.ref_length)
        return ItemScore(
            {"ter": edits / words}, detail={"statistics": [edits, words]}
        )

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """Return all edits over all words."""
        edits, words = statistics
        return {"corpus_ter": float(edits / words)}


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

    registered_name = "bleu"
    values = (
        ValueInfo("bleu", "BLEU-4"),
        ValueInfo("bleu_1", "BLEU with words alone"),
        ValueInfo("bleu_2", "BLEU up to pairs of words"),
        ValueInfo("bleu_3", "BLEU up to runs of three words"),
    )
    corpus_values = tuple(
        ValueInfo(f"corpus_{value.name}", f"{value.help}, of summed counts")
        for value in values
    )

    def identities(self, tools: Tools) -> dict[str, str]:
        """Identities of the tokenizer and of the package that counts."""
        identities = super().identities(tools)
        if self.rules == "sacrebleu":
            identities["rules"] = f"sacrebleu@{installed_version('sacrebleu')}"
        return identities

    def score_item(self, item: Item, evidence: TokenizedTexts) -> ItemScore:
        """Count the n-grams, then combine them."""
        statistics = bleu_statistics(evidence.candidate, evidence.references)
        values = zip(
            self.values, self._values(statistics, smooth=True), strict=True
        )
        return ItemScore(
            {v.name: x for v, x in values}, detail={"statistics": statistics}
        )

    def corpus(self, statistics: FloatArray) -> dict[str, float]:
        """Return BLEU of summed counts."""
        values = self._values(
            [int(count) for count in statistics], smooth=False
        )
        return dict(
            zip((v.name for v in self.corpus_values), values, strict=True)
        )

    def _values(
        self, statistics: Sequence[int], *, smooth: bool
    ) -> list[float]:
        """Return BLEU-4, then BLEU-1 to BLEU-3."""
        if self.rules == "caption":
            by_order = _caption_bleu(statistics)
        else:
            by_order = _sacrebleu(statistics, smooth=smooth)
        return [by_order[-1], *by_order[:-1]]


def bleu_statistics(
    candidate: Words, references: Sequence[Words]
) -> list[int]:
    """Return the counts that BLEU is computed from; they add up over items.

    Args:
        candidate: Words of the candidate.
        references: Words of each reference.

    Returns:
        Ten numbers: clipped matches of orders 1..4, n-grams of the candidate of orders 1..4, words
        of the candidate, words of the reference nearest in length (the shorter of two).
    """
    matches = [
        clipped_matches(candidate, references, order) for order in ORDERS
    ]
    length = len(candidate)
    totals = [max(0, length - order + 1) for order in ORDERS]
    # Of two references that are equally near, the shorter one.
    nearest = min((abs(len(r) - length), len(r)) for r in references)[1]
    return [*matches, *totals, length, nearest]


def _caption_bleu(statistics: Sequence[int]) -> list[float]:
    matches, totals = statistics[:4], statistics[4:8]
    length, nearest = statistics[8:]
    # The brevity penalty, then geometric means of growing order from one
    # running product.
    ratio = (length + _TINY) / (nearest + _SMALL)
    penalty = math.exp(1 - 1 / ratio) if ratio < 1 else 1.0
    product, values = 1.0, []
    for order, match, total in zip(ORDERS, matches, totals, strict=True):
        product *= (match + _TINY) / (total + _SMALL)
        values.append(min(1.0, product ** (1 / order) * penalty))
    return values


def _sacrebleu(statistics: Sequence[int], *, smooth: bool) -> list[float]:
    from sacrebleu.metrics import (
        bleu as theirs,
    )  # loads slowly, and only these rules need it

    compute: Any = theirs.BLEU.compute_bleu
    values = []
    # One call per order, since the package smooths each order by itself.
    for order in ORDERS:
        result = compute(
            correct=list(statistics[:order]),
            total=list(statistics[4 : 4 + order]),
            sys_len=statistics[8],
            ref_len=statistics[9],
            smooth_method="exp",
            effective_order=smooth,
            max_ngram_order=order,
        )
        values.append(min(1.0, result.score / 100))
    return values
