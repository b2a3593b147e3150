"""Scorers by their text form: ``perplexity(...)``, ``response(...)``, or any metric."""

from __future__ import annotations

from typing import Any, TypeAlias

from beholder import spec
from beholder.metrics import Metric, from_spec, metric, params
from beholder.metrics.irr.perplexity import Perplexity
from beholder.metrics.irr.response import Response

SetScorer: TypeAlias = Perplexity | Response
"""Scorers that take all texts of an image in one call."""

Scorer: TypeAlias = Metric[Any] | Response


def scorer(text: str, **defaults: object) -> Scorer:
    """Build a scorer from its text form.

    Args:
        text: ``perplexity(judge='hf:NAME')``, ``response(judge='openai:NAME', orders=5)``, or a
            metric such as ``clipscore`` or ``metric(posh)``.
        defaults: Values for parameters that the scorer has and the text does not name.

    Raises:
        ConfigError: An unknown scorer or parameter, or a bad value.
    """
    bare = text.strip()
    if bare.startswith("metric(") and bare.endswith(")"):
        bare = bare[len("metric(") : -1].strip()
    if bare.partition("(")[0].strip() != Response.registered_name:
        return metric(bare, **defaults)
    return from_spec(Response, spec.parse(bare), defaults)


def twins(scorers: list[Scorer]) -> list[tuple[str, str]]:
    """Pairs of scorers that differ only in that the second sees no image."""
    found = []
    for seeing in scorers:
        if not isinstance(seeing, Perplexity | Response) or not seeing.image:
            continue
        for blind in scorers:
            if type(blind) is type(seeing) and _fields(blind) == _fields(seeing) | {"image": False}:
                found.append((seeing.name, blind.name))
    return found


def _fields(one: Scorer) -> dict[str, Any]:
    return {p.name: getattr(one, p.name) for p in params(one)}
