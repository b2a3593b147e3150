"""The metric Accord: units of scene graphs, words in context and whole texts, in equal parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from beholder.asking.params import param
from beholder.asking.tools import Tools
from beholder.embed.base import FloatArray
from beholder.metrics.base import Bounds, Metric, ValueInfo
from beholder.metrics.posh.metric import PoSh, PoShEvidence
from beholder.metrics.posh.published import f1
from beholder.metrics.posh.scoring import RATES
from beholder.metrics.wording import (
    Reading,
    compare_words,
    peer_adjusted_recall,
    read_all,
)
from beholder.records import Item, ItemScore
from beholder.text import frequency, word_order
from beholder.text.kinds import bases
from beholder.text.layout import without_layout
from beholder.text.tokenize import folded_words

if TYPE_CHECKING:
    from beholder.judges.builtin.analysed import AnalysedText

_EVEN = 0.5
"""Probability from which a sentence counts as entailed."""
_CONTENT = 0.3
"""Weight from which a word is one of content: those of the articles and prepositions are lower."""
_ARTICLES = frozenset(("a", "an", "the"))
_CHANGING = frozenset(
    (
        "without",
        "none",
        "nobody",
        "nothing",
        "only",
        "except",
        "almost",
        "nearly",
        "half",
        "fake",
    )
)
"""Words that are no negations and yet change what the words around them claim."""


@dataclass(frozen=True, slots=True, eq=False)
class AccordEvidence:
    """All that scoring needs.

    Attributes:
        units: Evidence of PoSh.
        candidate: The candidate, read.
        references: Each distinct reference, read.
        excluded: See ``excluded``; 1 where a unit is contradicted.
        identities: Identity of each tool by the field that names it.
    """

    units: PoShEvidence
    candidate: Reading
    references: tuple[Reading, ...]
    excluded: float
    identities: dict[str, str]


@dataclass(frozen=True)
class Accord(Metric[AccordEvidence]):
    """Accord, the headline metric: how far a description accords with the references.

    The mean of three views of the same texts, each in 0..1:

    - ``f1``: the units of PoSh. Which entities, attributes and relations does the other text have?
      Mistakes and omissions are shown with their places, as PoSh shows them.
    - ``words``: each word's nearest word on the other side, by vectors of words in their context.
    - ``sentence``: cosine of the whole texts, half with the best reference, half with the mean
      vector of all.

    Of several references, recall of units and of words is the mean over references, set beside
    what the references recall of one another by their words, as in PoSh. A text that is a
    reference's words out of order keeps down to a fifth (``in_order``). Equal words are no proof:
    where, by the built-in entailment model, a sentence contradicts all references, or each of them
    has one that contradicts the text, or where a unit is contradicted, this costs up to ``caution``
    of the value (``consistent``).
    It costs less if the texts have few words in common, because they may describe different parts.

    Range 0..1, higher is better. It follows people's ratings of short descriptions more closely
    than PoSh and needs no model call with the built-in judge; see ``docs/accord.md``. English only.

    Raises:
        ConfigError: A parameter is out of its range.
    """

    judge: str = param(
        "builtin", "who grades units: builtin, or a model", tool="judge"
    )
    encoder: str = param(
        "minilm",
        "encoder of words in context: minilm, hf:NAME",
        tool="encoder",
    )

    caution: float = param(
        0.5,
        "share of the value that a contradicted sentence costs, 0 to 1; 0 asks no model",
        number=(0, 1),
    )

    registered_name: ClassVar[str] = "accord"
    operations: ClassVar[tuple[str, ...]] = ("presence", "contradict")
    bounds: ClassVar[Bounds] = Bounds(characters=100_000, compares="words")
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo(
            "accord",
            "mean of f1, words and sentence, times in_order and consistent",
        ),
        ValueInfo(
            "f1", "of PoSh: harmonic mean of precision and recall of units"
        ),
        ValueInfo(
            "precision",
            "of PoSh: mean grade of the candidate's units; low for mistakes",
        ),
        ValueInfo(
            "recall",
            "of PoSh: mean grade of the reference's units; low for omissions",
        ),
        ValueInfo("words", "how near the words come in their contexts"),
        ValueInfo("sentence", "cosine of the whole texts"),
        ValueInfo(
            "in_order",
            "1, down to 0.2 for a reference's words out of order",
            0.2,
        ),
        ValueInfo(
            "consistent",
            "1, down to 1 - caution for a sentence that references exclude",
        ),
        *RATES,
    )

    @property
    def units(self) -> PoSh:
        """The metric of the units."""
        return PoSh(judge=self.judge, encoder=self.encoder, asking="one")

    async def gather(self, item: Item, tools: Tools) -> AccordEvidence:
        """Gather what PoSh gathers, and encode all texts.

        Raises:
            ItemError: A text is not English.
        """
        texts = (item.candidate, *item.references)
        self.bounds.check_words(texts, self.registered_name)
        # Units first: a text that is refused is not encoded.
        units = await self.units.gather(item, tools)
        # A reference that is there twice must not weigh twice.
        references = [item.references[place] for place in units.plan.distinct]
        plain = [
            without_layout(text) for text in (item.candidate, *references)
        ]
        candidate_reading, *reference_readings = await read_all(
            plain, tools.encoder(self.encoder)
        )
        exclusion = 0.0
        if self.caution:
            # A contradicted unit costs what the worst sentence could, so that none is compared.
            is_contradicted = (
                self.units.score_item(item, units).values["contradicted_rate"]
                > 0
            )
            exclusion = (
                1.0
                if is_contradicted
                else exclusion_certainty(item.candidate, item.references)
            )
        return AccordEvidence(
            units,
            candidate_reading,
            tuple(reference_readings),
            exclusion,
            self.identities(tools),
        )

    def score_item(self, item: Item, evidence: AccordEvidence) -> ItemScore:
        """Turn evidence into a score.

        Raises:
            ItemError: No reference names anything.
        """
        unit_score = self.units.score_item(item, evidence.units)
        wording = compare_words(evidence.candidate, evidence.references)
        words = f1(
            wording.precision,
            peer_adjusted_recall(wording.recall, evidence.units.plan.peers),
        )
        sentence = compare_wholes(evidence.candidate, evidence.references)
        order_factor = word_order.in_order(item.candidate, item.references)
        contradiction = max(
            evidence.excluded,
            float(unit_score.values["contradicted_rate"] > 0),
        )
        # In texts with few words in common, sentences are often about different things.
        consistent = 1 - self.caution * contradiction * words**4
        values = {
            "accord": order_factor
            * consistent
            * (unit_score.values["f1"] + words + sentence)
            / 3,
            **unit_score.values,
            "words": words,
            "sentence": sentence,
            "in_order": order_factor,
            "consistent": consistent,
        }
        values = {info.name: values[info.name] for info in self.values}
        return ItemScore(
            values,
            unit_score.units,
            self.signature(evidence.identities),
            unit_score.detail,
        )


def compare_wholes(candidate: Reading, references: Sequence[Reading]) -> float:
    """Return the cosine of whole texts: half the best reference's, half the mean vector's.

    Below 0 counts as 0.
    """
    wholes = np.stack(
        [reference.whole_text for reference in references]
    ).astype(np.float64)
    centre = wholes.mean(axis=0)
    # Products of float32 are exact in float64, and fsum rounds once: a BLAS would add them in an
    # order that depends on the processor, which showed in the last digit of scores.
    cosines = [math.fsum(row) for row in wholes * candidate.whole_text]
    length = math.sqrt(math.fsum(centre * centre))
    # The mean of the cosines is the product with the mean vector.
    cosine_of_mean = math.fsum(cosines) / len(cosines) / length
    return min(max((max(cosines) + cosine_of_mean) / 2, 0.0), 1.0)


def exclusion_certainty(candidate: str, references: Sequence[str]) -> float:
    """Return the certainty that references exclude a sentence of the text, or the reverse.

    Each sentence is compared with the nearest sentence of the other text. What is left out or added
    is not denied: see ``_contradictions``. Probabilities of at most 0.5 count as 0, so that a text
    that may be true loses nothing.
    """
    # Loaded here, since the built-in judge takes long to load.
    from beholder.judges.builtin.reading import analysed

    candidate_text, reference_texts = (
        analysed(candidate),
        [analysed(reference) for reference in references],
    )
    if not candidate_text.words or not all(
        reference_text.words for reference_text in reference_texts
    ):
        return 0.0
    # A sentence is excluded only if every reference excludes it; of sentences
    # the worst counts.
    candidate_worst = np.min(
        [
            _contradictions(candidate_text, reference_text)
            for reference_text in reference_texts
        ],
        axis=0,
    ).max()
    reference_worst = min(
        _contradictions(reference_text, candidate_text).max()
        for reference_text in reference_texts
    )
    return max(0.0, 2 * float(max(candidate_worst, reference_worst)) - 1)


def _contradictions(source: AnalysedText, target: AnalysedText) -> FloatArray:
    """Return the probability that the nearest target sentence excludes each source sentence.

    Shape (sentences of the source,).

    The model takes sentences about different people for denials of each other, and some omissions
    ("dogs run" of "two dogs run"). So a sentence that the target repeats or that differs from the
    nearest one by omitted words only counts as 0, and so does one that shares no word of content
    with the nearest sentence, or whose nearest sentence says what another sentence of the source
    says: that one is right, and leaves this one out.
    """
    from beholder.embed import entailment

    sentences, target_sentences = source.sentence_texts, target.sentence_texts
    nearest, nearest_back = (
        _nearest_sentences(source, target),
        _nearest_sentences(target, source),
    )
    words, other_words = _content_words(source), _content_words(target)
    # A sentence that both texts have is true of both, whatever is next to it.
    repeated = {folded_words(text) for text in sentences} & {
        folded_words(text) for text in target_sentences
    }
    chances = entailment.entail(
        [
            (target_sentences[y], x)
            for x, y in zip(sentences, nearest, strict=True)
        ]
    )
    back = entailment.entail(
        [
            (sentences[x], y)
            for x, y in zip(nearest_back, target_sentences, strict=True)
        ]
    )
    # Start from the model's probabilities, and clear those that are no denial.
    excluding = chances[:, entailment.CONTRADICTION].copy()
    for place, target_place in enumerate(nearest):
        pair = (
            folded_words(sentences[place]),
            folded_words(target_sentences[target_place]),
        )
        is_repeated = not repeated.isdisjoint(pair)
        is_shorter = _only_omits(*pair) or _only_omits(*reversed(pair))
        said_elsewhere = (
            nearest_back[target_place] != place
            and back[target_place, entailment.ENTAILMENT] > _EVEN
        )
        is_about_others = words[place].isdisjoint(other_words[target_place])
        if is_repeated or is_shorter or said_elsewhere or is_about_others:
            excluding[place] = 0.0
    return excluding


def _only_omits(short: Sequence[str], long: Sequence[str]) -> bool:
    """Return whether leaving words out of one sentence gives the other with the same truth.

    An omitted "not" denies, and an omitted "hundred" makes another number.
    """
    from beholder.language import lexicon

    # An omitted word of these changes what the sentence claims.
    changing = lexicon.NEGATIONS | lexicon.MULTIPLIERS.keys() | _CHANGING
    remaining, omitted = (
        (word for word in long if word not in _ARTICLES),
        list[str](),
    )
    # Walks through the longer sentence once; each word of the shorter one must
    # come in order.
    for word in (word for word in short if word not in _ARTICLES):
        for long_word in remaining:
            if long_word == word:
                break
            omitted.append(long_word)
        else:
            return False
    omitted += remaining
    return not any(
        word in changing or word.endswith("n't") for word in omitted
    )


def _nearest_sentences(
    source: AnalysedText, target: AnalysedText
) -> list[int]:
    """Return the place of the nearest target sentence for each sentence of the source."""
    from beholder.judges.builtin.entailed import premises

    # Of equal sentences the first one counts, so it is written last.
    places = {
        text: place
        for place, text in reversed(list(enumerate(target.sentence_texts)))
    }
    return [
        places[premises(sentence, target)[0]]
        for sentence in source.sentence_texts
    ]


def _content_words(text: AnalysedText) -> list[set[str]]:
    """Return the base forms of content words for each sentence, with the heads of its pronouns."""
    words: list[set[str]] = [set() for _ in text.sentence_texts]
    for word, sentence in zip(text.words, text.sentences, strict=True):
        if frequency.weight(word) >= _CONTENT:
            words[sentence] |= bases(word)
    # A pronoun stands for its entity, so that "he" and "the man" share a word.
    for entity, mentions in zip(
        text.graph.entities, text.mentions, strict=True
    ):
        for first, _ in mentions:
            words[text.sentences[first]].add(entity.head.lower())
    return words
