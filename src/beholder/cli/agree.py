"""``beholder agree``: how far metrics agree with people, or judges with each other."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from beholder.cli.progress import TerminalProgress
from beholder.errors import ConfigError

if TYPE_CHECKING:
    from beholder.benchmarks.agree import Report
    from beholder.benchmarks.load import JudgedSet
    from beholder.run.scores import ScoreConfig


def agree(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SET", help="A known set, a data file with judgments, or (--judges) a run."
        ),
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", help="A metric, such as cider or token_f1.recall; repeatable."
        ),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(help="Folder or file of a known set; hf: fetches it from the hub."),
    ] = None,
    label: Annotated[
        list[str] | None,
        typer.Option(help="A judgment of your own data; repeatable. (default: all numeric ones)"),
    ] = None,
    kind: Annotated[
        str, typer.Option(help="For your own labels: spearman, pearson, tau-b or tau-c.")
    ] = "spearman",
    control: Annotated[
        str | None, typer.Option(help="length: partial the length out of correlations.")
    ] = None,
    judges: Annotated[
        bool,
        typer.Option("--judges", help="Reliability between the metrics of a run, or of raters."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Run directory of scores. (default: runs/agree-SET)"),
    ] = None,
    embedder: Annotated[
        str | None, typer.Option(help="static (default), st:NAME_OR_PATH or openai:MODEL.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Endpoint of an OpenAI-compatible server.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first N judged items.")] = None,
    resamples: Annotated[
        int, typer.Option(help="Bootstrap resamples over sources; 0 for no intervals.")
    ] = 1000,
    media_root: Annotated[
        Path | None,
        typer.Option(help="Folder with the pictures. (default: that of the data)"),
    ] = None,
    workers: Annotated[int | None, typer.Option(help="Worker processes.")] = None,
    no_figures: Annotated[bool, typer.Option("--no-figures", help="Draw no figures.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on stdout.")] = False,
) -> None:
    """Hold metrics against human judgments by the set's own protocol; scores are kept.

    Example: [bold]beholder agree flickr8k_expert --data FOLDER -m cider -m meteor[/bold]
    """
    if judges:
        _print_reliability(source, metric, label, as_json)
        return
    from beholder.api import configure
    from beholder.benchmarks.agree import agree as hold_against
    from beholder.benchmarks.agree import asked, default_out
    from beholder.benchmarks.load import JudgedSet, load
    from beholder.benchmarks.protocols import generic, protocol

    if control not in (None, "length"):
        raise ConfigError(f"--control {control!r}: expected length")
    if resamples < 0:
        raise ConfigError(f"--resamples must be at least 0, got {resamples}")
    if limit is not None and limit < 1:
        raise ConfigError(f"--limit must be at least 1, got {limit}")
    judged = load(source, data)
    if limit is not None:
        judged = JudgedSet(judged.name, judged.known, judged.items[:limit])
    own = judged.known and not label
    defaults = {"embedder": embedder} if embedder else {}
    config = configure(
        judged.name,
        [],
        base_url=base_url,
        out=out or default_out(judged.name),
        media_root=media_root or _folder(data or source),
        workers=workers,
    )
    if own and judged.name == "docent_granular":
        _print_granular(judged, metric, defaults, config, resamples, as_json)
        return
    measures = protocol(judged.name) if own else generic(judged.items, label, kind)
    metrics = [asked(text, **defaults) for text in metric or []]
    with TerminalProgress() as progress:
        report = hold_against(
            judged,
            measures,
            metrics,
            config,
            progress,
            control_length=control == "length",
            n_resamples=resamples,
        )
    _print_report(report, as_json)
    say = f"{progress.scored_now} scored now, {progress.failed_now} failed now"
    typer.echo(f"{say}, {progress.reused} reused, {progress.seconds:.1f} s", err=True)
    typer.echo(f"run: {config.out}", err=True)
    if not no_figures:
        from beholder.report.agreement_figures import write_agreement_figures

        paths = write_agreement_figures(report, config.out / "agreement")
        typer.echo(f"figures: {config.out / 'agreement'} ({len(paths)} files)", err=True)


def _folder(data: str) -> Path | None:
    """Where the pictures of a set are looked for if nothing is said."""
    path = Path(data)
    return path.parent if path.is_file() else path if path.is_dir() else None


def _print_report(report: Report, as_json: bool) -> None:
    from beholder.report.agreement import agreement_table, significance_table

    if as_json:
        typer.echo(json.dumps(_as_json(report), ensure_ascii=False, indent=2))
        return
    console = Console()
    console.print(agreement_table(report))
    for section in report.sections:
        if section.differences:
            console.print(significance_table(section))


def _as_json(report: Report) -> dict[str, Any]:
    return {
        "set": report.name,
        "n_items": report.n_items,
        "n_resamples": report.n_resamples,
        "signatures": dict(report.signatures),
        "measures": [
            {
                "name": section.data.name,
                "metrics": [
                    {
                        "metric": row.metric,
                        "value": row.value,
                        "agreement": row.found.value,
                        "low": row.found.interval.low if row.found.interval else None,
                        "high": row.found.interval.high if row.found.interval else None,
                        "n": row.found.n,
                        "n_missing": row.found.n_missing,
                        "n_sources": row.found.n_sources,
                        "reason": row.found.reason,
                        "categories": {
                            name: {"agreement": value, "n": n}
                            for name, (value, n) in row.categories.items()
                        },
                    }
                    for row in section.rows
                ],
                "differences": [
                    {
                        "a": difference.a,
                        "b": difference.b,
                        "difference": difference.difference,
                        "low": difference.interval.low if difference.interval else None,
                        "high": difference.interval.high if difference.interval else None,
                        "p": difference.p_value,
                    }
                    for difference in section.differences
                ],
            }
            for section in report.sections
        ],
        "extra": {name: dict(figures) for name, figures in report.extra.items()},
    }


def _print_granular(
    judged: JudgedSet,
    names: list[str] | None,
    defaults: dict[str, str],
    config: ScoreConfig,
    resamples: int,
    as_json: bool,
) -> None:
    from dataclasses import asdict

    from beholder.benchmarks.granular import granular
    from beholder.metrics import metric
    from beholder.report.agreement import granular_table

    if not names:
        raise ConfigError(f"{judged.name} needs a metric that gives units, such as -m posh")
    metrics = [metric(name, **defaults) for name in names]
    with TerminalProgress() as progress:
        report = granular(judged, metrics, config, progress, n_resamples=resamples)
    if as_json:
        typer.echo(json.dumps(asdict(report), ensure_ascii=False, indent=2))
    else:
        Console().print(granular_table(report))
    say = f"{progress.scored_now} scored now, {progress.failed_now} failed now"
    typer.echo(f"{say}, {progress.reused} reused, {progress.seconds:.1f} s", err=True)
    typer.echo(f"run: {config.out}", err=True)


def _print_reliability(
    source: str, metrics: list[str] | None, labels: list[str] | None, as_json: bool
) -> None:
    from dataclasses import asdict

    from beholder.benchmarks.load import load
    from beholder.benchmarks.reliability import of_panels, of_ratings, reliability
    from beholder.report.agreement import reliability_table
    from beholder.run.store import Store

    if Path(source).is_dir():
        with Store.read(Path(source)) as store:
            found = [] if metrics else of_panels(Path(source))
            if not found:
                found = [reliability(store, metrics)]
    elif labels and len(labels) == 1:
        found = [of_ratings(load(source).items, labels[0])]
    else:
        raise ConfigError(
            "--judges takes a run directory, whose metrics are the raters, or a data file with one"
            " --label that is a list of ratings"
        )
    if as_json:
        rows = [asdict(one) for one in found]
        typer.echo(json.dumps(rows, ensure_ascii=False, indent=2))
        return
    for one in found:
        Console().print(reliability_table(one))
