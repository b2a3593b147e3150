"""``beholder metrics`` and ``beholder show``: what there is, from the registry."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from beholder.terminal.printing import tell, tell_tables

if TYPE_CHECKING:
    from beholder.metrics.base import Metric, ValueInfo


def metrics() -> None:
    """List the metrics.

    Example: `beholder metrics`
    """
    from rich.table import Table

    from beholder.metrics import METRICS

    table = Table("metric", "what", "values")
    for name in METRICS.names():
        cls = METRICS.get(name)
        table.add_row(name, first_line(cls), ", ".join(value.name for value in cls.values))
    tell_tables(table)


def show(name: str, /) -> None:
    """Explain a metric: formula, source, values, parameters, signature; or print a judge's prompt.

    Example: `beholder show vcs`

    Args:
        name: A metric, or an operation of judges.
    """
    from rich.markdown import Markdown

    from beholder.judges.templates import Templates
    from beholder.metrics import METRICS

    prompts = Templates()
    if name in prompts.names() and name not in METRICS.names():
        prompt = prompts[name]
        tell(f"{prompt.name}.v{prompt.version}@{prompt.digest}")
        for section, text in prompt.sections.items():
            tell(f"\n[{section}]\n{text}")
        return
    tell_tables(Markdown(describe(METRICS.get(name))))


def first_line(cls: type[Metric[Any]]) -> str:
    """The first line of a metric's docstring."""
    return (inspect.getdoc(cls) or "").partition("\n")[0]


def describe(cls: type[Metric[Any]]) -> str:
    """A metric in Markdown: what it is, its values, its parameters, its signature."""
    from beholder.metrics.params import REQUIRED, choices, full_name, params

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
