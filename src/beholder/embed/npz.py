"""Image vectors that were made elsewhere, from a NumPy archive."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.images import ImageEmbedder, unit_rows
from beholder.errors import ConfigError, ItemError
from beholder.media import file_sha256
from beholder.records import Frame


class NpzVectors(ImageEmbedder):
    """Ready vectors (spec ``npz:FILE``): arrays ``embeddings`` (n, D) and ``ids`` (n,).

    Rows are scaled to length one. Pictures are found by their id, never by position.

    Args:
        path: The archive.

    Raises:
        ConfigError: It cannot be read, lacks an array, or its arrays do not fit together.
    """

    def __init__(self, path: str) -> None:
        self.path = Path(path)
        ids, vectors = _read(self.path)
        self._vectors = unit_rows(vectors)
        self._row_of = {frame_id: row for row, frame_id in enumerate(ids)}
        if len(self._row_of) < len(ids):
            raise ConfigError(f"{path}: two rows have the same id")

    @property
    def identity(self) -> str:
        """``npz:NAME@HASH`` of the file."""
        return f"npz:{self.path.name}@{file_sha256(self.path)[:12]}"

    def embed(self, frames: Sequence[Frame], root: Path) -> FloatArray:
        """See ``ImageEmbedder.embed``; no picture is opened."""
        for frame in frames:
            if frame.id not in self._row_of:
                raise ItemError(f"frame {frame.id!r} has no vector in {self.path}")
        return self._vectors[[self._row_of[frame.id] for frame in frames]]


def _read(path: Path) -> tuple[list[str], FloatArray]:
    try:
        with np.load(path, allow_pickle=False) as archive:
            ids = [str(frame_id) for frame_id in archive["ids"]]
            vectors = archive["embeddings"]
    except KeyError as error:
        raise ConfigError(
            f"{path}: has no array {error}; expected 'ids' and 'embeddings'"
        ) from None
    except (OSError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise ConfigError(f"{path}: cannot be read as a NumPy archive ({error})") from error
    if vectors.ndim != 2 or len(vectors) != len(ids) or vectors.dtype.kind != "f":
        raise ConfigError(
            f"{path}: expected float embeddings of shape ({len(ids)}, D), got {vectors.dtype}"
            f" {vectors.shape}"
        )
    if not np.isfinite(vectors).all():
        raise ConfigError(f"{path}: has vectors that are not finite")
    return ids, vectors
