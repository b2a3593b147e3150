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
    from beholder.metrics.irr.scorers import Scorer
    from beholder.run.rank.config import RankConfig
    from beholder.run.rank.inputs import Inputs


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
    from beholder.run.rank.config import RankConfig
    from beholder.run.rank.inputs import read_inputs

    if data == "-":
        raise ConfigError("beholder rank reads a file or a folder, not standard input")
    folder = out or Path("runs") / f"rank-{Path(data).name.partition('.')[0]}"
    unpacked = folder / "pictures"
    inputs = read_inputs(
        data,
        language=language,
        media_root=images,
        unpack=unpacked if images is None else None,
        skip_bad_rows=skip_bad_rows,
    )
    named = {"judge": judge, "embedder": embedder}
    address = {"base_url": base_url} if base_url else {}
    config = RankConfig(
        data=data,
        out=folder,
        scorers=_scorers(scorer or [], ablate, inputs, {k: v for k, v in named.items() if v}),
        media_root=images or (unpacked if unpacked.is_dir() else None),
        threshold=_threshold(threshold),
        resamples=resamples,
        concurrency=concurrency,
        workers=workers,
        cache=cache_file(cache),
        max_cost=max_cost,
        tool_options={"embedder": address, "judge": address},
    )
    if dry_run:
        _print_plan(config, inputs)
        return
    _carry_out_and_print(config, inputs, allow_failed, as_json)


def _print_plan(config: RankConfig, inputs: Inputs) -> None:
    from beholder.cli.score import estimate
    from beholder.report.marking import visible
    from beholder.run.rank.plan import plan

    typer.echo(f"{len(inputs.reviews)} sets of texts, {len(inputs.bad_rows)} rows left out")
    for planned in plan(config, inputs):
        asked = "asks no judge" if planned.judge is None else f"about {estimate(planned.judge)}"
        typer.echo(f"{planned.name}: {asked}")
        for reason, count in planned.lacking.items():
            typer.echo(f"  {count} would fail: {visible(reason)}")
    typer.echo(f"run directory: {config.out}")


def _carry_out_and_print(
    config: RankConfig, inputs: Inputs, allow_failed: int, as_json: bool
) -> None:
    from beholder.report.rank import ranking_tables, write_ranking
    from beholder.run.rank.engine import carry_out

    for error in inputs.bad_rows:
        typer.echo(f"left out: {error}", err=True)
    with TerminalProgress() as progress:
        ranking = carry_out(config, inputs, progress)
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


def _scorers(
    texts: list[str], ablate: bool, inputs: Inputs, defaults: Mapping[str, str]
) -> tuple[Scorer, ...]:
    from dataclasses import replace

    from beholder.metrics.irr.scorers import SetScorer, scorer

    if not texts:
        if not any(one.references for one in inputs.reviews):
            raise ConfigError(
                "the data have no references to score against, so name a scorer:"
                " -s \"perplexity(judge='hf:NAME')\", -s \"response(judge='openai:NAME')\" or"
                " -s clipscore"
            )
        texts = ["vcs"]
    found: list[Scorer] = []
    for text in texts:
        one = scorer(text, **defaults)
        found.append(one)
        if ablate and isinstance(one, SetScorer) and one.image:
            found.append(replace(one, image=False))
    if ablate and not any(isinstance(one, SetScorer) for one in found):
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
