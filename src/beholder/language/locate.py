"""The prepositional phrases of a word, and the facts that a subject at such a place makes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from beholder.language import clauses
from beholder.language.describe import with_degree
from beholder.language.document import Document, Word
from beholder.language.facts import AttributeFact, RelationFact
from beholder.language.lexicon import RELATIVE_PRONOUNS, TIMES
from beholder.language.phrases import Phrases, is_bare_colour
from beholder.language.places import Place, place, preposition
from beholder.language.unseen import EFFECT_VERBS, colours_of

Fact: TypeAlias = AttributeFact | RelationFact
_WAYS = ("from", "to", "toward")


def is_picture(phrases: Phrases, word: Word | None) -> bool:
    """Whether a word means the picture itself."""
    if word is None:
        return False
    entity = phrases.entity(word.index)
    return entity is not None and phrases.by_word[entity].kind == "picture"


def places_of(document: Document, word: Word, phrases: Phrases) -> Iterator[Place]:
    """The prepositional phrases attached to a word, each joined noun by itself."""
    hanging = document.children(word, "obl", "nmod")
    if (
        word.pos == "VERB"
    ):  # an oblique below the object is one of the verb: "eats soup with a spoon"
        hanging += [n for c in document.children(word, "obj") for n in document.children(c, "obl")]
    for noun in hanging:
        if noun.dep == "nmod:poss" or noun.lower in RELATIVE_PRONOUNS:
            continue
        if word.is_noun and word.dep == "obj" and noun.dep == "obl":
            continue
        if not preposition(document, noun) or noun.lemma in TIMES:
            continue
        for each in clauses.conjuncts(document, noun):
            yield place(document, each, phrases, borrowed=noun)


def located(
    document: Document,
    subject: Word,
    lead: tuple[Word, ...],
    where: Place,
    phrases: Phrases,
    *,
    rule: str,
    polarity: bool = True,
    passive: bool = False,
) -> Iterator[Fact]:
    """A subject at a place: a relation, or an attribute for a position in the picture."""
    coloured = _colours(document, where)
    for colour in coloured:
        words = with_degree(document, colour)
        value = " ".join(w.lower for w in words)
        yield AttributeFact(subject.index, words, value, "quality", "colour", polarity)
    if where.target is None:
        # "Runs from left to right" says where it runs; "the sign on the left" where it is.
        running = where.text.startswith(_WAYS) and not any(w.lemma in EFFECT_VERBS for w in lead)
        words = (*lead, *where.words) if running else where.words
        yield AttributeFact(subject.index, words, where.text, "position", "position", polarity)
    elif not coloured and not is_picture(phrases, where.target):
        if where.lacks:  # who walks without shoes walks, and is with no shoes
            if _is_there(phrases, where.target):
                return
            lead, polarity = (), False
        yield RelationFact(
            subject.index,
            where.target.index,
            (*lead, *where.words),
            "verb" if lead else "preposition",
            rule,
            passive,
            polarity,
        )


def _is_there(phrases: Phrases, word: Word) -> bool:
    entity = phrases.entity(word.index)
    return entity is not None and phrases.by_word[entity].polarity


def _colours(document: Document, where: Place) -> list[Word]:
    """What only colours a thing: "painted in black", "in a pristine white", "with a green hue"."""
    if where.target is None:
        return []
    if is_bare_colour(document, where.target):
        return [where.target]
    lead = where.words[0].lower if where.words else ""
    return colours_of(document, where.target) if lead in ("in", "with") else []
