"""Prompts that a model has no room for: a failure that says how long they were, never a cut."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from beholder.errors import ItemError

_ROOM = ("max_model_len", "context_length", "max_context_length", "context_window")
"""What servers call the room of a model in their list of models."""

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
        room: Tokens that fit; None if unknown.
        said: The server's own words, if it was the server who refused.
    """
    takes = "fewer" if room is None else str(room)
    end = f" The server says: {said}" if said else ""
    return ItemError(
        f"the prompt does not fit: with its answer it has {tokens} tokens, and {name} takes"
        f" {takes}. It is not cut: shorten the text or use a judge with more room.{end}"
    )


def told_room(models: Any, model: str) -> int | None:
    """Tokens that fit, from a server's list of models (vLLM, SGLang and others report it).

    Args:
        models: What the server answers when it is asked for its models.
        model: Name of the model; another's room is taken where it is not in the list.
    """
    try:
        rows = models["data"]
        row = next((r for r in rows if r["id"] == model), rows[0])
        return next((int(row[name]) for name in _ROOM if row.get(name)), None)
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError):
        return None


def weights_digest(place: Path) -> str:
    """Hash over the files of a model, weights and all: they are read to be loaded anyway.

    Args:
        place: A folder, of which the files in it count, or one file.
    """
    total = hashlib.sha256()
    for path in sorted(p for p in place.iterdir() if p.is_file()) if place.is_dir() else [place]:
        total.update(f"{path.name}:{path.stat().st_size}:".encode())
        with path.open("rb") as data:
            total.update(hashlib.file_digest(data, "sha256").digest())
    return total.hexdigest()
