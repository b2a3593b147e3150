"""``beholder metrics`` and ``beholder show``: what there is, from the registry."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.markdown import Markdown
from rich.table import Table


def metrics() -> None:
    """List the metrics.

    Example: [bold]beholder metrics[/bold]
    """
    from beholder.metrics import METRICS
    from beholder.metrics.describe import first_line

    table = Table("metric", "what", "values")
    for name in METRICS.names():
        cls = METRICS.get(name)
        table.add_row(name, first_line(cls), ", ".join(value.name for value in cls.values))
    Console().print(table)


def show(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A metric, or an operation of judges.")
    ],
) -> None:
    """Explain a metric: formula, source, values, parameters, signature; or print a judge's prompt.

    Example: [bold]beholder show vcs[/bold]
    """
    from beholder.judges.templates import Templates
    from beholder.metrics import METRICS
    from beholder.metrics.describe import describe

    prompts = Templates()
    if name in prompts.names() and name not in METRICS.names():
        prompt = prompts[name]
        typer.echo(f"{prompt.name}.v{prompt.version}@{prompt.digest}")
        for section, text in prompt.sections.items():
            typer.echo(f"\n[{section}]\n{text}")
        return
    Console().print(Markdown(describe(METRICS.get(name))))
