"""Image vectors from gradients, tones and colours: no weights, no meaning, always there."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.images import ImageEmbedder, frame_file, unit_rows
from beholder.media import load_image
from beholder.optional import require
from beholder.records import Frame

_SIDE = 128
_TONES = 32
_COLOURS = 6


class Handcrafted(ImageEmbedder):
    """Gradients, tones and colours of a picture (spec ``handcrafted``, extra ``narratives``).

    Four blocks of equal weight, each centred and of length one: histograms of oriented gradients
    (9 orientations, cells of 16 pixels, by scikit-image) of the picture squashed to 128 x 128
    grey; its 16 x 16 thumbnail; its histogram of 32 tones; its histogram of 6 x 6 x 6 colours in
    CIELAB (the histograms under the square root). A row depends on its picture alone.

    Such vectors tell pictures that look alike from pictures that do not. They know nothing of what
    is to be seen: use them to run things, not to claim things.
    """

    learned = False

    def __init__(self) -> None:
        purpose = "the image embedder 'handcrafted'"
        self._feature: Any = require("skimage.feature", extra="narratives", purpose=purpose)
        self._color: Any = require("skimage.color", extra="narratives", purpose=purpose)

    @property
    def identity(self) -> str:
        """Named as what it is, with its version."""
        return "handcrafted@1"

    def embed(self, frames: Sequence[Frame], root: Path) -> FloatArray:
        """See ``ImageEmbedder.embed``."""
        return unit_rows(np.stack([self._vector(frame_file(f, root)) for f in frames]))

    def _vector(self, path: Path) -> FloatArray:
        image = load_image(path, max_side=2 * _SIDE).resize((_SIDE, _SIDE))
        colour = np.asarray(image, dtype=np.float64) / 255.0
        grey = self._color.rgb2gray(colour)
        gradients = self._feature.hog(
            grey, orientations=9, pixels_per_cell=(16, 16), cells_per_block=(2, 2)
        )
        thumbnail = grey.reshape(16, _SIDE // 16, 16, _SIDE // 16).mean(axis=(1, 3))
        tones = np.histogram(grey, bins=_TONES, range=(0.0, 1.0))[0]
        lab = self._color.rgb2lab(colour).reshape(-1, 3)
        low, high = np.array([0.0, -80.0, -80.0]), np.array([100.0, 80.0, 80.0])
        limits = list(zip(low, high, strict=True))
        colours = np.histogramdd(np.clip(lab, low, high), _COLOURS, limits)[0]
        parts = (gradients, thumbnail.ravel(), np.sqrt(tones), np.sqrt(colours).ravel())
        return np.concatenate([_centred(part) for part in parts])


def _centred(block: FloatArray) -> FloatArray:
    centred: FloatArray = block - block.mean()
    length = float(np.linalg.norm(centred))
    return centred / (length or 1.0)  # a blank picture has no gradients
