"""``beholder classify``: the category of each picture or text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from beholder.cli import rows
from beholder.errors import ConfigError, DataError


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
    dry_run: rows.DryRun = False,
) -> None:
    """Sort pictures or texts into your categories: at most two each, at most one rated High.

    Rows stay as they are and get a group column: the one category that fits, "several" or "none".

    Example: [bold]beholder classify photos/ --categories categories.json --judge openai:gpt-4.1
    -o sorted.jsonl[/bold]
    """
    given = locals()
    from beholder.backends.images import Pictures
    from beholder.run.rows.inputs import root_of
    from beholder.run.rows.tasks import Classify

    if by not in ("picture", "candidate", "reference"):
        raise ConfigError(f"--by {by!r}: expected picture, candidate or reference")
    items = rows.read(given)
    task = Classify(
        Pictures(root_of(data)),
        _categories(categories),
        by=by,  # type: ignore[arg-type]
        column=column,
    )
    rows.carry_out(given, task, items, [judge] if judge else [])


def _categories(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(str(path), f"cannot be read: {error}") from error
    named = isinstance(found, dict) and found
    if not named or not all(isinstance(meaning, str) for meaning in found.values()):
        raise DataError(str(path), 'expected {"name": "what it means", ...}')
    taken = {"several", "none"} & set(found)
    if taken:
        raise DataError(
            str(path), f"a category may not be called {taken.pop()!r}: it has a meaning"
        )
    return dict(found)
