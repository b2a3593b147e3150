"""``beholder leaderboard``: systems by metric, with intervals and rank ranges."""

from __future__ import annotations

import json
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console


def leaderboard(
    runs: Annotated[
        list[Path],
        typer.Argument(help="Run directories: a system each, or items with group.system."),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
) -> None:
    """Rank systems by every metric of the runs, with intervals and the ranks the data allow.

    Example: [bold]beholder leaderboard runs/model-a runs/model-b[/bold]
    """
    from beholder.benchmarks.leaderboard import leaderboard as rank
    from beholder.report.agreement import leaderboard_tables
    from beholder.run.store import Store

    with ExitStack() as stack:
        boards = rank([stack.enter_context(Store.read(run)) for run in runs])
    if as_json:
        typer.echo(json.dumps([asdict(board) for board in boards], ensure_ascii=False, indent=2))
        return
    for table in leaderboard_tables(boards):
        Console().print(table)
