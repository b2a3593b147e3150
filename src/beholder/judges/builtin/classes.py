"""Classes of values that exclude each other, such as colours: a red thing is not blue."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib import resources

from beholder.judges.builtin.numbers import number as setting
from beholder.language.numerals import number
from beholder.text.word_lists import parse

Values = frozenset[tuple[str, float]]
"""Places in the classes: name of the class and line; of an age its unit of time and how many."""
_NONE: Values = frozenset()
EXCLUDED = setting("evidence.excluded")
"""Factor on the similarity of values that exclude each other."""
_TIME = "year|month|week|day"
_AGE = re.compile(rf"(?:^|.*[\s-])({_TIME})s?[\s-]old\b")
_TEENS = range(13, 26)
_TIMES = re.compile(rf"(?:{_TIME})s?")


@lru_cache(maxsize=1 << 15)
def values(text: str) -> Values:
    """Return the (class, position) pairs of the words of a value; empty for most words.

    Ages ("ten-year-old", "six months old") exclude other ages, but one alone makes no one old.

    Args:
        text: One or more words, base form, lower case.
    """
    table = _table()
    classes: set[tuple[str, float]] = set()
    # An age is a number within its unit: "ten years old" and "six months old"
    # are in different classes and do not exclude each other.
    if "old" in text and (aged := _AGE.match(text)):
        counted = text[: aged.start(1)].replace("-", " ")
        if (age := number(counted)) is not None:
            classes.add((f"{aged[1]}s old", age))
        uncounted = [word for word in counted.split() if number(word) is None]
        text = " ".join([*uncounted, text[aged.end() :]])
    for word in text.split():
        if word in table or "-" not in word:
            classes |= _of_word(word)
        else:  # "purple-black" has both colours, "upper-right" both sides
            classes.update(*map(_of_word, word.split("-")))
    return frozenset(classes) if classes else _NONE


def _of_word(word: str) -> Values:
    table = _table()
    if word not in table and word.endswith("ish"):  # greyish, reddish, bluish
        stem = word.removesuffix("ish")
        word = next(
            (base for base in (stem, stem[:-1], f"{stem}e") if base in table),
            word,
        )
    return table.get(word, _NONE)


def is_teen(value: Values) -> bool:
    """Return whether a value means an age between child and adult: "teenage", 13 to 25."""
    return any(
        name == "teens" or (name == "years old" and n in _TEENS)
        for name, n in value
    )


def word_values(words: Sequence[str]) -> list[tuple[int, Values]]:
    """The words of a text that are in a class, by place; "old" of "ten years old" in none.

    Args:
        words: In order, lower case.
    """
    places = []
    for place, word in enumerate(words):
        classes = values(word)
        # "old" after "years" belongs to the age, which is a class of its own.
        if word == "old" and place and _TIMES.fullmatch(words[place - 1]):
            continue
        if classes:
            places.append((place, classes))
    return places


@lru_cache(maxsize=1 << 15)
def exclude(a: Values, b: Values) -> bool:
    """Return whether two values share a class but have no position in it in common."""
    shared = {name for name, _ in a} & {name for name, _ in b}
    return not shared <= {name for name, _ in a & b}


def near(a: Values, b: Values) -> bool:
    """Return whether one colour is gray and the other white or black, which merge with gray."""
    gray, ends = values("gray"), values("white") | values("black")
    return bool((a & gray and b & ends) or (b & gray and a & ends))


def sections(file: str) -> dict[str, list[str]]:
    """The lines of each section of a file beside this one."""
    return parse(
        resources.files(__package__).joinpath(file).read_text(encoding="utf-8")
    )


@cache
def word_set(file: str, section: str) -> frozenset[str]:
    """Return the words of a section of a file beside this one."""
    return frozenset(" ".join(sections(file)[section]).split())


@cache
def _table() -> dict[str, Values]:
    places_by_word: dict[str, set[tuple[str, float]]] = {}
    for name, lines in sections("classes.txt").items():
        for place, line in enumerate(lines):
            for word in line.split():
                places_by_word.setdefault(word, set()).add((name, place))
    return {word: frozenset(places) for word, places in places_by_word.items()}
