"""From a collection to sequences: order in time, choose a method, give each storyline its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from beholder.errors import ConfigError
from beholder.kinds.narratives.config import Extraction
from beholder.kinds.narratives.storylines.maps import narrative_map
from beholder.kinds.narratives.storylines.space import Space, StorylinePath, ends, path_through
from beholder.kinds.narratives.storylines.timeline import known_days, order_of
from beholder.kinds.narratives.storylines.topics import topics_by
from beholder.kinds.narratives.storylines.trails import trail
from beholder.kinds.narratives.storylines.widest import maxmin
from beholder.records import Frame, Storyline


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
        """Ends and length of a given storyline."""
        frames = storyline.frames
        return cls(storyline.id, len(frames), frames[0].id, frames[-1].id)


@dataclass(frozen=True, slots=True)
class Extracted:
    """A storyline and its path through the collection.

    Attributes:
        storyline: The storyline.
        path: Its path through the collection in the order of time.
        signature: What fixes its theta.
        time: What the order of time rests on.
    """

    storyline: Storyline
    path: StorylinePath
    signature: str
    time: str


def extract(
    frames: Sequence[Frame], embeddings: ArrayLike, tasks: Sequence[ExtractionTask], how: Extraction
) -> Iterator[Extracted]:
    """Extract storylines from a collection.

    Args:
        frames: n pictures.
        embeddings: (n, D) their vectors.
        tasks: Ends and lengths.
        how: The method and its settings.

    Yields:
        Per task and replication one sequence, or several if ``alternatives`` is above 1.

    Raises:
        ConfigError: An end is no picture of the collection, the source is after the target, there
            are fewer pictures between them than asked for, or as the ways say.
    """
    vectors = np.asarray(embeddings)
    topics = None if how.topics is None else topics_by(how.topics, frames, vectors)
    memberships = None if topics is None else topics.memberships
    whole = Space.of(vectors, memberships, jsd=how.jsd, base=how.base, scale=how.scale)
    known = known_days(frames, vectors, how.spread_dates)
    places = {frame.id: place for place, frame in enumerate(frames)}
    for number, task in enumerate(tasks):
        source, target = (_place(places, end) for end in (task.source, task.target))
        for replication in range(how.replications):
            seed = how.seed + replication if replication else None
            time = order_of(frames, known, seed, source, target)
            at = {int(place): rank for rank, place in enumerate(time.order)}
            start = None if source is None else at[source]
            end = None if target is None else at[target]
            if how.method != "trails":
                _check_length(task, start, end, len(frames))
            found = _storylines(
                whole.subset(time.order),
                task,
                how,
                ends=(start, end),
                dates=time.days,
                topics=None if topics is None else topics.assigned[time.order],
                rng=np.random.default_rng([how.seed, number, replication]),
            )
            for alternative, line in enumerate(found):
                chosen = [frames[int(time.order[p])] for p in line.positions]
                group = {
                    "task": task.name,
                    "length": str(task.k),
                    "replication": str(replication + 1),
                }
                name = f"{how.method}-{task.name}-{replication + 1}"
                if how.alternatives > 1:
                    name, group = (
                        f"{name}-{alternative + 1}",
                        group | {"alternative": str(alternative + 1)},
                    )
                storyline = Storyline(name, tuple(chosen), source=how.method, group=group)
                yield Extracted(storyline, line, whole.signature, time.note)


def _place(places: Mapping[str, int], frame_id: str | None) -> int | None:
    if frame_id is None or frame_id in places:
        return None if frame_id is None else places[frame_id]
    raise ConfigError(f"{frame_id!r} is no usable picture of the collection")


def _check_length(task: ExtractionTask, start: int | None, end: int | None, n: int) -> None:
    there = (n - 1 if end is None else end) - (start or 0) + 1
    if not 2 <= task.k <= there:
        source, target = task.source or "the first picture", task.target or "the last one"
        raise ConfigError(
            f"k={task.k}: from {source} to {target} there are {there} pictures in the order of"
            " time, both counted; ask for 2 to that many, or take other ends"
        )


def _storylines(
    space: Space,
    task: ExtractionTask,
    how: Extraction,
    *,
    ends: tuple[int | None, int | None],
    dates: ArrayLike | None,
    topics: ArrayLike | None,
    rng: np.random.Generator,
) -> list[StorylinePath]:
    source, target = ends
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
            near_duplicate=how.near_duplicate,
            alternatives=how.alternatives,
            min_difference=how.min_difference,
        )
    if source is None or target is None:
        raise ConfigError(f"{how.method} needs the first and the last picture (--source, --target)")
    if how.method == "maps":
        return [narrative_map(space, task.k, source=source, target=target, window=how.window)]
    if how.method == "trails":
        return [trail(space, source=source, target=target)]
    return [random_storyline(space, task.k, source=source, target=target, rng=rng)]


def random_storyline(
    space: Space, k: int, *, source: int, target: int, rng: np.random.Generator
) -> StorylinePath:
    """Source, k - 2 different positions strictly between the ends, target; in order of time.

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
    first, last = ends(space, source, target)
    between = np.arange(first + 1, last)
    if not 2 <= k <= len(between) + 2:
        raise ConfigError(
            f"k={k}: a storyline from position {first} to {last} has 2 to {len(between) + 2}"
            " pictures"
        )
    inner = np.sort(rng.choice(between, size=k - 2, replace=False))
    return path_through(space, [first, *inner, last], "random")
