"""Coherence of storylines, and their distance to the nearest human one, as a run measures them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal, Self

from beholder.asking.asker import Asker, ValueInfo
from beholder.asking.params import REQUIRED, param
from beholder.asking.tools import Tools
from beholder.base.registry import versioned
from beholder.base.spec import tool
from beholder.embed.images import ImageEmbedder, usable_frames
from beholder.errors import ItemError
from beholder.kinds.narratives.storylines import strength
from beholder.kinds.narratives.storylines.space import Floats, Space
from beholder.kinds.narratives.storylines.topics import topics_by
from beholder.records import Frame, ItemScore, Storyline


@dataclass(frozen=True, eq=False)
class EmbeddedPictures:
    """The pictures of a collection that have a vector, and the space they are compared in.

    Attributes:
        frames: The pictures.
        vectors: (n, D) their vectors.
        space: Theta over them.
        embedder: Identity of the embedder.
        learned: Whether its vectors can carry meaning.
        notes: What was left out.
    """

    frames: tuple[Frame, ...]
    vectors: Floats
    space: Space
    embedder: str
    learned: bool
    notes: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Row of each picture, by id."""
        return {frame.id: row for row, frame in enumerate(self.frames)}

    def path(self, storyline: Storyline) -> Floats:
        """(n, D) vectors of a storyline's pictures in order; they must all have one."""
        return self.vectors[
            [self.rows[frame.id] for frame in storyline.frames]
        ]

    def holds(self, storyline: Storyline) -> bool:
        """Whether all pictures of a storyline have a vector."""
        return all(frame.id in self.rows for frame in storyline.frames)


@dataclass(frozen=True)
class MeasureCoherence(Asker[Storyline]):
    """Coherence of a storyline, and its distance (DTW) to the nearest human one.

    Human storylines have no distance: theirs to themselves would be 0. The outcome's detail holds
    the steps and the alignment, a failure's the alignment if there is one.

    Attributes:
        collection: Digest of the pictures that theta is scaled over.
        pictures: Their vectors; the run makes them once.
        people: The human storylines.
        data: Digest of the human storylines, and of the collection where theta depends on it.
    """

    registered_name: ClassVar[str] = "coherence"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo("minimum", "theta of the weakest step"),
        ValueInfo("mean", "mean theta of the steps"),
        ValueInfo("geometric_mean", "geometric mean of the steps' theta"),
        ValueInfo(
            "distance",
            "normalised DTW to the nearest human storyline",
            0.0,
            2.0,
            False,
        ),
    )

    embedder: str = param(
        REQUIRED, "npz:FILE, clip:NAME or handcrafted", tool="image_embedder"
    )
    jsd: Literal["divergence", "distance"] = param(
        "divergence", "topic term of theta: divergence or distance"
    )
    base: float | Literal["e"] = param(2.0, "base of its logarithm: 2 or 'e'")
    scale: Literal["raw", "minmax"] = param(
        "raw", "scale of theta: raw, or minmax over the collection"
    )
    topics: str | None = param(
        None, "labels:NAME, clusters, clusters:umap or None"
    )
    human: str = param(
        "human", "source of the storylines that the others are compared with"
    )
    collection: str = ""
    pictures: EmbeddedPictures | None = field(
        default=None, compare=False, repr=False
    )
    people: tuple[Storyline, ...] = field(
        default=(), compare=False, repr=False
    )
    data: str = ""

    @property
    def looks(self) -> bool:
        """Whether vectors are made of pictures, and not read from a file."""
        return tool(self.embedder).name != "npz"

    def prepare(self, subjects: Iterable[Storyline]) -> Self:
        """Find the human storylines, and what all numbers depend on."""
        people = tuple(
            storyline
            for storyline in subjects
            if storyline.source == self.human
        )
        whole = (
            self.scale == "minmax" or self.topics is not None
        )  # theta depends on all pictures
        paths = [[frame.id for frame in one.frames] for one in people]
        told = [self.collection if whole else None, paths]
        return replace(self, people=people, data=digest(told))

    def signature(self, identities: Mapping[str, str] | None = None) -> str:
        """What fixes the numbers, the pictures and human storylines included."""
        own = super().signature(identities)
        return f"{own}|data:{self.data}" if self.data else own

    def embed(
        self, embedder: ImageEmbedder, frames: Iterable[Frame], root: Path
    ) -> EmbeddedPictures:
        """The collection as this asker compares it.

        Args:
            embedder: The one that ``embedder`` names.
            frames: The collection.
            root: Folder that images are relative to.

        Raises:
            ConfigError: No picture can be embedded, or topics cannot be found.
            MissingExtraError: A package is missing.
        """
        kept, vectors, reasons = usable_frames(embedder, frames, root)
        memberships, notes = None, list(reasons)
        if self.topics is not None:
            topics = topics_by(self.topics, kept, vectors)
            memberships = topics.memberships
            notes += topics.notes
        space = Space.of(
            vectors,
            memberships,
            jsd=self.jsd,
            base=self.base,
            scale=self.scale,
        )
        identity = versioned(embedder, embedder.identity)
        learned = embedder.learned
        return EmbeddedPictures(
            tuple(kept), vectors, space, identity, learned, tuple(notes)
        )

    def check(self, subject: Storyline) -> None:
        """Refuse a storyline that has no step."""
        if len(subject.frames) < 2:
            raise ItemError("a sequence of one picture has no step")

    async def evaluate(self, subject: Storyline, tools: Tools) -> ItemScore:
        """Measure one storyline.

        Raises:
            ItemError: A picture has no vector, or there is only one.
        """
        assert self.pictures is not None  # the run embeds before it asks
        rows = self.pictures.rows
        for frame in subject.frames:
            if frame.id not in rows:
                where = f" ({frame.image})" if frame.image else ""
                raise ItemError(f"frame {frame.id!r}{where} has no vector")
        detail: dict[str, object] = {}
        values: dict[str, float] = {}
        nearest = self._nearest(subject, self.pictures)
        if nearest is not None:
            name, alignment = nearest
            detail["nearest"] = {"storyline": name, **asdict(alignment)}
            values["distance"] = alignment.normalised
        try:
            self.check(subject)
        except ItemError as error:
            raise ItemError(str(error), detail=detail) from error
        found = strength.coherence_of(
            self.pictures.space, [rows[frame.id] for frame in subject.frames]
        )
        names = ("minimum", "mean", "geometric_mean")
        values = {name: getattr(found, name) for name in names} | values
        detail |= {
            "steps": found.steps,
            "weakest": found.weakest,
            "theta": found.signature,
        }
        return ItemScore(
            values, (), self.signature(self.identities(tools)), detail
        )

    def _nearest(
        self, storyline: Storyline, pictures: EmbeddedPictures
    ) -> tuple[str, strength.WarpedAlignment] | None:
        if storyline.source == self.human:
            return None
        path = pictures.path(storyline)
        alignments = (
            (one.id, strength.dtw(path, pictures.path(one)))
            for one in self.people
            if pictures.holds(one)
        )
        return min(
            alignments, key=lambda pair: pair[1].normalised, default=None
        )


def digest(value: object) -> str:
    """Digest of JSON values, such as the rows of a collection's pictures."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:12]
