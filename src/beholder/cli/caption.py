"""``beholder caption``: descriptions of pictures by one or several models."""

from __future__ import annotations

from typing import Annotated

import typer

from beholder.cli import rows


def caption(
    data: rows.Data,
    out: rows.Out,
    judge: Annotated[
        list[str] | None,
        typer.Option(help="openai:MODEL or NAME=SPEC, a system each; repeatable."),
    ] = None,
    language: Annotated[str, typer.Option(help="Language to write in.")] = "English",
    words: Annotated[
        str,
        typer.Option(help="Most words: 40, 30-40, or median (of references), median:FILE."),
    ] = "20-200",
    context: Annotated[str, typer.Option(help="What the collection is; told to the model.")] = "",
    system_column: Annotated[
        str, typer.Option(help="Group column that names the system.")
    ] = "system",
    base_url: rows.BaseUrl = None,
    temperature: rows.Temperature = None,
    prompts: rows.Prompts = None,
    batch: rows.Batch = False,
    max_cost: rows.MaxCost = None,
    cache: rows.Cache = None,
    limit: rows.Limit = None,
    skip_bad_rows: rows.SkipBad = False,
    media_root: rows.MediaRoot = None,
    concurrency: rows.Concurrency = 16,
    allow_failed: rows.AllowFailed = 0,
    dry_run: rows.DryRun = False,
) -> None:
    """Have models describe pictures; run it again to go on after an interruption.

    Rows keep their references, groups and judgments; each gets a candidate per judge.

    Example: [bold]beholder caption photos/ --judge openai:gpt-4.1 -o captions.jsonl[/bold]
    """
    given = locals()
    from beholder.backends.images import Pictures
    from beholder.run.rows.inputs import root_of, word_limits
    from beholder.run.rows.tasks import Caption

    items = rows.read(given)
    task = Caption(
        Pictures(root_of(data)),
        language=language,
        words=word_limits(words, items),
        context=context,
        system_column=system_column,
    )
    typer.echo(f"captions of {task.words[0]} to {task.words[1]} words in {language}", err=True)
    rows.carry_out(given, task, items, judge or [])
