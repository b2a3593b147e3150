"""Checks of the options of a model behind an address, before anything is sent."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields
from difflib import get_close_matches

from beholder.backends.calls import Limits
from beholder.errors import ConfigError

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")
_OF_THE_QUESTION = frozenset(
    (
        "model",
        "messages",
        "contents",
        "input",
        "state",
        "questions",
        "assets",
        "images",
        "system",
        "systemInstruction",
        "system_instruction",
        "stream",
    )
)
"""Fields of a body that the question decides: in ``extra`` they would ask something else."""


def check_model(kind: str, model: object) -> None:
    """Check that the name of a model does not lead to another address of its server.

    Raises:
        ConfigError: Shows the name.
    """
    if (
        not isinstance(model, str)
        or not model.strip()
        or not model.isprintable()
        or not {"?", "#"}.isdisjoint(model)
        or not {".", ".."}.isdisjoint(model.split("/"))
    ):
        raise ConfigError(
            f"{kind}: expected the name of a model, such as gpt-4.1, got {model!r}"
        )


def check_extra(name: str, extra: object) -> None:
    """Check that further fields of a body are JSON, and none of them is part of the question.

    Raises:
        ConfigError: Names the field.
    """
    if extra is None:
        return
    if not isinstance(extra, Mapping) or not all(
        isinstance(field, str) for field in extra
    ):
        raise ConfigError(
            f"{name}: extra={extra!r}: expected a dict of fields"
        )
    for field in extra:
        if field in _OF_THE_QUESTION:
            raise ConfigError(
                f"{name}: extra={{{field!r}: ...}} would replace a part of the question; leave it"
                " out (roles and words of prompts are options of the judge)"
            )
    try:
        json.dumps(extra, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"{name}: extra={extra!r} is not JSON: {error}"
        ) from error


def no_option(name: str, unknown: str, parameters: Iterable[str]) -> str:
    """Return the message about an option that a backend does not have.

    Args:
        name: The backend.
        unknown: The option.
        parameters: Parameters of the backend's constructor; those of ``Limits`` are added.
    """
    names = (*parameters, *(limit.name for limit in fields(Limits)))
    hidden = ("self", "model", "limits", "facts")
    options = [option for option in names if option not in hidden]
    close = get_close_matches(unknown, options, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{name} has no option {unknown!r}; {hint}There are: {', '.join(options)}"


def is_variable(name: object) -> bool:
    """Return whether a text is the name of an environment variable, in capitals."""
    return isinstance(name, str) and _VARIABLE.fullmatch(name) is not None
