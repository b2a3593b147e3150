"""Misspelt words of statements, read as the words of the text that they are about."""

from __future__ import annotations

import re
from collections.abc import Collection

from beholder.judges.builtin.numbers import whole
from beholder.text import frequency
from beholder.text.kinds import bases, meanings

_SHORTEST = whole("spelling.shortest")


def respelt(statement: str, words: Collection[str]) -> str:
    """A statement with each unknown word replaced by the word of a text that is one edit away.

    Args:
        statement: The statement.
        words: The words of the text, lower case.
    """

    def mended(found: re.Match[str]) -> str:
        word = found.group().lower()
        if len(word) < _SHORTEST or word in words or _is_known(word):
            return found.group()
        near = [other for other in words if _one_edit(word, other)]
        return near[0] if len(near) == 1 else found.group()

    return re.sub(r"[A-Za-z]+", mended, statement)


def _is_known(word: str) -> bool:
    return frequency.weight(word) < 1.0 or any(meanings(base) for base in (word, *bases(word)))


def _one_edit(a: str, b: str) -> bool:
    """Whether one letter more, less or other, or two exchanged, make one word of the other."""
    if abs(len(a) - len(b)) > 1 or a == b or a[0] != b[0]:
        return False
    start = next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    rest, other = a[start:], b[start:]
    return (
        rest[1:] == other[1:]
        or rest[1:] == other
        or rest == other[1:]
        or (rest[:2] == other[1::-1] and rest[2:] == other[2:])
    )
