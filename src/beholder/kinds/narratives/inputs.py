"""Storylines and collections of pictures, read and checked; storylines extracted from them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from beholder.base.registry import versioned_identity
from beholder.data import read_frames, read_storylines, with_exif_dates
from beholder.data.notes import RowNotes
from beholder.data.read import good_rows
from beholder.embed.images import image_embedder, usable_frames
from beholder.errors import ConfigError, DataError
from beholder.kinds.narratives.config import (
    CollectionOptions,
    Extraction,
    NarrateConfig,
    StorylineEnds,
)
from beholder.kinds.narratives.storylines.extract import (
    Extracted,
    ExtractionTask,
    extract,
)
from beholder.options import DataOptions
from beholder.records import Frame, Storyline
from beholder.run.inputs import root_of

_MOST_REASONS = 10
"""Pictures that a refusal names."""


@dataclass(frozen=True)
class Inputs:
    """Storylines, pictures and examples of a run.

    Attributes:
        storylines: The storylines.
        frames: Every picture of the collection, or else of the storylines, once.
        bad_rows: Rows that were left out.
        examples: Storylines that judges see as examples, with their ratings; none of
            ``storylines``.
        notes: Sentences on the rows that a reader must know.
    """

    storylines: tuple[Storyline, ...]
    frames: tuple[Frame, ...]
    bad_rows: tuple[DataError, ...] = ()
    examples: tuple[tuple[Storyline, int], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def shown_frames(self) -> list[Frame]:
        """Return the pictures of storylines and examples, each once, in order of appearance."""
        all_storylines = (
            *self.storylines,
            *(storyline for storyline, _ in self.examples),
        )
        return list(
            {
                f.id: f
                for storyline in all_storylines
                for f in storyline.frames
            }.values()
        )


def read_inputs(
    config: NarrateConfig,
    storylines: Iterable[Storyline | DataError] | None = None,
) -> Inputs:
    """Read collection and storylines of a run.

    Args:
        config: The run.
        storylines: Storylines given in Python instead of ``config.sequences``.

    Raises:
        ConfigError: An example is no storyline of the file, or all storylines are examples.
        DataError: A file cannot be read, rows are wrong and may not be skipped, one id means
            different pictures, or there is no storyline.
    """
    bad_rows: list[DataError] = []
    notes = RowNotes()
    collection: list[Frame] = []
    if config.collection.source is not None:
        # A limit is one of storylines; theta may depend on the whole collection.
        all_rows = replace(config.rows, limit=None)
        collection = _frames(
            config.collection, config.folder, all_rows, bad_rows, notes
        )
    rows = storylines
    if rows is None:
        rows = read_storylines(
            config.sequences, collection, media_root=config.folder
        )
    wrong_rows: list[DataError] = []
    all_storylines = tuple(
        good_rows(
            rows, config.rows, wrong_rows, name=config.sequences, notes=notes
        )
    )
    # An id must mean one picture everywhere: outcomes are stored by id.
    frames = {frame.id: frame for frame in collection}
    for storyline in all_storylines:
        for frame in storyline.frames:
            if frames.setdefault(frame.id, frame) != frame:
                raise DataError(
                    config.sequences,
                    f"sequence {storyline.id!r} has another picture under the id {frame.id!r} than"
                    " a sequence or the collection before; ids must name one picture",
                )
    ratings = config.voting.examples
    by_id = {storyline.id: storyline for storyline in all_storylines}
    if unknown := [name for name in ratings if name not in by_id]:
        raise ConfigError(
            f"example {unknown[0]!r}: {config.sequences} has no sequence of that id"
        )
    # Judges have seen the ratings of examples: these cannot be rated by them.
    rated_storylines = tuple(
        storyline
        for storyline in all_storylines
        if storyline.id not in ratings
    )
    if not rated_storylines:
        raise ConfigError(
            "all sequences are examples; none is left to be rated"
        )
    examples = tuple((by_id[name], rating) for name, rating in ratings.items())
    sentences = tuple(notes.sentences())
    return Inputs(
        rated_storylines,
        tuple(frames.values()),
        (*bad_rows, *wrong_rows),
        examples,
        sentences,
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
        notes: Sentences on the rows that a reader must know.
    """

    found: tuple[Extracted, ...]
    bad_rows: tuple[DataError, ...]
    unusable: tuple[str, ...]
    embedder: str
    learned: bool
    notes: tuple[str, ...] = ()


def extract_storylines(
    collection: CollectionOptions,
    ends: StorylineEnds,
    embedder: str,
    how: Extraction,
    rows: DataOptions,
    skip_undated: bool,
) -> Extractions:
    """Read a collection and extract storylines from it.

    Args:
        collection: The pictures.
        ends: Ends and length of what is extracted.
        embedder: Spec of the image embedder: npz:FILE, clip:NAME or handcrafted.
        how: Settings of the extraction.
        rows: Selection of pictures.
        skip_undated: Leave out pictures without a date, and report them.

    Raises:
        ConfigError: An option is wrong, there is no such storyline, neither ``k`` nor ``like`` of
            ``ends`` is set, or both are; or undated pictures are to be left out and to get dates.
        DataError: Rows are wrong and may not be skipped, or there are none.
    """
    if collection.source is None:
        raise ConfigError(
            "expected pictures, got none; give a folder, or a file with a row for each picture"
        )
    if (ends.k is None) == (ends.like is None):
        raise ConfigError(
            "say what to extract: -k (with --source and --target), or --like FILE"
        )
    if skip_undated and how.spread_dates:
        raise ConfigError(
            "--skip-undated leaves out the pictures that --spread-dates would date; choose one"
        )
    source = collection.source
    root = rows.media_root or root_of(source)
    bad_rows: list[DataError] = []
    notes = RowNotes()
    frames = _frames(collection, root, rows, bad_rows, notes)
    if skip_undated:
        bad_rows += [
            DataError(
                source, f"picture {frame.id!r} has no date (--skip-undated)"
            )
            for frame in frames
            if frame.date is None
        ]
        frames = [frame for frame in frames if frame.date is not None]
        # An empty collection would fail later with a message about vectors.
        if not frames:
            raise DataError(
                source, "no picture has a date, so --skip-undated leaves none"
            )
    # Either one storyline between two ends, or one like each storyline of a file.
    tasks = [
        ExtractionTask("storyline", ends.k or 0, ends.source, ends.target)
    ]
    if ends.like is not None:
        wrong_rows: list[DataError] = []
        like_rows, all_rows = (
            read_storylines(ends.like, frames),
            replace(rows, limit=None),
        )
        human_storylines = good_rows(
            like_rows, all_rows, wrong_rows, name=str(ends.like)
        )
        tasks = [
            ExtractionTask.like(storyline) for storyline in human_storylines
        ]
        bad_rows += wrong_rows
    encoder = image_embedder(embedder)
    usable, vectors, reasons = usable_frames(encoder, frames, root)
    try:
        extracted = tuple(extract(usable, vectors, tasks, how))
    except ConfigError as error:
        # Pictures that could not be used may be why: the refusal names them.
        why = [*reasons, *map(str, bad_rows)]
        raise _with_reasons(error, why) from error
    identity = versioned_identity(encoder, encoder.identity)
    sentences = tuple(notes.sentences())
    return Extractions(
        extracted,
        tuple(bad_rows),
        tuple(reasons),
        identity,
        encoder.learned,
        sentences,
    )


def _with_reasons(error: ConfigError, reasons: Sequence[str]) -> ConfigError:
    if not reasons:
        return error
    shown = [*reasons[:_MOST_REASONS]]
    if len(reasons) > _MOST_REASONS:
        shown.append(f"{len(reasons) - _MOST_REASONS} more pictures")
    n = len(reasons)
    left_out = f"{n} picture{'s'[: n != 1]} could not be used:"
    return ConfigError("\n".join([str(error), left_out, *shown]))


def _frames(
    collection: CollectionOptions,
    root: Path,
    rows: DataOptions,
    bad_rows: list[DataError],
    notes: RowNotes,
) -> list[Frame]:
    """Read the pictures of a collection, with EXIF dates; add wrong rows to ``bad_rows``."""
    source = str(collection.source)
    file_rows = read_frames(
        source,
        columns=collection.columns,
        year=collection.year,
        media_root=root,
        notes=notes,
    )
    return with_exif_dates(
        list(good_rows(file_rows, rows, bad_rows, name=source, notes=notes)),
        root,
    )
