"""Texts as the built-in judge reads them, each read once for as long as it is in use."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from cachetools import LRUCache

from beholder.errors import ItemError
from beholder.judges.builtin.view import View
from beholder.language import parse, scene_graph
from beholder.text import frequency, words

_KEPT = 512
_CLAIMS_KEPT = 2048
_KNOWN_SHARE = 0.4
_ENOUGH_WORDS = 8


class Views:
    """Views of texts; those used last are kept.

    Attributes:
        read: How many texts have been read.
    """

    def __init__(self, most: int) -> None:
        self.read = 0
        self._kept: LRUCache[str, View] = LRUCache(most)
        self._reading = threading.Lock()

    def __call__(self, text: str) -> View:
        """The view of one text."""
        return self.of((text,))[0]

    def of(self, texts: Sequence[str]) -> list[View]:
        """The views of several texts; new ones are parsed together, which is faster.

        Raises:
            ItemError: A text is not English.
        """
        with self._reading:
            known = {text: self._kept[text] for text in texts if text in self._kept}
            new = [text for text in dict.fromkeys(texts) if text not in known]
            for text in new:
                check_english(text)
            if new:
                self.read += len(new)
                made = dict(zip(new, map(View, map(scene_graph, parse(new))), strict=True))
                self._kept.update(made)
                known.update(made)
        return [known[text] for text in texts]

    def clear(self) -> None:
        """Forget all texts."""
        self.read = 0
        self._kept.clear()


view = Views(_KEPT)
claim_view = Views(_CLAIMS_KEPT)
"""Statements are many and small, and must not push texts out."""


def check_english(text: str) -> None:
    """Refuse a text of some length that hardly has a known English word.

    Raises:
        ItemError: Names the share and the way out.
    """
    found = [text[start:end].lower() for start, end in words(text)]
    known = sum(frequency.weight(word) < 1.0 for word in found)
    if len(found) >= _ENOUGH_WORDS and known < _KNOWN_SHARE * len(found):
        raise ItemError(
            f"the built-in judge reads English, but only {known} of {len(found)} words of the text "
            f"that begins {text.strip()[:30]!r} are known English words; use an LLM judge "
            "(judge='openai:MODEL') or the metric vcs"
        )
