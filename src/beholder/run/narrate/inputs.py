"""The storylines of a run and their pictures, read once and checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from beholder.data import read_frames, read_storylines, with_exif_dates
from beholder.data.read import good_rows
from beholder.errors import DataError
from beholder.records import Frame, Storyline
from beholder.run.narrate.config import NarrateConfig


@dataclass(frozen=True)
class Inputs:
    """What a run works on.

    Attributes:
        storylines: The storylines.
        frames: Every picture of the collection, or else of the storylines, once.
        bad_rows: Rows that were left out.
    """

    storylines: tuple[Storyline, ...]
    frames: tuple[Frame, ...]
    bad_rows: tuple[DataError, ...] = ()

    @property
    def shown(self) -> list[Frame]:
        """Every picture of a storyline, once, in the order in which they come."""
        return list({f.id: f for one in self.storylines for f in one.frames}.values())


def read_inputs(
    config: NarrateConfig, storylines: Iterable[Storyline | DataError] | None = None
) -> Inputs:
    """Read collection and storylines.

    Args:
        config: The run.
        storylines: Storylines given in Python instead of ``config.sequences``.

    Raises:
        DataError: A file cannot be read, rows are wrong and may not be skipped, one id means
            different pictures, or there is no storyline.
    """
    bad: list[DataError] = []
    collection: list[Frame] = []
    pictures, root = config.collection, config.folder
    if pictures.source is not None:
        found = read_frames(
            pictures.source, columns=pictures.columns, year=pictures.year, media_root=root
        )
        every = replace(config.rows, limit=None)
        collection = list(good_rows(found, every, bad, name=pictures.source))
        collection = with_exif_dates(collection, root)
    rows = storylines
    if rows is None:
        rows = read_storylines(config.sequences, collection, media_root=root)
    wrong: list[DataError] = []
    taken = tuple(good_rows(rows, config.rows, wrong, name=config.sequences))
    frames = {frame.id: frame for frame in collection}
    for storyline in taken:
        for frame in storyline.frames:
            if frames.setdefault(frame.id, frame) != frame:
                raise DataError(
                    config.sequences,
                    f"sequence {storyline.id!r} has another picture under the id {frame.id!r} than"
                    " a sequence or the collection before; ids must name one picture",
                )
    return Inputs(taken, tuple(frames.values()), (*bad, *wrong))
