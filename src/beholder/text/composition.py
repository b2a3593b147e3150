"""One Unicode form of the texts of items."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

from beholder.records import Item

_LIGATURE = re.compile("[\ufb00-\ufb06]")
"""Latin letters of which typesetters and PDF files make one character, such as "\ufb01" of "fi"."""


def composed(item: Item) -> Item:
    """Return the item with its texts in Unicode's form NFC and without ligatures.

    Letters with accents have two codings that look the same ("é" as one character or as two), and
    which one a text has depends on the machine that wrote it. The same is true of ligatures, which
    NFC keeps. The item itself is returned if nothing changes.
    """
    if all(map(is_composed, (item.candidate, *item.references))):
        return item
    candidate, *references = (
        _compose(text) for text in (item.candidate, *item.references)
    )
    return replace(item, candidate=candidate, references=tuple(references))


def is_composed(text: str) -> bool:
    """Return whether a text is in NFC and has no ligature."""
    if text.isascii():
        return True
    return unicodedata.is_normalized("NFC", text) and not _LIGATURE.search(
        text
    )


def _compose(text: str) -> str:
    # NFKC takes a ligature apart; of a whole text it would change more, such as "½" and "²".
    plain = _LIGATURE.sub(
        lambda match: unicodedata.normalize("NFKC", match[0]), text
    )
    return unicodedata.normalize("NFC", plain)
