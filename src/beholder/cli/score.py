"""``beholder score``: score a data set, write a run and its report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from beholder.cli.cache import cache_file
from beholder.cli.gates import missed, parse_gate
from beholder.cli.progress import TerminalProgress

if TYPE_CHECKING:
    from beholder.api import Run
    from beholder.judges import Tally
    from beholder.run.plan import Plan
    from beholder.run.scores import ScoreConfig


def score(
    data: Annotated[
        str, typer.Argument(help="A .jsonl, .csv, .tsv or .parquet file, a run, or - for stdin.")
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option("--metric", "-m", help="A metric, such as vcs or 'vcs(lct=1)'; repeatable."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Run directory. (default: runs/NAME-OF-DATA)"),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(help="openai:MODEL, hf:MODEL, vllm:MODEL or 'panel(A, B)'."),
    ] = None,
    embedder: Annotated[
        str | None,
        typer.Option(help="static (default), st:NAME_OR_PATH or openai:MODEL."),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Endpoint of an OpenAI-compatible server.")
    ] = None,
    temperature: Annotated[float | None, typer.Option(help="Temperature of the judge.")] = None,
    prompts: Annotated[
        Path | None, typer.Option(help="Folder of prompt templates that replace ours.")
    ] = None,
    batch: Annotated[
        bool, typer.Option("--batch", help="Use the endpoint's batch mode: slower, half price.")
    ] = False,
    max_cost: Annotated[
        float | None, typer.Option(help="Stop before judges have cost more US dollars.")
    ] = None,
    cache: Annotated[
        str | None, typer.Option(help="Folder of the shared answers of judges, or off.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Score only the first N items.")] = None,
    skip_bad_rows: Annotated[
        bool, typer.Option("--skip-bad-rows", help="Leave out rows that are wrong, and count them.")
    ] = False,
    media_root: Annotated[
        Path | None, typer.Option(help="Folder that absolute image paths may point into.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Worker processes; results do not depend on it.")
    ] = None,
    concurrency: Annotated[
        int, typer.Option(help="Items that wait for remote tools at once.")
    ] = 64,
    allow_failed: Annotated[
        int, typer.Option(help="Failed items that still count as success.")
    ] = 0,
    fail_under: Annotated[
        list[str] | None,
        typer.Option(help="Gate on a mean: vcs=0.6 or vcs.las=0.5; repeatable."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the run log as JSON on stdout.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check all input and say what would be done.")
    ] = False,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Do not draw report.html.")
    ] = False,
) -> None:
    """Score a data set; run the same command again to go on after an interruption.

    Example: [bold]beholder score descriptions.jsonl -m vcs -o runs/first[/bold]
    """
    from beholder.api import configure

    gates = [parse_gate(text) for text in fail_under or []]
    config = configure(
        data,
        metric or ["vcs"],
        judge=judge,
        embedder=embedder,
        base_url=base_url,
        temperature=temperature,
        prompts=prompts,
        batch=batch,
        cache=cache_file(cache),
        max_cost=max_cost,
        out=out,
        limit=limit,
        skip_bad_rows=skip_bad_rows,
        media_root=media_root,
        workers=workers,
        concurrency=concurrency,
    )
    if dry_run:
        from beholder.run.scores import plan_scores

        print_plan(plan_scores(config), config.out)
        return
    run = carry_out_and_print(config, as_json=as_json, report=not no_report)
    problems = missed(gates, run.summary)
    n_failed = sum(result.n_failed for result in run.summary.values())
    if n_failed > allow_failed:
        problems.append(
            f"{n_failed} failed (--allow-failed {allow_failed}); the reasons stand in the summary"
        )
    for problem in problems:
        typer.echo(f"beholder: {problem}", err=True)
    if problems:
        raise typer.Exit(1)


def carry_out_and_print(config: ScoreConfig, *, as_json: bool, report: bool) -> Run:
    """Do a run with progress, then print its table (or JSON) and where things are."""
    from beholder.api import Run
    from beholder.report import summary_table, write_report
    from beholder.run.scores import run_scores

    with TerminalProgress() as progress:
        bad_rows = run_scores(config, progress)
    run = Run(config.out)
    for row in bad_rows:
        typer.echo(f"left out: {row}", err=True)
    if report:
        write_report(config.out)
    if as_json:
        typer.echo(json.dumps(run.manifest, ensure_ascii=False, indent=2))
    else:
        Console().print(summary_table(run.manifest))
    say = f"{progress.scored_now} scored now, {progress.failed_now} failed now"
    typer.echo(f"{say}, {progress.reused} reused, {progress.seconds:.1f} s", err=True)
    typer.echo(f"run: {config.out}", err=True)
    if report:
        typer.echo(f"report: {config.out / 'report.html'}", err=True)
    return run


def judge_options(**options: object) -> dict[str, object]:
    """The options of judges that were given."""
    return {name: value for name, value in options.items() if value not in (None, False)}


def print_plan(planned: Plan, out: Path) -> None:
    """Say what a run would do."""
    from beholder.report.marking import visible

    typer.echo(f"{planned.n_items} items, {len(planned.bad_rows)} rows would be left out")
    for row in planned.bad_rows:
        typer.echo(f"  {row}")
    for metric in planned.askers:
        typer.echo(f"{metric.name}: {metric.n_to_ask} to score, {metric.n_done} done already")
        typer.echo(f"  {metric.signature}")
        for reason, count in metric.lacking.items():
            typer.echo(f"  {count} would fail: {visible(reason)}")
        if metric.judge is not None and metric.judge_most is not None:
            typer.echo(f"  about {estimate(metric.judge)}")
            if metric.judge_most.n_calls > metric.judge.n_calls:
                typer.echo(f"  at most {estimate(metric.judge_most)}")
    typer.echo(f"run directory: {out} (nothing was written)")


def estimate(tally: Tally) -> str:
    """Calls, tokens and cost of a tally in words."""
    cost = "cost unknown (no price for this model)" if tally.cost is None else f"${tally.cost:.4f}"
    tokens = f"{tally.prompt_tokens:,} prompt and {tally.completion_tokens:,} answer tokens"
    return f"{tally.n_calls:,} judge calls, {tokens}, {cost}"
