"""Relations without a verb: prepositions between nouns, copular places, possessives."""

from __future__ import annotations

from collections.abc import Iterator

from beholder.language import clauses
from beholder.language.describe import (
    Place,
    has_linked_noun,
    place,
    preposition,
)
from beholder.language.document import Document, Word
from beholder.language.graph import RelationFact
from beholder.language.lexicon import PARTITIVES, ROVING
from beholder.language.phrases import Phrases
from beholder.language.verbs import (
    Fact,
    located,
    places_of,
    verb_facts,
    verb_words,
)


def relation_facts(document: Document, phrases: Phrases) -> Iterator[Fact]:
    """All relations of a document, and the states of verbs that relate to nothing."""
    for word in document:
        below = document.relations(word)
        if not below and word.pos != "VERB":
            continue  # relates nothing
        is_verb = clauses.is_verb(word)
        if "expl" in below:
            yield from existential(document, word, phrases)
        elif is_verb:
            yield from verb_facts(document, word, phrases)
        elif word.pos in ("ADP", "ADV") and word.dep.startswith("acl"):
            yield from stranded_place(document, word)
        elif _completed(document, word) or (
            "cop" in below and _apart(document, word)
        ):
            yield from adjective(document, word, phrases)
        elif "cop" in below and clauses.fronted_place(document, word):
            yield from fronted_copula(document, word, phrases)
        elif "cop" in below and preposition(document, word):
            yield from copular_place(document, word, phrases)
        elif word.pos == "AUX" and word.lemma == "be" and "nsubj" in below:
            yield from existential(document, word, phrases)
        placed = "nmod" in below or "obl" in below
        if (
            placed
            and (word.is_noun or word.pos in ("PRON", "NUM"))
            and word.dep != "nmod:poss"
        ):
            yield from noun_places(document, word, phrases)
        if "nmod:poss" in below:
            yield from possessor(document, word, phrases)


def existential(
    document: Document, word: Word, phrases: Phrases
) -> Iterator[Fact]:
    """As in "There is a dog on the mat", "On the wall is a clock": the places of what there is."""
    told = ("existential", not clauses.is_denied(document, word))
    for noun in (
        [] if word.is_noun else document.children(word, "nsubj", "obj")
    ):
        for subject in clauses.conjuncts(document, noun):
            for where in places_of(document, word, phrases):
                if where.target is not subject:
                    yield from located(
                        document, phrases, subject, (), where, *told
                    )


def fronted_copula(
    document: Document, word: Word, phrases: Phrases
) -> Iterator[Fact]:
    """As in "On the table is a vase": the predicate is the thing, the first noun its place."""
    if first := clauses.fronted_place(document, word):
        where = place(document, first, phrases, preposition(document, first))
        for subject in clauses.conjuncts(document, word):
            yield from located(
                document, phrases, subject, (), where, "fronted"
            )


def copular_place(
    document: Document, word: Word, phrases: Phrases
) -> Iterator[Fact]:
    """As in "The cat is on the mat"; positions in the picture are attributes."""
    told = ("copula", not clauses.is_denied(document, word))
    first = preposition(document, word)
    for noun in clauses.conjuncts(document, word):
        where = place(
            document, noun, phrases, preposition(document, noun) or first
        )
        for subject in (
            clauses.subjects(document, word) if where.target else ()
        ):
            yield from located(document, phrases, subject, (), where, *told)


def adjective(
    document: Document, word: Word, phrases: Phrases
) -> Iterator[Fact]:
    """As in "full of water", "next to a plate", "across from a sink", "taller than a chair"."""
    polarity = not clauses.is_denied(document, word)
    named = clauses.subjects(document, word)
    if not named and word.dep in ("advmod", "xcomp"):
        named = clauses.subjects(document, document.words[word.head])
    lead = (
        (word,)
        if has_linked_noun(document, word) or _apart(document, word)
        else ()
    )
    for subject in named:
        for where in places_of(document, word, phrases):
            if (
                where.words
                and where.words[0].index != word.index
                and where.target is not subject
            ):
                than = (
                    where.words[0].lower == "than"
                )  # "taller than", "less bright than"
                own = (
                    (*document.before(word, "advmod"), word) if than else lead
                )
                yield from located(
                    document,
                    phrases,
                    subject,
                    own,
                    where,
                    "adjective",
                    polarity,
                )


def _completed(document: Document, word: Word) -> bool:
    """Whether an adjective can be at a place: of those before a noun, only "full of"."""
    free = word.dep not in ("amod", "compound")
    return word.pos == "ADJ" and (free or has_linked_noun(document, word))


def _apart(document: Document, word: Word) -> bool:
    """As in "is across from a sink", "is far from the road": the place has a noun of its own."""
    placed = word.pos in ("ADP", "ADV")
    return placed and any(
        document.child(noun, "case") for noun in document.children(word, "obl")
    )


def stranded_place(document: Document, word: Word) -> Iterator[RelationFact]:
    """As in "the table (that) the plates are on"."""
    noun = document.head(word)
    if noun is not None and document.child(word, "cop"):
        for subject in clauses.subjects(document, word):
            if subject is not noun:
                yield RelationFact(
                    subject.index,
                    noun.index,
                    (word,),
                    "preposition",
                    "relative",
                )


def noun_places(
    document: Document, word: Word, phrases: Phrases
) -> Iterator[Fact]:
    """As in "the man with a hat", "a house behind a tree"."""
    own = phrases.entity(word.index)
    if phrases.is_picture(word) or (
        own is None and document.child(word, "cop")
    ):
        return
    amount = word.lemma in PARTITIVES and own != word.index
    selected = (
        phrases.by_word[word.index].selects
        if word.index in phrases.by_word
        else None
    )
    for where in places_of(document, word, phrases):
        if where.target is not None:
            if where.text == "of" and amount:  # "a pair of bowls and a tin"
                continue
            meant = phrases.entity(where.target.index)
            if where.target.index == selected or (
                meant is not None and meant == own
            ):
                continue
        mover, lead = _mover(document, word, where)
        for noun in [mover] if lead else _sharing(document, mover, where):
            yield from located(
                document, phrases, noun, lead, where, "preposition"
            )


def _sharing(document: Document, word: Word, where: Place) -> list[Word]:
    """Joined bare nouns share a place: "leaves and twigs on the grass"."""
    first = document.words[word.head] if word.dep == "conj" else word
    group = clauses.conjuncts(document, first)
    start = where.words[0].index if where.words else 0
    others = [c for c in group if c is not word]
    told = any(
        preposition(document, n)
        for c in others
        for n in document.children(c, "nmod")
    )
    bare = not any(document.children(c, "det", "case") for c in group[1:])
    last = group[-1] is word or word is first
    if (
        word not in group
        or told
        or not bare
        or not last
        or group[-1].index > start
    ):
        return [word]
    return (
        [word] if where.words[0].lower in ("of", "with", "without") else group
    )


def _mover(
    document: Document, word: Word, where: Place
) -> tuple[Word, tuple[Word, ...]]:
    """Who is near the tree in "stands on a hill near a tree": the one who stands, not the hill."""
    roving = bool(where.words) and where.words[0].lower in ROVING
    clause = document.words[word.head] if word.dep == "obl" else word
    verbal = clause.pos == "VERB"
    if (
        roving
        and document.child(word, "case")
        and (verbal or document.child(clause, "cop"))
    ):
        for subject in clauses.subjects(document, clause)[:1]:
            return subject, verb_words(document, clause) if verbal else ()
    return word, ()


def possessor(
    document: Document, word: Word, phrases: Phrases
) -> Iterator[RelationFact]:
    """As in "the man's hat", "his hat", "whose hat": the owner has the thing."""
    for owner in document.children(word, "nmod:poss"):
        meant: Word | None = owner
        if owner.lower == "whose":
            meant = clauses.described_noun(document, document.words[word.head])
        if meant is None or phrases.is_picture(meant):
            continue
        words = (document.child(owner, "case") or owner,)
        for thing in clauses.conjuncts(document, word):
            if thing is word or not document.child(thing, "det", "nmod:poss"):
                yield RelationFact(
                    meant.index,
                    thing.index,
                    words,
                    "possessive",
                    "possessive",
                    text="has",
                )
