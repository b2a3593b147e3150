"""Kinds of things and related words from WordNet: is a dog an animal, is "wooden" made from "wood"?

The table is a cut of WordNet 3.0 (Princeton University; its licence lies beside it), made by
``training/kinds.py``: the first senses of frequent words and what stands above them.
"""

from __future__ import annotations

import lzma
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import chain
from pathlib import Path

_TABLE = Path(__file__).parent / "wordnet" / "kinds.txt.xz"
_SHORTEST = 3
_ENDINGS = (
    ("ies", "y"), ("ied", "y"), ("es", ""), ("s", ""), ("ed", "e"), ("ed", ""), ("ing", "e"),
    ("ing", ""), ("er", "e"), ("er", ""), ("est", "e"), ("est", ""),
)  # fmt: skip
_PARTS = "nva"
"""Marks of rows with the senses of a word: as a noun, a verb and an adjective."""
_ABOVE, _DERIVED, _ABSTRACT = "<+="
"""Marks of rows with the senses right above one, words derived from one, and abstract nouns."""


@dataclass(frozen=True, slots=True)
class _Kinds:
    """The table.

    Attributes:
        rows: By mark and first word or number, the others: to read them when they are asked for is
            faster than to make ten thousands of sets at the start.
        words: Words with a sense.
        derived: By word those that derive from it or from which it derives.
        abstract: Nouns.
    """

    rows: dict[str, str]
    words: frozenset[str]
    derived: dict[str, set[str]]
    abstract: frozenset[str]

    def numbers(self, mark: str, of: str | int) -> list[int]:
        return [*map(int, self.rows.get(f"{mark}\t{of}", "").split())]


@lru_cache(maxsize=1 << 15)
def bases(word: str) -> frozenset[str]:
    """Return a lower-case word and its forms without regular endings, known words only.

    The word itself is always in it.
    """
    known_words = _load().words
    stems = {word}
    for ending, replacement in _ENDINGS:
        if (
            word.endswith(ending)
            and len(word) - len(ending) + len(replacement) >= _SHORTEST
        ):
            stem = word.removesuffix(ending) + replacement
            stems.add(stem)
            if (
                replacement == ""
                and len(stem) > _SHORTEST
                and stem[-1] == stem[-2]
            ):
                stems.add(stem[:-1])
    return frozenset(
        base for base in stems if base == word or base in known_words
    )


@lru_cache(maxsize=1 << 15)
def senses(word: str, part: str) -> frozenset[int]:
    """The first senses of a lower-case word as one part of speech (n, v or a)."""
    numbers = _load().numbers
    if own_senses := numbers(part, word):
        return frozenset(own_senses)
    return frozenset().union(*(numbers(part, base) for base in bases(word)))


def parents(sense: int) -> frozenset[int]:
    """The senses right above one."""
    return frozenset(_load().numbers(_ABOVE, sense))


@lru_cache(maxsize=1 << 15)
def parts_of_speech(word: str) -> frozenset[str]:
    """Return the parts of speech (n, v, a) that the table has for exactly this lower-case word."""
    rows = _load().rows
    return frozenset(part for part in _PARTS if f"{part}\t{word}" in rows)


@lru_cache(maxsize=1 << 15)
def general(word: str, part: str) -> frozenset[int]:
    """All senses above those of a word, without its own."""
    return frozenset().union(*map(_above, senses(word, part)))


@cache
def _above(sense: int) -> frozenset[int]:
    """Return all senses above one; the senses above are the same for all words."""
    above = parents(sense)
    return above.union(*map(_above, above))


def is_kind(word: str, wider: str) -> bool:
    """Return whether a lower-case noun names a kind of another: a church is a building."""
    return not general(word, "n").isdisjoint(senses(wider, "n"))


def is_mostly(word: str, wider: str) -> bool:
    """As ``is_kind``, by the most frequent sense alone: a chair is a person by a rare one."""
    first = _load().numbers("n", word)[:1]
    return not senses(wider, "n").isdisjoint(
        (*first, *chain(*map(_above, first)))
    )


@lru_cache(maxsize=1 << 15)
def is_abstract(word: str) -> bool:
    """Return whether a lower-case noun mostly means nothing tangible: an act, a sign, a time."""
    table = _load()
    forms = {word} if word in table.words else bases(word)
    return not table.abstract.isdisjoint(forms)


@lru_cache(maxsize=1 << 15)
def meanings(word: str) -> frozenset[int]:
    """The first senses of a lower-case word as any part of speech."""
    return frozenset().union(*(senses(word, part) for part in _PARTS))


@lru_cache(maxsize=1 << 15)
def covered(word: str) -> frozenset[int]:
    """Return the senses of a lower-case word and all those above them."""
    return meanings(word).union(*map(_above, meanings(word)))


def derived(a: str, b: str) -> bool:
    """Return whether two lower-case words are forms of one word or derive from each other."""
    return not relatives(a).isdisjoint(bases(b))


@lru_cache(maxsize=1 << 15)
def relatives(word: str) -> frozenset[str]:
    """Return the bases of a word and the words that derive from them."""
    base_forms = bases(word)
    table = _load().derived
    return base_forms.union(
        *(table.get(base, frozenset()) for base in base_forms)
    )


def table_lines(path: Path) -> list[str]:
    """The lines of a packed table: a mark, a tab, and words or numbers."""
    return lzma.decompress(path.read_bytes()).decode("utf-8").splitlines()


@cache
def _load() -> _Kinds:
    rows = dict(line.split(" ", 1) for line in table_lines(_TABLE))
    derived: dict[str, set[str]] = defaultdict(set)
    abstract: set[str] = set()
    for key in [key for key in rows if key[0] in _DERIVED + _ABSTRACT]:
        first = key[2:]
        related_words = rows.pop(key).split()
        if key[0] == _ABSTRACT:
            abstract.update((first, *related_words))
            continue
        derived[first].update(related_words)
        for word in related_words:
            derived[word].add(first)
    words = frozenset(key[2:] for key in rows if key[0] in _PARTS)
    return _Kinds(
        rows=rows,
        words=words,
        derived=dict(derived),
        abstract=frozenset(abstract),
    )
