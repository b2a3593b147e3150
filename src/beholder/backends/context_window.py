"""Prompts that a model has no room for: a failure that says how long they were, never a cut."""

from __future__ import annotations

import re

from beholder.errors import ItemError

SAYS_TOO_LONG = re.compile(
    r"context|too (long|large)|longer than|max_new_tokens|maximum.*token", re.IGNORECASE | re.DOTALL
)
"""Finds in a server's refusal that the prompt was the reason."""

SURELY_TOO_LONG = re.compile(
    r"context[ _](length|window|size)|(prompt|input|message|request).{0,40}too long"
    r"|maximum.{0,40}tokens",
    re.IGNORECASE | re.DOTALL,
)
"""The same in an error of the server itself (HTTP 500), which could have any other reason."""


def too_long(name: str, tokens: str, room: int | None, said: str = "") -> ItemError:
    """The failure of a prompt that a model has no room for; nothing is ever cut.

    Args:
        name: Whose room.
        tokens: How long prompt and answer are, in words.
        room: Tokens that fit; None if nobody told.
        said: The server's own words, if it was the server who refused.
    """
    takes = "fewer" if room is None else str(room)
    end = f" The server says: {said}" if said else ""
    return ItemError(
        f"the prompt does not fit: with its answer it has {tokens} tokens, and {name} takes"
        f" {takes}. It is not cut: shorten the text or use a judge with more room.{end}"
    )
