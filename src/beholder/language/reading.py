"""Cache of English texts read as scene graphs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from typing import Generic, TypeVar

from cachetools import LRUCache

from beholder.errors import ItemError
from beholder.language.graph import SceneGraph
from beholder.language.parsers import parse
from beholder.language.scene import Rules, scene_graph
from beholder.text.languages import not_english
from beholder.text.layout import without_layout

T = TypeVar("T")

CACHE_SIZE = 512
"""Descriptions that are kept, read."""
_TOGETHER = 16
"""Texts of several readers that are read at once; more are no faster."""


@dataclass(frozen=True)
class GraphReader:
    """The reader of English texts as scene graphs.

    Attributes:
        rules: Rule set of the graphs.
        parser: ``"builtin"`` or ``"spacy:NAME_OR_PATH"``.
        coref: ``"builtin"``, ``"none"``, or a name of ``links.COREFERENCES``.
    """

    rules: Rules = "fixed"
    parser: str = "builtin"
    coref: str = "builtin"

    def __call__(self, texts: Sequence[str]) -> list[SceneGraph]:
        """Read texts together, which is faster than one by one.

        Layout is not read, except under published rules. Places are those of the original text.

        Raises:
            ItemError: A text is not English.
        """
        plain = [
            without_layout(text) if self.rules == "fixed" else text
            for text in texts
        ]
        for text in plain:
            check_english(text)
        documents = parse(plain, self.parser)
        graphs = [
            scene_graph(document, self.rules, self.coref)
            for document in documents
        ]
        return [
            replace(graph, text=text)
            for graph, text in zip(graphs, texts, strict=True)
        ]


read_english = GraphReader()
"""With the built-in parser and coreference, by the corrected rules."""


class TextCache(Generic[T]):
    """Readings of the texts that were used last, each read once. Safe in threads.

    Args:
        max_texts: The most texts that are kept.
        read_all: Reads texts, in order; several at once may be faster than one by one.

    Attributes:
        n_read: Number of texts that have been read.
    """

    def __init__(
        self, max_texts: int, read_all: Callable[[Sequence[str]], list[T]]
    ) -> None:
        self.n_read = 0
        self._read = read_all
        self._kept: LRUCache[str, T] = LRUCache(max_texts)
        self._reading = threading.Lock()
        self._wanted: dict[str, None] = {}
        self._listing = threading.Lock()

    def __call__(self, text: str) -> T:
        """Return the reading of one text."""
        return self.read_texts((text,))[0]

    def read_texts(self, texts: Sequence[str]) -> list[T]:
        """Return the readings of texts, in order. Errors are those of ``read_all``."""
        with self._reading:
            values_by_text = {
                text: self._kept[text] for text in texts if text in self._kept
            }
            new = [
                text
                for text in dict.fromkeys(texts)
                if text not in values_by_text
            ]
            if new:
                new_values = dict(zip(new, self._read(new), strict=True))
                self.n_read += len(new)
                self._kept.update(new_values)
                values_by_text.update(new_values)
        return [values_by_text[text] for text in texts]

    async def together(self, texts: Sequence[str]) -> list[T]:
        """Like ``read_texts``, together with what other coroutines ask for: faster.

        ``read`` must refuse none of the texts: the error would reach another coroutine.
        """
        with self._listing:
            self._wanted.update(dict.fromkeys(texts))
        # Until all others that are ready have asked, too.
        await asyncio.sleep(0)
        with self._listing:
            # The first coroutine that wakes takes the texts of all; the others find theirs read.
            waiting = [text for text in texts if text in self._wanted]
            batch = (
                dict.fromkeys((*waiting, *islice(self._wanted, _TOGETHER)))
                if waiting
                else {}
            )
            for text in batch:
                self._wanted.pop(text, None)
        self.read_texts(tuple(batch))
        return self.read_texts(texts)

    def clear(self) -> None:
        """Forget all texts."""
        self.n_read = 0
        self._kept.clear()


english_graphs = TextCache(CACHE_SIZE, read_english)
"""Shared by all who read whole descriptions, so that each is parsed once."""


async def english_graphs_together(
    texts: Sequence[str], reader: GraphReader = read_english
) -> list[SceneGraph]:
    """Graphs of texts, read together with those that other coroutines ask for meanwhile.

    Raises:
        ItemError: A text is not English.
    """
    for text in texts:
        check_english(text)
    cache = english_graphs if reader == read_english else _graphs_of(reader)
    return await cache.together(texts)


@lru_cache(maxsize=4)
def _graphs_of(reader: GraphReader) -> TextCache[SceneGraph]:
    return TextCache(CACHE_SIZE, reader)


def check_english(text: str) -> None:
    """Refuse a text that is in another language (``text.languages.not_english``).

    Raises:
        ItemError: Names the evidence and the next step.
    """
    if why := not_english(text):
        raise ItemError(
            f"the language analysis reads English, and of the text that begins"
            f" {text.strip()[:30]!r}, {why}; use dcscore with an LLM judge (judge='openai:MODEL')"
            " for other languages"
        )
