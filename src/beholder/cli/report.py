"""``beholder report``: draw the report of a run again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from beholder.errors import ConfigError


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
    from beholder.report import write_figures, write_report, write_study, write_study_figures
    from beholder.report.rank import write_ranking
    from beholder.run.narrate.results import STUDY
    from beholder.run.rank.results import RANKING

    if (run / RANKING).is_file():
        if figures is not None:
            raise ConfigError("a ranking run has no figures of its own; leave out --figures")
        typer.echo(write_ranking(run, out))
        return
    if (run / STUDY).is_file():
        typer.echo(write_study(run, out))
        for path in write_study_figures(run, figures) if figures is not None else ():
            typer.echo(path)
        return
    typer.echo(write_report(run, out))
    if figures is not None:
        for path in write_figures(run, figures):
            typer.echo(path)
