"""What ``caption``, ``classify`` and ``translate`` share: options, carrying out, printing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beholder.errors import ConfigError

if TYPE_CHECKING:
    from beholder.records import Item
    from beholder.run.rows.engine import RowsConfig
    from beholder.run.rows.tasks import Task

Data = Annotated[
    str, typer.Argument(help="A folder of pictures, or a .jsonl, .csv, .tsv or .parquet file.")
]
Out = Annotated[
    Path, typer.Option("--out", "-o", help="JSONL file to write, ready for beholder score.")
]
OneJudge = Annotated[str | None, typer.Option("--judge", help="Judge, such as openai:MODEL.")]
BaseUrl = Annotated[str | None, typer.Option(help="Endpoint of an OpenAI-compatible server.")]
Temperature = Annotated[float | None, typer.Option(help="Temperature of the judge.")]
Prompts = Annotated[Path | None, typer.Option(help="Folder of prompt templates that replace ours.")]
Batch = Annotated[
    bool, typer.Option("--batch", help="Use the endpoint's batch mode: slower, half price.")
]
MaxCost = Annotated[
    float | None, typer.Option(help="Stop before judges have cost more US dollars.")
]
Cache = Annotated[str | None, typer.Option(help="Folder of the shared answers of judges, or off.")]
Limit = Annotated[int | None, typer.Option(help="Only the first N rows.")]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Leave out rows that are wrong, and count them.")
]
MediaRoot = Annotated[
    Path | None, typer.Option(help="Folder that absolute image paths may point into.")
]
Concurrency = Annotated[int, typer.Option(help="Rows that wait for judges at once.")]
AllowFailed = Annotated[int, typer.Option(help="Failed rows that still count as success.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check all input and say what would be asked.")
]

_SHOWN = 5


def read(given: dict[str, Any]) -> list[Item]:
    """The rows that the options of a command name; those left out are told."""
    from beholder.run.rows.inputs import read_pictured

    if given["limit"] is not None and given["limit"] < 1:
        raise ConfigError(f"--limit must be at least 1, got {given['limit']}")
    items, bad_rows = read_pictured(
        given["data"],
        media_root=given["media_root"],
        limit=given["limit"],
        skip=given["skip_bad_rows"],
    )
    for row in bad_rows:
        typer.echo(f"left out: {row}", err=True)
    return items


def carry_out(given: dict[str, Any], task: Task, items: Sequence[Item], judges: list[str]) -> None:
    """Do a task as the options of a command say, and tell what came out."""
    from beholder.cli.cache import cache_file
    from beholder.cli.progress import TerminalProgress
    from beholder.cli.score import judge_options
    from beholder.run.rows import engine
    from beholder.run.rows.inputs import root_of

    config = engine.RowsConfig(
        out=given["out"],
        root=root_of(given["data"]),
        judges=by_system(judges),
        judge_options=judge_options(
            base_url=given["base_url"],
            temperature=given["temperature"],
            prompts=given["prompts"],
            batch=given["batch"],
        ),
        concurrency=given["concurrency"],
        max_cost=given["max_cost"],
        cache=cache_file(given["cache"]),
    )
    if given["dry_run"]:
        _print_estimate(config, task, items)
        return
    with TerminalProgress() as progress:
        outcome = engine.carry_out(config, task, items, progress)
    typer.echo(f"{outcome.n_written} rows written to {config.out}", err=True)
    if outcome.outside:
        typer.echo(
            f"some pictures lie outside {config.out.parent}, so their paths are absolute: score"
            " them with --media-root FOLDER",
            err=True,
        )
    failures = outcome.failures
    for item, system, failure in failures[:_SHOWN]:
        typer.echo(f"failed: {item} ({system}): {failure.message}", err=True)
    if len(failures) > given["allow_failed"]:
        typer.echo(
            f"beholder: {len(failures)} rows failed (--allow-failed {given['allow_failed']}); the"
            " same command asks for them again, and for nothing that was answered",
            err=True,
        )
        raise typer.Exit(1)


def by_system(judges: list[str]) -> dict[str, str]:
    """Spec per name: ``NAME=SPEC`` gives the name, otherwise it is the model's.

    Raises:
        ConfigError: Two judges have one name.
    """
    from beholder.spec import tool, with_label

    found: dict[str, str] = {}
    for text in judges:
        label, parsed = with_label(text)
        judge = tool(parsed)
        name, made = label or judge.argument or judge.name, str(judge)
        if name in found:
            raise ConfigError(
                f"two judges are called {name!r}; name them, such as --judge first={made}"
            )
        found[name] = made
    return found


def _print_estimate(config: RowsConfig, task: Task, items: Sequence[Item]) -> None:
    from beholder.cli.score import estimate
    from beholder.run.rows.engine import tally_calls

    tally, lacking = tally_calls(config, task, items)
    typer.echo(f"{len(items)} rows, {len(config.judges)} judges: {task.operation}")
    for reason, count in lacking.items():
        typer.echo(f"  {count} would fail: {reason}")
    typer.echo(f"  about {estimate(tally)}, answers that are kept already not counted off")
    typer.echo(f"output: {config.out} (nothing was written)")
