"""Compare the values that a text and its caption or title give to one thing, for ALT206.

Words alone decide: two values of one class that exclude each other, before or behind the same noun,
where neither text has a second value for it. No parser or model is needed, so the time is linear in
the length of the texts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import dropwhile, takewhile
from typing import NamedTuple

from beholder.judges.builtin.classes import Values, exclude, values
from beholder.language.lemmas import noun
from beholder.language.numerals import is_numeral, number
from beholder.lint.dates import LABELS
from beholder.lint.wording import listed, names
from beholder.text import kinds

_MOST_WORDS, _MOST_VALUES = 200, 40
_TOKEN = re.compile(
    r"\d+(?:[.,]\d+)*(?![^\W_])|[^\W_]+(?:[-'’][^\W_]+)*|[^\w\s]"
)
_CLASSES = listed("classes", "en")
_SIDE, _NUMBER = "side", "number"
_SURE_OF_TIME = frozenset(("sex", _SIDE))
"""Classes whose values are the same before and after a fire or a restoration."""
_ANOTHER_TIME = re.compile(
    r"""
    \b(?:former|formerly|once|now|originally|later|until|used\ to|no\ longer|will\ be|would\ be
    |(?:before|after)\b(?:\ [\w-]+){0,3}?\ (?:\d{4}|fire|war|flood|storm|earthquake|repairs?|crash
    |surgery|haircut|accident|[\w-]+(?:[ts]ion|ment|ing)))\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
"""Words of a text that speaks of another time than the picture, too."""
_STOP = listed("phrase_ends", "en")
_DEFINITE = listed("definite", "en")
_STATED = listed("stated", "en")
"""Words before a value of what comes before them: "the door is red", "a bust of marble"."""
_DENIED = listed("denied", "en")
_ABOUT = listed("about", "en")
_PARTLY = listed("partly", "en")
_JOINED = listed("joined", "en")
_AGED = re.compile(r".+-(?:year|month|week|day)s?-old")
_LOOKS = ("male", "female")
_AGE = frozenset(("sex", "age", "years"))
_CHILDREN = frozenset(("baby", "infant", "toddler", "child"))
_SECOND_PERSON = frozenset(("another", "other", "others"))
_JOINING = (",", "/", "and", "&", "or")
_YOUNG = listed("young", "en")
_NEAR: dict[str, list[str]] = names("shades")
"""Shades that people call by these colours, too, so that they exclude none of them."""
_MATERIALS: list[list[str]] = names("materials")
"""Materials of museums, one a list, beside those that the judge knows."""


class _Word(NamedTuple):
    text: str
    base: str
    start: int
    end: int
    is_capital: bool


class _Statement(NamedTuple):
    """A value, and the nouns of which one names the thing that has it.

    Attributes:
        at: Index of the word.
        values: Its values by class.
        things: The nouns.
        is_person: Whether the value itself names a person, such as "woman".
    """

    at: int
    values: Values
    things: tuple[str, ...]
    is_person: bool


class _Reading(NamedTuple):
    words: list[_Word]
    statements: list[_Statement]
    new_counts: Counter[
        str
    ]  # how often as something new: not "the boat", "his boat"


def contradictions(
    text: str, record: str
) -> Iterator[tuple[tuple[int, int], str]]:
    """Yield the range of each word of a text that the record excludes, with the word of the record.

    Args:
        text: A description in English.
        record: Catalogue record of the same picture, in English; beyond 200 words, no text is read.
    """
    if not record:
        return
    # Each value of the text is compared with each of the record. A pair counts
    # if the values exclude each other and belong to the same person, or to the
    # same thing of which neither text says anything else.
    a, b = _parse_text(text), _parse_text(record)
    changed = bool(_ANOTHER_TIME.search(text) or _ANOTHER_TIME.search(record))
    for statement in a.statements:
        for opposite in b.statements:
            if statement.is_person != opposite.is_person or not exclude(
                statement.values, opposite.values
            ):
                continue
            names = _names(statement.values) & _names(
                opposite.values
            ) - _names(statement.values & opposite.values)
            # A colour or material may change between two times, a side may
            # not.
            if changed and not names <= _SURE_OF_TIME:
                continue
            if statement.is_person:
                is_same_thing = _is_same_person(
                    names, statement, a, opposite, b
                )
            else:
                things = statement.things + opposite.things
                is_same_thing = (
                    _is_one_thing(statement.things, opposite.things)
                    and _is_alone(statement, opposite, names, things, a)
                    and _is_alone(opposite, statement, names, things, b)
                )
            if is_same_thing:
                word = a.words[statement.at]
                yield (word.start, word.end), b.words[opposite.at].text


def _parse_text(text: str) -> _Reading:
    words = [
        _Word(
            match[0].lower(),
            noun(match[0].lower()),
            *match.span(),
            match[0][0].isupper(),
        )
        for match, _ in zip(
            _TOKEN.finditer(text), range(_MOST_WORDS), strict=False
        )
    ]
    content_words = [
        word
        for word in words
        if word.text[0].isalpha() and word.text not in _STOP
    ]
    # Where all words have capitals, these mark no names.
    is_title = all(word.is_capital for word in content_words)
    statements: list[_Statement] = []
    # From the end: in "red and blue boat" the first colour takes the nouns of
    # the second.
    for at in range(len(words) - 1, -1, -1):
        value = _values(words[at].text, words[at].base)
        if not value or _is_no_value(words, at, value, is_title):
            continue
        is_person = _is_person(value) and words[at].text not in _LOOKS
        things = (words[at].base,) if is_person else _things(words, at, value)
        ahead = statements[-1] if statements else None
        if (
            not things
            and ahead
            and ahead.at == at + 2
            and words[at + 1].text in _JOINING
        ):
            things = ahead.things  # "red and blue boat"
        statements.append(_Statement(at, value, things, is_person))
    # "A boat ... another boat" are two, "a boat ... the boat" is one.
    new_bases = (
        word.base
        for at, word in enumerate(words)
        if words[at - 1].text not in _DEFINITE
    )
    return _Reading(words, statements[::-1][:_MOST_VALUES], Counter(new_bases))


@lru_cache(maxsize=1 << 14)
def _values(word: str, base: str) -> Values:
    if "-" in word and not (_AGED.fullmatch(word) or is_numeral(word)):
        parts = word.split("-")
        if not all(part in _JOINED or values(part) for part in parts):
            return frozenset()  # "red-roofed", "free-standing"
    meanings = {
        meaning
        for w in (word, *_NEAR.get(word, ()))
        for meaning in values(w) or values(base if w == word else w)
    }
    # Negative numbers, because the judge's own materials have those from 0.
    meanings |= {
        ("material", -1.0 - n)
        for n, alike in enumerate(_MATERIALS)
        if word in alike
    }
    if is_numeral(word) and word not in ("a", "an", "no", "zero"):
        meanings = {(_NUMBER, float(number(word) or 0))}
    return frozenset(meaning for meaning in meanings if meaning[0] in _CLASSES)


def _names(value: Values) -> set[str]:
    return {name for name, _ in value}


def _is_person(value: Values) -> bool:
    return not _names(value).isdisjoint(("sex", "age"))


def _is_no_value(
    words: Sequence[_Word], at: int, value: Values, is_title: bool
) -> bool:
    """Return whether a word is a name, an article, a label, an estimate, or denied."""
    word, before = words[at], words[at - 1] if at else None
    after = words[at + 1] if at + 1 < len(words) else None
    if word.text in ("a", "an", "no", "both") or (
        before and before.text in ("ice", "whipped")
    ):
        return True
    if not _DENIED.isdisjoint(
        other_word.text for other_word in words[max(0, at - 3) : at]
    ):
        return True
    counts = _NUMBER in _names(value)
    # The first word of a sentence has a capital anyway; it is a name only if
    # the next word has one, too.
    if word.is_capital and not is_title:
        opens = before is None or before.text in ".!?:;"
        if not opens or (after and after.is_capital and not counts):
            return True
    if counts:
        # Labels ("lot 12"), estimates ("about 12"), parts ("2 of them") and
        # the pronoun "one" count nothing.
        digit = word.text[0].isdigit()
        labelled = (
            digit
            and before
            and (before.text in LABELS or before.text in "#$£€№+-")
        )
        unsure = before and before.text in _ABOUT
        pronoun = word.text == "one" and (
            sum(other_word.text == "one" for other_word in words) > 1
            or not after
            or after.text in _STOP
        )
        return bool(
            labelled or unsure or pronoun or (after and after.text in _PARTLY)
        )
    if "posture" in _names(value) and not word.text.endswith(("ing", "ed")):
        return (
            before is None
            or before.text in _STOP
            or not word.text.endswith("s")
        )
    return False


def _things(words: Sequence[_Word], at: int, value: Values) -> tuple[str, ...]:
    """Return the nouns that may name the thing with a value; empty without one."""
    # Three places are tried: the noun phrase behind the value; for a material
    # or colour after a comma, the first noun phrase of the text; for a side, a
    # posture or "the door is red", the nearest noun before it.
    before, names = words[at - 1].text if at else "", _names(value)
    appended = not names.isdisjoint(("material", "colour")) and _is_appended(
        words, at
    )
    nouns: list[str] = []
    may_end = True
    for place in range(at + 1, min(at + 8, len(words))):
        word = words[place]
        if (
            word.text == ","
            and not nouns
            and _SIDE not in names
            and not appended
        ):
            continue
        if word.text in _STOP or not word.text[0].isalnum():
            break
        meanings = _values(word.text, word.base)
        if (meanings and not _is_person(meanings)) or word.text.endswith("ly"):
            continue
        parts = _parts(word)
        is_act = word.text.endswith("ing") and kinds.is_abstract(word.text)
        if parts == {"v"} or (
            is_act and (nouns or before in _STATED or _SIDE in names)
        ):
            break
        if "n" in parts or not (parts or word.text.endswith(("ed", "ing"))):
            # A noun that may be a verb at its place is replaced by the next.
            nouns = [*nouns[: len(nouns) if may_end else -1], word.base]
            may_end = False
        may_end = _may_be_verb(words, place + 1)
    if nouns:
        return tuple(nouns)
    if appended:  # to the first name
        opened = dropwhile(lambda word: word.text in _STOP, words)
        ahead = takewhile(
            lambda word: word.text[0].isalnum() and word.text not in _STOP,
            opened,
        )
        return tuple(
            word.base for word in ahead if "n" in (_parts(word) or "n")
        )
    if {_SIDE, "posture"}.isdisjoint(names) and before not in _STATED:
        return ()
    for place in range(at - 1, max(-1, at - 9), -1):
        word = words[place]
        meanings = _values(word.text, word.base)
        is_noun = (
            word.text not in _STOP
            and "n" in _parts(word)
            and (not meanings or _is_person(meanings))
        )
        prepositions = {
            neighbour.text for neighbour in words[max(0, place - 2) : place]
        } & {"of"}
        if is_noun and not prepositions and word.text[0].isalpha():
            return (word.base,)
    return ()


def _is_appended(words: Sequence[_Word], at: int) -> bool:
    """Return whether a value follows a comma: "bust of an emperor, bronze", "bag, red leather"."""
    while at and (
        _values(words[at - 1].text, words[at - 1].base)
        or "a" in _parts(words[at - 1])
    ):
        at -= 1
    return at > 0 and words[at - 1].text == ","


def _parts(word: _Word) -> frozenset[str]:
    return kinds.parts_of_speech(word.text) or kinds.parts_of_speech(word.base)


def _may_be_verb(words: Sequence[_Word], at: int) -> bool:
    return at < len(words) and "v" in (_parts(words[at]) or "v")


@lru_cache(maxsize=1 << 14)
def _is_alike(a: str, b: str, kind: bool = True) -> bool:
    a, b = a.rpartition("-")[2], b.rpartition("-")[2]  # a T-shirt is a shirt
    if a == b or kinds.bases(a) & kinds.bases(b):
        return True
    if kinds.senses(a, "n") & kinds.senses(b, "n"):
        return True
    return kind and (kinds.is_kind(a, b) or kinds.is_kind(b, a))


def _is_one_thing(a: Sequence[str], b: Sequence[str]) -> bool:
    return any(
        _is_alike(first, second, kind=False) for first in a for second in b
    )


@lru_cache(maxsize=1 << 14)
def _is_someone(word: str) -> bool:
    is_listed = word in ("people", "person", "other", "another", "couple")
    return (
        is_listed
        or _is_person(_values(word, word))
        or kinds.is_kind(word, "person")
    )


def _is_alone(
    statement: _Statement,
    opposite: _Statement,
    names: set[str],
    things: tuple[str, ...],
    text: _Reading,
) -> bool:
    """Return whether a text gives the thing no other value, and not that of the other text."""
    # With another person, or a second thing of that name, it is open which one
    # has the value.
    people = any(map(_is_someone, things))
    has_others = people and any(
        text.new_counts[word] for word in _SECOND_PERSON
    )
    if has_others or any(text.new_counts[word] > 1 for word in things):
        return False
    for other_statement in text.statements:
        if (
            other_statement is statement
            or other_statement.is_person
            or not _names(other_statement.values) & names
        ):
            continue
        if (
            _NUMBER in names
            and people
            and any(map(_is_someone, other_statement.things))
        ):
            return False
        pairs = [(a, b) for a in other_statement.things for b in things]
        if opposite.values <= other_statement.values and (
            not pairs or any(_is_alike(*pair) for pair in pairs)
        ):
            return False
        if exclude(other_statement.values, statement.values) and any(
            _is_alike(*pair, kind=False) for pair in pairs
        ):
            return False
    return True


def _is_same_person(
    names: set[str],
    statement: _Statement,
    a: _Reading,
    opposite: _Statement,
    b: _Reading,
) -> bool:
    """Return whether two statements are about one person: the first of both texts, in one scene."""
    if "sex" not in names and not _is_child_or_adult(
        statement, a, opposite, b
    ):
        return False
    # Each must be the first person of its text, and no one else in it may be
    # meant by the other text.
    for mention, text, counterpart in (
        (statement, a, opposite),
        (opposite, b, statement),
    ):
        first = next(
            (
                at
                for at, word in enumerate(text.words)
                if _is_someone(word.base)
            ),
            None,
        )
        if first != mention.at:
            return False
        if any(
            other_statement.is_person
            and not exclude(other_statement.values, counterpart.values)
            for other_statement in text.statements
        ):
            return False
    # Texts about one picture share words: at least 40 % of those of the
    # shorter text, age and sex aside.
    scenes = [
        {
            w.base
            for w in text.words
            if w.text[0].isalpha() and w.text not in _STOP
        }
        - {
            text.words[other_statement.at].base
            for other_statement in text.statements
            if _names(other_statement.values) & _AGE
        }
        for text in (a, b)
    ]
    shared = {
        base
        for base in scenes[0]
        if any(
            _is_alike(base, other_base, kind=False)
            or kinds.derived(base, other_base)
            for other_base in scenes[1]
        )
    }
    return len(shared) >= max(0.4 * min(map(len, scenes)), 1)


def _is_child_or_adult(
    statement: _Statement, a: _Reading, opposite: _Statement, b: _Reading
) -> bool:
    """Return whether one is a child and one an adult; "young" before a word leaves that open."""
    word_pairs = [
        (text.words[person.at].base, text.words[person.at - 1].text)
        for person, text in ((statement, a), (opposite, b))
    ]
    bases = {base for base, _ in word_pairs}
    differs_in_age = bases == {"boy", "man"} or (
        len(bases & {"man", "woman"}) == 1 and not bases.isdisjoint(_CHILDREN)
    )
    return differs_in_age and all(word not in _YOUNG for _, word in word_pairs)
