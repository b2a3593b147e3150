"""English texts as scene graphs, each read once for as long as it is in use."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from beholder.errors import ItemError
from beholder.language.graph import SceneGraph
from beholder.language.parsers import parse
from beholder.language.scene import scene_graph
from beholder.text import frequency, words

_KEPT = 512
_KNOWN_SHARE = 0.4
_ENOUGH_WORDS = 8


def read_english(texts: Sequence[str]) -> list[SceneGraph]:
    """Read texts together, which is faster than one by one.

    Raises:
        ItemError: A text is not English.
    """
    for text in texts:
        check_english(text)
    return list(map(scene_graph, parse(texts)))


class EnglishGraphs:
    """Scene graphs of English texts; those used last are kept.

    Args:
        most: How many.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: dict[str, SceneGraph] = {}
        self._reading = threading.Lock()

    def of(self, texts: Sequence[str]) -> list[SceneGraph]:
        """The graphs of texts, in order.

        Raises:
            ItemError: A text is not English.
        """
        with self._reading:
            known = {text: self._kept[text] for text in texts if text in self._kept}
            new = [text for text in dict.fromkeys(texts) if text not in known]
            if new:
                known.update(zip(new, read_english(new), strict=True))
            for text, graph in known.items():  # what is used moves to the end
                self._kept.pop(text, None)
                self._kept[text] = graph
            while len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
        return [known[text] for text in texts]


english_graphs = EnglishGraphs(_KEPT)
"""Shared by all who read whole descriptions, so that each is parsed once."""


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
