"""The order of time in which an extraction walks a collection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.errors import ConfigError
from beholder.narratives.topics import spread_dates
from beholder.records import Frame


@dataclass(frozen=True, eq=False)
class Chronology:
    """An order of a collection.

    Attributes:
        order: (n,) positions of the collection as it was read, earliest first.
        days: (n,) day numbers in that order, not decreasing; None when no picture is dated.
        note: What the order rests on, for people.
    """

    order: NDArray[np.intp]
    days: NDArray[np.int64] | None
    note: str


def chronology(
    frames: Sequence[Frame],
    embeddings: ArrayLike,
    *,
    spread: bool = False,
    seed: int | None = None,
    first: int | None = None,
    last: int | None = None,
) -> Chronology:
    """Order pictures by date; those of one date keep the order of the file.

    Args:
        frames: n pictures.
        embeddings: (n, D) their vectors; used to spread dates.
        spread: Give undated pictures a date from similar dated ones.
        seed: Shuffles pictures of one date instead; replications of an extraction differ by it.
        first: Position of the picture that comes first among those of its date.
        last: Position of the picture that comes last among those of its date.

    Raises:
        ConfigError: Some pictures have no date and ``spread`` is not set.
    """
    n_dated = sum(frame.date is not None for frame in frames)
    days: NDArray[np.float64] | None
    if n_dated == 0:
        days, note = None, "no picture has a date: the order of the file stands for time"
    elif n_dated == len(frames):
        known = [frame.date.first.toordinal() for frame in frames if frame.date is not None]
        days, note = np.array(known, dtype=np.float64), "all pictures are dated"
    elif spread:
        days = np.asarray(spread_dates(embeddings, [frame.date for frame in frames]))
        note = f"{n_dated} pictures are dated, {len(frames) - n_dated} got dates by label spreading"
    else:
        raise ConfigError(
            f"{len(frames) - n_dated} of {len(frames)} pictures have no date; date them, leave"
            " them out, or spread the known dates (--spread-dates)"
        )
    ties = np.arange(len(frames))
    if seed is not None:
        ties = np.random.default_rng(seed).permutation(len(frames))
    if first is not None:
        ties[first] = -1
    if last is not None:
        ties[last] = len(frames)
    order = np.lexsort((ties, np.zeros(len(frames)) if days is None else days))
    in_order = None if days is None else np.floor(days[order]).astype(np.int64)
    return Chronology(order, in_order, note)
