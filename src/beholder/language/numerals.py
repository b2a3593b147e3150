"""Numbers as texts write them: "two hundred and fifty", "2,000", "1.5 million", "half a dozen"."""

from __future__ import annotations

import re
from functools import lru_cache

from beholder.language import lemmas
from beholder.language.document import Word
from beholder.language.lexicon import (
    INDEFINITE,
    MULTIPLIERS,
    NUMBER_WORDS,
    PARTITIVES,
)

_DIGITS = re.compile(
    r"\d{1,3}(?:,\d{3}){1,4}(?:\.\d{1,9})?|\d{1,15}(?:\.\d{1,9})?", re.ASCII
)
YEAR = re.compile(r"1\d{3}|20\d{2}", re.ASCII)
_LINKED = frozenset(("compound", "flat", "nummod", "conj", "nmod", "fixed"))
_JOINING = frozenset(("a", "an", "and"))
_RANGE = frozenset(("or", "to"))
_HALF = "half"
_THOUSAND = 1000


@lru_cache(maxsize=1 << 12)
def number(words: str) -> float | None:
    """The number that words begin with, or None where they name none, or several.

    Words before the number and nouns after it are skipped: "three pairs" are three.

    Args:
        words: As written: "two hundred", "a pair", "1,500", "twenty-one", "several dozen".

    Returns:
        The number, an ``int`` where it is whole; None for "several", "a few hundred", "two or
        three", "10-12", and words that make no number together.
    """
    thousands = 0.0
    part = None
    below = float("inf")
    for word in words.lower().replace("-", " ").split():
        # ``part`` is the number below the next thousand; ``below`` bounds what may follow: "twenty
        # one", but not "one twenty".
        factor = MULTIPLIERS.get(word)
        simple = _simple(word)
        begun = bool(thousands) or part is not None
        if word in INDEFINITE or (begun and word in _RANGE):
            return None
        if word == _HALF:
            part = (part or 0) + 0.5
        elif factor is not None and factor >= _THOUSAND:
            thousands += (1 if part is None else part) * factor
            part, below = None, factor
        elif factor is not None:
            part = (1 if part is None else part) * factor
            below = factor
        elif simple is not None:
            if simple >= below:
                return None
            part = (part or 0) + simple
            below = 10 if word in NUMBER_WORDS and simple >= 20 else 0
        elif begun and word not in _JOINING:
            break
    if part is None and not thousands:
        return None
    total = thousands + (part or 0)
    return int(total) if total == int(total) else total


def is_numeral(compound: str) -> bool:
    """Return whether a hyphen compound is one number: "twenty-one", not "12-year-old"."""
    pieces = compound.lower().split("-")
    simple = all(p in MULTIPLIERS or _simple(p) is not None for p in pieces)
    return simple and number(compound) is not None


def numeral(noun: Word) -> tuple[Word, ...]:
    """The words before a noun that say its number, in order: "two hundred", "half a dozen"."""
    counting = [c for c in noun.before("nummod") if not labels(c, noun)]
    if not counting:
        return ()
    first = counting[0]
    for word in counting:
        counting += [c for c in word.children() if c.role in _LINKED]
    for word in (*counting, noun):
        changed = word.children("det:predet", "amod", "det")
        counting += [
            c for c in changed if c.lower == _HALF or c.lower in INDEFINITE
        ]
    between = noun.document.words[
        min(counting).index : max(counting).index + 1
    ]
    return tuple(between) if all(map(_counts, between)) else (first,)


def labels(figure: Word, noun: Word) -> bool:
    """Return whether a number before a noun does not count: "a 1923 poster", "a $5 bill"."""
    if noun.is_plural or not any(c.isdigit() for c in figure.text):
        return False
    single = any(child.lower in ("a", "an") for child in noun.children("det"))
    return single or YEAR.fullmatch(figure.text) is not None


def _counts(word: Word) -> bool:
    return (
        word.pos == "NUM"
        or word.lower in _WITHIN
        or _simple(word.lower) is not None
    )


def _simple(word: str) -> float | None:
    """A number written as one word that multiplies nothing."""
    if _DIGITS.fullmatch(word):
        return float(word.replace(",", ""))
    return NUMBER_WORDS.get(word)


_WITHIN = frozenset((*_JOINING, *_RANGE, _HALF, *INDEFINITE, *MULTIPLIERS))


def amount_words(quantity: str) -> str:
    """Return a quantity as it stands before its noun: "two", "a pair of", "dozens of"."""
    last = quantity.split()[-1]
    singular = lemmas.noun(last)
    counted = singular in PARTITIVES or last in ("couple", "number", "dozens")
    if not counted or last == "dozen":
        return quantity
    article = "an " if quantity.startswith(tuple("aeiou")) else "a "
    plain = " " in quantity or singular != last
    return f"{'' if plain else article}{quantity} of"
