"""Whether one word says what another says: the same word, a synonym, a derived form, a kind of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np

from beholder.embed.base import FloatArray
from beholder.judges.builtin.classes import exclude, values
from beholder.language.words import word_set
from beholder.text.kinds import derived, general, senses

Tie: TypeAlias = Literal["same", "more", "less", "other", ""]
"""How what is said stands to what is asked: the same; more ("dog" for "animal"); less ("animal" for
"dog"); another of its kind ("cat" for "dog"); or nothing is known."""
Part: TypeAlias = Literal["n", "v", "a"]

_LIGHT = word_set("lexicon.txt", "degrees") | frozenset(
    "a an the at by from in into of on onto over to toward towards with side".split()
)
"""Words that an attribute may have or lack: "on the left side", "very dark"."""
_PARTS: tuple[Part, ...] = ("n", "v", "a")


@lru_cache(maxsize=1 << 17)
def tie(asked: str, said: str, part: Part) -> Tie:
    """How two lower-case words in base form stand to each other."""
    if asked == said:
        return "same"
    if exclude(values(asked), values(said)):
        return "other"
    if derived(asked, said):
        return "same"
    a, b = senses(asked, part), senses(said, part)
    if not a or not b:
        return ""
    if not a.isdisjoint(b):
        return "same"
    above_a, above_b = general(asked, part), general(said, part)
    if not a.isdisjoint(above_b):
        return "more"
    if not b.isdisjoint(above_a):
        return "less"
    return "other" if not above_a.isdisjoint(above_b) else ""


@lru_cache(maxsize=1 << 17)
def says(asked: str, said: str) -> bool:
    """Whether a word says at least what is asked, as whatever part of speech."""
    ties = {tie(asked, said, part) for part in _PARTS}
    return "same" in ties or "more" in ties and "other" not in ties


def content(value: str) -> list[str]:
    """The lower-case words of a value that bear its meaning; all where none seems to."""
    words = value.lower().split()
    return [word for word in words if word not in _LIGHT] or words


def said_in(asked: Sequence[str], said: Sequence[str]) -> FloatArray:
    """(asked, said), 1 where all words of what is asked have their like in what is said, else 0."""
    first = [content(text) for text in asked]
    second = [set(content(text)) for text in said]
    wanted = {word for words in first for word in words}
    there = {word for words in second for word in words}
    like = {word: {other for other in there if says(word, other)} for word in wanted}
    found = np.zeros((len(first), len(second)))
    for i, words in enumerate(first):
        needed = [like[word] for word in words]
        if needed and all(needed):
            for j, others in enumerate(second):
                found[i, j] = all(not others.isdisjoint(each) for each in needed)
    return found
