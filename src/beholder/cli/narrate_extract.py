"""What ``beholder narrate extract`` does between its options and its table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from rich.markup import escape
from rich.table import Table

from beholder.cli.printing import say, say_left_out, tell_tables
from beholder.data import read_frames, read_storylines, with_exif_dates, write_storylines
from beholder.data.read import good_rows
from beholder.embed.images import image_embedder, usable_frames
from beholder.errors import ConfigError, DataError
from beholder.narratives.extract import Extracted, Extraction, ExtractionTask, extract
from beholder.options import DataOptions
from beholder.records import Frame
from beholder.run.narrate.config import CollectionOptions

_SHOWN = 10


@Parameter(name="*")
@dataclass(frozen=True)
class EndGroup:
    """What to extract.

    Attributes:
        k: Pictures of a storyline.
        source: Id of the first picture.
        target: Id of the last picture.
        like: File of sequences whose ends and lengths to take instead.
    """

    k: Annotated[int | None, Parameter(name="-k")] = None
    source: str | None = None
    target: str | None = None
    like: Path | None = None


def extract_and_tell(
    pictures: CollectionOptions,
    out: Path,
    ends: EndGroup,
    how: Extraction,
    embedder: str,
    rows: DataOptions,
) -> None:
    """Read a collection, extract, write the sequences, print a line for each.

    Raises:
        ConfigError: It is not said what to extract, or how is wrong.
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    if (ends.k is None) == (ends.like is None):
        raise ConfigError("say what to extract: -k (with --source and --target), or --like FILE")
    assert pictures.source is not None
    source = Path(pictures.source)
    root = rows.media_root or (source if source.is_dir() else source.parent)
    bad: list[DataError] = []
    read = read_frames(source, columns=pictures.columns, year=pictures.year, media_root=root)
    frames = with_exif_dates(list(good_rows(read, rows, bad, name=str(source))), root)
    tasks = [ExtractionTask("storyline", ends.k or 0, ends.source, ends.target)]
    if ends.like is not None:
        tasks = _tasks_like(ends.like, frames, rows, bad)
    say_left_out(bad)
    maker = image_embedder(embedder)
    kept, vectors, reasons = usable_frames(maker, frames, root)
    _say_unusable(reasons)
    found = list(extract(kept, vectors, tasks, how))
    write_storylines(out, (each.storyline for each in found))
    _tell(found)
    if not maker.learned:
        say(
            f"beholder: {maker.identity} vectors tell looks, not meaning; clip:NAME or npz:FILE"
            " brings learned ones"
        )
    say(f"{found[0].signature}\nsequences: {out}")


def _tasks_like(
    file: Path, frames: Sequence[Frame], rows: DataOptions, bad: list[DataError]
) -> list[ExtractionTask]:
    """A task for each sequence of a file; wrong rows are added to ``bad``."""
    wrong: list[DataError] = []
    every = replace(rows, limit=None)
    given = list(good_rows(read_storylines(file, frames), every, wrong, name=str(file)))
    bad += wrong
    return [ExtractionTask.like(storyline) for storyline in given]


def _tell(found: Sequence[Extracted]) -> None:
    table = Table("id", "pictures", "weakest link", "mean", "weakest step")
    for each in found:
        steps, shots = each.path.steps, each.storyline.frames
        at = steps.index(min(steps))
        table.add_row(
            escape(each.storyline.id),
            str(len(shots)),
            f"{each.path.weakest:.3f}",
            f"{each.path.mean:.3f}",
            escape(f"{shots[at].id} → {shots[at + 1].id}"),
        )
    tell_tables(table)
    for warning in dict.fromkeys(w for each in found for w in each.path.warnings):
        say(f"beholder: warning: {warning}")
    distinct = len({each.path.positions for each in found})
    if distinct < len(found):
        say(
            f"beholder: {len(found)} storylines, {distinct} of them different; maxmin only varies"
            " with the order within a date, --alternatives asks for paths that differ"
        )


def _say_unusable(reasons: Sequence[str]) -> None:
    for reason in reasons[:_SHOWN]:
        say(f"left out: {reason}")
    if len(reasons) > _SHOWN:
        say(f"left out: {len(reasons) - _SHOWN} more pictures")
