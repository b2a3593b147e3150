"""``beholder compare``: the paired difference of two runs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def compare(
    run_a: Annotated[Path, typer.Argument(help="A run directory.")],
    run_b: Annotated[Path, typer.Argument(help="Another, over items with the same ids.")],
    allow_different: Annotated[
        bool,
        typer.Option("--allow-different", help="Compare although signatures differ."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
) -> None:
    """Paired difference of two runs per value: second minus first, with interval and test.

    Example: [bold]beholder compare runs/model-a runs/model-b[/bold]
    """
    from beholder.report import comparison_table
    from beholder.run.compare import compare as compare_runs
    from beholder.run.store import Store

    with Store.read(run_a) as a, Store.read(run_b) as b:
        comparison = compare_runs(a, b, allow_different=allow_different)
    if as_json:
        typer.echo(json.dumps(asdict(comparison), ensure_ascii=False, indent=2))
    else:
        Console().print(comparison_table(comparison, str(run_a), str(run_b)))
