"""From a collection to sequences: order in time, choose a method, give each storyline its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike

from beholder.errors import ConfigError
from beholder.narratives.maps import narrative_map
from beholder.narratives.paths import StorylinePath
from beholder.narratives.sample import random_storyline
from beholder.narratives.space import JSD, Base, Scale, Space
from beholder.narratives.timeline import known_days, order_of
from beholder.narratives.topics import topics_by
from beholder.narratives.trails import trail
from beholder.narratives.widest import maxmin
from beholder.records import Frame, Storyline

ExtractionMethod: TypeAlias = Literal["maxmin", "maps", "trails", "random"]
METHODS: tuple[ExtractionMethod, ...] = get_args(ExtractionMethod)


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
class Extraction:
    """How storylines are extracted.

    Attributes:
        method: How a path is found.
        replications: Extractions per task; each but the first takes another order of the pictures
            whose dates leave it open, and random ones draw anew.
        alternatives: Storylines that differ from each other (maxmin).
        min_difference: Share of inner pictures in which alternatives must differ.
        window: Longest step in positions (maxmin, maps).
        days: Longest step in days (maxmin).
        cover: Topics to visit at least (maxmin); needs ``topics``.
        near_duplicate: Cosine from which two pictures are near duplicates, and a step between them
            is penalised (maxmin).
        topics: Topics that enter theta: labels:NAME, clusters or clusters:umap.
        jsd: Topic term of theta.
        base: Base of its logarithm, or e.
        scale: Scale of theta: ``minmax`` is over the collection.
        spread_dates: Give undated pictures a date from similar dated ones.
        seed: Of orders that dates leave open, and of draws.

    Raises:
        ConfigError: An option is wrong, or the method does not know it.
    """

    method: ExtractionMethod = "maxmin"
    replications: int = 1
    alternatives: int = 1
    min_difference: float = 0.5
    window: int | None = None
    days: int | None = None
    cover: int = 0
    near_duplicate: float | None = None
    topics: str | None = None
    jsd: JSD = "divergence"
    base: Base = 2.0
    scale: Scale = "raw"
    spread_dates: bool = False
    seed: int = 12345

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise ConfigError(f"method {self.method!r}: expected one of {', '.join(METHODS)}")
        if self.replications < 1:
            raise ConfigError(f"replications={self.replications}: expected at least 1")
        only_maxmin = {
            "alternatives": self.alternatives > 1,
            "days": self.days is not None,
            "cover": self.cover > 0,
            "near_duplicate": self.near_duplicate is not None,
        }
        wrong = [name for name, given in only_maxmin.items() if given]
        if self.method != "maxmin" and wrong:
            raise ConfigError(f"{wrong[0]} is an option of maxmin; {self.method} does not know it")
        if self.method in ("trails", "random") and self.window is not None:
            raise ConfigError(f"window is an option of maxmin and maps; {self.method} has none")


@dataclass(frozen=True, slots=True)
class Extracted:
    """A storyline with the path through the collection that it stands for.

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
        Per task and replication one sequence, or several when alternatives are asked for.

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
