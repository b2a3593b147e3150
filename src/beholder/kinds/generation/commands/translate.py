"""``beholder translate``: the texts of rows, clause by clause, in another language."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from beholder.kinds.generation.commands.shared import by_system, make_rows
from beholder.terminal.groups import Data, ItemRunGroup, OutFile


def translate(
    data: Data,
    /,
    *,
    out: OutFile,
    source: Annotated[str, Parameter(name="--from")],
    target: Annotated[str, Parameter(name="--to")],
    judge: str | None = None,
    column: str = "language",
    run: ItemRunGroup = ItemRunGroup(),
) -> int:
    """Translate candidate and references clause by clause, which keeps the shape of speech.

    Example: `beholder translate captions.jsonl --from Hindi --to English --judge openai:gpt-4.1
    -o english.jsonl`

    Args:
        data: A .jsonl, .csv, .tsv or .parquet file.
        out: JSONL file to write, ready for beholder score.
        source: Language of the texts.
        target: Language to write in.
        judge: Judge, such as openai:MODEL.
        column: Group column that names the language.
    """
    from beholder.run.rows.askers import RowColumns, TranslateRow
    from beholder.run.rows.rows import RowsConfig

    named = by_system([judge] if judge else [])
    systems = {name: TranslateRow(spec, source, target) for name, spec in named.items()}
    columns = RowColumns(language=column)
    config = RowsConfig(data, out, systems, columns, run.rows, run.judging, run.work.found())
    return make_rows(config, run.finish)
