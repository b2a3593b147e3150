"""``beholder rank``: how well a model or metric orders texts about an image, held against people.

``beholder review`` makes texts to be ranked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from beholder.cli.cache import cache_file
from beholder.cli.progress import TerminalProgress
from beholder.errors import ConfigError

if TYPE_CHECKING:
    from beholder.metrics.irr.rankers import Ranker
    from beholder.run.rank.config import RankConfig


def rank(
    data: Annotated[
        str, typer.Argument(help="A .jsonl, .csv or .parquet file, or a folder of .parquet files.")
    ],
    scorer: Annotated[
        list[str] | None,
        typer.Option(
            "--scorer",
            "-s",
            help="perplexity(judge='hf:NAME'), response(judge='openai:NAME', orders=5), or a metric"
            " such as clipscore; repeatable. (default: vcs against references)",
        ),
    ] = None,
    ablate: Annotated[
        bool, typer.Option("--ablate", help="Also rank without the image, and tell its gain.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Run directory. (default: runs/rank-NAME)")
    ] = None,
    judge: Annotated[
        str | None, typer.Option(help="For scorers that name none, such as hf:NAME.")
    ] = None,
    embedder: Annotated[
        str | None, typer.Option(help="For metrics that name none: static, st:NAME or openai:NAME.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Endpoint of an OpenAI-compatible server.")
    ] = None,
    language: Annotated[str, typer.Option(help="Language of rows that name none, such as en.")] = (
        ""
    ),
    images: Annotated[
        Path | None, typer.Option(help="Folder that image paths are relative to, where another.")
    ] = None,
    threshold: Annotated[
        str, typer.Option(help="Least agreement of an image's best pair of annotators, or none.")
    ] = "0.6",
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples of images.")] = 1000,
    concurrency: Annotated[int, typer.Option(help="Images that wait for judges at once.")] = 16,
    workers: Annotated[int | None, typer.Option(help="Worker processes of metrics.")] = None,
    max_cost: Annotated[
        float | None, typer.Option(help="Stop before judges have cost more US dollars.")
    ] = None,
    cache: Annotated[
        str | None, typer.Option(help="Folder of the answers that all runs share, or off.")
    ] = None,
    skip_bad_rows: Annotated[
        bool, typer.Option("--skip-bad-rows", help="Leave out rows that are wrong, and count them.")
    ] = False,
    allow_failed: Annotated[
        int, typer.Option(help="Images without a ranking that still count as success.")
    ] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the tables as JSON.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check all input and say what would be asked.")
    ] = False,
) -> None:
    """Rank texts about images and hold the rankings against people's; run it again to go on.

    Example: [bold]beholder rank reviews.jsonl -s "perplexity(judge='hf:NAME')" --ablate[/bold]
    """
    from beholder.options import DataOptions, JudgeOptions, WorkOptions
    from beholder.run.rank.config import RankConfig

    named = {"judge": judge, "embedder": embedder}
    config = RankConfig(
        data=data,
        out=out or Path("runs") / f"rank-{Path(data).name.partition('.')[0]}",
        rankers=_rankers(scorer or [], ablate, {k: v for k, v in named.items() if v}),
        language=language,
        images=images,
        threshold=_threshold(threshold),
        resamples=resamples,
        rows=DataOptions(skip_bad_rows=skip_bad_rows),
        judging=JudgeOptions(base_url=base_url),
        work=WorkOptions(workers, concurrency, cache_file(cache), max_cost),
    )
    if dry_run:
        _print_plan(config)
        return
    _run_and_print(config, allow_failed, as_json)


def _print_plan(config: RankConfig) -> None:
    from beholder.cli.score import print_plan
    from beholder.run.rank.engine import plan_ranking

    print_plan(plan_ranking(config), config.out)


def _run_and_print(config: RankConfig, allow_failed: int, as_json: bool) -> None:
    from beholder.report.rank import ranking_tables, write_ranking
    from beholder.run.rank.engine import run_ranking

    with TerminalProgress() as progress:
        ranking, bad_rows = run_ranking(config, progress)
    for error in bad_rows:
        typer.echo(f"left out: {error}", err=True)
    report = write_ranking(config.out)
    if as_json:
        typer.echo(json.dumps(ranking["tables"], ensure_ascii=False))
    else:
        console = Console()
        for table in ranking_tables(ranking):
            console.print(table)
    typer.echo(f"run: {config.out}\nreport: {report}", err=True)
    problems = _problems(ranking, allow_failed)
    for problem in problems:
        typer.echo(f"beholder: {problem}", err=True)
    if problems:
        raise typer.Exit(1)


def _rankers(texts: list[str], ablate: bool, defaults: Mapping[str, str]) -> tuple[Ranker, ...]:
    from beholder.metrics.irr.scorers import blinded, looks, ranker

    found: list[Ranker] = []
    for text in texts:
        one = ranker(text, **defaults)
        found.append(one)
        if ablate and looks(one):
            found.append(blinded(one))
    if ablate and not any(looks(one) for one in found):
        raise ConfigError("--ablate leaves the image out of perplexity and response; name one")
    return tuple(dict.fromkeys(found)) if ablate else tuple(found)


def _threshold(text: str) -> float | None:
    if text == "none":
        return None
    try:
        return float(text)
    except ValueError:
        raise ConfigError(f"--threshold {text!r}: expected a number such as 0.6, or none") from None


def _problems(ranking: Mapping[str, Any], allowed: int) -> list[str]:
    from beholder.report.marking import visible

    failed = [
        (visible(image["id"]), scorer, visible(reason))
        for image in ranking["images"]
        for scorer, reason in image["failures"].items()
    ]
    if len(failed) <= allowed:
        return []
    lines = [f"{image_id}, {scorer}: {reason}" for image_id, scorer, reason in failed[:5]]
    more = f" (and {len(failed) - 5} more)" if len(failed) > 5 else ""
    return [
        *lines,
        f"{len(failed)} rankings failed{more} (--allow-failed {allowed}); run the same command"
        " again to ask only for what is missing",
    ]
