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


def show(metric: Annotated[str, typer.Argument(help="Name of a metric.")]) -> None:
    """Explain a metric: formula, source, values, parameters, signature.

    Example: [bold]beholder show vcs[/bold]
    """
    from beholder.metrics import METRICS
    from beholder.metrics.describe import describe

    Console().print(Markdown(describe(METRICS.get(metric))))
