"""What a text says of a thing against what its caption or title says of it, for ALT206.

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
_OTHERS = frozenset(("another", "other", "others"))
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


class _Said(NamedTuple):
    """A value, and the nouns of which one names what has it."""

    at: int
    values: Values
    things: tuple[str, ...]
    is_person: bool


class _Reading(NamedTuple):
    words: list[_Word]
    said: list[_Said]
    named: Counter[
        str
    ]  # how often as something new: not "the boat", "his boat"


def contradictions(
    text: str, record: str
) -> Iterator[tuple[tuple[int, int], str]]:
    """Places of words of a text, each with the word of the record that excludes it.

    Args:
        text: A description in English.
        record: What is known of the same picture, in English; beyond 200 words, no text is read.
    """
    if not record:
        return
    a, b = _read(text), _read(record)
    changed = bool(_ANOTHER_TIME.search(text) or _ANOTHER_TIME.search(record))
    for own in a.said:
        for theirs in b.said:
            if own.is_person != theirs.is_person or not exclude(
                own.values, theirs.values
            ):
                continue
            names = _names(own.values) & _names(theirs.values) - _names(
                own.values & theirs.values
            )
            if changed and not names <= _SURE_OF_TIME:
                continue
            if own.is_person:
                same = _is_same_person(names, own, a, theirs, b)
            else:
                things = own.things + theirs.things
                same = (
                    _is_one_thing(own.things, theirs.things)
                    and _is_alone(own, theirs, names, things, a)
                    and _is_alone(theirs, own, names, things, b)
                )
            if same:
                word = a.words[own.at]
                yield (word.start, word.end), b.words[theirs.at].text


def _read(text: str) -> _Reading:
    found = [
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
    named = [
        word
        for word in found
        if word.text[0].isalpha() and word.text not in _STOP
    ]
    is_title = all(word.is_capital for word in named)
    said: list[_Said] = []
    for at in range(len(found) - 1, -1, -1):
        value = _values(found[at].text, found[at].base)
        if not value or _is_no_value(found, at, value, is_title):
            continue
        is_person = _is_person(value) and found[at].text not in _LOOKS
        things = (found[at].base,) if is_person else _things(found, at, value)
        ahead = said[-1] if said else None
        if (
            not things
            and ahead
            and ahead.at == at + 2
            and found[at + 1].text in _JOINING
        ):
            things = ahead.things  # "red and blue boat"
        said.append(_Said(at, value, things, is_person))
    new = (
        one.base
        for at, one in enumerate(found)
        if found[at - 1].text not in _DEFINITE
    )
    return _Reading(found, said[::-1][:_MOST_VALUES], Counter(new))


@lru_cache(maxsize=1 << 14)
def _values(word: str, base: str) -> Values:
    if "-" in word and not (_AGED.fullmatch(word) or is_numeral(word)):
        parts = word.split("-")
        if not all(part in _JOINED or values(part) for part in parts):
            return frozenset()  # "red-roofed", "free-standing"
    found = {
        one
        for w in (word, *_NEAR.get(word, ()))
        for one in values(w) or values(base if w == word else w)
    }
    found |= {
        ("material", -1.0 - n)
        for n, alike in enumerate(_MATERIALS)
        if word in alike
    }
    if is_numeral(word) and word not in ("a", "an", "no", "zero"):
        found = {(_NUMBER, float(number(word) or 0))}
    return frozenset(one for one in found if one[0] in _CLASSES)


def _names(value: Values) -> set[str]:
    return {name for name, _ in value}


def _is_person(value: Values) -> bool:
    return not _names(value).isdisjoint(("sex", "age"))


def _is_no_value(
    words: Sequence[_Word], at: int, value: Values, is_title: bool
) -> bool:
    """Whether a word is a name, an article, a label, about a number, or denied."""
    word, before = words[at], words[at - 1] if at else None
    after = words[at + 1] if at + 1 < len(words) else None
    if word.text in ("a", "an", "no", "both") or (
        before and before.text in ("ice", "whipped")
    ):
        return True
    if not _DENIED.isdisjoint(one.text for one in words[max(0, at - 3) : at]):
        return True
    counts = _NUMBER in _names(value)
    if word.is_capital and not is_title:
        opens = before is None or before.text in ".!?:;"
        if not opens or (after and after.is_capital and not counts):
            return True
    if counts:
        digit = word.text[0].isdigit()
        labelled = (
            digit
            and before
            and (before.text in LABELS or before.text in "#$£€№+-")
        )
        unsure = before and before.text in _ABOUT
        pronoun = word.text == "one" and (
            sum(one.text == "one" for one in words) > 1
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
    """Nouns that may name what has a value: behind it, or before it in "the door is red"."""
    before, names = words[at - 1].text if at else "", _names(value)
    appended = not names.isdisjoint(("material", "colour")) and _is_appended(
        words, at
    )
    found: list[str] = []
    may_end = True
    for place in range(at + 1, min(at + 8, len(words))):
        word = words[place]
        if (
            word.text == ","
            and not found
            and _SIDE not in names
            and not appended
        ):
            continue
        if word.text in _STOP or not word.text[0].isalnum():
            break
        own = _values(word.text, word.base)
        if (own and not _is_person(own)) or word.text.endswith("ly"):
            continue
        parts = _parts(word)
        is_act = word.text.endswith("ing") and kinds.is_abstract(word.text)
        if parts == {"v"} or (
            is_act and (found or before in _STATED or _SIDE in names)
        ):
            break
        if "n" in parts or not (parts or word.text.endswith(("ed", "ing"))):
            found = [*found[: len(found) if may_end else -1], word.base]
            may_end = False
        may_end = _may_be_verb(words, place + 1)
    if found:
        return tuple(found)
    if appended:  # to the first name
        opened = dropwhile(lambda one: one.text in _STOP, words)
        ahead = takewhile(
            lambda one: one.text[0].isalnum() and one.text not in _STOP, opened
        )
        return tuple(one.base for one in ahead if "n" in (_parts(one) or "n"))
    if {_SIDE, "posture"}.isdisjoint(names) and before not in _STATED:
        return ()
    for place in range(at - 1, max(-1, at - 9), -1):
        word = words[place]
        own = _values(word.text, word.base)
        is_noun = (
            word.text not in _STOP
            and "n" in _parts(word)
            and (not own or _is_person(own))
        )
        of = {one.text for one in words[max(0, place - 2) : place]} & {"of"}
        if is_noun and not of and word.text[0].isalpha():
            return (word.base,)
    return ()


def _is_appended(words: Sequence[_Word], at: int) -> bool:
    """Whether a value comes after a comma: "bust of an emperor, bronze", "bag, red leather"."""
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
    return any(_is_alike(own, other, kind=False) for own in a for other in b)


@lru_cache(maxsize=1 << 14)
def _is_someone(word: str) -> bool:
    known = word in ("people", "person", "other", "another", "couple")
    return (
        known
        or _is_person(_values(word, word))
        or kinds.is_kind(word, "person")
    )


def _is_alone(
    own: _Said,
    theirs: _Said,
    names: set[str],
    things: tuple[str, ...],
    text: _Reading,
) -> bool:
    """Whether a text says nothing else of the thing: no second value, not what the other says."""
    people = any(map(_is_someone, things))
    others = people and any(text.named[word] for word in _OTHERS)
    if others or any(text.named[word] > 1 for word in things):
        return False
    for one in text.said:
        if one is own or one.is_person or not _names(one.values) & names:
            continue
        if _NUMBER in names and people and any(map(_is_someone, one.things)):
            return False
        pairs = [(a, b) for a in one.things for b in things]
        if theirs.values <= one.values and (
            not pairs or any(_is_alike(*pair) for pair in pairs)
        ):
            return False
        if exclude(one.values, own.values) and any(
            _is_alike(*pair, kind=False) for pair in pairs
        ):
            return False
    return True


def _is_same_person(
    names: set[str], own: _Said, a: _Reading, theirs: _Said, b: _Reading
) -> bool:
    """Whether a man and a woman are one person: the first of both texts, in the same scene."""
    if "sex" not in names and not _is_child_or_adult(own, a, theirs, b):
        return False
    for said, text, other in ((own, a, theirs), (theirs, b, own)):
        first = next(
            (
                at
                for at, word in enumerate(text.words)
                if _is_someone(word.base)
            ),
            None,
        )
        if first != said.at:
            return False
        if any(
            one.is_person and not exclude(one.values, other.values)
            for one in text.said
        ):
            return False
    scenes = [
        {
            w.base
            for w in text.words
            if w.text[0].isalpha() and w.text not in _STOP
        }
        - {
            text.words[one.at].base
            for one in text.said
            if _names(one.values) & _AGE
        }
        for text in (a, b)
    ]
    shared = {
        one
        for one in scenes[0]
        if any(
            _is_alike(one, other, kind=False) or kinds.derived(one, other)
            for other in scenes[1]
        )
    }
    return len(shared) >= max(0.4 * min(map(len, scenes)), 1)


def _is_child_or_adult(
    own: _Said, a: _Reading, theirs: _Said, b: _Reading
) -> bool:
    """Whether one is a child and one an adult; a young man may be called a boy, a woman a girl."""
    said = [
        (text.words[one.at].base, text.words[one.at - 1].text)
        for one, text in ((own, a), (theirs, b))
    ]
    bases = {base for base, _ in said}
    apart = bases == {"boy", "man"} or (
        len(bases & {"man", "woman"}) == 1 and not bases.isdisjoint(_CHILDREN)
    )
    return apart and all(word not in _YOUNG for _, word in said)
