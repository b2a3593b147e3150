"""Sentences that the target rewrites with a wrong fact: nearly the same words, but excluding.

Two ways of writing one number ("a dozen", "twelve") and British and American nouns of one meaning
("lorry", "truck") are no difference between sentences.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import combinations, pairwise

from beholder.embed.entailment import CONTRADICTION, entail
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.classes import word_set
from beholder.judges.builtin.entailed import Entailment
from beholder.judges.builtin.numbers import number
from beholder.language.lemmas import noun
from beholder.language.lexicon import REGIONAL
from beholder.language.numerals import is_numeral
from beholder.language.numerals import number as numeral
from beholder.language.statements import GraphUnit
from beholder.records import Span
from beholder.text.kinds import parts_of_speech

_ALIKE = number("entail.alike")
_CLOSE = number("entail.close")
_EXCLUDED = number("entail.excluded")
_SURELY_EXCLUDED = number("entail.surely_excluded")
_VERBS = word_set("predicates.txt", "finite")
_SYMMETRIC = word_set("predicates.txt", "symmetric")
"""Words between two phrases that mean the same in either order."""
_ARTICLES = ("a", "an")
_FEW = 2
"""Words of one text that may stand for as many of the other."""


@dataclass(frozen=True, slots=True)
class Change:
    """Words of a text that make a wrong fact of a sentence of another.

    Attributes:
        span: Characters of the words.
        sentence: Characters of the words' sentence.
        parts: Of exchanged phrases, characters of the first, of the words between them, and of
            the second; the things themselves are there.
        close: Whether hardly anything else differs.
        instead: Characters of what the other text has in their place, where neither text has the
            words elsewhere: any words if the model is sure, and otherwise one or two of the same
            part of speech. Otherwise None.
    """

    span: Span
    sentence: Span
    parts: tuple[Span, ...] = ()
    close: bool = True
    instead: Span | None = None

    def units(self, source: AnalysedText) -> list[int]:
        """Places of the units that the words are in.

        Of exchanged phrases, these are the units that connect two of the parts, or a part with the
        rest of the sentence: red boats stay red if they and a man change places. If the
        parse has no such unit, these are the units of both phrases. If no unit has other words, and
        hardly anything else differs, it is the nearest of the sentence; of two equally near, the
        one behind the words.
        """
        if self.parts:
            connecting = [
                p
                for p, unit in enumerate(source.units)
                if self._connects(source, unit)
            ]
            ends = (self.parts[0], self.parts[-1])
            return connecting or [
                place
                for place, unit in enumerate(source.units)
                if unit.asked
                and any(_overlap(s, end) for s in unit.spans for end in ends)
            ]
        places = [
            p
            for p, unit in enumerate(source.units)
            if unit.asked and self._has_words(unit)
        ]
        return places or self._nearest(source) if self.close else places

    def _has_words(self, unit: GraphUnit) -> bool:
        return any(_overlap(span, self.span) for span in unit.spans)

    def _connects(self, source: AnalysedText, unit: GraphUnit) -> bool:
        # Exchanged phrases are wrong only together: a unit counts if its words
        # and ends are in more than one of them.
        ends = [unit.subject, *([] if unit.object is None else [unit.object])]
        mentions = [
            m.span for e in ends for m in source.graph.entities[e].mentions
        ]
        spans = [
            *unit.spans,
            *(m for m in mentions if _overlap(m, self.sentence)),
        ]
        parts = {
            next(
                (
                    i
                    for i, part in enumerate(self.parts)
                    if _overlap(span, part)
                ),
                -1,
            )
            for span in spans
        }
        return (
            unit.asked
            and unit.kind != "entity"
            and self._has_words(unit)
            and len(parts) > 1
        )

    def _nearest(self, source: AnalysedText) -> list[int]:
        near = [
            (
                max(start - self.span[1], self.span[0] - end),
                start < self.span[0],
                place,
            )
            for place, unit in enumerate(source.units)
            for start, end in unit.spans
            if unit.asked and _overlap((start, end), self.sentence)
        ]
        return [min(near)[2]] if near else []


def _overlap(a: Span, b: Span) -> bool:
    return a[0] < b[1] and a[1] > b[0]


def rewritten(
    source: AnalysedText, target: AnalysedText, model: Entailment = entail
) -> list[Change]:
    """Find the changes that turn a sentence of the target into a wrong fact.

    A sentence counts if one sentence of the target has most of its words in the same order, and
    the model says that this sentence excludes it; or if two phrases are exchanged. If hardly a word
    differs, the model need not be sure, and words that are left out count, too. Other orders of
    the same words do not count: for the model, "the grass is green and the sky is blue" contradicts
    the same clauses reordered.
    """
    source_sentences, target_sentences = _sentences(source), _sentences(target)
    there = {
        words: {target.words[i] for i in words} for words in target_sentences
    }
    # Plan: for each sentence of the source that is not in the target, look for an
    # exchange of phrases by the words alone; otherwise pair it with its most
    # similar sentence and ask the model, all pairs in one batch.
    near = []
    changes: list[Change] = []
    for place, words in enumerate(source_sentences):
        sentence_words, least = (
            [source.words[i] for i in words],
            _ALIKE * len(words),
        )
        if any(
            sentence_words == [target.words[i] for i in sentence]
            for sentence in target_sentences
        ):
            continue  # the target has it; another one with its phrases exchanged denies nothing
        like = [
            o
            for o in target_sentences
            if sum(w in there[o] for w in sentence_words) >= least
        ]
        best = max(
            like,
            key=lambda o: _shared(sentence_words, o, target),
            default=range(0),
        )
        moved = (
            (o, _exchanged(sentence_words, [target.words[i] for i in o]))
            for o in like
        )
        if exchange := next(((o, cuts) for o, cuts in moved if cuts), None):
            changes.append(_exchange(source, words, target, *exchange))
        elif words and least <= (
            shared := _shared(sentence_words, best, target)
        ):
            # Nearly the same words with one difference are usually one wrong
            # fact; then a less sure model suffices.
            close = shared >= _CLOSE * max(len(words), len(best))
            if shared < (max(len(words), len(best)) if close else len(words)):
                near.append((place, words, best, close))
    texts = [
        (
            target.sentence_texts[target.sentences[best[0]]],
            source.sentence_texts[place],
        )
        for place, _, best, _ in near
    ]
    for (_, words, best, close), chances in zip(
        near, model(texts), strict=True
    ):
        if chances[CONTRADICTION] >= (
            _EXCLUDED if close else _SURELY_EXCLUDED
        ):
            sure = bool(chances[CONTRADICTION] >= _SURELY_EXCLUDED)
            changes += _differences(source, words, target, best, close, sure)
    return changes


def _sentences(text: AnalysedText) -> list[range]:
    """The words of each sentence."""
    cuts = range(len(text.sentence_texts) + 1)
    starts = [bisect_left(text.sentences, i) for i in cuts]
    return [range(a, b) for a, b in pairwise(starts)]


def _shared(words: list[str], sentence: range, target: AnalysedText) -> int:
    there = [target.words[i] for i in sentence]
    return sum(
        b.size
        for b in SequenceMatcher(
            None, words, there, False
        ).get_matching_blocks()
    )


def _span(text: AnalysedText, places: range, first: int, last: int) -> Span:
    starts, ends = text.places
    return starts[places[first]], ends[places[last]]


def _exchange(
    source: AnalysedText,
    words: range,
    target: AnalysedText,
    sentence: range,
    cuts: Sequence[int],
) -> Change:
    parts = tuple(_span(source, words, a, b - 1) for a, b in pairwise(cuts))
    return Change(
        (parts[0][0], parts[-1][1]),
        _span(source, words, 0, -1),
        parts,
        instead=_span(target, sentence, cuts[0], cuts[-1] - 1),
    )


def _exchanged(
    source_words: Sequence[str], there: Sequence[str]
) -> tuple[int, ...]:
    """Return the cuts around two exchanged phrases, in order; empty if none are exchanged.

    Phrases joined by "and" or "beside", or by words that are also around them ("a man with a hat
    and a man without a hat"), mean the same in either order, and so do clauses: of phrases with a
    verb, only predicates are exchanged, between which a subject stands ("lie there while a man
    sings").
    """
    source_stems, target_stems = (
        [word.removesuffix("s") for word in words]
        for words in (source_words, there)
    )
    # Plan: cut off what both begin and end with, then try all cuts of the
    # middle into first, between and second phrase.
    length = len(source_stems)
    if (
        sorted(source_stems) != sorted(target_stems)
        or source_stems == target_stems
    ):
        return ()
    start = next(
        i for i in range(length) if source_stems[i] != target_stems[i]
    )
    end = next(
        i
        for i in range(length, 0, -1)
        if source_stems[i - 1] != target_stems[i - 1]
    )
    for first_end, second_start in combinations(range(start + 1, end), 2):
        first, between, second = (
            source_stems[start:first_end],
            source_stems[first_end:second_start],
            source_stems[second_start:end],
        )
        if target_stems[start:end] == second + between + first:
            # Words that repeat around the cut belong to the context and not to
            # the exchanged phrases.
            before = _alike_from(
                source_words[first_end:second_start][::-1],
                source_words[:start][::-1],
            )
            after = _alike_from(
                source_words[first_end:second_start], source_words[end:]
            )
            distinct = [
                w
                for w in source_words[
                    first_end + after : second_start - before
                ]
                if w not in _SYMMETRIC
            ]
            if _mean_the_same(
                source_words[start:first_end],
                distinct,
                source_words[second_start:end],
            ):
                return ()
            return start, first_end, second_start, end
    return ()


def _alike_from(first: Sequence[str], second: Sequence[str]) -> int:
    """Count the leading words that two phrases share."""
    pairs = enumerate(zip(first, second, strict=False))
    return next(
        (i for i, (a, b) in pairs if a != b), min(len(first), len(second))
    )


def _mean_the_same(
    first: Sequence[str], distinct: Sequence[str], second: Sequence[str]
) -> bool:
    if any(
        parts_of_speech(word) == {"v"} or word in _VERBS
        for word in (*first, *second)
    ):
        subject = any("n" in parts_of_speech(word) for word in distinct)
        return not (
            subject and _may_be_verb(first[0]) and _may_be_verb(second[0])
        )
    return not distinct


def _may_be_verb(word: str) -> bool:
    return word in _VERBS or "v" in parts_of_speech(word)


def _differences(
    source: AnalysedText,
    words: range,
    target: AnalysedText,
    best: range,
    close: bool,
    sure: bool,
) -> list[Change]:
    sentence_words = [source.words[i] for i in words]
    there = [target.words[i] for i in best]
    codes = SequenceMatcher(None, sentence_words, there, False).get_opcodes()
    sentence = _span(source, words, 0, -1)
    differing = [
        code
        for code in codes
        if code[0] != "equal"
        and not _mean_one_thing(
            sentence_words[code[1] : code[2]], there[code[3] : code[4]]
        )
    ]
    exchanged = sure or all(
        last - first == end - start <= _FEW
        and _is_alike(sentence_words[last - 1], there[end - 1])
        # A difference with new words is reported at these words; words that
        # were only left out, at the place where they would be.
        for _, first, last, start, end in differing
    )
    changes = []
    for _, first, last, start, end in differing:
        new = [i for i in range(first, last) if sentence_words[i] not in there]
        if new:
            alone = set(sentence_words[first:last]).isdisjoint(
                target.words
            ) and set(there[start:end]).isdisjoint(source.words)
            is_located = close and exchanged and alone and end > start
            instead = (
                _span(target, best, start, end - 1) if is_located else None
            )
            changes.append(
                Change(
                    _span(source, words, new[0], new[-1]),
                    sentence,
                    close=close,
                    instead=instead,
                )
            )
        elif close and any(
            word not in sentence_words for word in there[start:end]
        ):  # left out, such as "no"
            place = min(first, len(sentence_words) - 1)
            changes.append(
                Change(_span(source, words, place, place), sentence)
            )
    return changes


def _mean_one_thing(a: Sequence[str], b: Sequence[str]) -> bool:
    """Return whether words are the same number ("a dozen", "twelve") or noun ("lorry", "truck")."""
    if all(word in _ARTICLES or is_numeral(word) for word in (*a, *b)):
        first, second = (numeral(" ".join(words)) for words in (a, b))
        return first is not None and first == second
    name, other_name = (
        noun(" ".join(word for word in words if word not in _ARTICLES))
        for words in (a, b)
    )
    # Only these: the model sees wrong facts where senses or vectors see near words.
    return REGIONAL.get(name, name) == REGIONAL.get(other_name, other_name)


def _is_alike(a: str, b: str) -> bool:
    """Return whether two words may have the same part of speech."""
    numbers = is_numeral(a) + is_numeral(b)
    return numbers == 2 or bool(parts_of_speech(a) & parts_of_speech(b))
