"""Sentences that a target nearly repeats and excludes: the words that differ are a wrong fact."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from beholder.embed.entailment import CONTRADICTION, entail
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.entailed import Entailment
from beholder.judges.builtin.numbers import number
from beholder.records import Span

_ALIKE = number("entail.alike")
_EXCLUDED = number("entail.excluded")


@dataclass(frozen=True, slots=True)
class Change:
    """Words of a text that make a wrong fact of a sentence of another.

    Attributes:
        span: Characters of the words.
        sentence: Characters of the words' sentence.
        moved: Whether the sentence of the other text has all words, at other places.
    """

    span: Span
    sentence: Span
    moved: bool = False

    def units(self, source: AnalysedText) -> list[int]:
        """Places of the units that the words are in; of moved words, what is said of things.

        If there is none, the nearest unit of the sentence, rather behind them.
        """
        near: list[tuple[int, bool, int]] = []
        found: list[int] = []
        for place, unit in enumerate(source.units):
            for start, end in unit.spans if unit.asked else ():
                if start < self.span[1] and end > self.span[0]:
                    if not (self.moved and unit.kind == "entity"):
                        found.append(place)
                elif start < self.sentence[1] and end > self.sentence[0]:
                    gap = max(start - self.span[1], self.span[0] - end)
                    near.append((gap, start < self.span[0], place))
        return found or [place for *_, place in sorted(near)[:1]]


def rewritten(
    source: AnalysedText, target: AnalysedText, model: Entailment = entail
) -> list[Change]:
    """What makes a wrong fact of a sentence of the target.

    A sentence counts if one sentence of the target has most of its words in the same order, or
    exactly its words in another order, and the entailment model is sure that this sentence
    excludes it.
    """
    own, others = _sentences(source), _sentences(target)
    there = {words: {target.words[i] for i in words} for words in others}
    near = []
    for place, words in enumerate(own):
        said, least = [source.words[i] for i in words], _ALIKE * len(words)
        like = [o for o in others if sum(w in there[o] for w in said) >= least]
        best = max(like, key=lambda o: _shared(said, o, target), default=range(0))
        shared = _shared(said, best, target)
        permuted = sorted(said) == sorted(target.words[i] for i in best)
        if words and (shared >= least or permuted) and shared < len(words):
            near.append((place, words, best))
    texts = [
        (target.sentence_texts[target.sentences[best[0]]], source.sentence_texts[place])
        for place, _, best in near
    ]
    found: list[Change] = []
    for (_, words, best), chances in zip(near, model(texts), strict=True):
        if chances[CONTRADICTION] >= _EXCLUDED:
            found += _differences(source, words, target, best)
    return found


def _sentences(text: AnalysedText) -> list[range]:
    """The words of each sentence."""
    cuts = range(len(text.sentence_texts) + 1)
    starts = [bisect_left(text.sentences, i) for i in cuts]
    return [range(a, b) for a, b in pairwise(starts)]


def _shared(said: list[str], other: range, target: AnalysedText) -> int:
    there = [target.words[i] for i in other]
    return sum(b.size for b in SequenceMatcher(None, said, there, False).get_matching_blocks())


def _differences(
    source: AnalysedText, words: range, target: AnalysedText, best: range
) -> list[Change]:
    said = [source.words[i] for i in words]
    there = [target.words[i] for i in best]
    codes = SequenceMatcher(None, said, there, False).get_opcodes()
    ends = [(first, max(first + 1, last)) for kind, first, last, _, _ in codes if kind != "equal"]
    new = [
        places
        for first, last in ends
        if (places := [i for i in range(first, min(last, len(said))) if said[i] not in there])
    ]
    changes = new or [[min(ends[0][0], len(said) - 1), min(ends[-1][1], len(said)) - 1]]

    def span(first: int, last: int) -> Span:
        return source.spans[words[first]][0], source.spans[words[last]][1]

    sentence = span(0, len(said) - 1)
    return [Change(span(places[0], places[-1]), sentence, not new) for places in changes]
