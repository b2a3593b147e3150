"""Silver: words of descriptions on whose head, relation and tags two parsers agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from spacy.tokens import Doc

from training.english.examples import UNKNOWN, Document, Sentence

SHORTEST, LONGEST = 3, 80
"""Words of a sentence that is kept."""


def agreed(first: Iterable[Doc], second: Iterable[Doc]) -> Iterator[Document]:
    """Documents as both parsers read them: sentences cut alike, what differs left unknown."""
    for first_doc, second_doc in zip(first, second, strict=True):
        cuts = {
            (sentence.start, sentence.end) for sentence in second_doc.sents
        }
        bounds = (
            (sentence.start, sentence.end) for sentence in first_doc.sents
        )
        document = [
            _sentence(first_doc, second_doc, low, high)
            for low, high in bounds
            if SHORTEST <= high - low <= LONGEST and (low, high) in cuts
        ]
        if document:
            yield document


def _sentence(
    first_doc: Doc, second_doc: Doc, low: int, high: int
) -> Sentence:
    sentence = Sentence([], [], [], [], [])
    for a, b in zip(first_doc[low:high], second_doc[low:high], strict=True):
        is_same_head = a.head.i == b.head.i and a.dep_ == b.dep_
        relation = "root" if a.head.i == a.i else a.dep_
        sentence.words.append(a.text)
        sentence.tags.append(a.tag_ if a.tag_ == b.tag_ else UNKNOWN)
        sentence.parts.append(a.pos_ if a.pos_ == b.pos_ else UNKNOWN)
        sentence.heads.append(a.head.i - low if is_same_head else -1)
        sentence.relations.append(relation if is_same_head else UNKNOWN)
    return sentence
