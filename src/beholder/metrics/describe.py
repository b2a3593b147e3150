"""What a metric is, in words, made from its class: for ``beholder show`` and the docs."""

from __future__ import annotations

import inspect
from typing import Any

from beholder.metrics.base import Metric, ValueInfo
from beholder.metrics.params import REQUIRED, choices, full_name, params


def first_line(cls: type[Metric[Any]]) -> str:
    """The first line of a metric's docstring."""
    return (inspect.getdoc(cls) or "").partition("\n")[0]


def describe(cls: type[Metric[Any]]) -> str:
    """A metric in Markdown: what it is, its values, its parameters, its signature."""
    lines = [f"# {full_name(cls.registered_name, cls)}", "", inspect.getdoc(cls) or "", ""]
    lines += [
        f"Needs of each item: {', '.join(['candidate', *sorted(cls.required_fields)])}.",
        "",
    ]
    lines += [f"Takes of each item: {cls.bounds}.", ""]
    if cls.operations:
        named = ", ".join(f"`{name}`" for name in cls.operations)
        lines += [f"Asks a judge: {named} (`beholder show OPERATION` prints the prompt).", ""]
    lines += ["## Values", ""]
    lines += ["| name | what | range | better |", "|---|---|---|---|"]
    lines += [_value_row(value) for value in cls.values]
    if cls.corpus_values:
        lines += ["", "Of the whole data set, from summed counts:", ""]
        lines += [f"- `{v.name}`: {v.help}" for v in cls.corpus_values]
    lines += ["", "## Parameters", "", "| name | default | what |", "|---|---|---|"]
    known = choices(cls)
    for p in params(cls):
        default = "required" if p.default is REQUIRED else f"`{p.default!r}`"
        listed = f" (one of {', '.join(map(str, known[p.name]))})" if p.name in known else ""
        lines.append(f"| {p.name} | {default} | {p.metadata['help']}{listed} |")
    example = cls(**{p.name: p.name.upper() for p in params(cls) if p.default is REQUIRED})
    lines += ["", f"Signature: `{example.signature()}`", ""]
    return "\n".join(lines)


def _value_row(value: ValueInfo) -> str:
    better = {True: "high", False: "low", None: "neither"}[value.higher_is_better]
    return f"| {value.name} | {value.help} | {value.low:g} to {value.high:g} | {better} |"
