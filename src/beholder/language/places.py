"""Prepositions and positions: "on", "next to", "on the left of", "in the foreground"."""

from __future__ import annotations

from dataclasses import dataclass

from beholder.language.clauses import AFFIRMED
from beholder.language.document import Document, Word
from beholder.language.lexicon import LEADS, PICTURES, SKIPPED
from beholder.language.phrases import Phrases, is_position


@dataclass(frozen=True, slots=True)
class Place:
    """A preposition, with a position noun if there is one, and what it is relative to.

    Attributes:
        words: The words of the relation, in order.
        target: The noun it is relative to; None for a position in the picture.
    """

    words: tuple[Word, ...]
    target: Word | None

    @property
    def text(self) -> str:
        """As written, in lower case."""
        return " ".join(word.lower for word in self.words)

    @property
    def lacks(self) -> bool:
        """Whether it says what is not there: "without"."""
        return bool(self.words) and self.words[0].lower in AFFIRMED


def place(document: Document, noun: Word, phrases: Phrases, borrowed: Word | None = None) -> Place:
    """What the preposition before a noun says.

    Args:
        document: The document.
        noun: A noun with a preposition.
        phrases: The phrases of the document.
        borrowed: The first of several conjuncts, which has the preposition for all of them.
    """
    words = preposition(document, noun)
    if not words and borrowed is not None:
        words = preposition(document, borrowed)
    if not is_position(document, noun) or noun.index in phrases.by_word:
        return Place(words, noun)
    return _position(document, noun, words, phrases)


def _position(document: Document, noun: Word, words: tuple[Word, ...], phrases: Phrases) -> Place:
    inside = [
        child
        for child in document.children(noun)
        if child.index < noun.index
        and child.dep.split(":")[0] in ("det", "amod", "compound", "nummod", "conj", "cc")
    ]
    own = sorted({*words, *inside, noun}, key=lambda w: w.index)
    if own[0].dep == "cc":  # "to the right and toward the center" are two places
        own = own[1:]
    for below in document.children(noun, "nmod"):
        link = preposition(document, below)
        if below.dep == "nmod:poss":
            return Place(tuple(own), below)
        if not link or link[0].lower not in ("of", "to", "in", "on"):
            continue
        if below.lemma in PICTURES or phrases.is_picture(below):
            return Place(tuple(own), None)
        if is_position(document, below) and below.index not in phrases.by_word:
            inner = _position(document, below, link, phrases)
            return Place((*own, *inner.words), inner.target)
        if link[0].lower == "of":
            return Place((*own, *link), below)
    return Place(tuple(own), None)


def preposition(document: Document, noun: Word) -> tuple[Word, ...]:
    """The words of the preposition of a noun: on, next to, out of, in front of."""
    cases = [c for c in document.children(noun, "case") if c.lower not in ("'s", "'")]
    cases = [c for c in cases if c.index < noun.index]
    if not cases:
        return ()
    words = {
        word.index: word for case in cases for word in (case, *document.children(case, "fixed"))
    }
    for case in cases:
        for child in document.children(case, "advmod", "amod"):
            if child.index < case.index and child.lower in LEADS:
                words[child.index] = child
    first = min(words)
    if first > 0:
        before = document.words[first - 1]
        tied = before.head in (noun.index, noun.head, first)
        if before.lower in LEADS and tied and before.dep in ("advmod", "case", "amod"):
            words[before.index] = before
    return tuple(words[i] for i in sorted(words) if words[i].lower not in SKIPPED)
