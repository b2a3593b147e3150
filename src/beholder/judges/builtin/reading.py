"""Texts as the built-in judge reads them, each read once for as long as it is in use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from beholder.judges.builtin.view import View
from beholder.language.graph import SceneGraph
from beholder.language.reading import english_graphs, read_english

_KEPT = 512
_CLAIMS_KEPT = 2048


class Views:
    """Views of texts; those used last are kept.

    Args:
        most: How many.
        graphs: Reads texts.

    Attributes:
        read: How many texts have been read.
    """

    def __init__(self, most: int, graphs: Callable[[Sequence[str]], list[SceneGraph]]) -> None:
        self.read = 0
        self._most = most
        self._graphs = graphs
        self._kept: dict[str, View] = {}
        self._reading = threading.Lock()

    def __call__(self, text: str) -> View:
        """The view of one text."""
        return self.of((text,))[0]

    def of(self, texts: Sequence[str]) -> list[View]:
        """The views of several texts; new ones are read together, which is faster.

        Raises:
            ItemError: A text is not English.
        """
        with self._reading:
            known = {text: self._kept[text] for text in texts if text in self._kept}
            new = [text for text in dict.fromkeys(texts) if text not in known]
            if new:
                self.read += len(new)
                known.update(zip(new, map(View, self._graphs(new)), strict=True))
            for text, made in known.items():  # what is used moves to the end
                self._kept.pop(text, None)
                self._kept[text] = made
            while len(self._kept) > self._most:
                del self._kept[next(iter(self._kept))]
        return [known[text] for text in texts]

    def clear(self) -> None:
        """Forget all texts."""
        self.read = 0
        self._kept.clear()


view = Views(_KEPT, english_graphs.of)
claim_view = Views(_CLAIMS_KEPT, read_english)
"""Statements are many and small, and must not push texts out."""
