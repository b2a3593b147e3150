"""Whether one word says what another says: as a synonym, a derived form or a kind of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Literal, TypeAlias

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.exact import cosines
from beholder.judges.builtin.classes import EXCLUDED, exclude, values
from beholder.judges.builtin.numbers import number
from beholder.judges.builtin.vectors import vectors
from beholder.language.lexicon import PEOPLE, word_set
from beholder.language.unseen import OPINIONS
from beholder.text.kinds import (
    bases,
    covered,
    derived,
    general,
    is_mostly,
    meanings,
    parents,
    parts_of_speech,
    relatives,
    senses,
)

Tie: TypeAlias = Literal["same", "more", "less", "other", ""]
"""How what is said stands to what is asked: the same; more ("dog" for "animal"); less ("animal" for
"dog"); another of its kind ("cat" for "dog"); or nothing is known."""
Part: TypeAlias = Literal["n", "v", "a"]

_FUNCTION_WORDS = (
    "a an the and across along around at by from in into near of off on onto over throughout to"
    " toward towards with"
)
_ZONES = "area corner edge half part portion section side"
"""Nouns that say no more than the word of direction before them: "the left side"."""
_LIGHT = word_set("lexicon.txt", "degrees").union(
    _FUNCTION_WORDS.split(), _ZONES.split()
)
"""Words that an attribute may have or omit: "on the left side", "very dark"."""
_FINER = word_set("lexicon.txt", "shades") | OPINIONS
"""Words that make another value finer ("light brown"), or say what people think of it."""
_WRITTEN = word_set("lexicon.txt", "written")
"""Nouns for what is written: each may name what another does."""
_ON = ("front", "side", "top")
"""Last parts of words that name a thing by a place on it: "tabletop"."""
_LEAST_COSINE = number("lexis.least_cosine")
_OUT_OF_CLASS = number("lexis.out_of_class")
_PARTS: tuple[Part, ...] = ("n", "v", "a")
_SYNONYM = number("lexis.synonym")

_PERSON = {"people": "person", "figure": "person"}
"""Nouns that mean a person, or several, and are no synonyms of it by their senses."""


@lru_cache(maxsize=1 << 17)
def tie(asked: str, said: str) -> Tie:
    """How two lower-case nouns in base form stand to each other."""
    asked, said = _PERSON.get(asked, asked), _PERSON.get(said, said)
    if asked == said:
        return "same"
    if exclude(values(asked), values(said)):
        return "other"
    if asked == "person" and said not in PEOPLE and not is_mostly(said, asked):
        return ""
    if derived(asked, said) or _whole(asked) == _whole(said):
        return "same"
    if asked in _WRITTEN and said in _WRITTEN:
        return "more"
    return _noun_tie(asked, said)


@lru_cache(maxsize=1 << 15)
def tied_by(noun: str) -> frozenset[int | str]:
    """Senses, words and classes of a noun; nouns that have none in common have no tie."""
    noun = _PERSON.get(noun, noun)
    own = {_whole(noun), *(name for name, _ in values(noun))}
    own.update(_WRITTEN if noun in _WRITTEN else ())
    return relatives(noun) | senses(noun, "n") | general(noun, "n") | own


@lru_cache(maxsize=1 << 14)
def _whole(noun: str) -> str:
    """The thing of which a noun names a place: "table" for "tabletop"."""
    for part in _ON:
        whole = noun.removesuffix(part)
        if whole != noun and "n" in parts_of_speech(whole):
            return whole
    return noun


def says(asked: str, said: str) -> bool:
    """Whether a word says at least what is asked, as whatever part of speech."""
    if not relatives(asked).isdisjoint(bases(said)):
        return True
    if own := values(
        asked
    ):  # words of a class mean what it says: "left" is no side
        return not own.isdisjoint(values(said))
    return not meanings(asked).isdisjoint(covered(said)) and _means(
        asked, said
    )


def _means(asked: str, said: str) -> bool:
    ties = {_by_senses(asked, said, part) for part in _PARTS}
    return "same" in ties or ("more" in ties and "other" not in ties)


def _noun_tie(asked: str, said: str) -> Tie:
    """As by senses; near ones that are in like contexts mean the same: boat, ship; lady, woman.

    An animal is no dog, however like the contexts: a kind must be right below the other.
    """
    known = _by_senses(asked, said, "n")
    if known == "other" or (known in ("more", "less") and _next(asked, said)):
        first, second = vectors((asked, said))
        if (
            float(first @ second) > _SYNONYM - 0.01
        ):  # quick; what is close is computed exactly
            near = float(cosines(first[None], second[None])[0, 0])
            return "same" if near >= _SYNONYM else known
    return known


def _next(a: str, b: str) -> bool:
    """Whether one noun stands right above the other."""
    first, second = senses(a, "n"), senses(b, "n")
    above_first, above_second = (
        {above for sense in some for above in parents(sense)}
        for some in (first, second)
    )
    return not (
        second.isdisjoint(above_first) and first.isdisjoint(above_second)
    )


def _by_senses(asked: str, said: str, part: Part) -> Tie:
    a, b = senses(asked, part), senses(said, part)
    if not a or not b:
        return ""
    if not a.isdisjoint(b):
        return "same"
    above_a, above_b = general(asked, part), general(said, part)
    if not a.isdisjoint(above_b):
        return "more"
    if not b.isdisjoint(above_a):
        return "less"
    return "other" if not above_a.isdisjoint(above_b) else ""


@lru_cache(maxsize=1 << 14)
def content(value: str) -> list[str]:
    """The lower-case words of a value that bear its meaning; all if none seems to."""
    words = value.lower().replace("-", " ").split() or [value]
    bearing = [word for word in words if word not in _LIGHT] or words
    return [word for word in bearing if word not in _FINER] or bearing


@lru_cache(maxsize=1 << 15)
def named_further(asked: str, said: str) -> bool:
    """Whether a name has a word of which another says nothing: "vanilla cake" beside "cake"."""
    others = said.lower().split()
    return not all(
        any(says(a, b) or tie(a, b) == "same" for b in others)
        for a in asked.lower().split()
    )


def named_apart(asked: str, said: str) -> bool:
    """Whether both names say which of their kind is meant, and differ: street sign, stop sign."""
    first, second = asked.lower().split()[:-1], said.lower().split()[:-1]
    return bool(first and second) and not any(
        says(a, b) for a in first for b in second
    )


def said_in(asked: Sequence[str], said: Sequence[str]) -> FloatArray:
    """(asked, said), 0..1: how well the least covered word of a value is in another value.

    Args:
        asked: Values in base form.
        said: Values in base form.
    """
    first, second = (
        [content(text) for text in asked],
        [content(text) for text in said],
    )
    if not first or not second:
        return np.zeros((len(first), len(second)))
    rows, columns = _numbered(first), _numbered(second)
    likeness = word_likeness(list(rows), list(columns))
    best = _reduced(
        np.maximum, likeness.T, second, columns
    )  # (said, words asked)
    return _reduced(np.minimum, best.T, first, rows)


def word_likeness(asked: Sequence[str], said: Sequence[str]) -> FloatArray:
    """(asked, said), 0..1: cosine of words, 1 where one says the other."""
    found = cosines(vectors(asked), vectors(said))
    part_numbers(found, asked, said)
    first, second = (
        [values(word) for word in asked],
        [values(word) for word in said],
    )
    for i, j in np.argwhere(found >= _LEAST_COSINE).tolist():
        if says(asked[i], said[j]):
            found[i, j] = 1.0
        elif first[i]:
            found[i, j] *= (
                EXCLUDED if exclude(first[i], second[j]) else _OUT_OF_CLASS
            )
    return found


def part_numbers(
    similarity: FloatArray, asked: Sequence[str], said: Sequence[str]
) -> None:
    """Set to 0 how near numbers in digits come to each other (asked, said): no year is another."""
    rows, columns = (
        [place for place, word in enumerate(words) if word.isdecimal()]
        for words in (asked, said)
    )
    for i in rows:
        for j in columns:
            if asked[i] != said[j]:
                similarity[i, j] = 0.0


def _numbered(texts: Sequence[Sequence[str]]) -> dict[str, int]:
    words = dict.fromkeys(word for text in texts for word in text)
    return {word: place for place, word in enumerate(words)}


def _reduced(
    how: np.ufunc,
    table: FloatArray,
    texts: Sequence[Sequence[str]],
    rows: dict[str, int],
) -> FloatArray:
    """Rows of words as rows of texts."""
    order = [rows[word] for text in texts for word in text]
    starts = [0, *accumulate(map(len, texts[:-1]))]
    made: FloatArray = how.reduceat(table[order], starts, axis=0)
    return made
