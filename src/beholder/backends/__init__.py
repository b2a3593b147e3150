"""Backends: connections to models. They know messages and answers, and nothing of metrics."""

from __future__ import annotations

from typing import Any

from beholder.backends.base import (
    Answer,
    Backend,
    Capabilities,
    Image,
    Message,
    Request,
    Sample,
    Sampling,
    ServerFacts,
    Surprisal,
)
from beholder.backends.money import Usage
from beholder.backends.scripted import Replay, Scripted
from beholder.base.registry import Registry, check_types
from beholder.errors import ConfigError

__all__ = [
    "BACKENDS",
    "Answer",
    "Backend",
    "Capabilities",
    "Image",
    "Message",
    "Replay",
    "Request",
    "Sample",
    "Sampling",
    "Scripted",
    "ServerFacts",
    "Surprisal",
    "Usage",
    "backend",
]

BACKENDS: Registry[Backend] = Registry(
    kind="backend",
    base=Backend,  # type: ignore[type-abstract]
    builtin={
        "openai": "beholder.backends.openai:OpenAI",
        "anthropic": "beholder.backends.anthropic:Anthropic",
        "gemini": "beholder.backends.gemini:Gemini",
        "decisions": "beholder.backends.decisions.backend:Decisions",
        "systemone": "beholder.backends.decisions.backend:SystemOne",
        "hf": "beholder.backends.hf:HF",
        "vllm": "beholder.backends.vllm:VLLM",
        "scripted": "beholder.backends.scripted:Scripted",
        "replay": "beholder.backends.scripted:Replay",
    },
    group="beholder.backends",
)


def backend(name: str, model: str, /, **options: Any) -> Backend:
    """Build a backend.

    Args:
        name: ``openai``, ``anthropic``, ``gemini``, ``decisions``, ``systemone``, ``hf``, ``vllm``,
            ``scripted``, ``replay``, or ``package/name``.
        model: The model it shall reach (for ``scripted`` and ``replay`` a file).
        options: Keyword arguments of the backend.

    Raises:
        ConfigError: An unknown backend or option.
    """
    cls: Any = BACKENDS.get(name)
    check_types(cls, options, f"{name}:{model}")
    try:
        return cls(model, **options)  # type: ignore[no-any-return]
    except TypeError as error:
        raise ConfigError(f"{name}:{model}: {error}") from error
