"""``beholder bidirectional``: people against models, from a run that scored both directions."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from beholder.errors import ConfigError


def bidirectional(
    run: Annotated[Path, typer.Argument(help="A run with dcscore(direction='both').")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder to write. (default: RUN/bidirectional)"),
    ] = None,
    metric: Annotated[
        str | None, typer.Option("--metric", "-m", help="The metric, where a run has several.")
    ] = None,
    random: Annotated[
        str, typer.Option(help="Category of the random sample; rest: all other pictures.")
    ] = "random",
    cuts: Annotated[
        str | None, typer.Option(help="Hard below, easy from: 0.5,0.8 (default: tertiles).")
    ] = None,
    system: Annotated[str, typer.Option(help="Group column of systems.")] = "system",
    category: Annotated[str, typer.Option(help="Group column of categories.")] = "category",
    dataset: Annotated[str, typer.Option(help="Group column of data sets.")] = "dataset",
    language: Annotated[str, typer.Option(help="Group column of languages.")] = "language",
    rating: Annotated[str, typer.Option(help="Judgment: people's ratings of the candidate.")] = (
        "rating"
    ),
    human_rating: Annotated[
        str, typer.Option(help="Judgment: people's ratings of the reference.")
    ] = "human_rating",
    as_json: Annotated[
        bool, typer.Option("--json", help="Print all tables as JSON on stdout.")
    ] = False,
) -> None:
    """Compare people's and models' texts in both directions: tables, figures, one page.

    Example: [bold]beholder bidirectional runs/captions[/bold]
    """
    from beholder.benchmarks.bidirectional.observe import Columns, observe
    from beholder.benchmarks.bidirectional.study import StudySettings, study
    from beholder.report.bidirectional import write_bidirectional
    from beholder.report.bidirectional.terminal import terminal_tables

    columns = Columns(system, category, dataset, language, rating, human_rating)
    pairs = observe(run, columns, metric_name=metric)
    found = study(pairs, StudySettings(random, _cuts(cuts)))
    folder = out or run / "bidirectional"
    page = write_bidirectional(found, run, folder)
    if as_json:
        tables = {table.name: [dict(row) for row in table.rows] for table in found.tables}
        omitted = [asdict(part) for part in found.omitted]
        typer.echo(json.dumps({**tables, "omitted": omitted}, ensure_ascii=False, indent=2))
    else:
        for table in terminal_tables(found):
            Console().print(table)
    for part in found.omitted:
        typer.echo(f"left out: {part.title}: {part.reason}", err=True)
    typer.echo(f"tables: {folder / 'tables'}\nreport: {page}", err=True)


def _cuts(text: str | None) -> tuple[float, float] | None:
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise ConfigError(f"--cuts {text!r}: expected two numbers, such as 0.5,0.8") from None
    return low, high
