"""Edit distance, and the words that a text has but for small errors of reading."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from beholder.text import words


def count_edits(before: Sequence[object], after: Sequence[object]) -> int:
    """Return the Levenshtein distance of two sequences, such as words or characters."""
    row = list(range(len(after) + 1))
    for n, element in enumerate(before, start=1):
        diagonal, row[0] = row[0], n
        for place, other in enumerate(after, start=1):
            cost = diagonal + (element != other)
            diagonal = row[place]
            row[place] = min(cost, diagonal + 1, row[place - 1] + 1)
    return row[-1]


def plain_words(text: str) -> list[str]:
    """Return the words of a text, divided at signs: "17:30" is 17 and 30."""
    return [
        part
        for start, end in words(text)
        for part in re.split(r"[\W_]+", text[start:end])
        if part
    ]


def words_left_out(
    picture_words: Iterable[str], texts: Iterable[str]
) -> list[str]:
    """Return the words of a picture that are in none of the texts.

    Small errors of reading are no words: one wrong character in four, and blanks that the
    recogniser lost or added.
    """
    folded = "\n".join(texts).casefold()
    text_words = set(plain_words(folded))
    squashed = "".join(filter(str.isalnum, folded))
    return [
        word
        for word in picture_words
        if not _is_present(word.casefold(), text_words, squashed)
    ]


_LEAST_PART = 4
"""Characters from which a word may be a part of others, or have a wrong character."""


def _is_present(word: str, text_words: set[str], squashed: str) -> bool:
    if word in text_words:
        return True
    letters = "".join(filter(str.isalnum, word))
    if (len(letters) >= _LEAST_PART or is_dense(word)) and (
        letters in squashed
    ):
        return True
    # A wrong digit is another number.
    if not letters.isalpha():
        return False
    allowed = len(letters) // _LEAST_PART
    return any(
        abs(len(other) - len(word)) <= allowed
        and count_edits(word, other) <= allowed
        for other in (text_words if allowed else ())
    )


_FIRST_DENSE = "\u3000"


def is_dense(word: str) -> bool:
    """Return whether a word is in a script of East Asia, where a character may be a word."""
    return max(word) >= _FIRST_DENSE
