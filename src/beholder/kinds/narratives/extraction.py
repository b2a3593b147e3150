"""Storylines out of a collection of pictures on disk: read, embed, extract."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from beholder.data import read_frames, read_storylines, with_exif_dates
from beholder.data.read import good_rows
from beholder.embed.images import image_embedder, usable_frames
from beholder.errors import ConfigError, DataError
from beholder.kinds.narratives.config import CollectionOptions
from beholder.kinds.narratives.settings import Extraction
from beholder.kinds.narratives.storylines.extract import Extracted, ExtractionTask, extract
from beholder.options import DataOptions
from beholder.records import Frame


@dataclass(frozen=True)
class ExtractConfig:
    """What to extract, out of what, and how.

    Attributes:
        collection: The pictures.
        k: Pictures of a storyline; None where ``like`` says it.
        source: Id of the first picture, or None.
        target: Id of the last picture, or None.
        like: File of storylines whose ends and lengths to take instead.
        embedder: Spec of the image embedder: npz:FILE, clip:NAME or handcrafted.
        how: How storylines are extracted.
        rows: Which pictures are taken.
        skip_undated: Leave out pictures without a date, and report them.

    Raises:
        ConfigError: Neither ``k`` nor ``like`` is set, or both are; or undated pictures are to be
            left out and to get dates.
    """

    collection: CollectionOptions
    k: int | None = None
    source: str | None = None
    target: str | None = None
    like: Path | None = None
    embedder: str = "handcrafted"
    how: Extraction = field(default_factory=Extraction)
    rows: DataOptions = field(default_factory=DataOptions)
    skip_undated: bool = False

    def __post_init__(self) -> None:
        if self.collection.source is None:
            raise ConfigError(
                "no pictures were named; give a folder, or a file with a row for each"
            )
        if (self.k is None) == (self.like is None):
            raise ConfigError(
                "say what to extract: -k (with --source and --target), or --like FILE"
            )
        if self.skip_undated and self.how.spread_dates:
            raise ConfigError(
                "--skip-undated leaves out the pictures that --spread-dates would date; choose one"
            )


@dataclass(frozen=True)
class Extractions:
    """Extracted storylines.

    Attributes:
        found: Storylines with their paths through the collection.
        bad_rows: Rows that were left out.
        unusable: Why pictures have no vector.
        embedder: Identity of the embedder.
        learned: Whether its vectors represent meaning, not only appearance.
    """

    found: tuple[Extracted, ...]
    bad_rows: tuple[DataError, ...]
    unusable: tuple[str, ...]
    embedder: str
    learned: bool


def extract_storylines(config: ExtractConfig) -> Extractions:
    """Read a collection and extract storylines from it.

    Raises:
        ConfigError: An option is wrong, or there is no such storyline.
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    pictures = config.collection
    assert pictures.source is not None
    source = Path(pictures.source)
    root = config.rows.media_root or (source if source.is_dir() else source.parent)
    bad: list[DataError] = []
    read = read_frames(source, columns=pictures.columns, year=pictures.year, media_root=root)
    frames = with_exif_dates(list(good_rows(read, config.rows, bad, name=str(source))), root)
    if config.skip_undated:
        bad += [
            DataError(str(source), f"picture {frame.id!r} has no date (--skip-undated)")
            for frame in frames
            if frame.date is None
        ]
        frames = [frame for frame in frames if frame.date is not None]
        if not frames:
            raise DataError(str(source), "no picture has a date, so --skip-undated leaves none")
    tasks = [ExtractionTask("storyline", config.k or 0, config.source, config.target)]
    if config.like is not None:
        tasks = _tasks_like(config.like, frames, config.rows, bad)
    embedder = image_embedder(config.embedder)
    kept, vectors, reasons = usable_frames(embedder, frames, root)
    found = tuple(extract(kept, vectors, tasks, config.how))
    return Extractions(found, tuple(bad), tuple(reasons), embedder.identity, embedder.learned)


def _tasks_like(
    file: Path, frames: Sequence[Frame], rows: DataOptions, bad: list[DataError]
) -> list[ExtractionTask]:
    """A task for each storyline of a file; wrong rows are added to ``bad``."""
    wrong: list[DataError] = []
    every = replace(rows, limit=None)
    given = list(good_rows(read_storylines(file, frames), every, wrong, name=str(file)))
    bad += wrong
    return [ExtractionTask.like(storyline) for storyline in given]
