"""Whether the words of an English text follow one another as words of English do."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt

from beholder.text.tokenize import words

ENDINGS = ("ing", "ed", "ly", "s", "")
"""What words that are not frequent are told apart by, the first that fits."""
STEP = 16
"""Steps of the table in a unit of the logarithm."""
_TABLE = Path(__file__).with_name("word_order.npz")
_BREAK = re.compile(r"[.!?;:,\n]")
STOP = "."
"""Stands for punctuation and the ends of a text."""


@dataclass(frozen=True, slots=True, eq=False)
class _Table:
    classes: dict[str, int]
    ratios: npt.NDArray[np.int8]  # (classes, classes), of a class after another


def order(text: str) -> float:
    """How well words follow one another: 0 if they stood in any order, more in English.

    The mean, over all pairs of neighbours, of the logarithm of how much more often words of these
    two classes stand side by side than they would by chance. Classes are the frequent words, the
    endings of others, and punctuation. Nothing is known of sense: it is the small words that tell.

    Args:
        text: Any text.

    Returns:
        About 0.4 to 1 for English sentences, about -0.6 for their words shuffled; 0 for a text
        without words.
    """
    found = marked_words(text)
    if not found:
        return 0.0
    table = _load()
    places = [table.classes.get(word, table.classes[ending(word)]) for word in found]
    return float(table.ratios[places[:-1], places[1:]].mean()) / STEP


def marked_words(text: str) -> list[str]:
    """The words of a text in lower case with ``STOP`` for punctuation, also before and behind.

    Empty for a text without words.
    """
    found, last = [STOP], 0
    for start, end in words(text):
        if _BREAK.search(text, last, start) and found[-1] != STOP:
            found.append(STOP)
        found.append(text[start:end].lower())
        last = end
    return [*found, STOP] if len(found) > 1 else []


def ending(word: str) -> str:
    """The class of a word that the table does not list, such as ``-ing``."""
    return "-" + next(ending for ending in ENDINGS if word.endswith(ending))


@cache
def _load() -> _Table:
    with np.load(_TABLE, allow_pickle=False) as stored:
        names = bytes(stored["classes"]).decode("utf-8").split("\n")
        return _Table({name: place for place, name in enumerate(names)}, stored["ratios"])
