"""Image embeddings: CLIP, ready vectors from a file, and a built-in handcrafted one.

They have a registry of their own because their input is a picture, not a text.
"""

from __future__ import annotations

import zipfile
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from beholder.base.optional import require
from beholder.base.registry import Registry
from beholder.embed.base import FloatArray
from beholder.errors import ConfigError, ItemError
from beholder.records import Frame


class ImageEmbedder(ABC):
    """Turns pictures into vectors of length one.

    Attributes:
        learned: Whether the vectors come from a trained model and can carry meaning. Reports name
            the embedder, and say so when it is not learned.
        per_process: Whether it may be created in every worker process.
    """

    learned: ClassVar[bool] = True
    per_process: ClassVar[bool] = False

    @property
    @abstractmethod
    def identity(self) -> str:
        """Name with revision or hash that fixes the vectors, for signatures."""

    @abstractmethod
    def embed(self, frames: Sequence[Frame], root: Path) -> FloatArray:
        """Return vectors of some frames.

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
        "handcrafted": "beholder.embed.images:Handcrafted",
        "npz": "beholder.embed.images:NpzVectors",
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
    embedder: ImageEmbedder,
    frames: Iterable[Frame],
    root: Path,
) -> tuple[list[Frame], FloatArray, list[str]]:
    """Embed frames in batches, and singly where a batch fails, so that others keep their vector.

    Returns:
        The frames with a vector, their vectors (n, D), and for every other frame why it has none.

    Raises:
        ConfigError: No frame has a vector.
    """
    embedded: list[Frame] = []
    rows: list[FloatArray] = []
    reasons: list[str] = []
    all_frames = list(frames)
    for batch in (
        all_frames[start : start + 64]
        for start in range(0, len(all_frames), 64)
    ):
        try:
            rows.append(embedder.embed(batch, root))
            embedded.extend(batch)
            continue
        except ItemError:
            pass
        # A picture of this batch is broken; embedding one by one finds out
        # which.
        for frame in batch:
            try:
                rows.append(embedder.embed([frame], root))
                embedded.append(frame)
            except ItemError as error:
                reasons.append(str(error))
    if not embedded:
        raise ConfigError(
            f"no picture of the collection can be embedded; the first: {reasons[0]}"
        )
    return embedded, np.concatenate(rows), reasons


def frame_file(frame: Frame, root: Path) -> Path:
    """Return the picture file of a frame.

    Raises:
        ItemError: The frame names none, or a link leads out of the root.
    """
    if frame.image is None:
        raise ItemError(f"frame {frame.id!r} has no image")
    from beholder.media import inside  # Pillow

    return inside(root, frame.image)


def unit_rows(rows: FloatArray) -> FloatArray:
    """Return rows scaled to length 1, float32; rows of zeros stay zero."""
    wide = np.asarray(rows, dtype=np.float64)
    length = np.linalg.norm(wide, axis=1, keepdims=True)
    return (wide / np.where(length > 0, length, 1.0)).astype(np.float32)


_SIDE = 128
_TONES = 32
_COLOURS = 6


class Handcrafted(ImageEmbedder):
    """Gradients, tones and colours of a picture (spec ``handcrafted``, extra ``narratives``).

    Four blocks of equal weight, each centred and of length one: histograms of oriented gradients
    (9 orientations, cells of 16 pixels, by scikit-image) of the picture squashed to 128 x 128
    grey; its 16 x 16 thumbnail; its histogram of 32 tones; its histogram of 6 x 6 x 6 colours in
    CIELAB (the histograms under the square root). A row depends on its picture alone.

    Such vectors separate pictures that look alike from pictures that do not. They know nothing of
    what is to be seen: use them to run things, not to claim things.
    """

    learned = False

    def __init__(self) -> None:
        purpose = "the image embedder 'handcrafted'"
        self._feature: Any = require(
            "skimage.feature",
            extra="narratives",
            purpose=purpose,
        )
        self._color: Any = require(
            "skimage.color",
            extra="narratives",
            purpose=purpose,
        )

    @property
    def identity(self) -> str:
        """Name in signatures; see ``registry.versioned_identity``."""
        return "handcrafted"

    def embed(self, frames: Sequence[Frame], root: Path) -> FloatArray:
        """Return vectors of the pictures of frames; see ``ImageEmbedder.embed``."""
        return unit_rows(
            np.stack([self._vector(frame_file(f, root)) for f in frames])
        )

    def _vector(self, path: Path) -> FloatArray:
        from beholder.media import load_image  # Pillow

        image = load_image(path, max_side=2 * _SIDE).resize((_SIDE, _SIDE))
        colour = np.asarray(image, dtype=np.float64) / 255.0
        grey = self._color.rgb2gray(colour)
        # Shape: oriented gradients, as in pedestrian detection (Dalal and
        # Triggs 2005).
        gradients = self._feature.hog(
            grey,
            orientations=9,
            pixels_per_cell=(16, 16),
            cells_per_block=(2, 2),
        )
        # Layout: the mean grey of each cell.
        thumbnail = grey.reshape(16, _SIDE // 16, 16, _SIDE // 16).mean(
            axis=(1, 3)
        )
        tones = np.histogram(grey, bins=_TONES, range=(0.0, 1.0))[0]
        # Colour: CIELAB, where distance is close to what people see; a and b
        # end within 80.
        lab = self._color.rgb2lab(colour).reshape(-1, 3)
        low, high = (
            np.array([0.0, -80.0, -80.0]),
            np.array([100.0, 80.0, 80.0]),
        )
        limits = list(zip(low, high, strict=True))
        colours = np.histogramdd(np.clip(lab, low, high), _COLOURS, limits)[0]
        # The square root keeps a frequent tone or colour from outweighing all
        # others.
        parts = (
            gradients,
            thumbnail.ravel(),
            np.sqrt(tones),
            np.sqrt(colours).ravel(),
        )
        return np.concatenate([_centre(part) for part in parts])


def _centre(block: FloatArray) -> FloatArray:
    centred: FloatArray = block - block.mean()
    length = float(np.linalg.norm(centred))
    return centred / (length or 1.0)  # a blank picture has no gradients


class NpzVectors(ImageEmbedder):
    """Ready vectors (spec ``npz:FILE``): arrays ``embeddings`` (n, D) and ``ids`` (n,).

    Rows are scaled to length one. Pictures are found by their id, never by position.

    Args:
        path: The archive.

    Raises:
        ConfigError: It cannot be read, an array is missing, or its arrays do not fit together.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        ids, vectors = _read_archive(self.path)
        self._vectors = unit_rows(vectors)
        self._row_of = {frame_id: row for row, frame_id in enumerate(ids)}
        if len(self._row_of) < len(ids):
            raise ConfigError(f"{path}: two rows have the same id")

    @property
    def identity(self) -> str:
        """``npz:NAME@HASH`` of the file."""
        from beholder.media import file_sha256  # Pillow

        return f"npz:{self.path.name}@{file_sha256(self.path)[:12]}"

    def embed(self, frames: Sequence[Frame], root: Path) -> FloatArray:
        """Return the stored vectors of frames; no picture is opened."""
        for frame in frames:
            if frame.id not in self._row_of:
                raise ItemError(
                    f"frame {frame.id!r} has no vector in {self.path}"
                )
        return self._vectors[[self._row_of[frame.id] for frame in frames]]


def _read_archive(path: Path) -> tuple[list[str], FloatArray]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            ids = [str(frame_id) for frame_id in archive["ids"]]
            vectors = archive["embeddings"]
    except KeyError as error:
        raise ConfigError(
            f"{path}: has no array {error}; expected 'ids' and 'embeddings'"
        ) from None
    except FileNotFoundError:
        raise ConfigError(
            f"{path}: there is no such file; check the path in npz:FILE"
        ) from None
    # numpy raises any of these, by how the file is damaged.
    except (OSError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise ConfigError(
            f"{path}: cannot be read as a NumPy archive ({error})"
        ) from error
    if (
        vectors.ndim != 2
        or len(vectors) != len(ids)
        or vectors.dtype.kind != "f"
    ):
        raise ConfigError(
            f"{path}: expected float embeddings of shape ({len(ids)}, D), got {vectors.dtype}"
            f" {vectors.shape}"
        )
    if not np.isfinite(vectors).all():
        raise ConfigError(f"{path}: has vectors that are not finite")
    return ids, vectors
