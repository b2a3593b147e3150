"""One Unicode form of the texts of items."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

from beholder.records import Item


def composed(item: Item) -> Item:
    """Return the item with its texts in Unicode's form NFC; the item itself if they already are.

    Letters with accents have two codings that look the same ("é" as one character or as two), and
    which one a text has depends on the machine that wrote it.
    """
    if all(map(is_composed, (item.candidate, *item.references))):
        return item
    candidate, *references = (
        unicodedata.normalize("NFC", text)
        for text in (item.candidate, *item.references)
    )
    return replace(item, candidate=candidate, references=tuple(references))


def is_composed(text: str) -> bool:
    """Return whether a text is in NFC."""
    return text.isascii() or unicodedata.is_normalized("NFC", text)
