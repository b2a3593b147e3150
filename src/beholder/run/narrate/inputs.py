"""The narratives of a run, read once and checked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from beholder.data import read_frames, read_sequences, sequence_row, with_exif_dates
from beholder.data.read import _all_bad as bad_rows_error
from beholder.errors import DataError
from beholder.records import Frame, Sequence
from beholder.run.narrate.config import NarrateConfig

T = TypeVar("T", Frame, Sequence)


@dataclass(frozen=True)
class Inputs:
    """What a run works on.

    Attributes:
        narratives: The sequences.
        frames: Every picture of the collection, or else of the sequences, once.
        bad_rows: Rows that were left out.
        digest: Hash over all sequences.
    """

    narratives: tuple[Sequence, ...]
    frames: tuple[Frame, ...]
    bad_rows: tuple[DataError, ...]
    digest: str


def read_inputs(config: NarrateConfig) -> Inputs:
    """Read collection and sequences.

    Raises:
        DataError: A file cannot be read, rows are wrong and ``skip_bad_rows`` is not set, one id
            means different pictures, or there is no sequence.
    """
    bad: list[DataError] = []
    collection: list[Frame] = []
    if config.collection is not None:
        rows = read_frames(
            config.collection, columns=config.columns, year=config.year, media_root=config.root
        )
        collection = with_exif_dates(_sorted_out(rows, bad), config.root)
    narratives = _sorted_out(
        read_sequences(config.sequences, collection, media_root=config.root), bad
    )
    if bad and not config.skip_bad_rows:
        raise bad_rows_error(bad)
    if not narratives:
        raise DataError(config.sequences, "has no sequence")
    frames = {frame.id: frame for frame in collection}
    for narrative in narratives:
        for frame in narrative.frames:
            if frames.setdefault(frame.id, frame) != frame:
                raise DataError(
                    config.sequences,
                    f"sequence {narrative.id!r} has another picture under the id {frame.id!r} than"
                    " a sequence or the collection before; ids must name one picture",
                )
    total = hashlib.sha256()
    for narrative in narratives:
        total.update(json.dumps(sequence_row(narrative), ensure_ascii=False).encode("utf-8"))
    return Inputs(tuple(narratives), tuple(frames.values()), tuple(bad), total.hexdigest())


def _sorted_out(rows: Iterable[T | DataError], bad: list[DataError]) -> list[T]:
    good = []
    for row in rows:
        if isinstance(row, DataError):
            bad.append(row)
        else:
            good.append(row)
    return good
