"""Coherence of storylines, and their distance to the nearest human one, as a run measures them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Literal, Self

from beholder.asking.asker import Asker, ValueInfo
from beholder.asking.params import REQUIRED, param
from beholder.asking.tools import Tools
from beholder.base.files import json_digest
from beholder.base.registry import versioned_identity
from beholder.base.spec import canonical_spec
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
        notes: Sentences on omitted parts.
    """

    frames: tuple[Frame, ...]
    vectors: Floats
    space: Space
    embedder: str
    learned: bool
    notes: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """Return the row of each picture, by id."""
        return {frame.id: row for row, frame in enumerate(self.frames)}

    def path(self, storyline: Storyline) -> Floats:
        """Return the (n, D) vectors of a storyline's pictures in order; all must have one."""
        return self.vectors[
            [self.rows[frame.id] for frame in storyline.frames]
        ]

    def has_vectors(self, storyline: Storyline) -> bool:
        """Return whether all pictures of a storyline have a vector."""
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
        """Return whether pictures are needed: vectors are computed, not read from a file."""
        return canonical_spec(self.embedder).name != "npz"

    def prepare(self, subjects: Iterable[Storyline]) -> Self:
        """Keep the human storylines, and a digest of all that numbers depend on."""
        people = tuple(
            storyline
            for storyline in subjects
            if storyline.source == self.human
        )
        # On the raw scale without topics, theta of two pictures depends on these two alone: a
        # longer collection leaves the signature as it is.
        depends_on_all = self.scale == "minmax" or self.topics is not None
        paths = [
            [frame.id for frame in storyline.frames] for storyline in people
        ]
        content = [self.collection if depends_on_all else None, paths]
        return replace(self, people=people, data=digest(content))

    def signature(self, identities: Mapping[str, str] | None = None) -> str:
        """Return the signature with a digest of human storylines, and of pictures if needed."""
        text = super().signature(identities)
        return f"{text}|data:{self.data}" if self.data else text

    def embed(
        self, embedder: ImageEmbedder, frames: Iterable[Frame], root: Path
    ) -> EmbeddedPictures:
        """Embed the collection and build the space that it is compared in.

        Args:
            embedder: The embedder of the spec ``self.embedder``.
            frames: The collection.
            root: Folder that images are relative to.

        Raises:
            ConfigError: No picture can be embedded, or topics cannot be found.
            MissingExtraError: A package is missing.
        """
        usable, vectors, reasons = usable_frames(embedder, frames, root)
        # Pictures that cannot be embedded are left out and noted; storylines with them fail.
        memberships, notes = None, list(reasons)
        if self.topics is not None:
            topics = topics_by(self.topics, usable, vectors)
            memberships = topics.memberships
            notes += topics.notes
        space = Space.from_embeddings(
            vectors,
            memberships,
            jsd=self.jsd,
            base=self.base,
            scale=self.scale,
        )
        identity = versioned_identity(embedder, embedder.identity)
        learned = embedder.learned
        return EmbeddedPictures(
            tuple(usable), vectors, space, identity, learned, tuple(notes)
        )

    def check(self, subject: Storyline) -> None:
        """Raise an error for a storyline of one picture, which has no step."""
        if len(subject.frames) < 2:
            raise ItemError("a sequence of one picture has no step")

    async def evaluate(self, subject: Storyline, tools: Tools) -> ItemScore:
        """Measure one storyline.

        Raises:
            ItemError: A picture has no vector, or there is only one.
        """
        # The run embeds before it asks. The distance comes first: one picture has a distance but
        # no step, and its failure keeps that.
        assert self.pictures is not None
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
        coherence = strength.coherence_of(
            self.pictures.space, [rows[frame.id] for frame in subject.frames]
        )
        names = ("minimum", "mean", "geometric_mean")
        values = {name: getattr(coherence, name) for name in names} | values
        detail |= {
            "steps": coherence.steps,
            "weakest": coherence.weakest,
            "theta": coherence.signature,
        }
        return ItemScore(
            values, (), self.signature(self.identities(tools)), detail
        )

    def _nearest(
        self, storyline: Storyline, pictures: EmbeddedPictures
    ) -> tuple[str, strength.WarpedAlignment] | None:
        # The distance of a human storyline to itself is 0 and would build in a correlation.
        if storyline.source == self.human:
            return None
        path = pictures.path(storyline)
        alignments = (
            (human.id, strength.dtw(path, pictures.path(human)))
            for human in self.people
            if pictures.has_vectors(human)
        )
        return min(
            alignments, key=lambda pair: pair[1].normalised, default=None
        )


def digest(value: object) -> str:
    """Return a digest of JSON values, such as the rows of a collection's pictures."""
    return json_digest(value)[:12]
