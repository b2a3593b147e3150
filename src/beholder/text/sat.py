"""Sentence splitting by a Segment-any-Text model of the package wtpsplit."""

from __future__ import annotations

import threading
from typing import Any

from beholder.errors import ItemError
from beholder.optional import require
from beholder.text.split import Segment, Splitter


class SatSplitter(Splitter):
    """Sentence splitting by a neural model (spec ``sat:NAME``, extra ``sat``).

    Args:
        name: Name or path of the model, as ``wtpsplit.SaT`` takes it: ``sat-3l-sm``.

    Raises:
        MissingExtraError: The package wtpsplit is not installed.
    """

    per_process = False

    def __init__(self, name: str) -> None:
        self.name = name
        self._package = require("wtpsplit", extra="sat", purpose=f"the splitter 'sat:{name}'")
        self._model: Any = None
        self._lock = threading.Lock()

    @property
    def identity(self) -> str:
        """Model name and version of wtpsplit: ``sat:sat-3l-sm@wtpsplit-2.1.6``."""
        return f"sat:{self.name}@wtpsplit-{self._package.__version__}"

    def split(self, text: str) -> list[Segment]:
        """See ``Splitter.split``.

        Raises:
            ItemError: The model changed the text, so that its sentences have no place in it.
        """
        with self._lock:  # loads on first use; the model is not known to be safe in threads
            if self._model is None:
                self._model = self._package.SaT(self.name)
            sentences = [str(sentence).strip() for sentence in self._model.split(text)]
        segments: list[Segment] = []
        cursor = 0
        for sentence in filter(None, sentences):
            start = text.find(sentence, cursor)
            if start < 0:
                raise ItemError(
                    f"{self.identity} gave a sentence that is not in the text: {sentence!r}"
                )
            cursor = start + len(sentence)
            segments.append(Segment(start, cursor))
        return segments
