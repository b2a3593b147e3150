"""Attributes: adjectives, materials, participles and predicates; prepositions and positions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from beholder.language import clauses
from beholder.language import lexicon as lex
from beholder.language.clauses import AFFIRMED
from beholder.language.document import Word
from beholder.language.graph import AttributeFact, AttributeKind
from beholder.language.lexicon import LEADS, PICTURES, SKIPPED
from beholder.language.phrases import (
    Phrases,
    is_figure,
    is_of_name,
    is_position,
    is_quality,
)
from beholder.language.unseen import colours_of, names_nothing


class Place(NamedTuple):
    """A preposition, with a position noun if there is one, and its reference point.

    Attributes:
        words: The words of the relation, in order.
        target: The noun it is relative to; None for a position in the picture.
        owned: Whether the reference point is the owner of the position: "to her left".
    """

    words: tuple[Word, ...]
    target: Word | None
    owned: bool = False

    @property
    def text(self) -> str:
        """As written, in lower case; "to left of" where the position has an owner."""
        words = [word.lower for word in self.words]
        return " ".join([*words, "of"] if self.owned else words)

    @property
    def lacks(self) -> bool:
        """Return whether it denies a thing: "without"."""
        return bool(self.words) and self.words[0].lower in AFFIRMED


def place(noun: Word, phrases: Phrases, words: tuple[Word, ...]) -> Place:
    """Return the place that the preposition before a noun states.

    Args:
        noun: A noun with a preposition.
        phrases: The phrases of the document.
        words: The preposition; the first of several conjuncts has it for all of them.
    """
    if not is_position(noun) or noun.index in phrases.by_word:
        return Place(words, noun)
    return _position(noun, words, phrases)


def _position(noun: Word, words: tuple[Word, ...], phrases: Phrases) -> Place:
    inside = noun.before("det", "amod", "compound", "nummod", "conj", "cc")
    position_words = sorted({*words, *inside, noun})
    # "to the right and toward the center" are two places.
    if position_words[0].dep == "cc":
        position_words = position_words[1:]
    # The noun after the position is what it is relative to: "the left side of the table".
    for below in noun.children("nmod"):
        link = preposition(below)
        if below.dep == "nmod:poss":
            return Place(tuple(position_words), below, owned=True)
        if not link or link[0].lower not in ("of", "to", "in", "on"):
            continue
        if below.lemma in PICTURES or phrases.is_picture(below):
            return Place(tuple(position_words), None)
        if is_position(below) and below.index not in phrases.by_word:
            inner = _position(below, link, phrases)
            words = (*position_words, *inner.words)
            return Place(words, inner.target, inner.owned)
        if link[0].lower == "of":
            return Place((*position_words, *link), below)
    return Place(tuple(position_words), None)


def preposition(noun: Word) -> tuple[Word, ...]:
    """The words of the preposition of a noun: on, next to, out of, in front of."""
    words = [c for c in noun.before("case") if c.lower not in ("'s", "'")]
    if not words:
        return ()
    for case in words[:]:
        words += case.children("fixed")
        words += [c for c in case.before("advmod", "amod") if c.lower in LEADS]
    first = min(words).index
    for before in noun.document.words[max(0, first - 1) : first]:
        kind = before.dep in ("advmod", "case", "amod")
        linked = kind and before.head in (noun.index, noun.head, first)
        # "Left of the centre" is no part of the centre.
        side = before.lower in ("left", "right") and min(words).lower == "of"
        if linked and (before.lower in LEADS or side):
            words.append(before)
    return tuple([word for word in sorted(words) if word.lower not in SKIPPED])


_NO_QUALITY = lex.QUANTIFIERS | {
    "such",
    "same",
    "own",
    "certain",
    "else",
    "next",
}
_NO_DEGREE = (
    lex.FOCUS_ADVERBS | lex.NEGATIONS | (lex.QUANTIFIERS - {"more", "most"})
)
_OF_ACTS = ("difficult", "easy", "hard", "impossible")
"""Adjectives that before "to" say nothing of a thing itself."""
_PIECES = frozenset(("half", "part", "portion", "remainder", "rest"))
_AROUND = ("outside", "inside", "above", "below", "nearby")
_LOOSE = ("appos", "discourse", "parataxis")
"""Relations by which brackets after a noun may be attached to it."""


def attribute_facts(phrases: Phrases) -> Iterator[AttributeFact]:
    """All attributes of a document but those from verbs and positions."""
    for index, phrase in phrases.by_word.items():
        yield from modifiers(phrase.word, index)
    for index, target in phrases.stands_for.items():
        # The group is small, not the trees; the lower half, not the wall.
        if phrases.word(index).lemma not in lex.PARTITIVES | _PIECES:
            yield from modifiers(phrases.word(index), target)
    for word in phrases.document:
        if word.pos == "ADJ" or (word.is_noun and word.lower in lex.COLOURS):
            yield from predicate_adjectives(word, phrases)
        if "cop" in word.relations or word.index in phrases.stands_for:
            yield from predicate_nouns(word, phrases)


def modifiers(noun: Word, target: int) -> Iterator[AttributeFact]:
    """Adjectives, participles, colours and materials attached to a noun, sides in brackets too."""
    shade: Word | None = None
    # A shade ("dark") waits for the adjective after it and becomes part of its words.
    for child in noun.children(
        "amod", "compound", "nmod:desc", "advmod", *_LOOSE
    ):
        if not _describes(child, noun):
            continue
        following = child.next
        if following and _is_shade_of(child, following, noun):
            shade = child
            continue
        for word in [child, *_joined_adjectives(child)]:
            words = with_degree(word)
            if shade is not None and shade.index == words[0].index - 1:
                words = (*with_degree(shade), *words)
            affirmed = lex.NEGATIONS.isdisjoint([w.lower for w in words])
            yield AttributeFact(
                noun=target,
                words=words,
                value=_value(words),
                kind="quality",
                rule="modifier",
                polarity=affirmed,
            )
        shade = None


def _describes(child: Word, noun: Word) -> bool:
    linked = (
        child.pos == "ADJ"
        and child.index > noun.index
        and has_linked_noun(child)
    )
    if linked or is_of_name(child, noun) or not child.text[0].isalnum():
        return False
    if child.lower in _NO_QUALITY or child.lower in lex.NEGATIONS:
        return False
    if _in_brackets(child) and (
        child.pos == "ADJ" or child.lower in lex.POSITIONS
    ):
        # As in "a boy (left)".
        return True
    # An apposition outside brackets is a name or a kind, not a quality.
    if child.role in _LOOSE:
        return False
    if child.dep in ("compound", "nmod:desc") or child.is_noun:
        before = child.index < noun.index and child.dep in (
            "compound",
            "amod",
            "nmod:desc",
        )
        adjective = child.pos == "ADJ" or child.dep == "amod"
        return before and (adjective or is_quality(child))
    if child.pos == "ADV":
        return child.index > noun.index and child.lower in _AROUND
    return child.pos in ("ADJ", "VERB", "NUM", "X")


def _in_brackets(word: Word) -> bool:
    opening = with_degree(word)[0].previous
    closing = word.next
    if opening is None or closing is None:
        return False
    return opening.text == "(" and closing.text == ")"


def _is_shade_of(word: Word, following: Word, noun: Word) -> bool:
    """Return whether a word only shades the adjective after it: "dark" blue, "brightly" lit."""
    if (
        following.dep not in ("amod", "compound")
        or following.head != noun.index
    ):
        return False
    adverb = word.lower.endswith("ly") and following.pos in ("VERB", "ADJ")
    return adverb or (
        word.lower in lex.SHADES and following.lower in lex.COLOURS
    )


def _joined_adjectives(word: Word) -> list[Word]:
    return [c for c in word.children("conj") if _is_adjectival(c)]


def _is_adjectival(word: Word) -> bool:
    """A noun joined to an adjective without article is an adjective that was misread."""
    misread = (
        word.pos == "NOUN" and not word.is_plural and not word.children()[1:]
    )
    is_adjective = word.pos in ("ADJ", "VERB") or word.lower in lex.COLOURS
    return (is_adjective or misread) and not word.child(
        "nsubj", "cop", "aux", "obj"
    )


def with_degree(word: Word) -> tuple[Word, ...]:
    """The adjective with "very", "brightly", shades and measures ("ten years") before it."""
    before = word.before(
        "advmod", "amod", "obl:npmod", "compound", "obl:unmarked"
    )
    if not before:
        return (word,)
    before = [c for c in before if c.pos in ("ADV", "ADJ", "NOUN", "PART")]
    before = [
        c for c in before if c.lower not in _NO_DEGREE and not _counts_more(c)
    ]
    inner = [
        d
        for c in before
        for d in c.children("advmod")
        if d.lower in lex.DEGREES
    ]
    inner += [n for c in before for n in c.children("nummod")]
    return tuple(sorted({*before, *inner, word}))


def _counts_more(word: Word) -> bool:
    """Return whether "more" says how many, not how much: "several more small figures"."""
    before = word.previous
    return (
        word.lower == "more"
        and before is not None
        and (
            before.lower in lex.NUMBER_WORDS or before.lower in lex.QUANTIFIERS
        )
    )


def _value(words: tuple[Word, ...]) -> str:
    """Return the value of an attribute in base form, without words of degree."""
    bare = [
        w
        for w in words[:-1]
        if w.lower not in lex.DEGREES and not w.lower.endswith("ly")
    ]
    last = words[-1]
    ending = last.lower if last.pos == "VERB" else last.lemma
    return " ".join([*[w.lower for w in bare], ending])


def predicate_adjectives(
    word: Word, phrases: Phrases
) -> Iterator[AttributeFact]:
    """Yield predicate adjectives: "is tall", "looks old", "painted white", and those joined."""
    rule = _predicate_rule(word)
    if (
        rule is None
        or word.lower in _NO_QUALITY
        or word.index in phrases.by_word
    ):
        return
    # "Wider than it is tall", "hard to make out"; "full of water", "next to a plate" and "taller
    # than a man" are relations.
    compared = "than" in word.lower_children("mark") or any(
        "than" in noun.lower_children("case") for noun in word.children("obl")
    )
    of_act = word.lower in _OF_ACTS and any(
        c.tag == "VB" for c in word.children()
    )
    if compared or of_act or has_linked_noun(word):
        return
    # "Does not look old": the verb is denied, too.
    predicates = [word, word.head_word] if word.dep == "xcomp" else [word]
    polarity = not any(clauses.is_denied(each) for each in predicates)
    # "Looks a deep red": the colour was read as the object of a linking verb.
    clause = word.head_word if word.dep == "obj" else word
    for subject in clauses.subjects(clause):
        for each in [
            word,
            *(c for c in _joined_adjectives(word) if c.pos != "VERB"),
        ]:
            words = with_degree(each)
            yield AttributeFact(
                noun=subject.index,
                words=words,
                value=_value(words),
                kind="quality",
                rule=rule,
                polarity=polarity,
            )


def has_linked_noun(adjective: Word) -> bool:
    """Return whether a noun with a preposition completes the adjective: "full of", "parked on"."""
    if adjective.lower not in lex.COMPLETED and not adjective.lower.endswith(
        "ed"
    ):
        return False
    return any(preposition(n) for n in adjective.after("obl", "nmod"))


def _predicate_rule(word: Word) -> str | None:
    if word.child("cop") is not None:
        return "copula"
    head = word.governor
    if head is None:
        return "copula" if word.child("nsubj") else None
    if word.dep == "xcomp" or (
        word.dep == "obj" and head.lemma in lex.LINKING
    ):
        return "linking" if head.lemma in lex.LINKING else "result"
    if word.dep in ("acl", "acl:relcl", "advcl"):
        return "clause"
    if word.dep == "conj" and word.child("nsubj"):
        return "copula"
    shared = (
        word.dep == "conj" and head.pos == "VERB" and not word.child("advmod")
    )
    return "shared" if shared else None


def predicate_nouns(word: Word, phrases: Phrases) -> Iterator[AttributeFact]:
    """Yield predicate nouns and positions: "is a doctor", "is in the foreground", "is nearby"."""
    polarity = not clauses.is_denied(word)
    descriptions: list[tuple[tuple[Word, ...], str, AttributeKind, str]] = []
    if word.pos == "ADV" and word.lower not in lex.FOCUS_ADVERBS:
        descriptions = [((word,), word.lower, "position", "copula")]
    elif word.is_noun and (link := preposition(word)):
        where = place(word, phrases, link)
        if where.target is None:
            descriptions = [(where.words, where.text, "position", "position")]
    elif names_nothing(word):
        coloured = [with_degree(colour) for colour in colours_of(word)]
        descriptions = [
            (words, _value(words), "quality", "colour") for words in coloured
        ]
    elif word.index in phrases.stands_for and not is_position(word):
        subject_index = phrases.stands_for[word.index]
        subject = phrases.word(subject_index)
        # As in "12 degrees".
        counted = any(is_figure(c) for c in word.children("nummod"))
        names_kind = (
            word.is_noun and word.lemma != subject.lemma and not counted
        )
        if names_kind and subject.dep.startswith("nsubj"):
            before = word.before("compound", "flat")
            words = (*(c for c in before if not is_quality(c)), word)
            value = " ".join([*(w.lower for w in words[:-1]), word.lemma])
            yield AttributeFact(
                noun=subject_index,
                words=words,
                value=value,
                kind="kind",
                rule="copula",
                polarity=polarity,
            )
    for description in descriptions:
        for subject in clauses.subjects(word):
            yield AttributeFact(subject.index, *description, polarity)
