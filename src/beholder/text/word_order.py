"""Measure the word order of English, and find the words of another text in any order."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from beholder.text.languages import ENGLISH, language_named
from beholder.text.layout import without_layout
from beholder.text.tokenize import lower_words, words

ENDINGS = ("ing", "ed", "ly", "s", "")
"""Classes of words that are not frequent, the first that fits."""
STEP = 16
"""Steps of the table in a unit of the logarithm."""
_TABLE = Path(__file__).with_name("word_order.npz")
_BREAK = re.compile(r"[.!?;:,\n\u2029]")
STOP = "."
"""Stands for punctuation and the ends of a text."""


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    classes: dict[str, int]
    # (classes, classes), of a class after another.
    ratios: npt.NDArray[np.int8]


def order(text: str) -> float:
    """Return the mean log ratio of neighbours: 0 for words in random order, more for English.

    The mean, over all pairs of neighbours, of the logarithm of how much more often words of these
    two classes stand side by side than they would by chance. Classes are the frequent words, the
    endings of others, and punctuation. It knows nothing of meaning; the function words decide.

    Args:
        text: Any text.

    Returns:
        About 0.4 to 1 for English sentences, about -0.6 for their words shuffled; 0 for a text
        without words.
    """
    tokens = marked_words(text)
    if not tokens:
        return 0.0
    table = _load()
    places = [
        table.classes.get(word, table.classes[ending(word)]) for word in tokens
    ]
    return float(table.ratios[places[:-1], places[1:]].mean()) / STEP


def marked_words(text: str) -> list[str]:
    """The words of a text in lower case with ``STOP`` for punctuation, also before and behind.

    Empty for a text without words.
    """
    tokens = [STOP]
    last = 0
    for start, end in words(text):
        if _BREAK.search(text, last, start) and tokens[-1] != STOP:
            tokens.append(STOP)
        tokens.append(text[start:end].lower())
        last = end
    return [*tokens, STOP] if len(tokens) > 1 else []


def ending(word: str) -> str:
    """The class of a word that the table does not list, such as ``-ing``."""
    return "-" + next(ending for ending in ENDINGS if word.endswith(ending))


@cache
def _load() -> _Table:
    with np.load(_TABLE, allow_pickle=False) as stored:
        names = bytes(stored["classes"]).decode("utf-8").split("\n")
        return _Table(
            {name: place for place, name in enumerate(names)}, stored["ratios"]
        )


_FEW_WORDS = 4
"""Texts of fewer words have no order to speak of."""
_SLACK = 2.0
"""Added to the ``order`` of a text, divided by its words: the mean of few pairs varies more."""
_ENGLISH, _NO_ENGLISH = 0.25, -0.05
"""``order`` of fluent English, and of texts in random order."""
_OURS, _BORROWED = 0.45, 0.65
"""Share of words without their neighbours that passes, and that is taken for a reference's words
out of order."""
_JUMBLED_SHARE = 0.2
"""The share of its value that a text of words surely out of order keeps."""


def in_order(
    candidate: str, references: Sequence[str], language: str = ""
) -> float:
    """Return the share of its value that a text keeps: 1, unless a reference's words are jumbled.

    Two signs must meet. The words do not follow one another as English words do; and the text has
    the words of a reference without the neighbors that they have there.

    Args:
        candidate: The text under evaluation.
        references: Trusted texts, at least one.
        language: Their language, as a row names it; English if empty.

    Returns:
        0.2..1; 1 for a text of fewer than four words, or in another language than English.
    """
    if language and language_named(language) != ENGLISH:
        return 1.0
    candidate = without_layout(candidate)
    candidate_words = lower_words(candidate)
    if len(candidate_words) < _FEW_WORDS:
        return 1.0
    loose = max(
        _loose(candidate_words, lower_words(without_layout(text)))
        for text in references
    )
    if loose <= _OURS:
        return 1.0
    follows = order(candidate) + _SLACK / len(candidate_words)
    unlike_english = (_ENGLISH - follows) / (_ENGLISH - _NO_ENGLISH)
    out_of_place = (loose - _OURS) / (_BORROWED - _OURS)
    jumbled = np.clip(unlike_english, 0.0, 1.0) * np.clip(
        out_of_place, 0.0, 1.0
    )
    return float(1 - (1 - _JUMBLED_SHARE) * jumbled)


def _loose(
    candidate_words: Sequence[str], reference_words: Sequence[str]
) -> float:
    """Return the share of our words in the reference, less the share of our neighbours in it."""
    words = (
        Counter(candidate_words) & Counter(reference_words)
    ).total() / len(candidate_words)
    if words <= _OURS:
        # The text passes whatever its neighbours are, so they need not be counted.
        return words
    neighbours = (
        Counter(pairwise(candidate_words)) & Counter(pairwise(reference_words))
    ).total() / (len(candidate_words) - 1)
    return words - neighbours
