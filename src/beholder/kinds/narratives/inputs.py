"""The storylines of a run and their pictures, read once and checked."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from beholder.data import read_frames, read_storylines, with_exif_dates
from beholder.data.read import good_rows
from beholder.errors import ConfigError, DataError
from beholder.kinds.narratives.config import NarrateConfig
from beholder.records import Frame, Storyline


@dataclass(frozen=True)
class Inputs:
    """What a run works on.

    Attributes:
        storylines: The storylines.
        frames: Every picture of the collection, or else of the storylines, once.
        bad_rows: Rows that were left out.
        examples: Storylines that judges see as examples, with their ratings; none of
            ``storylines``.
    """

    storylines: tuple[Storyline, ...]
    frames: tuple[Frame, ...]
    bad_rows: tuple[DataError, ...] = ()
    examples: tuple[tuple[Storyline, int], ...] = ()

    @property
    def shown(self) -> list[Frame]:
        """Every picture of a storyline or an example, once, in the order in which they come."""
        every = (*self.storylines, *(one for one, _ in self.examples))
        return list({f.id: f for one in every for f in one.frames}.values())


def read_inputs(
    config: NarrateConfig, storylines: Iterable[Storyline | DataError] | None = None
) -> Inputs:
    """Read collection and storylines.

    Args:
        config: The run.
        storylines: Storylines given in Python instead of ``config.sequences``.

    Raises:
        ConfigError: An example is no storyline of the file, or all storylines are examples.
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
    ratings = config.voting.examples
    by_id = {storyline.id: storyline for storyline in taken}
    if unknown := [name for name in ratings if name not in by_id]:
        raise ConfigError(f"example {unknown[0]!r}: {config.sequences} has no sequence of that id")
    left = tuple(storyline for storyline in taken if storyline.id not in ratings)
    if not left:
        raise ConfigError("all sequences are examples; none is left to be rated")
    examples = tuple((by_id[name], rating) for name, rating in ratings.items())
    return Inputs(left, tuple(frames.values()), (*bad, *wrong), examples)
