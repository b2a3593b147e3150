"""Image embeddings: CLIP, ready vectors from a file, and a built-in handcrafted one.

They have a registry of their own: what they take is a picture, not a text.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar

import numpy as np

from beholder.embed.base import FloatArray
from beholder.errors import ConfigError, ItemError
from beholder.media import inside
from beholder.records import Frame
from beholder.registry import Registry


class ImageEmbedder(ABC):
    """Turns pictures into vectors of length one.

    Attributes:
        learned: Whether the vectors come from a trained model and can carry meaning. Reports name
            the embedder, and say so when it is not learned.
        per_process: Whether it may be made anew in every worker process.
    """

    learned: ClassVar[bool] = True
    per_process: ClassVar[bool] = False

    @property
    @abstractmethod
    def identity(self) -> str:
        """What fixes the vectors, for signatures: name and revision or hash."""

    @abstractmethod
    def embed(self, frames: Sequence[Frame], root: Path) -> FloatArray:
        """Vectors of some frames.

        Args:
            frames: n frames.
            root: Folder that their images are relative to.

        Returns:
            Array (n, D), float32, rows of length 1.

        Raises:
            ItemError: A frame has no picture that can be read, or no vector; names it.
        """


IMAGE_EMBEDDERS: Registry[ImageEmbedder] = Registry(
    kind="image embedder",
    base=ImageEmbedder,  # type: ignore[type-abstract]
    builtin={
        "handcrafted": "beholder.embed.handcrafted:Handcrafted",
        "npz": "beholder.embed.npz:NpzVectors",
        "clip": "beholder.embed.clip:Clip",
    },
    group="beholder.image_embedders",
)


def image_embedder(spec: str, **options: object) -> ImageEmbedder:
    """Build an image embedder from its spec.

    Args:
        spec: ``handcrafted``, ``npz:FILE``, ``clip:NAME_OR_PATH`` (extra ``hf``), or
            ``package/name`` of an outside package.
        options: Keyword arguments of its class that are no part of a spec, such as ``device``.

    Raises:
        UnknownNameError: Nothing has that name.
        ConfigError: The spec cannot be read, or an argument or option does not fit.
        MissingExtraError: The embedder needs a package that is not installed.
    """
    return IMAGE_EMBEDDERS.build(spec, **options)


def usable_frames(
    embedder: ImageEmbedder, frames: Iterable[Frame], root: Path
) -> tuple[list[Frame], FloatArray, list[str]]:
    """Embed one by one where a batch fails, so that one broken picture costs only itself.

    Returns:
        The frames with a vector, their vectors (n, D), and for every other frame why it has none.

    Raises:
        ConfigError: No frame has a vector.
    """
    kept: list[Frame] = []
    rows: list[FloatArray] = []
    reasons: list[str] = []
    for batch in _batches(list(frames), 64):
        try:
            rows.append(embedder.embed(batch, root))
            kept.extend(batch)
            continue
        except ItemError:
            pass  # one of the batch is broken; the next lines find out which
        for frame in batch:
            try:
                rows.append(embedder.embed([frame], root))
                kept.append(frame)
            except ItemError as error:
                reasons.append(str(error))
    if not kept:
        raise ConfigError(f"no picture of the collection can be embedded; the first: {reasons[0]}")
    return kept, np.concatenate(rows), reasons


def frame_file(frame: Frame, root: Path) -> Path:
    """The picture file of a frame.

    Raises:
        ItemError: The frame names none, or a link leads out of the root.
    """
    if frame.image is None:
        raise ItemError(f"frame {frame.id!r} has no image")
    return inside(root, frame.image)


def unit_rows(rows: FloatArray) -> FloatArray:
    """Rows scaled to length 1, float32; rows of zeros stay zero."""
    wide = np.asarray(rows, dtype=np.float64)
    length = np.linalg.norm(wide, axis=1, keepdims=True)
    return (wide / np.where(length > 0, length, 1.0)).astype(np.float32)


def _batches(frames: list[Frame], size: int) -> Iterable[list[Frame]]:
    for start in range(0, len(frames), size):
        yield frames[start : start + size]
