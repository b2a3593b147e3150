"""``beholder classify``: the category of each picture or text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Literal

from beholder.errors import DataError
from beholder.kinds.generation.commands.shared import by_system, make_rows
from beholder.terminal.groups import Data, ItemRunGroup, OutFile


def classify(
    data: Data,
    /,
    *,
    out: OutFile,
    categories: Path,
    judge: str | None = None,
    by: Literal["picture", "candidate", "reference"] = "picture",
    column: str = "category",
    run: ItemRunGroup = ItemRunGroup(),
) -> int:
    """Sort pictures or texts into your categories: at most two each, at most one rated High.

    Rows stay as they are and get a group column: the one category that fits, "several" or "none".

    Example: `beholder classify photos/ --categories categories.json --judge openai:gpt-4.1
    -o sorted.jsonl`

    Args:
        data: A folder of pictures, or a .jsonl, .csv, .tsv or .parquet file.
        out: JSONL file to write, ready for beholder score.
        categories: JSON file of the categories: {"name": "what it means"}.
        judge: Judge, such as openai:MODEL.
        by: What is sorted.
        column: Group column to write.
    """
    from beholder.run.rows.askers import ClassifyRow, RowColumns
    from beholder.run.rows.rows import RowsConfig

    meanings = _categories(categories)
    named = by_system([judge] if judge else [])
    systems = {name: ClassifyRow(spec, meanings, by) for name, spec in named.items()}
    columns = RowColumns(category=column)
    config = RowsConfig(data, out, systems, columns, run.rows, run.judging, run.work.found())
    return make_rows(config, run.finish)


def _categories(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DataError(str(path), f"cannot be read: {error}") from error
    named = isinstance(found, dict) and found
    if not named or not all(isinstance(meaning, str) for meaning in found.values()):
        raise DataError(str(path), 'expected {"name": "what it means", ...}')
    return dict(found)
