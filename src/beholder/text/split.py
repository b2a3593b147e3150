"""What a sentence splitter is, and what it returns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar


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
            character, and every visible character stands in exactly one of them. An empty or blank
            text has none.
        """
