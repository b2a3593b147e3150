"""Metrics: each a frozen dataclass with a name, a signature, and two steps (gather, score)."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, TypeVar, cast

from beholder.asking.params import REQUIRED, param, params
from beholder.asking.tools import Tools
from beholder.base.optional import load_object
from beholder.base.registry import Registry
from beholder.base.spec import Spec, parse_spec
from beholder.errors import ConfigError, UnknownNameError
from beholder.metrics.base import Bounds, Metric, ValueInfo

T = TypeVar("T")

__all__ = [
    "METRICS",
    "Bounds",
    "Metric",
    "Tools",
    "ValueInfo",
    "metric",
    "param",
    "params",
]

METRICS: Registry[Metric[Any]] = Registry(
    kind="metric",
    base=Metric,  # type: ignore[type-abstract]
    builtin={
        "accord": "beholder.metrics.accord:Accord",
        "dcscore": "beholder.metrics.dcscore:DCScore",
        "posh": "beholder.metrics.posh:PoSh",
        "vcs": "beholder.metrics.vcs:VCS",
        "vcs_short": "beholder.metrics.vcs:VCSShort",
        "audit": "beholder.metrics.judged.audit:Audit",
        "autodq": "beholder.metrics.asked:AutoDQ",
        "bertscore": "beholder.metrics.classical.bertscore:BERTScore",
        "bleu": "beholder.metrics.classical.overlap:BLEU",
        "capture": "beholder.metrics.classical.spice:CAPTURE",
        "chair": "beholder.metrics.classical.chair:CHAIR",
        "checklist": "beholder.metrics.asked:Checklist",
        "chrf": "beholder.metrics.classical.overlap:ChrF",
        "cider": "beholder.metrics.classical.cider:CIDEr",
        "cider_d": "beholder.metrics.classical.cider:CIDErD",
        "clair": "beholder.metrics.judged.direct:CLAIR",
        "clipscore": "beholder.metrics.classical.clipscore:CLIPScore",
        "cosine": "beholder.metrics.classical.embedding:Cosine",
        "direct_assessment": "beholder.metrics.judged.direct:DirectAssessment",
        "dsg": "beholder.metrics.judged.audit:DSG",
        "fleur": "beholder.metrics.judged.direct:FLEUR",
        "length": "beholder.metrics.classical.tokens:Length",
        "llava_critic": "beholder.metrics.judged.direct:LLaVACritic",
        "meteor": "beholder.metrics.classical.meteor:METEOR",
        "ngram_embed": "beholder.metrics.classical.embedding:NGramEmbed",
        "perplexity": "beholder.metrics.judged.perplexity:Perplexity",
        "placement": "beholder.metrics.judged.placement:Placement",
        "prometheus": "beholder.metrics.judged.direct:Prometheus",
        "qa": "beholder.metrics.asked:QA",
        "refclipscore": "beholder.metrics.classical.clipscore:RefCLIPScore",
        "rouge": "beholder.metrics.classical.overlap:ROUGE",
        "sg_embed": "beholder.metrics.classical.spice:SGEmbed",
        "softspice": "beholder.metrics.classical.spice:SoftSPICE",
        "spice": "beholder.metrics.classical.spice:SPICE",
        "ter": "beholder.metrics.classical.overlap:TER",
        "token_f1": "beholder.metrics.classical.embedding:TokenF1",
    },
    group="beholder.metrics",
    aliases={"headline": "accord"},
    command="beholder metrics",
)


def metric(spec: str | Spec, **defaults: object) -> Metric[Any]:
    """Build a metric from its spec.

    Args:
        spec: For example ``"vcs"``, ``"vcs(rules='paper', lct=1)"`` or
            ``"posh(judge=openai('gpt-4.1', temperature=0.7))"``.
        defaults: Values for parameters that the metric has and the spec does not name.

    Raises:
        ConfigError: A metric or parameter is unknown, or a value is not valid; names the choices.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    if parsed.name == _PROCESS:
        return _process_metric(parsed)
    try:
        cls = METRICS.get(parsed.name)
    except UnknownNameError as error:
        # Papers name the two directions as if they were metrics.
        if parsed.name.lower() in ("har", "mar"):
            raise UnknownNameError(
                f"no metric is called {parsed.name!r}: HAR and MAR are the directions of dcscore;"
                " score with -m \"dcscore(direction='both')\", then run beholder bidirectional RUN"
            ) from error
        if not (owners := _metrics_with_value(parsed.name)):
            raise
        # Users often name a value (f1, rouge_l) where its metric is wanted.
        raise UnknownNameError(
            f"no metric is called {parsed.name!r}; it is a value of {', '.join(owners)}"
        ) from error
    return from_spec(cls, parsed, defaults)


_PROCESS = "process"
"""No name of the registry: the values are in the file, so without one there is nothing to list, and
what picks a metric by name alone, such as ``beholder mcp``, can start no program."""


def _process_metric(parsed: Spec) -> Metric[Any]:
    options = dict(parsed.literals())
    if parsed.argument is not None:
        options.setdefault("file", parsed.argument)
    if list(options) != ["file"] or not isinstance(options["file"], str):
        raise ConfigError(
            f"{str(parsed)!r}: name the TOML file of the program and nothing else, as in"
            f" {_PROCESS}:chrf.toml"
        )
    cls = load_object("beholder.metrics.process:ProcessMetric")
    return cast(Metric[Any], cls(options["file"]))


def _metrics_with_value(value: str) -> list[str]:
    """Return the built-in metrics that have a value of that name."""
    names = METRICS.builtin()
    return [
        name
        for name in names
        if value in (info.name for info in METRICS.get(name).values)
    ]


def from_spec(cls: type[T], parsed: Spec, defaults: Mapping[str, object]) -> T:
    """Build what has parameters (see ``param``) from its spec.

    Args:
        cls: Its class.
        parsed: Name and options.
        defaults: Values for parameters that the class has and the spec does not name.

    Raises:
        ConfigError: A parameter is unknown or missing, or a value is not valid; names the choices.
    """
    params_by_name = {p.name: p for p in params(cls)}
    # An argument, or the members of a panel, would be dropped without a word.
    if (
        parsed.argument is not None
        or "members" in parsed.options.keys() - params_by_name.keys()
    ):
        raise ConfigError(
            f"{str(parsed)!r}: {parsed.name} takes named arguments, as in"
            f" {parsed.name}({next(iter(params_by_name), 'name')}=...)"
        )
    for option in parsed.options:
        if option not in params_by_name:
            close = get_close_matches(option, params_by_name, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise ConfigError(
                f"{parsed.name} has no parameter {option!r}; {hint}It has:"
                f" {', '.join(params_by_name)}"
            )
    # Specs of tools stay specs, since they are parsed by the tool; all else
    # becomes a literal.
    tools = {
        name: value
        for name, value in parsed.options.items()
        if params_by_name[name].metadata["tool"]
    }
    plain = {
        name: value
        for name, value in parsed.options.items()
        if name not in tools
    }
    used_defaults = {
        name: value
        for name, value in defaults.items()
        if name in params_by_name
    }
    # What the spec names wins over the defaults.
    arguments = {
        **used_defaults,
        **tools,
        **Spec(parsed.name, options=plain).literals(),
    }
    for name, p in params_by_name.items():
        if p.default is REQUIRED and name not in arguments:
            raise ConfigError(
                f"{parsed.name} needs a {name} ({p.metadata['help']}): write"
                f" {parsed.name}({name}=...), or name one for all with --{name}"
            )
    return cls(**arguments)
