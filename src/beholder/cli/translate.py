"""``beholder translate``: the texts of rows, clause by clause, in another language."""

from __future__ import annotations

from typing import Annotated

import typer

from beholder.cli import rows


def translate(
    data: rows.Data,
    out: rows.Out,
    source: Annotated[str, typer.Option("--from", help="Language of the texts.")],
    target: Annotated[str, typer.Option("--to", help="Language to write in.")],
    judge: rows.OneJudge = None,
    column: Annotated[str, typer.Option(help="Group column that names the language.")] = (
        "language"
    ),
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
    """Translate candidate and references clause by clause, which keeps the shape of speech.

    Example: [bold]beholder translate captions.jsonl --from Hindi --to English
    --judge openai:gpt-4.1 -o english.jsonl[/bold]
    """
    given = locals()
    from beholder.run.rows.askers import Columns, Translate

    systems = {
        name: Translate(spec, source, target)
        for name, spec in rows.by_system([judge] if judge else []).items()
    }
    rows.carry_out(given, systems, Columns(language=column))
