"""Kinds of things and related words from WordNet: is a dog an animal, is "wooden" made from "wood"?

The table is a cut of WordNet 3.0 (Princeton University; its licence lies beside it), made by
``training/kinds.py``: the first senses of frequent words and what stands above them.
"""

from __future__ import annotations

import lzma
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

_TABLE = Path(__file__).parent / "wordnet" / "kinds.txt.xz"
_SHORTEST = 3
_ENDINGS = (
    ("ies", "y"), ("ied", "y"), ("es", ""), ("s", ""), ("ed", "e"), ("ed", ""), ("ing", "e"),
    ("ing", ""), ("er", "e"), ("er", ""), ("est", "e"), ("est", ""),
)  # fmt: skip
Senses = dict[str, frozenset[int]]
"""Numbers of senses by part of speech: n, v or a."""


@dataclass(frozen=True, slots=True)
class _Kinds:
    senses: dict[str, Senses]
    first: dict[str, int]
    above: dict[int, tuple[int, ...]]
    derived: dict[str, frozenset[str]]
    abstract: frozenset[str]


@lru_cache(maxsize=1 << 15)
def bases(word: str) -> frozenset[str]:
    """A lower-case word and what is left of it without regular endings, known words only.

    The word itself is always in it.
    """
    known = _load().senses
    found = {word}
    for ending, rest in _ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) + len(rest) >= _SHORTEST:
            stem = word.removesuffix(ending) + rest
            found.add(stem)
            if rest == "" and len(stem) > _SHORTEST and stem[-1] == stem[-2]:
                found.add(stem[:-1])
    return frozenset(base for base in found if base == word or base in known)


@lru_cache(maxsize=1 << 15)
def senses(word: str, part: str) -> frozenset[int]:
    """The first senses of a lower-case word as one part of speech (n, v or a)."""
    known = _load().senses
    if own := known.get(word, {}).get(part):
        return own
    return frozenset().union(*(known.get(base, {}).get(part, ()) for base in bases(word)))


def parents(sense: int) -> frozenset[int]:
    """The senses right above one."""
    return frozenset(_load().above.get(sense, ()))


@lru_cache(maxsize=1 << 15)
def parts_of_speech(word: str) -> frozenset[str]:
    """As what a lower-case word is known in the very form it has: n, v, a; empty if not at all."""
    return frozenset(_load().senses.get(word, {}))


@lru_cache(maxsize=1 << 15)
def general(word: str, part: str) -> frozenset[int]:
    """All senses above those of a word, without its own."""
    return frozenset().union(*map(_above, senses(word, part)))


@cache
def _above(sense: int) -> frozenset[int]:
    """All senses above one; what stands above it is the same for all words."""
    return parents(sense).union(*map(_above, parents(sense)))


def is_kind(word: str, wider: str) -> bool:
    """Whether one lower-case noun names a kind of what the other names: a church, a building."""
    return not general(word, "n").isdisjoint(senses(wider, "n"))


def is_mostly(word: str, wider: str) -> bool:
    """As ``is_kind``, by the most frequent sense alone: a chair is a person by a rare one."""
    first = _load().first.get(word)
    return first is not None and not senses(wider, "n").isdisjoint((first, *_above(first)))


@lru_cache(maxsize=1 << 15)
def is_abstract(word: str) -> bool:
    """Whether a lower-case noun mostly stands for nothing to be touched: an act, a sign, a time."""
    known = _load()
    found = {word} if word in known.senses else bases(word)
    return not known.abstract.isdisjoint(found)


@lru_cache(maxsize=1 << 15)
def meanings(word: str) -> frozenset[int]:
    """The first senses of a lower-case word as any part of speech."""
    return frozenset().union(*(senses(word, part) for part in "nva"))


@lru_cache(maxsize=1 << 15)
def covered(word: str) -> frozenset[int]:
    """All that a lower-case word is or is a kind of: its senses and those above them."""
    return meanings(word).union(*map(_above, meanings(word)))


def derived(a: str, b: str) -> bool:
    """Whether two lower-case words are forms of one word or derive from each other."""
    return not relatives(a).isdisjoint(bases(b))


@lru_cache(maxsize=1 << 15)
def relatives(word: str) -> frozenset[str]:
    """The bases of a word and what derives from them."""
    own, table = bases(word), _load().derived
    return own.union(*(table.get(base, frozenset()) for base in own))


def table_rows(path: Path) -> Iterator[tuple[str, list[str]]]:
    """The lines of a packed table: a mark, and words or numbers."""
    for line in lzma.decompress(path.read_bytes()).decode("utf-8").splitlines():
        mark, _, text = line.partition("\t")
        yield mark, text.split(" ")


@cache
def _load() -> _Kinds:
    found: dict[str, Senses] = defaultdict(dict)
    nouns: dict[str, int] = {}
    above: dict[int, tuple[int, ...]] = {}
    pairs: dict[str, set[str]] = defaultdict(set)
    abstract: set[str] = set()
    for mark, (first, *rest) in table_rows(_TABLE):
        if mark == "<":
            above[int(first)] = tuple(map(int, rest))
        elif mark == "=":
            abstract.update((first, *rest))
        elif mark == "+":
            pairs[first].update(rest)
            for other in rest:
                pairs[other].add(first)
        else:
            found[first][mark] = frozenset(map(int, rest))
            if mark == "n":
                nouns[first] = int(rest[0])
    derivations = {word: frozenset(others) for word, others in pairs.items()}
    return _Kinds(dict(found), nouns, above, derivations, frozenset(abstract))
