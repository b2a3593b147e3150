"""Weights in files of one's own: what tells them from those that lay there before."""

from __future__ import annotations

import hashlib
from pathlib import Path


def weights_digest(place: Path) -> str:
    """Hash over the files of a model, weights and all: they are read to be loaded anyway.

    Args:
        place: A folder, of which the files in it count, or one file.
    """
    total = hashlib.sha256()
    for path in sorted(p for p in place.iterdir() if p.is_file()) if place.is_dir() else [place]:
        total.update(f"{path.name}:{path.stat().st_size}:".encode())
        with path.open("rb") as data:
            total.update(hashlib.file_digest(data, "sha256").digest())
    return total.hexdigest()
