"""``beholder classify``: the category of each picture or text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from beholder.cli import rows
from beholder.errors import DataError


def classify(
    data: rows.Data,
    out: rows.Out,
    categories: Annotated[
        Path, typer.Option(help='JSON file of the categories: {"name": "what it means"}.')
    ],
    judge: rows.OneJudge = None,
    by: Annotated[str, typer.Option(help="What is sorted: picture, candidate or reference.")] = (
        "picture"
    ),
    column: Annotated[str, typer.Option(help="Group column to write.")] = "category",
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
    """Sort pictures or texts into your categories: at most two each, at most one rated High.

    Rows stay as they are and get a group column: the one category that fits, "several" or "none".

    Example: [bold]beholder classify photos/ --categories categories.json --judge openai:gpt-4.1
    -o sorted.jsonl[/bold]
    """
    given = locals()
    from beholder.run.rows.askers import Classify, Columns

    sorts = _categories(categories)
    systems = {
        name: Classify(spec, sorts, by)  # type: ignore[arg-type]  # it refuses what it does not know
        for name, spec in rows.by_system([judge] if judge else []).items()
    }
    rows.carry_out(given, systems, Columns(category=column))


def _categories(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(str(path), f"cannot be read: {error}") from error
    named = isinstance(found, dict) and found
    if not named or not all(isinstance(meaning, str) for meaning in found.values()):
        raise DataError(str(path), 'expected {"name": "what it means", ...}')
    return dict(found)
