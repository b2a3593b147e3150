"""Image vectors by a CLIP model on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.images import ImageEmbedder, frame_file, unit_rows
from beholder.embed.sentence_transformers import folder_hash
from beholder.media import load_image
from beholder.optional import require
from beholder.records import Frame

_BATCH = 32


class Clip(ImageEmbedder):
    """The image half of a CLIP model (spec ``clip:NAME_OR_PATH``, extra ``hf``).

    Args:
        name: Name on the model hub, such as ``openai/clip-vit-base-patch32``, or folder of a model.
        device: As torch takes it, for example ``"cuda"``; None uses a GPU where there is one.

    Raises:
        MissingExtraError: transformers or torch is not installed.
    """

    def __init__(self, name: str, *, device: str | None = None) -> None:
        self.name = name
        purpose = f"the image embedder 'clip:{name}'"
        self._torch: Any = require("torch", extra="hf", purpose=purpose)
        self._transformers: Any = require("transformers", extra="hf", purpose=purpose)
        self._device = device or ("cuda" if self._torch.cuda.is_available() else "cpu")
        self._loaded: tuple[Any, Any] | None = None

    @property
    def identity(self) -> str:
        """``clip:NAME@REVISION``: the commit of a hub model, or a hash of a folder's files."""
        folder = Path(self.name)
        if folder.is_dir():
            return f"clip:{folder.name}@{folder_hash(folder)}"
        model, _ = self._model()
        return f"clip:{self.name}@{getattr(model.config, '_commit_hash', None) or 'unversioned'}"

    def embed(self, frames: Sequence[Frame], root: Path) -> FloatArray:
        """See ``ImageEmbedder.embed``."""
        model, processor = self._model()
        rows = []
        for start in range(0, len(frames), _BATCH):
            images = [load_image(frame_file(f, root)) for f in frames[start : start + _BATCH]]
            pixels = processor(images=images, return_tensors="pt")["pixel_values"]
            with self._torch.inference_mode():
                seen = model.vision_model(pixel_values=pixels.to(self._device))
                projected = model.visual_projection(seen.pooler_output)
            rows.append(projected.float().cpu().numpy())
        return unit_rows(np.concatenate(rows))

    def _model(self) -> tuple[Any, Any]:
        if self._loaded is None:
            model = self._transformers.CLIPModel.from_pretrained(self.name)
            processor = self._transformers.CLIPImageProcessor.from_pretrained(self.name)
            self._loaded = model.to(self._device).eval(), processor
        return self._loaded
