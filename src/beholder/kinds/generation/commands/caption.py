"""``beholder caption``: descriptions of pictures by one or several models."""

from __future__ import annotations

from dataclasses import dataclass

from cyclopts import Parameter

from beholder.errors import ConfigError
from beholder.kinds.generation.commands.shared import by_system, make_rows
from beholder.terminal.groups import Data, ItemRunGroup, OutFile
from beholder.terminal.printing import say


@Parameter(name="*")
@dataclass(frozen=True)
class WritingGroup:
    """What is written.

    Attributes:
        language: Language to write in.
        words: Most words: 40, 30-40, or median (of references), median:FILE.
        context: What the collection is; told to the model.
        system_column: Group column that names the system.
        dataset: What group.dataset is to be, to tell captions of several lengths apart.
    """

    language: str = "English"
    words: str = "20-200"
    context: str = ""
    system_column: str = "system"
    dataset: str = ""


def caption(
    data: Data,
    /,
    *,
    out: OutFile,
    judge: tuple[str, ...] = (),
    writing: WritingGroup = WritingGroup(),
    run: ItemRunGroup = ItemRunGroup(),
) -> int:
    """Have models describe pictures; run it again to go on after an interruption.

    Rows keep their references, groups and judgments; each gets a candidate per judge.

    Example: `beholder caption photos/ --judge openai:gpt-4.1 -o captions.jsonl`

    Args:
        data: A folder of pictures, or a .jsonl, .csv, .tsv or .parquet file.
        out: JSONL file to write, ready for beholder score.
        judge: openai:MODEL or NAME=SPEC, a system each; repeatable.
    """
    from beholder.data.read import good_rows
    from beholder.run.rows.askers import CaptionRow, RowColumns
    from beholder.run.rows.inputs import read_pictured, word_limits
    from beholder.run.rows.rows import RowsConfig

    if data == "-" and writing.words == "median":
        raise ConfigError("--words median reads the data twice; name a file instead of -")
    read = read_pictured(data, run.rows)
    limits = word_limits(writing.words, good_rows(read, run.rows, [], name=data))
    systems = {
        name: CaptionRow(spec, writing.language, limits, writing.context)
        for name, spec in by_system(judge).items()
    }
    say(f"captions of {limits[0]} to {limits[1]} words in {writing.language}")
    columns = RowColumns(system=writing.system_column, named_dataset=writing.dataset)
    config = RowsConfig(data, out, systems, columns, run.rows, run.judging, run.work.found())
    return make_rows(config, run.finish)
