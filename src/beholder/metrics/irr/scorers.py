"""Scorers by their spec: ``perplexity(...)``, ``response(...)``, or any metric."""

from __future__ import annotations

from typing import Any, TypeAlias

from beholder.metrics import Metric, from_spec, metric, params
from beholder.metrics.irr.perplexity import Perplexity
from beholder.metrics.irr.response import Response
from beholder.spec import Spec, parse

SetScorer: TypeAlias = Perplexity | Response
"""Scorers that take all texts of an image in one call."""

Scorer: TypeAlias = Metric[Any] | Response


def scorer(given: str | Spec, **defaults: object) -> Scorer:
    """Build a scorer from its spec.

    Args:
        given: ``perplexity(judge='hf:NAME')``, ``response(judge='openai:NAME', orders=5)``, or a
            metric such as ``clipscore`` or ``metric(posh)``.
        defaults: Values for parameters that the scorer has and the spec does not name.

    Raises:
        ConfigError: An unknown scorer or parameter, or a bad value.
    """
    parsed = parse(given) if isinstance(given, str) else given
    match parsed.name, parsed.options:
        case "metric", {"members": [Spec() as inner]}:
            return metric(inner, **defaults)
        case Response.registered_name, _:
            return from_spec(Response, parsed, defaults)
    return metric(parsed, **defaults)


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
