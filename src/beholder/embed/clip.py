"""Vectors of pictures and of texts by one CLIP model on this machine."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from beholder.base.registry import versioned_identity
from beholder.embed.base import Embedder, FloatArray
from beholder.embed.images import (
    ImageEmbedder,
    frame_file,
    image_embedder,
    unit_rows,
)
from beholder.embed.sentence_transformers import HubModel
from beholder.embed.service import EmbeddingService, VectorStore
from beholder.errors import ConfigError
from beholder.media import load_image
from beholder.records import Frame

T = TypeVar("T")
_BATCH = 32


class Clip(HubModel, ImageEmbedder):
    """A CLIP model (spec ``clip:NAME_OR_PATH``, extra ``hf``), loaded on first use.

    As an image embedder it gives the vectors of pictures; ``embed_texts`` gives those of texts in
    the same space. Both may be called from several threads; one batch runs at a time.

    Args:
        name: Name on the model hub, such as ``openai/clip-vit-base-patch32``, or folder of a model.
        device: As torch takes it, for example ``"cuda"``; None uses a GPU if there is one.
        revision: Commit or tag on the hub.

    Raises:
        MissingExtraError: transformers or torch is not installed.
    """

    kind: ClassVar[str] = "clip"
    loader: ClassVar[str] = "CLIPModel"

    def __init__(
        self,
        name: str,
        *,
        device: str | None = None,
        revision: str | None = None,
    ) -> None:
        super().__init__(
            name,
            f"the image embedder 'clip:{name}'",
            device,
            revision,
        )

    @property
    def _config(self) -> Any:
        return self._model.config

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that the model reads, its two special ones included; 77 as published."""
        with self._lock:
            return int(self._config.text_config.max_position_embeddings)

    def embed(self, frames: Sequence[Frame], root: Path) -> FloatArray:
        """Return vectors of the pictures of frames; see ``ImageEmbedder.embed``."""
        return self.embed_pictures(
            [frame_file(frame, root) for frame in frames]
        )

    def embed_pictures(self, paths: Sequence[Path]) -> FloatArray:
        """Return vectors (n, D) of length 1 of picture files.

        Raises:
            ItemError: A file is missing or no picture that can be read; names it.
        """
        # The lock covers the lazy load as well: two threads must not load the
        # model twice.
        with self._lock:
            model = self._model

            def encode(batch: Sequence[Path]) -> Any:
                pixels = self._torch.cat([*map(self._pixels, batch)])
                output = model.vision_model(
                    pixel_values=pixels.to(self._device)
                )
                return model.visual_projection(output.pooler_output)

            return self._in_batches(paths, encode)

    def embed_texts(self, texts: Sequence[str]) -> FloatArray:
        """Return vectors (n, D) of length 1; text beyond ``max_tokens`` is not read."""
        with self._lock:
            model = self._model

            def encode(batch: Sequence[str]) -> Any:
                tokens = self._tokens(batch)
                output = model.text_model(
                    input_ids=tokens["input_ids"],
                    attention_mask=tokens["attention_mask"],
                )
                return model.text_projection(output.pooler_output)

            return self._in_batches(texts, encode)

    def _in_batches(
        self,
        inputs: Sequence[T],
        encode: Callable[[Sequence[T]], Any],
    ) -> FloatArray:
        rows = []
        for start in range(0, len(inputs), _BATCH):
            with self._torch.inference_mode():
                batch = encode(inputs[start : start + _BATCH])
            rows.append(batch.float().cpu().numpy())
        return unit_rows(np.concatenate(rows))

    def is_cut(self, text: str) -> bool:
        """Return whether a text is longer than the model reads."""
        with self._lock:
            return (
                len(self._tokenizer(text, verbose=False)["input_ids"])
                > self.max_tokens
            )

    def _pixels(self, path: Path) -> Any:
        """Return one picture as model input; only one is decoded in memory at a time."""
        return self._processor(images=[load_image(path)], return_tensors="pt")[
            "pixel_values"
        ]

    @cached_property
    def _processor(self) -> Any:
        return self._load("CLIPImageProcessor")


class ImageTextService:
    """Shares one model of pictures and texts between all items of a run.

    Args:
        spec: ``clip:NAME_OR_PATH``.
        vectors: Store in which vectors of texts outlive the process; those of pictures never do,
            because the file under a name can change.

    Raises:
        ConfigError: The model of the spec does not embed texts.
        MissingExtraError: A package is not installed.
    """

    per_process: ClassVar[bool] = False

    def __init__(self, spec: str, vectors: VectorStore | None = None) -> None:
        model = image_embedder(spec)
        if not isinstance(model, Clip):
            raise ConfigError(
                f"{spec!r} embeds pictures only; name a model of pictures and texts, such as"
                " clip:openai/clip-vit-base-patch32"
            )
        self._model = model
        self._texts = EmbeddingService(
            _Side(model, "text", model.embed_texts), vectors
        )
        self._pictures = EmbeddingService(
            _Side(
                model,
                "pictures",
                lambda names: model.embed_pictures([*map(Path, names)]),
            )
        )
        self._warned = False

    @property
    def identity(self) -> str:
        """The model's, with a digest of its code."""
        return versioned_identity(self._model, self._model.identity)

    async def texts(self, texts: Sequence[str]) -> FloatArray:
        """Return vectors (n, D) of texts; see ``EmbeddingService.embed``."""
        return await self._texts.embed(texts)

    async def pictures(self, paths: Sequence[Path]) -> FloatArray:
        """Return vectors (n, D) of picture files.

        Raises:
            ItemError: A file is missing or no picture that can be read; names it.
        """
        return await self._pictures.embed([str(path) for path in paths])

    async def n_cut(self, texts: Sequence[str]) -> int:
        """Count the texts that are longer than the model reads; the first ever gives a warning."""
        # The tokenizer may wait for a batch of another item, so it must not
        # block the event loop.
        cut = await asyncio.to_thread(
            lambda: sum(map(self._model.is_cut, texts))
        )
        if cut and not self._warned:
            self._warned = True
            warnings.warn(
                f"{self.identity} reads {self._model.max_tokens} tokens of a text; longer texts are"
                " cut there, and the value 'cut' counts them",
                stacklevel=2,
            )
        return cut


class _Side(Embedder):
    """Texts or pictures as an ``Embedder``, so that one service can batch and cache either."""

    batch_size: ClassVar[int] = 32

    def __init__(
        self,
        model: Clip,
        name: str,
        embed: Callable[[Sequence[str]], FloatArray],
    ) -> None:
        self._model, self._name, self._embed = model, name, embed

    @property
    def identity(self) -> str:
        return f"{versioned_identity(self._model, self._model.identity)}/{self._name}"

    async def embed(self, texts: Sequence[str]) -> FloatArray:
        return await asyncio.to_thread(self._embed, texts)
