"""``beholder sample``: the pictures of a study drawn from a data file, and who annotates them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter

from beholder.options import SampleDesign
from beholder.terminal.groups import Data, ItemDataGroup, OutFile
from beholder.terminal.printing import say, say_left_out


@Parameter(name="*")
@dataclass(frozen=True)
class AnnotatorGroup:
    """Who annotates what is drawn.

    Attributes:
        annotators: Write a file of rows for each of so many annotators, in an order of his own.
        overlap: How many annotators see each picture; all if it is not said.
    """

    annotators: int = 0
    overlap: int | None = None


def sample(
    data: Data,
    /,
    *,
    out: OutFile,
    design: Annotated[SampleDesign, Parameter(name="*")] = SampleDesign(),
    people: AnnotatorGroup = AnnotatorGroup(),
    rows: ItemDataGroup = ItemDataGroup(),
) -> int:
    """Draw the pictures of a study: at random, per category, or both; the same seed draws the same.

    Pictures are drawn with all their rows. The random set gets the category random, with which
    beholder bidirectional compares the others; a picture stands in one set alone.

    Example: `beholder sample sorted.jsonl --n 200 --per-category 100 --rated High -o study.jsonl`

    Args:
        data: A folder of pictures, or a .jsonl, .csv, .tsv or .parquet file.
        out: JSONL file to write; files of annotators stand beside it, NAME.annotator-1.jsonl.
    """
    from collections import Counter
    from dataclasses import replace

    from beholder.data import to_row
    from beholder.data.read import good_rows
    from beholder.data.sample import assign, draw
    from beholder.errors import ConfigError, DataError
    from beholder.files import write_jsonl
    from beholder.run.rows.inputs import read_pictured, rebased, root_of

    if people.overlap is not None and not people.annotators:
        raise ConfigError("--overlap says how many annotators see a picture; give --annotators")
    bad: list[DataError] = []
    read = read_pictured(data, rows)
    root, folder = root_of(data), out.parent
    items = [
        replace(item, images=tuple(rebased(image, root, folder) for image in item.images))
        for item in good_rows(read, rows, bad, name=data)
    ]
    found = draw(items, design)
    shares = []
    if people.annotators:
        overlap = people.annotators if people.overlap is None else people.overlap
        shares = assign(found, people.annotators, overlap, design.seed)
    write_jsonl(out, map(to_row, found))
    say_left_out(bad)
    say(f"{len({item.source for item in found}):,} pictures, {len(found):,} rows: {out}")
    counts = Counter({i.source: i.group.get(design.column, "") for i in found}.values())
    for name, count in counts.items():
        say(f"  {name or 'without category'}: {count:,} pictures")
    width = len(str(people.annotators))
    for number, share in enumerate(shares, start=1):
        path = out.with_name(f"{out.stem}.annotator-{number:0{width}d}{out.suffix}")
        write_jsonl(path, map(to_row, share))
        say(f"  {path.name}: {len({item.source for item in share}):,} pictures")
    return 0
