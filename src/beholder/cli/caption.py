"""``beholder caption``: descriptions of pictures by one or several models."""

from __future__ import annotations

from typing import Annotated

import typer

from beholder.cli import rows
from beholder.errors import ConfigError


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
    as_json: rows.AsJson = False,
    dry_run: rows.DryRun = False,
) -> None:
    """Have models describe pictures; run it again to go on after an interruption.

    Rows keep their references, groups and judgments; each gets a candidate per judge.

    Example: [bold]beholder caption photos/ --judge openai:gpt-4.1 -o captions.jsonl[/bold]
    """
    given = locals()
    from beholder.data.read import good_rows
    from beholder.run.rows.askers import Caption, Columns
    from beholder.run.rows.inputs import read_pictured, word_limits

    if data == "-" and words == "median":
        raise ConfigError("--words median reads the data twice; name a file instead of -")
    taken = rows.data_options(given)
    read = read_pictured(data, media_root=media_root)
    limits = word_limits(words, good_rows(read, taken, [], name=data))
    systems = {
        name: Caption(spec, language, limits, context)
        for name, spec in rows.by_system(judge or []).items()
    }
    typer.echo(f"captions of {limits[0]} to {limits[1]} words in {language}", err=True)
    rows.carry_out(given, systems, Columns(system=system_column))
