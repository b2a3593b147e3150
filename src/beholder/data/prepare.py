"""Texts of items before they are scored: composed characters, and residue removed if asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Literal, TypeAlias

from beholder.base.fingerprint import digest_modules
from beholder.errors import ConfigError
from beholder.records import Item
from beholder.text import without_marks
from beholder.text.composition import composed
from beholder.text.residue import without_residue

Cleaning: TypeAlias = Literal["none", "residue", "speech"]
"""Parts that are removed from texts before they are scored."""


def _without_speech_marks(text: str) -> str:
    """Return the words alone, as the readers of published transcripts do."""
    return " ".join(without_marks(text).split())


_REMOVERS: Mapping[str, Callable[[str], str]] = {
    "residue": without_residue,
    "speech": _without_speech_marks,
}
_MODULES: Mapping[str, str] = {
    "residue": "beholder.text.residue",
    "speech": "beholder.text.tokenize",
}


def cleaning_rules(clean: str) -> str:
    """Return the identity of a cleaning for signatures; empty if nothing is removed.

    Raises:
        ConfigError: The cleaning is unknown.
    """
    if clean == "none":
        return ""
    if clean not in _REMOVERS:
        raise ConfigError(
            f"clean={clean!r}: expected one of none, {', '.join(_REMOVERS)}"
        )
    return f"{clean}@{digest_modules(_MODULES[clean])}"


def prepared(item: Item, clean: Cleaning) -> Item:
    """Return an item as it is scored: composed (NFC), and cleaned if requested."""
    item = composed(item)
    if clean == "none":
        return item
    candidate, *references = map(
        _REMOVERS[clean], (item.candidate, *item.references)
    )
    # Escapes of JSON may have been accents of their own.
    return composed(
        replace(item, candidate=candidate, references=tuple(references))
    )
