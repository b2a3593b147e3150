"""Relations between words: synonym, derived form, kind of.

A British noun is the same as the American one: a lorry is a truck, a kerb a curb (``REGIONAL``).
Only nouns of one meaning count: a torch, a lift or a flat may be another thing elsewhere, and a
jumper may be an athlete.
"""

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
from beholder.language.lexicon import PEOPLE, REGIONAL, word_set
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
"""Relation of the stated word to the one asked for: the same; narrower ("dog" for "animal": more);
wider ("animal" for "dog": less); another of its kind ("cat" for "dog"); or unknown."""
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

_PLAIN = {"people": "person", "figure": "person", **REGIONAL}
"""Nouns that mean another noun, and are no synonyms of it by their senses."""


@lru_cache(maxsize=1 << 17)
def tie(source: str, target: str) -> Tie:
    """Classify how two lower-case nouns in base form are related."""
    source, target = _PLAIN.get(source, source), _PLAIN.get(target, target)
    if source == target:
        return "same"
    if exclude(values(source), values(target)):
        return "other"
    if (
        source == "person"
        and target not in PEOPLE
        and not is_mostly(target, source)
    ):
        return ""
    if derived(source, target) or _whole(source) == _whole(target):
        return "same"
    if source in _WRITTEN and target in _WRITTEN:
        return "more"
    return _noun_tie(source, target)


@lru_cache(maxsize=1 << 15)
def tied_by(noun: str) -> frozenset[int | str]:
    """Senses, words and classes of a noun; nouns that have none in common have no tie."""
    noun = _PLAIN.get(noun, noun)
    marks = {_whole(noun), *(name for name, _ in values(noun))}
    marks.update(_WRITTEN if noun in _WRITTEN else ())
    return relatives(noun) | senses(noun, "n") | general(noun, "n") | marks


@lru_cache(maxsize=1 << 14)
def _whole(noun: str) -> str:
    """The thing of which a noun names a place: "table" for "tabletop"."""
    for part in _ON:
        whole = noun.removesuffix(part)
        if whole != noun and "n" in parts_of_speech(whole):
            return whole
    return noun


def says(source: str, target: str) -> bool:
    """Return whether the target word implies the source word, in any part of speech."""
    if not relatives(source).isdisjoint(bases(target)):
        return True
    if classes := values(
        source
    ):  # words of a class mean what it says: "left" is no side
        return not classes.isdisjoint(values(target))
    return not meanings(source).isdisjoint(covered(target)) and _means(
        source, target
    )


def _means(source: str, target: str) -> bool:
    ties = {_by_senses(source, target, part) for part in _PARTS}
    return "same" in ties or ("more" in ties and "other" not in ties)


def _noun_tie(source: str, target: str) -> Tie:
    """Return the tie by senses; near nouns of like contexts are "same": boat, ship; lady, woman.

    An animal is no dog, however like the contexts: a kind must be right below the other. Nor does
    "dog" say "poodle"; only of people, wider words are often used for narrower ones.
    """
    tie_by_senses = _by_senses(source, target, "n")
    person = not values(source).isdisjoint(values(target))
    if tie_by_senses == "other" or (
        (tie_by_senses == "more" or (tie_by_senses == "less" and person))
        and _next(source, target)
    ):
        first, second = vectors((source, target))
        if (
            float(first @ second) > _SYNONYM - 0.01
        ):  # quick; what is close is computed exactly
            near = float(cosines(first[None], second[None])[0, 0])
            return "same" if near >= _SYNONYM else tie_by_senses
    return tie_by_senses


def _next(a: str, b: str) -> bool:
    """Return whether one noun is the direct hypernym of the other."""
    first, second = senses(a, "n"), senses(b, "n")
    above_first, above_second = (
        {above for sense in some for above in parents(sense)}
        for some in (first, second)
    )
    return not (
        second.isdisjoint(above_first) and first.isdisjoint(above_second)
    )


def _by_senses(source: str, target: str, part: Part) -> Tie:
    a, b = senses(source, part), senses(target, part)
    if not a or not b:
        return ""
    if not a.isdisjoint(b):
        return "same"
    # Common ancestors without direct relation mean other kinds; without common
    # ancestors nothing is known.
    above_a, above_b = general(source, part), general(target, part)
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
def named_further(source: str, target: str) -> bool:
    """Return whether a name has a word that the other does not imply: "vanilla cake", "cake"."""
    target_words = target.lower().split()
    return not all(
        any(says(a, b) or tie(a, b) == "same" for b in target_words)
        for a in source.lower().split()
    )


def named_apart(source: str, target: str) -> bool:
    """Return whether two names specify different kinds: street sign, stop sign."""
    first, second = source.lower().split()[:-1], target.lower().split()[:-1]
    return bool(first and second) and not any(
        says(a, b) for a in first for b in second
    )


def said_in(sources: Sequence[str], targets: Sequence[str]) -> FloatArray:
    """Return (asked, said), 0..1: the worst coverage of a word of one value by another value.

    Args:
        sources: Values in base form.
        targets: Values in base form.
    """
    first, second = (
        [content(text) for text in sources],
        [content(text) for text in targets],
    )
    if not first or not second:
        return np.zeros((len(first), len(second)))
    rows, columns = _numbered(first), _numbered(second)
    likeness = word_likeness(list(rows), list(columns))
    best = _reduced(
        np.maximum, likeness.T, second, columns
    )  # (said, words asked)
    return _reduced(np.minimum, best.T, first, rows)


def word_likeness(
    sources: Sequence[str], targets: Sequence[str]
) -> FloatArray:
    """(asked, said), 0..1: cosine of words, 1 where one says the other."""
    similarity = cosines(vectors(sources), vectors(targets))
    part_numbers(similarity, sources, targets)
    first, second = (
        [values(word) for word in sources],
        [values(word) for word in targets],
    )
    for i, j in np.argwhere(similarity >= _LEAST_COSINE).tolist():
        if says(sources[i], targets[j]):
            similarity[i, j] = 1.0
        # A word of a class means its value: the cosine of "left" and "right"
        # is high, so it is lowered.
        elif first[i]:
            similarity[i, j] *= (
                EXCLUDED if exclude(first[i], second[j]) else _OUT_OF_CLASS
            )
    return similarity


def part_numbers(
    similarity: FloatArray, sources: Sequence[str], targets: Sequence[str]
) -> None:
    """Set the similarity of numbers in digits to 0, (asked, said): different years never match."""
    rows, columns = (
        [place for place, word in enumerate(words) if word.isdecimal()]
        for words in (sources, targets)
    )
    for i in rows:
        for j in columns:
            if sources[i] != targets[j]:
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
    reduced: FloatArray = how.reduceat(table[order], starts, axis=0)
    return reduced
