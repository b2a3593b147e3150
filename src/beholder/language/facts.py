"""What the rules find before mentions become entities: facts about words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from beholder.language.document import Word
from beholder.language.graph import AttributeKind, RelationKind
from beholder.records import Span


@dataclass(frozen=True, slots=True)
class AttributeFact:
    """An attribute of the noun at ``noun``."""

    noun: int
    words: tuple[Word, ...]
    value: str
    kind: AttributeKind
    rule: str
    polarity: bool = True


@dataclass(frozen=True, slots=True)
class RelationFact:
    """A relation between the nouns at ``subject`` and ``object``."""

    subject: int
    object: int
    words: tuple[Word, ...]
    kind: RelationKind
    rule: str
    passive: bool = False
    polarity: bool = True
    text: str | None = None


def spans(words: Sequence[Word]) -> tuple[Span, ...]:
    """The characters of some words, neighbours joined into one span."""
    merged: list[list[int]] = []
    last = -2
    for word in sorted(words, key=lambda w: w.index):
        if word.index == last + 1 and merged:
            merged[-1][1] = word.end
        elif word.index != last:
            merged.append([word.start, word.end])
        last = word.index
    return tuple((start, end) for start, end in merged)
