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
from beholder.language.document import Word
from beholder.language.graph import RelationFact
from beholder.language.lexicon import PARTITIVES, ROVING
from beholder.language.phrases import Phrases
from beholder.language.verbs import (
    Fact,
    place_facts,
    places_of,
    verb_facts,
    verb_words,
)


def relation_facts(phrases: Phrases) -> Iterator[Fact]:
    """All relations of a document, and the states of verbs that relate to nothing."""
    for word in phrases.document:
        below = word.relations
        if not below and word.pos != "VERB":
            # Relates nothing.
            continue
        is_verb = clauses.is_verb(word)
        if "expl" in below:
            yield from existential(word, phrases)
        elif is_verb:
            yield from verb_facts(word, phrases)
        elif word.pos in ("ADP", "ADV") and word.dep.startswith("acl"):
            yield from stranded_place(word)
        elif _completed(word) or ("cop" in below and _has_place_noun(word)):
            yield from adjective(word, phrases)
        elif "cop" in below and clauses.fronted_place(word):
            yield from fronted_copula(word, phrases)
        elif "cop" in below and preposition(word):
            yield from copular_place(word, phrases)
        elif word.pos == "AUX" and word.lemma == "be" and "nsubj" in below:
            yield from existential(word, phrases)
        placed = "nmod" in below or "obl" in below
        if (
            placed
            and (word.is_noun or word.pos in ("PRON", "NUM"))
            and word.dep != "nmod:poss"
        ):
            yield from noun_places(word, phrases)
        if "nmod:poss" in below:
            yield from possessor(word, phrases)


def existential(word: Word, phrases: Phrases) -> Iterator[Fact]:
    """Yield the places of what there is: "There is a dog on the mat", "On the wall is a clock"."""
    polarity = not clauses.is_denied(word)
    for noun in [] if word.is_noun else word.children("nsubj", "obj"):
        for subject in clauses.conjuncts(noun):
            for where in places_of(word, phrases):
                if where.target is not subject:
                    yield from place_facts(
                        phrases, subject, (), where, "existential", polarity
                    )


def fronted_copula(word: Word, phrases: Phrases) -> Iterator[Fact]:
    """Yield the fronted place of a predicate noun: "On the table is a vase"."""
    if first := clauses.fronted_place(word):
        where = place(first, phrases, preposition(first))
        for subject in clauses.conjuncts(word):
            yield from place_facts(phrases, subject, (), where, "fronted")


def copular_place(word: Word, phrases: Phrases) -> Iterator[Fact]:
    """Yield places of a copula: "The cat is on the mat"; positions in the picture as attributes."""
    polarity = not clauses.is_denied(word)
    first = preposition(word)
    for noun in clauses.conjuncts(word):
        where = place(noun, phrases, preposition(noun) or first)
        for subject in clauses.subjects(word) if where.target else ():
            yield from place_facts(
                phrases, subject, (), where, "copula", polarity
            )


def adjective(word: Word, phrases: Phrases) -> Iterator[Fact]:
    """Yield relations of an adjective: "full of water", "next to a plate", "taller than me"."""
    polarity = not clauses.is_denied(word)
    subjects = clauses.subjects(word)
    if not subjects and word.dep in ("advmod", "xcomp"):
        subjects = clauses.subjects(word.head_word)
    lead = (word,) if has_linked_noun(word) or _has_place_noun(word) else ()
    for subject in subjects:
        for where in places_of(word, phrases):
            if (
                where.words
                and where.words[0].index != word.index
                and where.target is not subject
            ):
                # As in "taller than", "less bright than".
                than = where.words[0].lower == "than"
                lead_words = (*word.before("advmod"), word) if than else lead
                yield from place_facts(
                    phrases,
                    subject,
                    lead_words,
                    where,
                    "adjective",
                    polarity,
                )


def _completed(word: Word) -> bool:
    """Return whether an adjective can be at a place: of those before a noun, only "full of"."""
    free = word.dep not in ("amod", "compound")
    return word.pos == "ADJ" and (free or has_linked_noun(word))


def _has_place_noun(word: Word) -> bool:
    """Return whether a place has a noun of its own: "is across from a sink"."""
    placed = word.pos in ("ADP", "ADV")
    return placed and any(noun.child("case") for noun in word.children("obl"))


def stranded_place(word: Word) -> Iterator[RelationFact]:
    """Yield the place that a relative clause leaves out: "the table (that) the plates are on"."""
    noun = word.governor
    if noun is not None and word.child("cop"):
        for subject in clauses.subjects(word):
            if subject is not noun:
                yield RelationFact(
                    subject=subject.index,
                    object=noun.index,
                    words=(word,),
                    kind="preposition",
                    rule="relative",
                )


def noun_places(word: Word, phrases: Phrases) -> Iterator[Fact]:
    """Yield the places of a noun: "the man with a hat", "a house behind a tree"."""
    entity = phrases.entity(word.index)
    if phrases.is_picture(word) or (entity is None and word.child("cop")):
        return
    amount = word.lemma in PARTITIVES and entity != word.index
    selected = (
        phrases.by_word[word.index].selects
        if word.index in phrases.by_word
        else None
    )
    for where in places_of(word, phrases):
        if where.target is not None:
            # As in "a pair of bowls and a tin".
            if where.text == "of" and amount:
                continue
            meant = phrases.entity(where.target.index)
            if where.target.index == selected or (
                meant is not None and meant == entity
            ):
                continue
        mover, lead = _mover(word, where)
        for noun in [mover] if lead else _sharing(mover, where):
            yield from place_facts(phrases, noun, lead, where, "preposition")


def _sharing(word: Word, where: Place) -> list[Word]:
    """Return the joined nouns that share a place: "leaves and twigs on the grass"."""
    first = word.head_word if word.dep == "conj" else word
    group = clauses.conjuncts(first)
    start = where.words[0].index if where.words else 0
    siblings = [c for c in group if c is not word]
    has_own_place = any(
        preposition(n) for c in siblings for n in c.children("nmod")
    )
    # A determiner begins a thing of its own: in "a cup and a plate on a tray" only the plate is
    # there.
    bare = not any(c.children("det", "case") for c in group[1:])
    last = group[-1] is word or word is first
    if (
        word not in group
        or has_own_place
        or not bare
        or not last
        or group[-1].index > start
    ):
        return [word]
    return (
        [word] if where.words[0].lower in ("of", "with", "without") else group
    )


def _mover(word: Word, where: Place) -> tuple[Word, tuple[Word, ...]]:
    """Return the word that is at a place, and the verb's words.

    In "stands on a hill near a tree" the one who stands is near the tree, not the hill.
    """
    roving = bool(where.words) and where.words[0].lower in ROVING
    clause = word.head_word if word.dep == "obl" else word
    verbal = clause.pos == "VERB"
    if roving and word.child("case") and (verbal or clause.child("cop")):
        for subject in clauses.subjects(clause)[:1]:
            return subject, verb_words(clause) if verbal else ()
    return word, ()


def possessor(word: Word, phrases: Phrases) -> Iterator[RelationFact]:
    """Yield the relation of an owner to a thing: "the man's hat", "his hat", "whose hat"."""
    for owner in word.children("nmod:poss"):
        meant: Word | None = owner
        if owner.lower == "whose":
            meant = clauses.described_noun(word.head_word)
        if meant is None or phrases.is_picture(meant):
            continue
        words = (owner.child("case") or owner,)
        for thing in clauses.conjuncts(word):
            if thing is word or not thing.child("det", "nmod:poss"):
                yield RelationFact(
                    subject=meant.index,
                    object=thing.index,
                    words=words,
                    kind="possessive",
                    rule="possessive",
                    text="has",
                )
