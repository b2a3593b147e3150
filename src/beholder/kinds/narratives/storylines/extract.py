"""From a collection to sequences: order in time, choose a method, give each storyline its name.

Dates known in part order pictures in part: one is before another only if each day it can mean is.
A step is *backwards* if its second picture is before its first in that sense. An extraction walks a
whole order that contains the known one, so that no two pictures of a path are backwards.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from beholder.base.dates import PartialDate
from beholder.errors import ConfigError
from beholder.kinds.narratives.config import Extraction
from beholder.kinds.narratives.storylines.published import narrative_map, trail
from beholder.kinds.narratives.storylines.space import (
    Floats,
    Places,
    Space,
    StorylinePath,
    ends,
    path_through,
)
from beholder.kinds.narratives.storylines.topics import spread_dates, topics_by
from beholder.kinds.narratives.storylines.widest import maxmin
from beholder.records import Frame, Storyline


@dataclass(frozen=True, eq=False)
class Chronology:
    """An order of a collection.

    Attributes:
        order: (n,) positions of the collection as it was read, earliest first.
        days: (n,) day numbers in that order, not decreasing; None when no picture is dated.
        note: Basis of the order, for people.
    """

    order: Places
    days: NDArray[np.int64] | None
    note: str

    def rank_of(self, position: int | None) -> int | None:
        """Return the place in time of a position of the collection; None for None."""
        if position is None:
            return None
        return int(np.flatnonzero(self.order == position)[0])


def chronology(
    frames: Sequence[Frame],
    embeddings: ArrayLike,
    *,
    spread: bool = False,
    seed: int | None = None,
    first: int | None = None,
    last: int | None = None,
) -> Chronology:
    """Return an order of all pictures that is consistent with their dates.

    Without dates, or if the dates distinguish no two pictures, the order of the file is the order
    of time, and no seed changes it. Otherwise each picture is placed in the middle of the days that
    its date allows, and pictures with the same days in the order of the file; with a seed it is
    placed on any of its days. The ends are placed so that as many pictures as possible lie between
    them: the first on its earliest day, the last on its latest.

    Args:
        frames: n pictures.
        embeddings: (n, D) their vectors; used to spread dates.
        spread: Give undated pictures the dates of similar pictures.
        seed: Draws where in its days each picture stands; replications of an extraction differ by
            it. A picture whose day is known, or spread, stands where it stood.
        first: Position of the picture that paths start from.
        last: Position of the picture that paths lead to.

    Raises:
        ConfigError: Some pictures have no date and ``spread`` is not set, or the last picture is
            before the first.
    """
    return order_of(
        frames, known_days(frames, embeddings, spread), seed, first, last
    )


@dataclass(frozen=True, eq=False)
class KnownDays:
    """Days that the pictures of a collection can have.

    Attributes:
        spans: (n, 2) first and last day number that each picture can have; None without dates.
        note: Origin of the storylines, for people.
    """

    spans: Floats | None
    note: str


def steps_back(frames: Sequence[Frame]) -> list[int]:
    """Return the steps of a path, from 0, whose second picture is before its first by their dates.

    Dates that overlap, and pictures without one, show no step back.
    """
    return [
        at
        for at, (a, b) in enumerate(pairwise(frames))
        if a.date is not None and b.date is not None and b.date.before(a.date)
    ]


def known_days(
    frames: Sequence[Frame], embeddings: ArrayLike, spread: bool
) -> KnownDays:
    """Return the days that pictures can have; see ``chronology``."""
    dates = [frame.date for frame in frames]
    known_dates = [date for date in dates if date is not None]
    if not known_dates:
        return KnownDays(
            None,
            "no picture has a date: the order of the file is the order of time",
        )
    # Guessed dates must be asked for: they decide what comes before what.
    n_without = len(dates) - len(known_dates)
    if n_without and not spread:
        raise ConfigError(
            f"{n_without} of {len(dates)} pictures have no date; date them, leave them"
            " out (--skip-undated), or spread the known dates (--spread-dates)"
        )
    # A picture without a date has the span (0, 0) until a date is spread to it.
    note = "all pictures are dated"
    days = _day_spans(dates)
    if n_without:
        without = np.array([date is None for date in dates])
        days[without] = spread_dates(embeddings, dates)[without, None]
        note = f"{len(known_dates)} pictures are dated, {n_without} got dates by label spreading"
    # Users should know that a year and a day are compared as spans.
    counts = Counter(date.precision for date in known_dates)
    if len(counts) > 1:
        precisions = ", ".join(
            f"{counts[p]} by {p}"
            for p in ("year", "month", "day", "span")
            if counts[p]
        )
        note += (
            f"; they are dated to different precision ({precisions}): "
            "dates that overlap give no order"
        )
    if days[:, 0].max() <= days[:, 1].min():
        note += "; no date is before another: the order of the file is the order of time"
    return KnownDays(days, note)


def _day_spans(dates: Sequence[PartialDate | None]) -> Floats:
    """Return (n, 2) first and last day numbers; (0, 0) without a date.

    An open end ("before 1890") reaches as far as the other dates do, so that it comes neither
    before nor after any of them for its unknown part.
    """
    bounded_dates = [date.bounded for date in dates if date is not None]
    earliest = min(first for first, _ in bounded_dates)
    latest = max(last for _, last in bounded_dates)
    spans = np.zeros((len(dates), 2))
    for at, date in enumerate(dates):
        if date is not None:
            spans[at] = (
                max(date.first, earliest).toordinal(),
                min(date.last, latest).toordinal(),
            )
    return spans


def order_of(
    frames: Sequence[Frame],
    day_spans: KnownDays,
    seed: int | None,
    first: int | None,
    last: int | None,
) -> Chronology:
    """Return an order of all pictures from the days they can have; see ``chronology``."""
    days, n = day_spans.spans, len(frames)
    if days is None or days[:, 0].max() <= days[:, 1].min():
        _check_ends(frames, first, last, np.arange(n), day_spans.note)
        shared_day = (
            None
            if days is None
            else np.full(n, days[:, 0].max(), dtype=np.int64)
        )
        return Chronology(np.arange(n), shared_day, day_spans.note)
    # Each picture gets a place within its days (the middle, or a drawn one); the days of others are
    # cut at the day of an end, so that as many as possible lie between the ends.
    low, high = days.T.copy()
    # An end whose day is open comes before, or after, all pictures that share its place.
    side = np.zeros(n)
    share = (
        np.full(n, 0.5)
        if seed is None
        else np.random.default_rng(seed).random(n)
    )
    if first is not None:
        earliest = days[first, 0]
        low = np.where(high >= earliest, np.maximum(low, earliest), low)
        side[first], share[first] = -float(earliest < days[first, 1]), 0.0
    if last is not None:
        latest = days[last, 1]
        high = np.where(low <= latest, np.minimum(high, latest), high)
        side[last], share[last] = float(days[last, 0] < latest), 1.0
    place = low + share * (high - low)
    order = np.lexsort((np.arange(n), side, place))
    _check_ends(frames, first, last, np.argsort(order), day_spans.note)
    return Chronology(
        order, np.floor(place[order]).astype(np.int64), day_spans.note
    )


def _check_ends(
    frames: Sequence[Frame],
    first: int | None,
    last: int | None,
    rank: Places,
    note: str,
) -> None:
    # Free ends always fit.
    if first is None or last is None or rank[first] < rank[last]:
        return
    source, target = frames[first], frames[last]
    if first == last:
        raise ConfigError(
            f"{source.id!r} is source and target; a storyline needs two pictures"
        )
    end_names = (
        f"{end.id!r}" + (f" ({end.date})" if end.date else "")
        for end in (source, target)
    )
    raise ConfigError(
        f"the source {' comes after the target '.join(end_names)} in the order of time ({note});"
        " exchange the two, or correct the order"
    )


@dataclass(frozen=True, slots=True)
class ExtractionTask:
    """The ends and the length of storylines to extract.

    Attributes:
        name: Part of the ids of what is extracted.
        k: Pictures of a storyline.
        source: Id of the first picture, or None.
        target: Id of the last one, or None.
    """

    name: str
    k: int
    source: str | None = None
    target: str | None = None

    @classmethod
    def like(cls, storyline: Storyline) -> ExtractionTask:
        """Return a task with the ends and the length of a storyline."""
        frames = storyline.frames
        return cls(storyline.id, len(frames), frames[0].id, frames[-1].id)


@dataclass(frozen=True, slots=True)
class Extracted:
    """A storyline and its path through the collection.

    Attributes:
        storyline: The storyline.
        path: Its path through the collection in the order of time.
        signature: Signature of its theta.
        time: Basis of the order of time.
    """

    storyline: Storyline
    path: StorylinePath
    signature: str
    time: str


def extract(
    frames: Sequence[Frame],
    embeddings: ArrayLike,
    tasks: Sequence[ExtractionTask],
    how: Extraction,
) -> Iterator[Extracted]:
    """Extract storylines from a collection.

    Args:
        frames: n pictures.
        embeddings: (n, D) their vectors.
        tasks: Ends and lengths.
        how: The method and its settings.

    Yields:
        Per task and replication one sequence.

    Raises:
        ConfigError: An end is no picture of the collection, the source is after the target, there
            are fewer pictures between them than asked for, or as the ways say.
    """
    vectors = np.asarray(embeddings)
    topics = (
        None if how.topics is None else topics_by(how.topics, frames, vectors)
    )
    space = Space.from_embeddings(
        vectors,
        None if topics is None else topics.memberships,
        jsd=how.jsd,
        base=how.base,
        scale=how.scale,
    )
    day_spans = known_days(frames, vectors, how.spread_dates)
    places = {frame.id: place for place, frame in enumerate(frames)}
    for number, task in enumerate(tasks):
        # Only "random" draws: the other methods give the same path for the same order and days.
        paths_by_order: dict[tuple[bytes, bytes], StorylinePath] = {}
        source, target = (
            _place(places, end) for end in (task.source, task.target)
        )
        for replication in range(how.replications):
            # The first replication has no seed: the middle of each date, reproducible by hand.
            seed = how.seed + replication if replication else None
            time = order_of(frames, day_spans, seed, source, target)
            days = b"" if time.days is None else time.days.tobytes()
            key = (time.order.tobytes(), days)
            if how.method == "random" or key not in paths_by_order:
                rng = np.random.default_rng([how.seed, number, replication])
                paths_by_order[key] = _path(
                    space.subset(time.order),
                    task,
                    how,
                    (time.rank_of(source), time.rank_of(target)),
                    time.days,
                    None if topics is None else topics.assigned[time.order],
                    rng,
                )
            path = paths_by_order[key]
            storyline = Storyline(
                f"{how.method}-{task.name}-{replication + 1}",
                tuple(frames[int(time.order[p])] for p in path.positions),
                source=how.method,
                group={
                    "task": task.name,
                    "length": str(task.k),
                    "replication": str(replication + 1),
                },
            )
            yield Extracted(storyline, path, space.signature, time.note)


def _place(places: Mapping[str, int], frame_id: str | None) -> int | None:
    if frame_id is None:
        return None
    if frame_id in places:
        return places[frame_id]
    raise ConfigError(
        f"{frame_id!r} is not a usable picture of the collection"
    )


def _check_length(
    task: ExtractionTask, start: int | None, end: int | None, n: int
) -> None:
    n_between = (n - 1 if end is None else end) - (start or 0) + 1
    if not 2 <= task.k <= n_between:
        source, target = (
            task.source or "the first picture",
            task.target or "the last one",
        )
        raise ConfigError(
            f"k={task.k}: from {source} to {target} there are {n_between} pictures in the order of"
            " time, both counted; ask for 2 to that many, or take other ends"
        )


def _path(
    space: Space,
    task: ExtractionTask,
    how: Extraction,
    ends: tuple[int | None, int | None],
    dates: ArrayLike | None,
    topics: ArrayLike | None,
    rng: np.random.Generator,
) -> StorylinePath:
    source, target = ends
    # Trails choose their own length; all other methods need a length that fits the ends.
    if how.method != "trails":
        _check_length(task, source, target, len(space))
    if how.method == "maxmin":
        return maxmin(
            space,
            task.k,
            source=source,
            target=target,
            window=how.window,
            days=how.days,
            dates=dates,
            topics=topics,
            cover=how.cover,
        )
    if source is None or target is None:
        raise ConfigError(
            f"{how.method} needs the first and the last picture (--source, --target)"
        )
    if how.method == "maps":
        return narrative_map(
            space, task.k, source=source, target=target, window=how.window
        )
    if how.method == "trails":
        return trail(space, source=source, target=target)
    return random_storyline(
        space, task.k, source=source, target=target, rng=rng
    )


def random_storyline(
    space: Space, k: int, *, source: int, target: int, rng: np.random.Generator
) -> StorylinePath:
    """Return source, k - 2 random positions between the ends, and target, in order of time.

    The baseline below which no extraction should fall.

    Args:
        space: The collection in order of time.
        k: Pictures of the storyline, at least 2.
        source: Position of the first picture.
        target: Position of the last picture.
        rng: Draws the positions, each with the same chance.

    Raises:
        ConfigError: There are not enough pictures between the ends.
    """
    first, last = ends(space, source, target, k)
    inner = np.sort(
        rng.choice(np.arange(first + 1, last), size=k - 2, replace=False)
    )
    return path_through(space, [first, *inner, last])
