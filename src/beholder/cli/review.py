"""``beholder review``: have a judge that sees write reviews of pictures, to be ranked."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from beholder.cli.cache import cache_file
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
    skip_bad_rows: Annotated[
        bool, typer.Option("--skip-bad-rows", help="Leave out rows that are wrong, and count them.")
    ] = False,
    allow_failed: Annotated[
        int, typer.Option(help="Pictures without reviews that still count as success.")
    ] = 0,
) -> None:
    """Write five kinds of reviews per picture, and the page that tells people how to rank them.

    Example: [bold]beholder review photos/ --judge openai:gpt-4.1 --language en[/bold]
    """
    from beholder.data import read_frames
    from beholder.data.read import _all_bad as bad_rows_error
    from beholder.errors import DataError
    from beholder.report.marking import visible
    from beholder.report.rank import annotation_instructions
    from beholder.report.rank.instructions import INSTRUCTIONS
    from beholder.run.rank.generate import KINDS, GenerateConfig, generate

    rows = list(read_frames(pictures, media_root=images))
    bad = [row for row in rows if isinstance(row, DataError)]
    if bad and not skip_bad_rows:
        raise bad_rows_error(bad)
    frames = [row for row in rows if not isinstance(row, DataError)]
    if not frames:
        raise DataError(pictures, "has no picture")
    source = Path(pictures)
    config = GenerateConfig(
        frames=frames,
        root=images or (source if source.is_dir() else source.parent),
        out=out or Path("runs") / f"review-{source.name.partition('.')[0]}",
        judge=judge,
        languages=tuple(language or ["en"]),
        n_words=words,
        temperature=temperature,
        concurrency=concurrency,
        cache=cache_file(cache),
        max_cost=max_cost,
        judge_options={"base_url": base_url} if base_url else {},
    )
    for error in bad:
        typer.echo(f"left out: {error}", err=True)
    with TerminalProgress() as progress:
        path, failed = generate(config, progress)
    for code in INSTRUCTIONS:
        page = annotation_instructions(len(KINDS), code)
        (config.out / f"instructions-{code}.html").write_text(page, encoding="utf-8")
    n = len(frames) * len(config.languages) - len(failed)
    typer.echo(f"{n} sets of {len(KINDS)} reviews: {path}")
    typer.echo(
        f"instructions for annotators: {config.out}/instructions-en.html, -ja.html", err=True
    )
    typer.echo(f"rank them: beholder rank {path} --images {config.root}", err=True)
    for (frame, code), failure in list(failed.items())[:5]:
        typer.echo(f"beholder: {visible(frame)}, {code}: {visible(failure.message)}", err=True)
    if len(failed) > allow_failed:
        typer.echo(
            f"beholder: {len(failed)} sets failed (--allow-failed {allow_failed}); run the same"
            " command again to ask only for what is missing",
            err=True,
        )
        raise typer.Exit(1)
