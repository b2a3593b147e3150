"""Rankers by their spec: ``response(...)``, ``perplexity(...)``, or any metric."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from beholder.errors import ConfigError
from beholder.kinds.ranking.rankers import ByMetric, Ranker
from beholder.kinds.ranking.response import Response
from beholder.metrics import from_spec, metric, params
from beholder.metrics.asker import Asker
from beholder.metrics.judged.perplexity import Perplexity
from beholder.spec import Spec, parse


def ranker(given: str | Spec, **defaults: object) -> Ranker:
    """Build a ranker from its spec.

    Args:
        given: ``perplexity(judge='hf:NAME')``, ``response(judge='openai:NAME', orders=5)``, or a
            metric such as ``clipscore`` or ``metric(posh)``.
        defaults: Values for parameters that the ranker has and the spec does not name.

    Raises:
        ConfigError: An unknown ranker or parameter, or a bad value.
    """
    parsed = parse(given) if isinstance(given, str) else given
    match parsed.name, parsed.options:
        case "metric", {"members": [Spec() as inner]}:
            parsed = inner
        case Response.registered_name, _:
            return from_spec(Response, parsed, defaults)
    return ByMetric(metric(parsed, **defaults))


def looks(ranker: Ranker) -> bool:
    """Whether it shows the image but could rank by the words alone."""
    core = _core(ranker)
    return isinstance(core, Perplexity | Response) and core.image


def twins(rankers: Sequence[Ranker]) -> list[tuple[str, str]]:
    """Pairs of rankers that differ only in that the second sees no image."""
    return [
        (seeing.name, blind.name)
        for seeing in rankers
        if looks(seeing)
        for blind in rankers
        if _fields(blind) == {**_fields(seeing), "image": False}
        and type(_core(blind)) is type(_core(seeing))
    ]


def blinded(ranker: Ranker) -> Ranker:
    """The same ranker without the image.

    Raises:
        ConfigError: It does not look, or cannot do without.
    """
    if isinstance(ranker, Response):
        return replace(ranker, image=False)
    if isinstance(ranker, ByMetric) and isinstance(ranker.metric, Perplexity):
        return ByMetric(replace(ranker.metric, image=False))
    raise ConfigError(f"{ranker.name} cannot leave the image out; perplexity and response can")


def _core(ranker: Ranker) -> Asker[Any]:
    return ranker.metric if isinstance(ranker, ByMetric) else ranker


def _fields(ranker: Ranker) -> dict[str, Any]:
    core = _core(ranker)
    return {p.name: getattr(core, p.name) for p in params(core)}
