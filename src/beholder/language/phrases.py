"""Which nouns stand for entities, and what their phrases say: name, number, quantity."""

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
        rule: Which construct it is.
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
        by_word: Head word index to phrase, in text order.
        stands_for: Word index to the head word it means: "pair" to "shoes", "doctor" to "man".
    """

    by_word: dict[int, Phrase] = field(default_factory=dict)
    stands_for: dict[int, int] = field(default_factory=dict)

    def entity(self, index: int) -> int | None:
        """The head word of the phrase that a word means, or None if it means none."""
        index = self.word_meant(index)
        return index if index in self.by_word else None

    def is_picture(self, word: Word | None) -> bool:
        """Whether a word means the picture itself."""
        entity = None if word is None else self.entity(word.index)
        return entity is not None and self.by_word[entity].kind == "picture"

    def word_meant(self, index: int) -> int:
        """The last word that a word stands for, itself if for none."""
        seen: set[int] = set()
        while index in self.stands_for and index not in seen:
            seen.add(index)
            index = self.stands_for[index]
        return index


def find_phrases(document: Document) -> Phrases:
    """The noun phrases of a document."""
    found = Phrases()
    for word in document:
        if _is_candidate(document, word) and any(map(str.isalnum, word.text)):
            _add(document, word, found)
    return found


def _is_candidate(document: Document, word: Word) -> bool:
    if word.is_noun:
        return not is_modifier(document, word) and not is_time(document, word)
    if word.pos == "PRON" and word.lower not in SHARES:
        return _is_entity_pronoun(word)
    if is_figure(
        word
    ):  # "17 is painted on it"; in "showing 4:40" the verb's subject has it
        return word.dep.startswith("nsubj") and not follows_verb(
            document, word
        )
    if word.lemma not in lex.PARTITIVES and word.lower not in _SELECTING:
        return False
    return (
        _is_selector(document, word)
        or _partitive_noun(document, word) is not None
    )


def is_figure(word: Word) -> bool:
    """Whether a word is a number in digits: "17", "4:40", "$12.50"."""
    return word.pos == "NUM" and any(c.isdigit() for c in word.text)


def follows_verb(document: Document, word: Word) -> bool:
    """Whether the word before a word is a verb, whatever the parser joins it to."""
    return word.index > 0 and document.words[word.index - 1].pos == "VERB"


def is_modifier(document: Document, word: Word) -> bool:
    """Whether a noun only describes another: "coffee" cup, "metal" pole, "eye-level" shot."""
    base = word.dep.split(":")[0]
    if word.dep in _MODIFIES or base in ("flat", "compound"):
        head = document.head(word)
        return head is not None and (
            head.is_noun or head.pos in ("ADJ", "NUM", "SYM")
        )
    lower, following = (
        word.lower,
        document.words[word.index + 1 : word.index + 2],
    )
    shade = lower in lex.SHADES and any(
        w.lower in lex.COLOURS for w in following
    )
    if shade or is_bare_colour(document, word):
        return True
    if word.dep == "conj":
        first = document.words[word.head]
        if (
            first.pos == "ADJ"
            and not word.is_plural
            and not document.children(word, "det", "amod")
        ):
            return not document.child(word, "nsubj", "cop", "case")
        described = first.lower in lex.QUALITIES or first.lower == "left"
        return described and is_modifier(document, first)
    alone = lower in lex.COLOURS and word.dep in (
        "ROOT",
        "xcomp",
        "obl",
        "nmod:unmarked",
    )
    return alone and (word.dep == "xcomp" or bool(document.child(word, "cop")))


def is_bare_colour(document: Document, word: Word) -> bool:
    """Whether a colour after a preposition is only a colour: "painted in black and white"."""
    if word.lower not in lex.COLOURS or document.child(word, "det"):
        return False
    first = document.words[word.head] if word.dep == "conj" else word
    return bool(document.child(first, "case") or document.child(word, "case"))


def named_subject(document: Document, word: Word) -> Word | None:
    """The subject of "The man is a doctor", which the predicate noun only says what it is."""
    subject = document.child(word, "nsubj")
    if (
        subject is None
        or document.child(word, "case")
        or document.child(subject, "case")
    ):
        return None
    tied = document.child(word, "cop") or document.child(subject, "cop")
    return (
        subject
        if tied and lex.PICTURES.isdisjoint((subject.lemma, word.lemma))
        else None
    )


def is_time(document: Document, word: Word) -> bool:
    """Whether a noun measures: "six feet tall", "this time"."""
    measures = word.dep in ("obl:npmod", "obl:unmarked", "nmod:unmarked")
    return word.dep == "obl:tmod" or (
        measures and bool(document.child(word, "nummod"))
    )


def _is_entity_pronoun(word: Word) -> bool:
    if word.dep in ("det", "expl", "nmod:poss") or word.lower in _RELATIVE:
        return (
            word.lower == "that"
            and word.dep in ("nsubj", "obj", "obl")
            and word.tag == "DT"
        )
    return word.lower in lex.PERSONAL or word.lower in _WHOLE


def _is_selector(document: Document, word: Word) -> bool:
    """A number or "other" used as a noun."""
    counts = document.words[word.head].dep == "nummod"  # "two or three men"
    if counts or word.lower not in lex.SELECTORS or word.dep in _BEFORE_NOUNS:
        return False
    return word.dep.split(":")[0] in (
        "nsubj",
        "obj",
        "obl",
        "nmod",
        "ROOT",
        "conj",
        "appos",
    )


def _add(document: Document, word: Word, found: Phrases) -> None:
    inner = _partitive_noun(document, word)
    if inner is None and is_position(document, word):
        return
    meant = inner or named_subject(document, word)
    if meant is not None and (inner or meant.is_noun):
        found.stands_for[word.index] = meant.index
        return
    kind: EntityKind = "thing"
    if word.pos == "PRON":
        kind = (
            "picture"
            if word.lower in ("i", "we", "you", "us", "me")
            else "pronoun"
        )
    elif word.lemma in lex.PICTURE_FRAMES and _is_picture(document, word):
        kind = "picture"
    phrase = plain_phrase(document, word)
    phrase.kind = kind
    if (
        not word.is_noun and word.pos != "PRON" and not is_figure(word)
    ) or word.lower in _WHOLE:
        phrase.rule = "selector"
        below = [
            n
            for n in document.children(word, "nmod")
            if _preposition(document, n) == "of"
        ]
        phrase.selects = below[0].index if below else None
    found.by_word[word.index] = phrase


def plain_phrase(document: Document, word: Word) -> Phrase:
    """The phrase of a noun that stands for a thing; "a trio" stands for three people."""
    people = None if word.is_plural else lex.PEOPLE_BY_NUMBER.get(word.lemma)
    said = quantity(document, word)
    part = said in _PARTS or (
        said in SHARES and document.words[word.head].lower in SHARES
    )
    return Phrase(
        word=word,
        name=_name(document, word),
        quantity=people or said,
        plural=people is not None or _is_plural(word, said),
        polarity=not is_absent(document, word),
        rule="share" if part else "noun",
    )


def _is_picture(document: Document, word: Word) -> bool:
    """The picture that is described, not one on the wall or a frame around a thing."""
    if word.lemma not in lex.PICTURES:
        edge = word.lemma in ("frame", "composition") and document.child(
            word, "case"
        )
        bare = not document.child(word, "amod", "compound")
        return word.lemma in ("viewer", "camera") or (bool(edge) and bare)
    determiner = document.child(word, "det")
    if word.is_plural or document.child(word, "nmod:poss", "nummod"):
        return False
    indefinite = determiner is None or determiner.lower in ("a", "an")
    shows = (
        document.words[word.head].lemma in lex.SHOW_VERBS
        and word.dep == "nsubj"
    )
    if word.lemma in ("portrait", "print") and indefinite and not shows:
        return False
    hand_held = word.lemma not in (
        "shot",
        "view",
        "scene",
        "close-up",
        "closeup",
    )
    if document.child(word, "case") and indefinite and hand_held:
        return False
    below = document.children(word, "nmod")
    hung = any(
        _preposition(document, n) in ("on", "above", "below") for n in below
    )
    framed = any(
        w.lower in ("framed", "hanging")
        for w in document.children(word, "amod", "acl")
    )
    if (
        word.dep == "obj" and not hand_held
    ):  # "the image shows a medium shot of a dog"
        subject = document.child(document.words[word.head], "nsubj")
        return subject is not None and subject.lemma in lex.PICTURES
    return (
        not hung
        and not framed
        and word.dep.split(":")[0] not in ("obj", "conj", "appos")
    )


def _partitive_noun(document: Document, word: Word) -> Word | None:
    """As in "a pair of shoes" means the shoes; None for a word that means itself."""
    if word.lemma not in lex.PARTITIVES and word.lower not in SHARES:
        return None
    below = (
        n
        for n in document.children(word, "nmod", "obl")
        if n.is_noun or n.pos == "PRON"
    )
    return next((n for n in below if _preposition(document, n) == "of"), None)


def is_position(document: Document, word: Word) -> bool:
    """Whether a noun only names a place: "on the left of", "in front of", "in the background"."""
    if word.lemma not in lex.POSITIONS or (
        word.is_plural and word.lemma not in ("side", "corner")
    ):
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
    placed = not part and word.dep.split(":")[0] in ("obl", "advmod")
    return placed or bool(document.child(word, "case"))


def _preposition(document: Document, word: Word) -> str:
    return " ".join([c.lower for c in document.before(word, "case")])


def _name(document: Document, word: Word) -> tuple[Word, ...]:
    """The words of a compound, nested ones too; colours and materials are attributes instead."""
    parts, queue = [], [word]
    while queue:
        head = queue.pop()
        parts.append(head)
        for child in document.children(head, *_NAMES):
            if child.dep == "amod" and not is_of_name(child, head):
                continue
            if is_figure(child) and head.pos != "PROPN":
                continue  # "bus number 17" is a number that is 17; "Boeing 747" is a name
            if child.dep.startswith("compound:") or not any(
                c.isalnum() for c in child.text
            ):
                continue
            quality = child.index < head.index and is_quality(document, child)
            if not quality and abs(child.index - head.index) <= 6:
                queue.append(child)
    return tuple(sorted(parts))


def is_of_name(child: Word, noun: Word) -> bool:
    """Whether a capital makes an adjective part of a name: "New York", "General Motors"."""
    # In "Golden Gate Bridge" it begins a name.
    begins = child.index == 0 and noun.index < 2 and noun.dep != "compound"
    return noun.pos == "PROPN" and child.text[:1].isupper() and not begins


def is_quality(document: Document, child: Word) -> bool:
    """Whether a noun before a noun is a colour or material and so an attribute."""
    if is_of_name(child, child) or is_of_name(
        child, document.words[child.head]
    ):
        return False
    return child.lower in lex.QUALITIES


def quantity(document: Document, word: Word) -> str | None:
    """How many: numeral, quantifier, or the noun before "of"."""
    if written := numeral(document, word):
        return " ".join(counting.lower for counting in written)
    for child in document.children(word, "det", "amod", "det:predet"):
        quantifier = child.lower in _QUANTIFIERS
        superlative = child.tag == "JJS" and child.lower != "most"
        if quantifier and not superlative and child.index < word.index:
            return _denied(document, child)
    head = document.head(word)
    part = head is not None and _partitive_noun(document, head) == word
    if head is not None and part and head.lower not in ("none", "neither"):
        return " ".join(
            [
                *(w.lower for w in numeral(document, head)),
                _denied(document, head),
            ]
        )
    return None


def _denied(document: Document, counting: Word) -> str:
    """A quantifier, "all" with the "not" before it."""
    before = document.words[counting.index - 1].lower if counting.index else ""
    return (
        "not all"
        if (before, counting.lower) == ("not", "all")
        else counting.lower
    )


def _is_plural(word: Word, said: str | None) -> bool:
    if said and (
        number(said) not in (None, 1) or said.split()[-1] in lex.GROUP_NOUNS
    ):
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
