"""What ``caption``, ``classify`` and ``translate`` share: options, carrying out, printing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from beholder.errors import ConfigError

if TYPE_CHECKING:
    from beholder.cli.progress import TerminalProgress
    from beholder.options import DataOptions, JudgeOptions, WorkOptions
    from beholder.run.rows.askers import Columns, RowAsker
    from beholder.run.rows.engine import Written

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
AsJson = Annotated[bool, typer.Option("--json", help="Print the run log as JSON on stdout.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check all input and say what would be asked.")
]

_SHOWN = 5


def data_options(given: dict[str, Any]) -> DataOptions:
    """Which rows the options of a command take."""
    from beholder.options import DataOptions

    return DataOptions(given["limit"], given["skip_bad_rows"], given["media_root"])


def carry_out(given: dict[str, Any], systems: Mapping[str, RowAsker], columns: Columns) -> None:
    """Make rows as the options of a command say, and tell what came out."""
    from beholder.cli.progress import TerminalProgress
    from beholder.cli.score import print_plan
    from beholder.run.rows.rows import RowsConfig, plan_rows, run_rows

    config = RowsConfig(
        data=given["data"],
        out=given["out"],
        systems=systems,
        columns=columns,
        rows=data_options(given),
        judging=judge_options(given),
        work=work_options(given),
    )
    if given["dry_run"]:
        print_plan(plan_rows(config), config.run)
        return
    with TerminalProgress() as progress:
        written = run_rows(config, progress)
    typer.echo(f"{written.n_written} rows written to {config.out}", err=True)
    if written.outside:
        typer.echo(
            f"some pictures lie outside {config.out.parent}, so their paths are absolute: score"
            " them with --media-root FOLDER",
            err=True,
        )
    tell(written, config.run, progress, given)


def judge_options(given: dict[str, Any]) -> JudgeOptions:
    """How the options of a command have judges asked."""
    from beholder.options import JudgeOptions

    return JudgeOptions(given["base_url"], given["temperature"], given["prompts"], given["batch"])


def work_options(given: dict[str, Any]) -> WorkOptions:
    """How much the options of a command have done at once, and what may be spent."""
    from beholder.cli.cache import cache_file
    from beholder.options import WorkOptions

    return WorkOptions(
        concurrency=given["concurrency"],
        cache=cache_file(given["cache"]),
        max_cost=given["max_cost"],
    )


def tell(written: Written, run: Path, progress: TerminalProgress, given: dict[str, Any]) -> None:
    """Say what was left out and what failed; exit code 1 if more failed than is allowed."""
    from beholder.report.marking import visible
    from beholder.run import manifest

    for row in written.bad_rows:
        typer.echo(f"left out: {row}", err=True)
    if given["as_json"]:
        typer.echo(json.dumps(manifest.read(run), ensure_ascii=False, indent=2))
    say = f"{progress.scored_now} made now, {progress.failed_now} failed now"
    typer.echo(f"{say}, {progress.reused} reused, {progress.seconds:.1f} s", err=True)
    typer.echo(f"run: {run}", err=True)
    failures = written.failures
    for name, system, failure in failures[:_SHOWN]:
        typer.echo(
            f"failed: {visible(name)} ({visible(system)}): {visible(failure.message)}", err=True
        )
    if len(failures) > given["allow_failed"]:
        typer.echo(
            f"beholder: {len(failures)} failed (--allow-failed {given['allow_failed']}); the"
            f" reasons stand in {run}",
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
