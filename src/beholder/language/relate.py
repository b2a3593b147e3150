"""Relations: verbs with their objects and places, prepositions between nouns, possessives."""

from __future__ import annotations

from collections.abc import Iterator

from beholder.language import clauses
from beholder.language.describe import has_linked_noun
from beholder.language.document import Document, Word
from beholder.language.facts import AttributeFact, RelationFact
from beholder.language.lexicon import (
    FOCUS_ADVERBS,
    INSTRUMENTS,
    LINKING,
    NEGATIONS,
    PLACING,
    RELATIVE_PRONOUNS,
    SHOW_VERBS,
    TIMES,
)
from beholder.language.phrases import Phrases
from beholder.language.places import Place, place, preposition

Fact = AttributeFact | RelationFact

_ABSENT = frozenset({"without"})


def relation_facts(document: Document, phrases: Phrases) -> Iterator[Fact]:
    """All relations of a document, and the states of verbs that relate to nothing."""
    for word in document:
        if document.child(word, "expl") is not None:
            yield from existential(document, word, phrases)
        elif clauses.is_verb(word):
            yield from verb(document, word, phrases)
        elif (word.pos == "ADJ" and word.dep not in ("amod", "compound")) or (
            word.pos == "ADJ" and has_linked_noun(document, word)
        ):
            yield from adjective(document, word, phrases)
        elif document.child(word, "cop") is not None and clauses.fronted_place(document, word):
            yield from fronted_copula(document, word, phrases)
        elif document.child(word, "cop") is not None and preposition(document, word):
            yield from copular_place(document, word, phrases)
        elif word.pos == "AUX" and word.lemma == "be" and document.child(word, "nsubj"):
            yield from existential(document, word, phrases)
        yield from noun_places(document, word, phrases)
        yield from possessor(document, word, phrases)


def _places(document: Document, word: Word, phrases: Phrases) -> Iterator[Place]:
    """The prepositional phrases that hang on a word, each joined noun by itself."""
    for noun in document.children(word, "obl", "nmod"):
        if noun.dep in ("nmod:poss",) or noun.lower in RELATIVE_PRONOUNS:
            continue
        if not preposition(document, noun) or noun.lemma in TIMES:
            continue
        for each in clauses.conjuncts(document, noun):
            yield place(document, each, phrases, borrowed=noun)


def _is_picture(phrases: Phrases, word: Word | None) -> bool:
    if word is None:
        return False
    entity = phrases.entity(word.index)
    return entity is not None and phrases.by_word[entity].kind == "picture"


def _located(
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
    if where.target is None:
        yield AttributeFact(
            subject.index, where.words, where.text, "position", "position", polarity
        )
    elif not _is_picture(phrases, where.target):
        if where.words and where.words[0].lower in _ABSENT:
            polarity = False
        yield RelationFact(
            subject.index,
            where.target.index,
            (*lead, *where.words),
            "verb" if lead else "preposition",
            rule,
            passive,
            polarity,
        )


def existential(document: Document, word: Word, phrases: Phrases) -> Iterator[Fact]:
    """As in "There is a dog on the mat", "On the wall is a clock": the places of what there is."""
    polarity = not clauses.is_denied(document, word)
    named = [c for c in document.children(word, "nsubj", "obj") if c.dep != "expl"]
    if word.is_noun:
        named = [word]
    for noun in named:
        for subject in clauses.conjuncts(document, noun):
            for where in _places(document, word, phrases):
                if where.target is not subject and (word.is_noun is False):
                    yield from _located(
                        subject, (), where, phrases, rule="existential", polarity=polarity
                    )


def fronted_copula(document: Document, word: Word, phrases: Phrases) -> Iterator[Fact]:
    """As in "On the table is a vase": the predicate is the thing, the first noun its place."""
    first = clauses.fronted_place(document, word)
    if first is not None:
        where = place(document, first, phrases)
        for subject in clauses.conjuncts(document, word):
            yield from _located(subject, (), where, phrases, rule="fronted")


def copular_place(document: Document, word: Word, phrases: Phrases) -> Iterator[Fact]:
    """As in "The cat is on the mat": a relation; positions in the picture are attributes elsewhere."""
    polarity = not clauses.is_denied(document, word)
    for noun in clauses.conjuncts(document, word):
        where = place(document, noun, phrases, borrowed=word)
        if where.target is None:
            continue
        for subject in clauses.subjects(document, word):
            yield from _located(subject, (), where, phrases, rule="copula", polarity=polarity)


def adjective(document: Document, word: Word, phrases: Phrases) -> Iterator[Fact]:
    """As in "full of water", "next to a plate"."""
    head = document.head(word)
    polarity = not clauses.is_denied(document, word)
    named = clauses.subjects(document, word)
    if not named and word.dep in ("advmod", "xcomp") and head is not None:
        named = clauses.subjects(document, head)
    lead = (word,) if has_linked_noun(document, word) else ()
    for subject in named:
        for where in _places(document, word, phrases):
            if where.words and where.words[0].index != word.index and where.target is not subject:
                yield from _located(
                    subject, lead, where, phrases, rule="adjective", polarity=polarity
                )


def verb(document: Document, word: Word, phrases: Phrases) -> Iterator[Fact]:
    """What a verb relates: subject and object, subject and place, object and place."""
    named = clauses.subjects(document, word)
    shown = word.lemma in SHOW_VERBS and (
        any(_is_picture(phrases, s) for s in named) or clauses.is_passive(document, word)
    )
    direct = clauses.objects(document, word)
    if shown:
        yield from _shown(document, word, phrases, named, direct)
        return
    stranded = clauses.stranded_preposition(document, word)
    lead = tuple(w for w in _verb_words(document, word) if w is not stranded)
    polarity = not clauses.is_denied(document, word)
    passive = clauses.is_passive(document, word)
    places = list(_places(document, word, phrases))
    fronted = clauses.fronted_place(document, word)
    if fronted is not None:
        places.append(place(document, fronted, phrases))
    linking = word.lemma in LINKING and document.child(word, "xcomp") is not None
    for subject in named:
        made = False
        for target in direct:
            if target.index != subject.index and not _is_picture(phrases, target):
                made = True
                yield RelationFact(
                    subject.index, target.index, lead, "verb", "verb", passive, polarity
                )
        for target in _recipients(document, word):
            made = True
            yield RelationFact(
                subject.index,
                target.index,
                lead,
                "verb",
                "recipient",
                passive,
                polarity,
                text=f"{_text(lead)} to",
            )
        gap = clauses.gap_noun(document, word)
        if stranded is not None and gap is not None:
            made = True
            yield RelationFact(
                subject.index, gap.index, (*lead, stranded), "verb", "relative", passive, polarity
            )
        for where in places:
            if direct and not passive and _places_object(word, where):
                continue
            made = made or not (where.target is None or _is_picture(phrases, where.target))
            yield from _located(
                subject, lead, where, phrases, rule="verb place", polarity=polarity, passive=passive
            )
        if not made and not linking and not _is_auxiliary(document, word):
            yield _state(document, word, subject, lead, polarity)
    if direct:
        for target in direct:
            for where in places:
                if not passive and _places_object(word, where):
                    yield from _located(
                        target, (), where, phrases, rule="placed object", polarity=polarity
                    )


def _places_object(word: Word, where: Place) -> bool:
    """Whether a place is where the object goes: "puts a plate on the table"."""
    lead = where.words[0].lower if where.words else ""
    return word.lemma in PLACING and lead not in INSTRUMENTS


def _is_auxiliary(document: Document, word: Word) -> bool:
    """As in "seems to be smiling": the meaning is in the verb below."""
    below = document.child(word, "xcomp", "ccomp")
    return below is not None and below.pos in ("VERB", "NOUN", "ADJ", "AUX")


def _shown(
    document: Document, word: Word, phrases: Phrases, named: list[Word], direct: list[Word]
) -> Iterator[Fact]:
    """As in "The image shows a dog on a bed", "A dog can be seen on a bed": only the places count."""
    things = direct if direct else [s for s in named if not _is_picture(phrases, s)]
    for thing in things:
        for where in _places(document, word, phrases):
            if where.target is None or thing.index != where.target.index:
                yield from _located(thing, (), where, phrases, rule="shown")


def _state(
    document: Document, word: Word, subject: Word, lead: tuple[Word, ...], polarity: bool
) -> AttributeFact:
    """A verb that relates to nothing is a state of its subject: "is sitting", "walks slowly"."""
    after = [
        c
        for c in document.children(word, "advmod", "xcomp")
        if c.index > word.index
        and c.pos in ("ADV", "ADJ", "ADP")
        and c.lower not in FOCUS_ADVERBS | NEGATIONS
        and c.lower not in ("when", "where", "while", "as", "how")
    ]
    before = [
        c
        for c in document.children(word, "advmod")
        if c.index < word.index and c.lower.endswith("ly")
    ]
    words = tuple(sorted({*lead, *after, *before}, key=lambda w: w.index))
    value = " ".join([word.lemma, *(w.lower for w in lead[1:])])
    return AttributeFact(subject.index, words, value, "state", "verb", polarity)


def _verb_words(document: Document, word: Word) -> tuple[Word, ...]:
    particles = [c for c in document.children(word, "compound:prt") if c.index > word.index]
    return (word, *particles)


def _text(words: tuple[Word, ...]) -> str:
    return " ".join(word.lower for word in words)


def _recipients(document: Document, word: Word) -> list[Word]:
    named = clauses.recipients(document, word)
    return [n for c in named for n in clauses.conjuncts(document, c)]


def noun_places(document: Document, word: Word, phrases: Phrases) -> Iterator[Fact]:
    """As in "the man with a hat", "a house behind a tree"."""
    if not (word.is_noun or word.pos in ("PRON", "NUM")) or word.dep == "nmod:poss":
        return
    if document.child(word, "cop") is not None and word.index not in phrases.by_word:
        if phrases.entity(word.index) is None:
            return
    if _is_picture(phrases, word):
        return
    selected = phrases.by_word[word.index].selects if word.index in phrases.by_word else None
    for where in _places(document, word, phrases):
        if where.target is not None:
            meant = phrases.entity(where.target.index)
            own = phrases.entity(word.index)
            if where.target.index == selected or (meant is not None and meant == own):
                continue
        for noun in _sharing_nouns(document, word):
            yield from _located(noun, (), where, phrases, rule="preposition")


def _sharing_nouns(document: Document, word: Word) -> list[Word]:
    return [word]


def possessor(document: Document, word: Word, phrases: Phrases) -> Iterator[RelationFact]:
    """As in "the man's hat", "his hat", "whose hat": the owner has the thing."""
    for owner in document.children(word, "nmod:poss"):
        meant: Word | None = owner
        if owner.lower == "whose":
            clause = document.head(word)
            meant = clauses.described_noun(document, clause) if clause is not None else None
        if meant is None or _is_picture(phrases, meant):
            continue
        mark = document.child(owner, "case")
        words = (mark,) if mark is not None else (owner,)
        for thing in clauses.conjuncts(document, word):
            if thing is word or not document.child(thing, "det", "nmod:poss"):
                yield RelationFact(
                    meant.index, thing.index, words, "possessive", "possessive", text="has"
                )
