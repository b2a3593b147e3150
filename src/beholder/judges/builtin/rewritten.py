"""Sentences that a target nearly repeats and excludes: the words that differ are a wrong fact."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

from beholder.embed.entailment import CONTRADICTION, entail
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.entailed import Entailment
from beholder.judges.builtin.numbers import number
from beholder.language.numerals import is_numeral
from beholder.records import Span
from beholder.text.kinds import parts_of_speech

_ALIKE = number("entail.alike")
_CLOSE = number("entail.close")
_EXCLUDED = number("entail.excluded")
_SURELY_EXCLUDED = number("entail.surely_excluded")
_VERBS = frozenset(("is", "are", "was", "were", "has", "have", "had", "wears", "holds"))
_JOINING = frozenset(("a", "an", "the", "and", "or", "with", "while", "is", "are"))
_BESIDE = frozenset(("next", "to", "beside", "near", "by", "alongside", "opposite", "facing"))
_SYMMETRIC = _JOINING | _BESIDE | frozenset(("stands", "stand", "sits", "sit", "lies", "lie"))
"""Words between two phrases that mean the same in either order."""
_FEW = 2
"""Words of one text that may stand for as many of the other."""


@dataclass(frozen=True, slots=True)
class Change:
    """Words of a text that make a wrong fact of a sentence of another.

    Attributes:
        span: Characters of the words.
        sentence: Characters of the words' sentence.
        moved: Whether the words are exchanged, so that the things themselves are there.
        close: Whether hardly anything else differs.
        instead: Characters of what the other text has in their place, where neither text has the
            words elsewhere: any words if the model is sure, and otherwise one or two of the same
            part of speech. Otherwise None.
    """

    span: Span
    sentence: Span
    moved: bool = False
    close: bool = True
    instead: Span | None = None

    def units(self, source: AnalysedText) -> list[int]:
        """Places of the units that the words are in.

        Of moved words, these are not the things. If no unit has the words, and hardly anything else
        differs, it is the nearest of the sentence; of two equally near, the one behind the words.
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
        return found or [place for *_, place in sorted(near)[: self.close]]


def rewritten(
    source: AnalysedText, target: AnalysedText, model: Entailment = entail
) -> list[Change]:
    """What makes a wrong fact of a sentence of the target.

    A sentence counts if one sentence of the target has most of its words in the same order, and
    the model says that this sentence excludes it; or if two phrases are exchanged. If hardly a word
    differs, the model need not be sure, and words that are left out count, too. Other orders of
    the same words do not count: for the model, "the grass is green and the sky is blue" contradicts
    the same clauses reordered.
    """
    own, others = _sentences(source), _sentences(target)
    there = {words: {target.words[i] for i in words} for words in others}
    near = []
    found: list[Change] = []
    for place, words in enumerate(own):
        said, least = [source.words[i] for i in words], _ALIKE * len(words)
        like = [o for o in others if sum(w in there[o] for w in said) >= least]
        best = max(like, key=lambda o: _shared(said, o, target), default=range(0))
        if words and (moved := _exchanged(said, [target.words[i] for i in best])):
            found.append(
                Change(_span(source, words, *moved), _span(source, words, 0, -1), moved=True)
            )
        elif words and least <= (shared := _shared(said, best, target)):
            close = shared >= _CLOSE * max(len(words), len(best))
            if shared < (max(len(words), len(best)) if close else len(words)):
                near.append((place, words, best, close))
    texts = [
        (target.sentence_texts[target.sentences[best[0]]], source.sentence_texts[place])
        for place, _, best, _ in near
    ]
    for (_, words, best, close), chances in zip(near, model(texts), strict=True):
        if chances[CONTRADICTION] >= (_EXCLUDED if close else _SURELY_EXCLUDED):
            sure = bool(chances[CONTRADICTION] >= _SURELY_EXCLUDED)
            found += _differences(source, words, target, best, close, sure)
    return found


def _sentences(text: AnalysedText) -> list[range]:
    """The words of each sentence."""
    cuts = range(len(text.sentence_texts) + 1)
    starts = [bisect_left(text.sentences, i) for i in cuts]
    return [range(a, b) for a, b in pairwise(starts)]


def _shared(said: list[str], other: range, target: AnalysedText) -> int:
    there = [target.words[i] for i in other]
    return sum(b.size for b in SequenceMatcher(None, said, there, False).get_matching_blocks())


def _span(text: AnalysedText, places: range, first: int, last: int) -> Span:
    return text.spans[places[first]][0], text.spans[places[last]][1]


def _exchanged(said: Sequence[str], there: Sequence[str]) -> tuple[int, int] | None:
    """The first and the last word of two phrases that are exchanged; None if none are.

    Phrases with a verb are clauses, and those joined by "and" or "beside" mean the same in
    either order.
    """
    codes = SequenceMatcher(None, said, there, False).get_opcodes()
    parts = [(said[a:b], there[c:d], a, b) for kind, a, b, c, d in codes if kind != "equal"]
    if len(parts) != 2 or parts[0][:2] != parts[1][1::-1]:
        return None
    (first, _, start, left), (second, _, right, end) = parts
    words = (*first, *second)
    clauses = any(parts_of_speech(word) == {"v"} or word in _VERBS for word in words)
    if not (first and second) or clauses or _SYMMETRIC.issuperset(said[left:right]):
        return None
    return start, end - 1


def _differences(
    source: AnalysedText, words: range, target: AnalysedText, best: range, close: bool, sure: bool
) -> list[Change]:
    said = [source.words[i] for i in words]
    there = [target.words[i] for i in best]
    codes = SequenceMatcher(None, said, there, False).get_opcodes()
    sentence = _span(source, words, 0, -1)
    differing = [code for code in codes if code[0] != "equal"]
    exchanged = sure or all(
        last - first == end - other <= _FEW and _is_alike(said[last - 1], there[end - 1])
        for _, first, last, other, end in differing
    )
    found = []
    for _, first, last, other, end in differing:
        new = [i for i in range(first, last) if said[i] not in there]
        if new:
            alone = set(said[first:last]).isdisjoint(target.words) and set(
                there[other:end]
            ).isdisjoint(source.words)
            named = close and exchanged and alone and end > other
            instead = _span(target, best, other, end - 1) if named else None
            found.append(
                Change(
                    _span(source, words, new[0], new[-1]), sentence, close=close, instead=instead
                )
            )
        elif close and any(word not in said for word in there[other:end]):  # left out, such as "no"
            place = min(first, len(said) - 1)
            found.append(Change(_span(source, words, place, place), sentence))
    return found


def _is_alike(a: str, b: str) -> bool:
    """Whether two words may be of one part of speech."""
    numbers = is_numeral(a) + is_numeral(b)
    return numbers == 2 or bool(parts_of_speech(a) & parts_of_speech(b))
