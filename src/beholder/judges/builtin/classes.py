"""Classes of values that exclude each other: a thing that is red all over is not blue."""

from __future__ import annotations

from functools import cache, lru_cache
from importlib import resources

from beholder.language.words import parse

Values = frozenset[tuple[str, int]]
"""Places in the classes: name of the class and line."""


@lru_cache(maxsize=1 << 15)
def values(text: str) -> Values:
    """Where the words of a value stand in the classes; empty for most words.

    Args:
        text: One or more words, base form, lower case.
    """
    table = _table()
    found: set[tuple[str, int]] = set()
    for word in text.split():
        if word in table or "-" not in word:
            found |= _of_word(word)
        else:  # "purple-black" has both colours, "upper-right" both sides
            found.update(*map(_of_word, word.split("-")))
    return frozenset(found)


def _of_word(word: str) -> Values:
    table = _table()
    if word not in table and word.endswith("ish"):  # greyish, reddish, bluish
        stem = word.removesuffix("ish")
        word = next((base for base in (stem, stem[:-1], f"{stem}e") if base in table), word)
    return table.get(word, frozenset())


@lru_cache(maxsize=1 << 15)
def exclude(a: Values, b: Values) -> bool:
    """Whether there is a class of which both have a value and share none."""
    shared = {name for name, _ in a} & {name for name, _ in b}
    return not shared <= {name for name, _ in a & b}


@cache
def _table() -> dict[str, Values]:
    text = resources.files(__package__).joinpath("classes.txt").read_text(encoding="utf-8")
    found: dict[str, set[tuple[str, int]]] = {}
    for name, lines in parse(text).items():
        for number, line in enumerate(lines):
            for word in line.split():
                found.setdefault(word, set()).add((name, number))
    return {word: frozenset(places) for word, places in found.items()}
