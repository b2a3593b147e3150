"""``beholder report``: draw the report of a run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def report(
    run: Annotated[Path, typer.Argument(help="A run directory.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="The HTML file. (default: RUN/report.html)")
    ] = None,
    figures: Annotated[
        Path | None, typer.Option(help="Also write every figure as PNG and SVG into this folder.")
    ] = None,
) -> None:
    """Draw the HTML report of a run, from what the run has stored.

    Example: [bold]beholder report runs/first --figures figures[/bold]
    """
    from beholder.report import draw, draw_figures

    typer.echo(draw(run, out))
    for path in draw_figures(run, figures) if figures is not None else ():
        typer.echo(path)
