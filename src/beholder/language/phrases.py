"""Nouns that denote entities, with the content of their phrases: name, number, quantity."""

from __future__ import annotations

from dataclasses import dataclass, field

from beholder.language import lexicon as lex
from beholder.language.clauses import is_absent
from beholder.language.document import Document, Word
from beholder.language.graph import EntityKind
from beholder.language.numerals import number, numeral

_NAMES = ("compound", "flat", "nmod:desc", "amod")
SHARES = frozenset(
    (
        "all",
        "any",
        "few",
        "half",
        "many",
        "most",
        "neither",
        "none",
        "several",
        "some",
        "not all",
    )
)
"""Words that say how many of the things after "of": "most of the seats"."""
_PARTS = frozenset(("all", "each", "every", "half", "most", "not all"))
"""Words that say so right before a noun, too: "most seats"."""
_BEFORE_NOUNS = ("nummod", "det", "amod", "advmod", "compound")
_QUANTIFIERS = lex.QUANTIFIERS - {"other", "single", "another"}
_SELECTING = lex.SELECTORS | SHARES
_RELATIVE = lex.RELATIVE_PRONOUNS - {"this"}
_WHOLE = ("all", "both", "each", "others")
_SEVERAL = lex.INDEFINITE | (lex.SELECTORS & lex.NUMBER_WORDS.keys()) - {"one"}
"""Selectors that pick more than one: "three of the men"."""
_MODIFIES = ("compound", "amod", "flat", "nmod:desc", "fixed", "goeswith")


@dataclass(slots=True)
class Phrase:
    """A noun phrase that stands for an entity.

    Attributes:
        word: The head word.
        name: The words of its name, head last: coffee, cup.
        quantity: As written, or None.
        plural: Whether it means more than one.
        kind: See ``EntityKind``.
        polarity: False for "no people".
        selects: Word index of the phrase it picks from ("one of the men"), or None.
        rule: Name of the construct.
    """

    word: Word
    name: tuple[Word, ...]
    quantity: str | None = None
    plural: bool = False
    kind: EntityKind = "thing"
    polarity: bool = True
    selects: int | None = None
    rule: str = "noun"


@dataclass(slots=True)
class Phrases:
    """All phrases of a document.

    Attributes:
        document: Their document.
        by_word: Head word index to phrase, in text order.
        stands_for: Word index to the head word it means: "pair" to "shoes", "doctor" to "man".
    """

    document: Document
    by_word: dict[int, Phrase] = field(default_factory=dict)
    stands_for: dict[int, int] = field(default_factory=dict)

    def word(self, index: int) -> Word:
        """A word of the document."""
        return self.document.words[index]

    def entity(self, index: int) -> int | None:
        """The head word of the phrase that a word means, or None if it means none."""
        index = self.word_meant(index)
        return index if index in self.by_word else None

    def is_picture(self, word: Word | None) -> bool:
        """Return whether a word means the picture itself."""
        entity = None if word is None else self.entity(word.index)
        return entity is not None and self.by_word[entity].kind == "picture"

    def word_meant(self, index: int) -> int:
        """The last word that a word stands for, itself if for none."""
        visited: set[int] = set()
        while index in self.stands_for and index not in visited:
            visited.add(index)
            index = self.stands_for[index]
        return index


def find_phrases(document: Document) -> Phrases:
    """The noun phrases of a document."""
    phrases = Phrases(document)
    for word in document:
        if _is_candidate(word) and any(map(str.isalnum, word.text)):
            _add(word, phrases)
    return phrases


def _is_candidate(word: Word) -> bool:
    if word.is_noun:
        return not is_modifier(word) and not is_time(word)
    if word.pos == "PRON" and word.lower not in SHARES:
        return _is_entity_pronoun(word)
    # "17 is painted on it"; in "showing 4:40" the verb's subject has it.
    if is_figure(word):
        return word.dep.startswith("nsubj") and not follows_verb(word)
    if word.lemma not in lex.PARTITIVES and word.lower not in _SELECTING:
        return False
    return _is_selector(word) or _partitive_noun(word) is not None


def is_figure(word: Word) -> bool:
    """Return whether a word is a number in digits: "17", "4:40", "$12.50"."""
    return word.pos == "NUM" and any(c.isdigit() for c in word.text)


def follows_verb(word: Word) -> bool:
    """Return whether the word before a word is a verb, whatever the parser joins it to."""
    return word.previous is not None and word.previous.pos == "VERB"


def is_modifier(word: Word) -> bool:
    """Return whether a noun only describes another: "coffee" cup, "eye-level" shot."""
    # Plan: a relation of compounds; a bare colour or shade; a conjunct of an adjective or colour; a
    # colour as predicate.
    base = word.role
    if word.dep in _MODIFIES or base in ("flat", "compound"):
        head = word.governor
        return head is not None and (
            head.is_noun or head.pos in ("ADJ", "NUM", "SYM")
        )
    lower = word.lower
    following = word.next
    if is_bare_colour(word):
        return True
    if lower in lex.SHADES and following and following.lower in lex.COLOURS:
        return True
    if word.dep == "conj":
        first = word.head_word
        if (
            first.pos == "ADJ"
            and not word.is_plural
            and not word.children("det", "amod")
        ):
            return not word.child("nsubj", "cop", "case")
        described = first.lower in lex.QUALITIES or first.lower == "left"
        return described and is_modifier(first)
    alone = lower in lex.COLOURS and word.dep in (
        "ROOT",
        "xcomp",
        "obl",
        "nmod:unmarked",
    )
    return alone and (word.dep == "xcomp" or bool(word.child("cop")))


def is_bare_colour(word: Word) -> bool:
    """Return whether a colour after a preposition is only a colour: "painted in black"."""
    if word.lower not in lex.COLOURS or word.child("det"):
        return False
    first = word.head_word if word.dep == "conj" else word
    return bool(first.child("case") or word.child("case"))


def named_subject(word: Word) -> Word | None:
    """Return the subject that a predicate noun describes: the man in "The man is a doctor"."""
    subject = word.child("nsubj")
    if subject is None or word.child("case") or subject.child("case"):
        return None
    tied = word.child("cop") or subject.child("cop")
    return (
        subject
        if tied and lex.PICTURES.isdisjoint((subject.lemma, word.lemma))
        else None
    )


def is_time(word: Word) -> bool:
    """Return whether a noun measures: "six feet tall", "this time"."""
    measures = word.dep in ("obl:npmod", "obl:unmarked", "nmod:unmarked")
    return word.dep == "obl:tmod" or (measures and bool(word.child("nummod")))


def _is_entity_pronoun(word: Word) -> bool:
    if word.dep in ("det", "expl", "nmod:poss") or word.lower in _RELATIVE:
        return (
            word.lower == "that"
            and word.dep in ("nsubj", "obj", "obl")
            and word.tag == "DT"
        )
    return word.lower in lex.PERSONAL or word.lower in _WHOLE


def _is_selector(word: Word) -> bool:
    """A number or "other" used as a noun."""
    # As in "two or three men".
    counts = word.head_word.dep == "nummod"
    if counts or word.lower not in lex.SELECTORS or word.dep in _BEFORE_NOUNS:
        return False
    return word.role in (
        "nsubj",
        "obj",
        "obl",
        "nmod",
        "ROOT",
        "conj",
        "appos",
    )


def _add(word: Word, phrases: Phrases) -> None:
    # In this order: a position is no entity; "pair" in "a pair of shoes" and a
    # noun of a look stand for another noun; all other words get a phrase.
    inner = _partitive_noun(word)
    if inner is None and is_position(word):
        return
    meant = inner or named_subject(word)
    if meant is not None and (inner or meant.is_noun):
        phrases.stands_for[word.index] = meant.index
        return
    kind: EntityKind = "thing"
    if word.pos == "PRON":
        kind = (
            "picture"
            if word.lower in ("i", "we", "you", "us", "me")
            else "pronoun"
        )
    elif word.lemma in lex.PICTURE_FRAMES and _is_picture(word):
        kind = "picture"
    phrase = plain_phrase(word)
    phrase.kind = kind
    if (
        not word.is_noun and word.pos != "PRON" and not is_figure(word)
    ) or word.lower in _WHOLE:
        phrase.rule = "selector"
        below = [n for n in word.children("nmod") if _preposition(n) == "of"]
        phrase.selects = below[0].index if below else None
    phrases.by_word[word.index] = phrase


def plain_phrase(word: Word) -> Phrase:
    """The phrase of a noun that stands for a thing; "a trio" stands for three people."""
    people = None if word.is_plural else lex.PEOPLE_BY_NUMBER.get(word.lemma)
    amount = quantity(word)
    part = amount in _PARTS or (
        amount in SHARES and word.head_word.lower in SHARES
    )
    return Phrase(
        word=word,
        name=_name(word),
        quantity=people or amount,
        plural=people is not None or _is_plural(word, amount),
        polarity=not is_absent(word),
        rule="share" if part else "noun",
    )


def _is_picture(word: Word) -> bool:
    """The picture that is described, not one on the wall or a frame around a thing."""
    if word.lemma not in lex.PICTURES:
        edge = word.lemma in ("frame", "composition") and word.child("case")
        described = word.lower_children("amod", "compound")
        bare = {"entire", "whole"}.issuperset(described)
        return word.lemma in ("viewer", "camera") or (bool(edge) and bare)
    determiner = word.child("det")
    if word.is_plural or word.child("nmod:poss", "nummod"):
        return False
    # "A print is on the wall" is a thing; "the print shows a street" is the picture itself.
    indefinite = determiner is None or determiner.lower in ("a", "an")
    shows = word.head_word.lemma in lex.SHOW_VERBS and word.dep == "nsubj"
    if word.lemma in ("portrait", "print") and indefinite and not shows:
        return False
    hand_held = word.lemma not in (
        "shot",
        "view",
        "scene",
        "close-up",
        "closeup",
    )
    if word.child("case") and indefinite and hand_held:
        return False
    below = word.children("nmod")
    hung = any(_preposition(n) in ("on", "above", "below") for n in below)
    described = word.lower_children("amod", "acl")
    framed = "framed" in described or "hanging" in described
    # As in "the image shows a medium shot of a dog".
    if word.dep == "obj" and not hand_held:
        subject = word.head_word.child("nsubj")
        return subject is not None and subject.lemma in lex.PICTURES
    return (
        not hung and not framed and word.role not in ("obj", "conj", "appos")
    )


def _partitive_noun(word: Word) -> Word | None:
    """Return the noun that a partitive means: the shoes in "a pair of shoes"; else None."""
    if word.lemma not in lex.PARTITIVES and word.lower not in SHARES:
        return None
    below = (
        n for n in word.children("nmod", "obl") if n.is_noun or n.pos == "PRON"
    )
    return next((n for n in below if _preposition(n) == "of"), None)


def is_position(word: Word) -> bool:
    """Return whether a noun only names a place: "on the left of", "in the background"."""
    if word.lemma not in lex.POSITIONS or (
        word.is_plural and word.lemma not in ("side", "corner")
    ):
        return False
    # "With the top out of view", "with her back to us": a part that something has.
    if "with" in word.lower_children("case"):
        return False
    part = word.lemma in (
        "base",
        "end",
        "edge",
        "back",
        "top",
        "bottom",
        "corner",
        "side",
    )
    placed = not part and word.role in ("obl", "advmod")
    return placed or bool(word.child("case"))


def _preposition(word: Word) -> str:
    return " ".join([c.lower for c in word.before("case")])


def _name(word: Word) -> tuple[Word, ...]:
    """The words of a compound, nested ones too; colours and materials are attributes instead."""
    parts = []
    queue = [word]
    while queue:
        head = queue.pop()
        parts.append(head)
        for child in head.children(*_NAMES):
            if child.dep == "amod" and not is_of_name(child, head):
                continue
            if is_figure(child) and head.pos != "PROPN":
                # "bus number 17" is a number that is 17; "Boeing 747" is a name.
                continue
            if child.dep.startswith("compound:") or not any(
                c.isalnum() for c in child.text
            ):
                continue
            # Words far from the head are of another phrase, whatever the parser says.
            quality = child.index < head.index and is_quality(child)
            if not quality and abs(child.index - head.index) <= 6:
                queue.append(child)
    return tuple(sorted(parts))


def is_of_name(child: Word, noun: Word) -> bool:
    """Return whether an adjective is part of a name: "teddy bear", "New York", "General Motors"."""
    if f"{child.lower}_{noun.lemma}" in lex.SET_NAMES:
        return child.index == noun.index - 1
    # In "Golden Gate Bridge" it begins a name.
    begins = child.index == 0 and noun.index < 2 and noun.dep != "compound"
    return noun.pos == "PROPN" and child.text[:1].isupper() and not begins


def is_quality(child: Word) -> bool:
    """Return whether a noun before a noun is a colour or material and so an attribute."""
    if is_of_name(child, child) or is_of_name(child, child.head_word):
        return False
    return child.lower in lex.QUALITIES


def quantity(word: Word) -> str | None:
    """Return the words that count a noun: numeral, quantifier, or the noun before "of"."""
    if written := numeral(word):
        return " ".join(counting.lower for counting in written)
    for child in word.children("det", "amod", "det:predet"):
        quantifier = child.lower in _QUANTIFIERS
        superlative = child.tag == "JJS" and child.lower != "most"
        if quantifier and not superlative and child.index < word.index:
            return _denied(child)
    head = word.governor
    part = head is not None and _partitive_noun(head) == word
    if head is not None and part and head.lower not in ("none", "neither"):
        return " ".join(
            [
                *(w.lower for w in numeral(head)),
                _denied(head),
            ]
        )
    return None


def _denied(counting: Word) -> str:
    """Return the words of a quantifier, with the "not" before it: "not all"."""
    before = counting.previous
    if before and (before.lower, counting.lower) == ("not", "all"):
        return "not all"
    return counting.lower


def _is_plural(word: Word, amount: str | None) -> bool:
    counted = number(amount) if amount else None
    # "Half of the wall" is no several walls.
    if counted is not None and (counted > 1 or counted == 0):
        return True
    if amount and amount.split()[-1] in lex.GROUP_NOUNS:
        return True
    if amount is None and not word.is_noun and word.lower in _SEVERAL:
        return True
    meant = word.lower in (
        "they",
        "them",
        "these",
        "those",
        "both",
        "others",
        "we",
        "us",
    )
    return meant or word.is_plural or word.lemma == "people"
