"""Texts of items before they are scored: composed characters, and residue removed if asked for."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

from beholder.errors import ConfigError
from beholder.records import Item
from beholder.text import without_marks
from beholder.text.residue import without_residue

Cleaning: TypeAlias = Literal["none", "residue", "speech"]
"""What is removed from texts before they are scored."""

RESIDUE_RULES = "residue.v1"
"""Names the rules in signatures; a change that removes other characters gets a new number."""

_RULES: Mapping[str, str] = {"none": "", "residue": RESIDUE_RULES, "speech": "speech.v1"}


def cleaning_rules(clean: str) -> str:
    """The name of the rules of a cleaning, for signatures; empty if nothing is removed.

    Raises:
        ConfigError: There is no such cleaning.
    """
    if clean not in _RULES:
        raise ConfigError(f"clean={clean!r}: expected one of {', '.join(_RULES)}")
    return _RULES[clean]


def _without_speech_marks(text: str) -> str:
    """The words alone, as the readers of published transcripts give them."""
    return " ".join(without_marks(text).split())


_REMOVERS: Mapping[str, Callable[[str], str]] = {
    "residue": without_residue,
    "speech": _without_speech_marks,
}


def prepared(item: Item, clean: Cleaning) -> Item:
    """The item as it is scored."""
    item = composed(item)
    if clean == "none":
        return item
    candidate, *references = map(_REMOVERS[clean], (item.candidate, *item.references))
    # Escapes of JSON may have been accents of their own.
    return composed(replace(item, candidate=candidate, references=tuple(references)))


def composed(item: Item) -> Item:
    """An item whose texts are in Unicode's form NFC; the item itself where they are already.

    Letters with accents have two codings that look the same ("é" as one character or as two), and
    which one a text has depends on the machine that wrote it.
    """
    if all(map(is_composed, (item.candidate, *item.references))):
        return item
    candidate, *references = (
        unicodedata.normalize("NFC", text) for text in (item.candidate, *item.references)
    )
    return replace(item, candidate=candidate, references=tuple(references))


def is_composed(text: str) -> bool:
    """Return whether a text is in NFC."""
    return text.isascii() or unicodedata.is_normalized("NFC", text)
