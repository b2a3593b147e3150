"""Sentences that a target nearly repeats and excludes: the words that differ are a wrong fact."""

from __future__ import annotations

from bisect import bisect_left
from difflib import SequenceMatcher
from itertools import pairwise

from beholder.embed.entailment import CONTRADICTION, entail
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.entailed import Entailment
from beholder.judges.builtin.numbers import number
from beholder.records import Span

_ALIKE = number("entail.alike")
_EXCLUDED = number("entail.excluded")


def rewritten(source: AnalysedText, target: AnalysedText, model: Entailment = entail) -> list[Span]:
    """Characters of the words of the source that make a wrong fact of a sentence of the target.

    A sentence counts if one sentence of the target has most of its words in the same order, and
    the entailment model is sure that this sentence excludes it.
    """
    own, others = _sentences(source), _sentences(target)
    there = {words: {target.words[i] for i in words} for words in others}
    near = []
    for place, words in enumerate(own):
        said, least = [source.words[i] for i in words], _ALIKE * len(words)
        like = [o for o in others if sum(w in there[o] for w in said) >= least]
        best = max(like, key=lambda o: _shared(said, o, target), default=range(0))
        if words and least <= _shared(said, best, target) < len(words):
            near.append((place, words, best))
    texts = [
        (target.sentence_texts[target.sentences[best[0]]], source.sentence_texts[place])
        for place, _, best in near
    ]
    found: list[Span] = []
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
) -> list[Span]:
    said = [source.words[i] for i in words]
    there = [target.words[i] for i in best]
    found = []
    for kind, first, last, _, _ in SequenceMatcher(None, said, there, False).get_opcodes():
        new = [i for i in range(first, last) if said[i] not in there]
        if kind != "equal" and new:
            spans = [source.spans[words[i]] for i in (new[0], new[-1])]
            found.append((spans[0][0], spans[1][1]))
    return found
