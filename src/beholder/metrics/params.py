"""Fields of a metric: a default, a line of help, and whether they can change a score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, field, fields
from typing import Any

from beholder import __version__
from beholder.spec import Spec


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


def text_form(name: str, built: object) -> str:
    """Canonical text form of what is built of params; those at their default are left out."""
    given = {p.name: (getattr(built, p.name), p.default) for p in params(built)}
    return str(Spec(name, options={n: v for n, (v, default) in given.items() if v != default}))


def stated(name: str, built: object, identities: Mapping[str, str] | None) -> str:
    """Signature: every param that affects the score, tools by their identity, and our version."""
    known = identities or {}
    parts = [
        f"{p.name}:{known.get(p.name, getattr(built, p.name))}"
        for p in params(built)
        if p.metadata["affects_score"]
    ]
    return "|".join([name, *parts, f"v:{__version__}"])
