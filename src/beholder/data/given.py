"""Columns that another program hands over: a text or several in each place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from beholder.errors import ConfigError


def texts_of(given: Any, column: str) -> tuple[str, ...]:
    """One place of a column as texts; blank ones are none.

    Args:
        given: A text, several, or None.
        column: What messages call the column.

    Raises:
        ConfigError: It is something else.
    """
    if given is None:
        return ()
    several = isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping)
    texts = tuple(given) if several else (given,)
    for text in texts:
        if not isinstance(text, str):
            raise ConfigError(
                f"the column of {column} holds {text!r}: expected a text, or a list of texts"
            )
    return tuple(text for text in texts if text.strip())
