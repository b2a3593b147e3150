"""The measures of a run: vectors of its pictures, coherence, distance to human narratives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from beholder.embed.images import image_embedder, usable_frames
from beholder.narratives.space import Floats, Space
from beholder.narratives.strength import Coherence, coherence_of
from beholder.narratives.topics import topics_by
from beholder.narratives.warping import WarpedAlignment, dtw
from beholder.records import Frame, ItemFailure
from beholder.records import Sequence as Narrative
from beholder.run.narrate.config import NarrateConfig

MATRIX_SIDE = 400
"""Pictures in the drawn theta matrix at most."""


@dataclass
class Measures:
    """What was measured.

    Attributes:
        signature: How theta was made.
        embedder: Identity of the embedder.
        learned: Whether its vectors can carry meaning.
        coherence: Per position of a narrative, or why it has none.
        nearest: Per position: position of the nearest human narrative and the alignment with it;
            none for human ones.
        matrix: Theta of the pictures of ``matrix_frames`` in order.
        matrix_frames: Ids.
        matrix_order: What their order is: by date when all are dated, else that of the file.
        notes: What was left out.
    """

    signature: str
    embedder: str
    learned: bool
    coherence: dict[int, Coherence | ItemFailure] = field(default_factory=dict)
    nearest: dict[int, tuple[int, WarpedAlignment]] = field(default_factory=dict)
    matrix: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    matrix_frames: tuple[str, ...] = ()
    matrix_order: str = "in order of the file"
    notes: tuple[str, ...] = ()


def measure(
    config: NarrateConfig, narratives: Sequence[Narrative], frames: Sequence[Frame]
) -> Measures:
    """Coherence of each narrative and its distance to the nearest human one.

    Raises:
        ConfigError: The embedder, or no picture, can be used.
        MissingExtraError: A package is missing.
    """
    assert config.embedder is not None
    embedder = image_embedder(config.embedder)
    kept, vectors, reasons = usable_frames(embedder, frames, config.root)
    memberships, notes = None, list(reasons)
    if config.topics is not None:
        topics = topics_by(config.topics, kept, vectors)
        memberships = topics.memberships
        notes += topics.notes
    space = Space.of(vectors, memberships, jsd=config.jsd, base=config.base, scale=config.scale)
    found = Measures(space.signature, embedder.identity, embedder.learned, notes=tuple(notes))
    rows = {frame.id: row for row, frame in enumerate(kept)}
    for position, narrative in enumerate(narratives):
        found.coherence[position] = _coherence(space, narrative, rows)
    _nearest(found, narratives, config.human, rows, vectors)
    chosen = _drawn(narratives, kept, rows)
    if all(kept[row].date is not None for row in chosen):
        chosen.sort(key=lambda row: (_first_day(kept[row]), row))
        found.matrix_order = "in order of time"
    found.matrix = space.subset(chosen).theta()
    found.matrix_frames = tuple(kept[row].id for row in chosen)
    return found


def _coherence(space: Space, narrative: Narrative, rows: dict[str, int]) -> Coherence | ItemFailure:
    missing = [frame for frame in narrative.frames if frame.id not in rows]
    if missing:
        frame = missing[0]
        where = f" ({frame.image})" if frame.image else ""
        return ItemFailure("ItemError", f"frame {frame.id!r}{where} has no vector")
    if len(narrative.frames) < 2:
        return ItemFailure("ItemError", "a sequence of one picture has no step")
    return coherence_of(space, [rows[frame.id] for frame in narrative.frames])


def _nearest(
    found: Measures,
    narratives: Sequence[Narrative],
    human: str,
    rows: dict[str, int],
    vectors: Floats,
) -> None:
    paths = {
        position: vectors[[rows[frame.id] for frame in narrative.frames]]
        for position, narrative in enumerate(narratives)
        if all(frame.id in rows for frame in narrative.frames)
    }
    people = [position for position in paths if narratives[position].source == human]
    for position, path in paths.items():
        if narratives[position].source == human or not people:
            continue
        aligned = [(other, dtw(path, paths[other])) for other in people]
        found.nearest[position] = min(aligned, key=lambda pair: pair[1].normalised)


def _drawn(
    narratives: Sequence[Narrative], kept: Sequence[Frame], rows: dict[str, int]
) -> list[int]:
    """Pictures of the matrix: those of the narratives, then an even sample of the rest."""
    used = {rows[f.id] for narrative in narratives for f in narrative.frames if f.id in rows}
    rest = [row for row in range(len(kept)) if row not in used]
    room = max(0, MATRIX_SIDE - len(used))
    step = max(1, -(-len(rest) // room)) if room else len(rest) + 1
    return sorted(sorted(used)[:MATRIX_SIDE] + rest[::step][:room])


def _first_day(frame: Frame) -> int:
    return 0 if frame.date is None else frame.date.first.toordinal()
