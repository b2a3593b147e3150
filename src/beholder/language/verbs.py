"""Relations of a verb's subjects to its objects, receivers and places; states without any."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import filterfalse, product
from typing import TypeAlias

from beholder.language import clauses
from beholder.language import lexicon as lex
from beholder.language.describe import Place, place, preposition, with_degree
from beholder.language.document import Word
from beholder.language.graph import AttributeFact, RelationFact, RelationKind
from beholder.language.phrases import Phrases, is_bare_colour
from beholder.language.unseen import EFFECT_VERBS, colours_of

Fact: TypeAlias = AttributeFact | RelationFact
_NO_MANNER = (
    lex.FOCUS_ADVERBS | lex.NEGATIONS | {"when", "where", "while", "as", "how"}
)
_WAYS = ("from", "to", "toward")


def places_of(word: Word, phrases: Phrases) -> Iterator[Place]:
    """The prepositional phrases attached to a word, each joined noun by itself."""
    hanging = word.children("obl", "nmod")
    # An oblique below the object is its own: "eats soup with a spoon".
    if word.pos == "VERB":
        hanging += [n for c in word.children("obj") for n in c.children("obl")]
    for noun in hanging:
        if noun.dep == "nmod:poss" or noun.lower in lex.RELATIVE_PRONOUNS:
            continue
        of_verb = word.is_noun and word.dep == "obj" and noun.dep == "obl"
        if word.pos == "VERB" and _is_state_of_part(noun):
            continue
        words = () if of_verb or noun.lemma in lex.TIMES else preposition(noun)
        for each in clauses.conjuncts(noun) if words else ():
            place_words = words if each is noun else preposition(each) or words
            yield place(each, phrases, place_words)


def _is_state_of_part(noun: Word) -> bool:
    """Return whether "with" adds a clause of a part: "sits with its tail curled up"."""
    after = noun.next
    return (
        after is not None
        and after.dep == "acl"
        and after.head == noun.index
        and noun.lower_children("case") == ["with"]
        and noun.child("nmod:poss", "det") is not None
    )


def place_facts(
    phrases: Phrases,
    subject: Word,
    lead: tuple[Word, ...],
    where: Place,
    rule: str,
    polarity: bool = True,
    passive: bool = False,
) -> Iterator[Fact]:
    """A subject at a place: a relation, or an attribute for a position in the picture."""
    coloured = _colours(where)
    for colour in coloured:
        words = with_degree(colour)
        value = " ".join(w.lower for w in words)
        yield AttributeFact(
            noun=subject.index,
            words=words,
            value=value,
            kind="quality",
            rule="colour",
            polarity=polarity,
        )
    if where.target is None:
        # "Runs from left to right" says where it runs; "the sign on the left" where it is.
        running = where.text.startswith(_WAYS) and not any(
            w.lemma in EFFECT_VERBS for w in lead
        )
        words = (*lead, *where.words) if running else where.words
        how = (
            "way" if running and lead and lead[0].pos == "VERB" else "position"
        )
        yield AttributeFact(
            noun=subject.index,
            words=words,
            value=where.text,
            kind="position",
            rule=how,
            polarity=polarity,
        )
    elif not coloured and not phrases.is_picture(where.target):
        # Who walks without shoes walks, and is with no shoes.
        if where.lacks:
            entity = phrases.entity(where.target.index)
            if entity is not None and phrases.by_word[entity].polarity:
                return
            lead, polarity = (), False
        # But "full of", "less bright than".
        acts = lead and lead[-1].pos != "ADJ"
        kind: RelationKind = "verb" if acts else "preposition"
        words = (*lead, *where.words)
        text = " ".join([*(word.lower for word in lead), where.text])
        yield RelationFact(
            subject=subject.index,
            object=where.target.index,
            words=words,
            kind=kind,
            rule=rule,
            passive=passive,
            polarity=polarity,
            text=text if where.owned else None,
        )


def _colours(where: Place) -> list[Word]:
    """Return the colours that a place only names: "painted in black", "with a green hue"."""
    if where.target is None:
        return []
    if is_bare_colour(where.target):
        return [where.target]
    lead = where.words[0].lower if where.words else ""
    # What is filled or trimmed with cream, silver or gold is not of that colour.
    filled = lead == "with" and where.target.lower in lex.COLOURS
    if lead not in ("in", "with") or filled:
        return []
    return colours_of(where.target)


_SIDES = ("left", "right")
_STANDING = ("lie", "sit", "stand")


class _Act:
    """A verb with all that the rules below need."""

    def __init__(self, phrases: Phrases, verb: Word) -> None:
        self.phrases, self.verb = phrases, verb
        self.stranded = clauses.stranded_preposition(verb)
        self.words = tuple(
            w for w in verb_words(verb) if w is not self.stranded
        )
        self.passive = clauses.is_passive(verb)
        direct = clauses.objects(verb)
        if verb.lemma in _STANDING and not self.passive:
            # As in "stands guard".
            direct = []
        self.objects = [o for o in direct if not _is_direction(o)]
        self.places = list(places_of(verb, phrases))
        if fronted := clauses.fronted_place(verb):
            words = preposition(fronted)
            self.places.append(place(fronted, phrases, words))
        self.polarity = not clauses.is_denied(verb)

    @property
    def is_effect(self) -> bool:
        """Return whether all objects of the verb are nothing that a picture shows."""
        meant = [self.phrases.entity(noun.index) for noun in self.objects]
        kinds = {
            self.phrases.by_word[index].kind
            for index in meant
            if index is not None
        }
        return kinds == {"unseen"}

    def relation(
        self,
        subject: Word,
        target: Word,
        rule: str,
        words: tuple[Word, ...] = (),
        text: str | None = None,
    ) -> RelationFact:
        """A relation by this verb."""
        relation_words = words or self.words
        return RelationFact(
            subject=subject.index,
            object=target.index,
            words=relation_words,
            kind="verb",
            rule=rule,
            passive=self.passive,
            polarity=self.polarity,
            text=text,
        )

    def places_object(self, where: Place) -> bool:
        """Return whether a place is where the object goes: "puts a plate on the table"."""
        lead = where.words[0].lower if where.words else ""
        placing = (
            self.verb.lemma in lex.PLACING and lead not in lex.INSTRUMENTS
        )
        # "Behind the counter, a man pours milk": he is there.
        fronted = bool(where.words) and where.words[0] < self.verb
        return placing and bool(self.objects) and not (self.passive or fronted)


def verb_facts(word: Word, phrases: Phrases) -> Iterator[Fact]:
    """The relations of a verb, or the state that it is for a subject without any."""
    subjects = clauses.subjects(word)
    if _is_showing(word, phrases, subjects):
        yield from _shown_places(word, phrases, subjects)
        return
    if not subjects and word.lemma not in lex.PLACING:
        return
    # Plan: for each subject the relations to objects and places; a state if no fact has the verb;
    # then the places of the objects.
    act = _Act(phrases, word)
    for subject in subjects:
        facts: list[Fact] = [
            *_relations(act, subject),
            *_at_places(act, subject),
        ]
        yield from facts
        related = any(_holds_verb(fact, act) for fact in facts)
        # "fills the view" says nothing visible.
        is_state = not act.objects or not act.polarity
        # Who "stands up to leave" does not leave yet.
        is_state = is_state and not _is_purpose(word)
        if not related and is_state and not _means_another_verb(word):
            state = _state(act, subject)
            if state.words != (word,) or word.lemma not in lex.INCOMPLETE:
                yield state
    yield from _placed_objects(act)


def _holds_verb(fact: Fact, act: _Act) -> bool:
    """Return whether a fact says what the verb does: "painted white", "runs to the left"."""
    if isinstance(fact, AttributeFact):
        return fact.kind == "quality" or act.verb in fact.words
    if act.verb not in fact.words:
        return False
    meant = act.phrases.entity(fact.object)
    return meant is None or act.phrases.by_word[meant].kind != "unseen"


def verb_words(word: Word) -> tuple[Word, ...]:
    """A verb with its particles: "picks up"."""
    return (word, *word.after("compound:prt"))


def _relations(act: _Act, subject: Word) -> Iterator[RelationFact]:
    """Yield relations to objects, to receivers ("gives to") and to a relative clause's noun."""
    for target in act.objects:
        if target.index != subject.index and not act.phrases.is_picture(
            target
        ):
            yield act.relation(subject, target, "verb")
    text = " ".join([*(word.lower for word in act.words), "to"])
    for receiver in clauses.recipients(act.verb):
        for target in clauses.conjuncts(receiver):
            yield act.relation(subject, target, "recipient", text=text)
    gap = clauses.gap_noun(act.verb)
    if gap is not None and act.stranded is not None:
        yield act.relation(
            subject, gap, "relative", words=(*act.words, act.stranded)
        )


def _at_places(act: _Act, subject: Word) -> Iterator[Fact]:
    """Yield a relation to each place: "stands on a hill near a tree" gives two."""
    # Who "commands attention in the street" is there.
    lead = () if act.is_effect else act.words
    for where in filterfalse(act.places_object, act.places):
        yield from place_facts(
            act.phrases,
            subject,
            lead,
            where,
            "verb place",
            polarity=act.polarity,
            passive=act.passive,
        )


def _placed_objects(act: _Act) -> Iterator[Fact]:
    """Yield the places where objects are put: "puts a plate on the table"."""
    for target, where in product(
        act.objects, filter(act.places_object, act.places)
    ):
        yield from place_facts(
            act.phrases, target, (), where, "placed object", act.polarity
        )


def _means_another_verb(word: Word) -> bool:
    """Return whether the meaning is in the word below: "seems to be smiling", "looks old"."""
    below = word.child("xcomp", "ccomp")
    if word.lemma in lex.LINKING and word.child("xcomp", "obj"):
        return True
    return below is not None and below.pos in ("VERB", "NOUN", "ADJ", "AUX")


def _is_purpose(word: Word) -> bool:
    """Return whether a verb only says what for: "reaches up to catch", "a place to sit"."""
    marked = "to" in word.lower_children("mark")
    return word.tag == "VB" and marked and word.role in ("advcl", "acl")


def _is_showing(word: Word, phrases: Phrases, subjects: list[Word]) -> bool:
    """Return whether a verb says that a picture shows something: "is seen", "the image shows"."""
    return word.lemma in lex.SHOW_VERBS and (
        any(phrases.is_picture(s) for s in subjects)
        or clauses.is_passive(word)
    )


def _shown_places(
    word: Word, phrases: Phrases, subjects: list[Word]
) -> Iterator[Fact]:
    """Read "The image shows a dog on a bed", "A dog is seen on a bed": only the places count."""
    direct = clauses.objects(word)
    for thing in direct or [s for s in subjects if not phrases.is_picture(s)]:
        for where in places_of(word, phrases):
            is_itself = (
                where.target is not None and thing.index == where.target.index
            )
            # As in "seen from the side".
            if not is_itself and not where.text.startswith("from"):
                yield from place_facts(phrases, thing, (), where, "shown")


def _is_direction(word: Word) -> bool:
    """Return whether a word is only where its verb turns to: "facing left"."""
    bare = word.lower in _SIDES and not word.children()
    return bare and word.head_word.lemma in lex.DIRECTING


def _state(act: _Act, subject: Word) -> AttributeFact:
    """A verb that relates to nothing is a state of its subject: "is sitting", "walks slowly"."""
    word = act.verb
    before = word.before("advmod", "xcomp")
    after = word.after("advmod", "xcomp")
    around = [c for c in before if c.lower.endswith("ly")]
    around += [c for c in after if c.pos in ("ADV", "ADJ", "ADP")]
    around = [c for c in around if c.lower not in _NO_MANNER]
    below = word.children("advmod", "xcomp", "obj")
    sides = [c for c in below if _is_direction(c)]
    words = tuple(sorted({*act.words, *around, *sides}))
    value = " ".join(
        [word.lemma, *(w.lower for w in (*act.words[1:], *sides))]
    )
    return AttributeFact(
        noun=subject.index,
        words=words,
        value=value,
        kind="state",
        rule="verb",
        polarity=act.polarity,
    )
