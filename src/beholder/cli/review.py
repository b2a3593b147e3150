"""``beholder review``: have a judge that sees write reviews of pictures, to be ranked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from beholder.cli import rows
from beholder.cli.progress import TerminalProgress


def review(
    pictures: Annotated[str, typer.Argument(help="Folder, or file with a row per picture.")],
    judge: Annotated[str, typer.Option(help="Judge that sees, such as openai:MODEL.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Run directory. (default: runs/review-NAME)")
    ] = None,
    language: Annotated[
        list[str] | None, typer.Option(help="Language to write in; repeatable. (default: en)")
    ] = None,
    words: Annotated[int, typer.Option(help="Words per review, about.")] = 80,
    temperature: Annotated[float | None, typer.Option(help="Temperature of the judge.")] = None,
    base_url: Annotated[
        str | None, typer.Option(help="Endpoint of an OpenAI-compatible server.")
    ] = None,
    images: Annotated[
        Path | None, typer.Option(help="Folder that image paths are relative to, where another.")
    ] = None,
    concurrency: Annotated[int, typer.Option(help="Pictures at once.")] = 16,
    max_cost: Annotated[
        float | None, typer.Option(help="Stop before judges have cost more US dollars.")
    ] = None,
    cache: Annotated[
        str | None, typer.Option(help="Folder of the answers that all runs share, or off.")
    ] = None,
    limit: rows.Limit = None,
    skip_bad_rows: Annotated[
        bool, typer.Option("--skip-bad-rows", help="Leave out rows that are wrong, and count them.")
    ] = False,
    allow_failed: Annotated[
        int, typer.Option(help="Pictures without reviews that still count as success.")
    ] = 0,
    prompts: rows.Prompts = None,
    batch: rows.Batch = False,
    media_root: rows.MediaRoot = None,
    as_json: rows.AsJson = False,
    dry_run: rows.DryRun = False,
) -> None:
    """Write five kinds of reviews per picture, and the page that tells people how to rank them.

    Example: [bold]beholder review photos/ --judge openai:gpt-4.1 --language en[/bold]
    """
    given = locals()
    from beholder.cli.score import print_plan
    from beholder.report.rank import annotation_instructions
    from beholder.report.rank.instructions import INSTRUCTIONS
    from beholder.run.rows.reviews import KINDS, ReviewsConfig, plan_reviews, run_reviews
    from beholder.run.session import default_out

    config = ReviewsConfig(
        data=pictures,
        out=out or default_out(pictures, "review-"),
        judge=judge,
        languages=tuple(language or ["en"]),
        words=words,
        images=images,
        rows=rows.data_options(given),
        judging=rows.judge_options(given),
        work=rows.work_options(given),
    )
    if dry_run:
        print_plan(plan_reviews(config), config.out)
        return
    with TerminalProgress() as progress:
        written = run_reviews(config, progress)
    for code in INSTRUCTIONS:
        page = annotation_instructions(len(KINDS), code)
        (config.out / f"instructions-{code}.html").write_text(page, encoding="utf-8")
    typer.echo(f"{written.n_written} sets of {len(KINDS)} reviews: {written.path}", err=as_json)
    typer.echo(
        f"instructions for annotators: {config.out}/instructions-en.html, -ja.html", err=True
    )
    typer.echo(f"rank them: beholder rank {written.path} --images {config.folder}", err=True)
    rows.tell(written, config.out, progress, given)
