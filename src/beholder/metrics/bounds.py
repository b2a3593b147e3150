"""How much of an item a metric takes: beyond it there is a reason, and no search for memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from beholder.errors import ItemError
from beholder.records import Item
from beholder.text import words

MOST_PAIRS = 50_000_000
"""Pairs of parts that are compared at once: about 1 GB, in the metrics that hold most for each."""

SIGN = 5
"""Characters as which one counts that is in no word: analysed, each sign is a token, as a word
of about five characters is."""

MOST_PICTURES = 256
"""Pictures of one item."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a metric takes of one item.

    Attributes:
        characters: Of the candidate and all references together; a text of signs alone may have a
            fifth of them (``SIGN``).
        compares: Parts that are compared each with each, in words; empty if there are none.
    """

    characters: int = 1_000_000
    compares: str = ""

    def __str__(self) -> str:
        pairs = f", {MOST_PAIRS:,} pairs of {self.compares}" if self.compares else ""
        signs = f"{self.characters // SIGN:,} of them outside words"
        return f"{self.characters:,} characters in all texts together, {signs}{pairs}"

    def check(self, item: Item, name: str) -> None:
        """Refuse an item that is too large for the metric of that name.

        Raises:
            ItemError: Its texts are too long or have too many signs, or its pictures are too many.
        """
        n, most = len(item.candidate) + sum(map(len, item.references)), self.characters
        if n > self.characters:
            raise ItemError(
                f"the texts of this item have {n:,} characters; {name} takes up to"
                f" {self.characters:,}, so score them in parts"
            )
        n_signs = sum(map(_n_signs, (item.candidate, *item.references))) if n * SIGN > most else 0
        if n_signs * SIGN > most:
            raise ItemError(
                f"the texts of this item have {n_signs:,} characters outside words; {name} takes up"
                f" to {most // SIGN:,}"
            )
        if len(item.images) > MOST_PICTURES:
            raise ItemError(
                f"this item has {len(item.images):,} pictures; {name} takes up to {MOST_PICTURES}"
            )

    def check_pairs(self, candidate: int, references: Sequence[int], name: str) -> None:
        """Refuse texts with too many parts, before each is compared with each.

        Args:
            candidate: Number of parts of the candidate.
            references: Number of parts of each reference.
            name: The metric.

        Raises:
            ItemError: There are too many pairs.
        """
        n = candidate * sum(references)
        if self.compares and n > MOST_PAIRS:
            raise ItemError(
                f"{name} would compare {n:,} pairs of {self.compares}; it compares up to"
                f" {MOST_PAIRS:,}, so score the texts in parts"
            )

    def check_words(self, texts: Sequence[str], name: str) -> None:
        """Refuse texts with too many words or signs to compare each with each.

        Args:
            texts: Candidate and references.
            name: The metric.

        Raises:
            ItemError: There are too many pairs.
        """
        n_tokens = [max(len(words(text)), _n_signs(text)) for text in texts]
        self.check_pairs(max(n_tokens), n_tokens, name)


def _n_signs(text: str) -> int:
    """Characters that are neither white space nor part of a word."""
    return sum(map(len, text.split())) - sum(end - start for start, end in words(text))
