"""Fields of a metric: a default, a line of help, and whether they can change a score."""

from __future__ import annotations

from dataclasses import Field, field, fields
from typing import Any


def param(default: Any, help: str, *, affects_score: bool = True, tool: str | None = None) -> Any:
    """A config field of a metric.

    Args:
        default: Value when the user says nothing.
        help: One line for docs and ``beholder show``.
        affects_score: False leaves the field out of the signature.
        tool: The kind of tool the value names (``"embedder"``, ``"splitter"``); the signature then
            states the tool's identity (with version or model revision) and not only its name.
    """
    return field(
        default=default, metadata={"help": help, "affects_score": affects_score, "tool": tool}
    )


def params(metric: object) -> tuple[Field[Any], ...]:
    """The config fields of a metric or metric class, in order: those made by ``param``."""
    return tuple(f for f in fields(metric) if "help" in f.metadata)  # type: ignore[arg-type]
