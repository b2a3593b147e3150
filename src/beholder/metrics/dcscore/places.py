"""Where a fact stands in its text, in any script."""

from __future__ import annotations

import re
from collections.abc import Sequence

from beholder.judges.operations import AtomicStatement
from beholder.records import Span
from beholder.text import RuleSplitter, weight, words

_ENOUGH = 0.5
"""Share of a fact's words, by what they say, that one sentence must have more than."""
_STEM = 4
_ENDING = 2
_SPLITTER = RuleSplitter()


class Places:
    """Finds facts in one text.

    Args:
        text: The text that was taken apart.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._folded = text.casefold()
        self._words = [(span, _key(text[slice(*span)])) for span in words(text)]
        self._sentences = [(part.start, part.end) for part in _SPLITTER.split(text)]

    def of(self, fact: AtomicStatement) -> tuple[Span, ...]:
        """The characters that say a fact; none where fewer than half of its words are there.

        The judge's own places go first, then the fact as it is written, then its words in the
        sentence that shares most with it, neighbours joined.
        """
        if fact.spans:
            return fact.spans
        bare = fact.text.strip().rstrip(".!?。．！？।").casefold()
        found = self._folded.find(bare) if len(self._folded) == len(self._text) else -1
        if bare and found >= 0:
            return ((found, found + len(bare)),)
        return self._by_words(fact.text)

    def _by_words(self, fact: str) -> tuple[Span, ...]:
        wanted = {_key(fact[a:b]): weight(fact[a:b].lower()) for a, b in words(fact)}
        best: list[Span] = []
        most = _ENOUGH * sum(wanted.values())
        for start, end in self._sentences:
            there = [(s, key) for s, key in self._words if start <= s[0] < end and key in wanted]
            shared = sum(wanted[key] for key in {key for _, key in there})
            if there and shared > most:
                most, best = shared, [span for span, _ in there]
        return _joined(self._text, best)


def _key(word: str) -> str:
    """A word without case and possessive; of a long one its beginning, so that inflections meet."""
    folded = re.sub(r"['’]s?$", "", word.casefold())
    short = len(folded) <= _STEM or not folded.isalpha()
    return folded if short else folded[: max(_STEM, len(folded) - _ENDING)]


def _joined(text: str, spans: Sequence[Span]) -> tuple[Span, ...]:
    merged: list[Span] = []
    for start, end in spans:
        if merged and not text[merged[-1][1] : start].strip():
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return tuple(merged)
