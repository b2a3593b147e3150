"""What a sentence splitter is, and what it returns."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from beholder.errors import ItemError
from beholder.optional import require


@dataclass(frozen=True, slots=True)
class Segment:
    """A sentence-like piece of a text, as a half-open character range of the *original* text.

    Attributes:
        start: Index of the first character.
        end: Index after the last character.
    """

    start: int
    end: int

    def of(self, text: str) -> str:
        """The words of the segment."""
        return text[self.start : self.end]


class Splitter(ABC):
    """Cuts a text into sentence-like segments.

    Attributes:
        cheap: Whether every worker process may make its own.
    """

    per_process: ClassVar[bool] = True

    @property
    @abstractmethod
    def identity(self) -> str:
        """What fixes the segments, for signatures: name with version."""

    @abstractmethod
    def split(self, text: str) -> list[Segment]:
        """Segments of a text.

        Args:
            text: Any text in any script; it may be empty.

        Returns:
            Segments in order, none empty, none overlapping. Each starts and ends with a visible
            character, and every visible character is in exactly one of them. An empty or blank
            text has none.
        """


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
