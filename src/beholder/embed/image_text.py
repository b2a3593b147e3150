"""Pictures and texts in one space for a whole run: each distinct one embedded once, in batches."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from beholder.embed.base import Embedder, FloatArray
from beholder.embed.clip import Clip
from beholder.embed.images import image_embedder
from beholder.embed.service import EmbeddingService, VectorStore
from beholder.errors import ConfigError


class ImageTextService:
    """Shares one model of pictures and texts between all items of a run.

    Args:
        spec: ``clip:NAME_OR_PATH``.
        vectors: Where vectors of texts outlive the process; those of pictures never do, because
            the file under a name can change.

    Raises:
        ConfigError: The spec names no model that embeds texts, too.
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
        self._texts = EmbeddingService(_Texts(model), vectors)
        self._pictures = EmbeddingService(_Pictures(model))
        self._warned = False

    @property
    def identity(self) -> str:
        """The model's."""
        return self._model.identity

    async def texts(self, texts: Sequence[str]) -> FloatArray:
        """Vectors (n, D) of texts; see ``EmbeddingService.embed``."""
        return await self._texts.embed(texts)

    async def pictures(self, paths: Sequence[Path]) -> FloatArray:
        """Vectors (n, D) of picture files.

        Raises:
            ItemError: A file is missing or no picture that can be read; names it.
        """
        return await self._pictures.embed([str(path) for path in paths])

    async def n_cut(self, texts: Sequence[str]) -> int:
        """How many texts are longer than the model reads; the first one ever gives a warning."""
        cut = await asyncio.to_thread(lambda: sum(map(self._model.is_cut, texts)))
        if cut and not self._warned:
            self._warned = True
            warnings.warn(
                f"{self.identity} reads {self._model.max_tokens} tokens of a text; longer texts are"
                " cut there, and the value 'cut' counts them",
                stacklevel=2,
            )
        return cut


class _Texts(Embedder):
    batch_size: ClassVar[int] = 32

    def __init__(self, model: Clip) -> None:
        self._model = model

    @property
    def identity(self) -> str:
        return f"{self._model.identity}/text"

    async def embed(self, texts: Sequence[str]) -> FloatArray:
        return await asyncio.to_thread(self._model.embed_texts, texts)


class _Pictures(Embedder):
    batch_size: ClassVar[int] = 32

    def __init__(self, model: Clip) -> None:
        self._model = model

    @property
    def identity(self) -> str:
        return f"{self._model.identity}/pictures"

    async def embed(self, texts: Sequence[str]) -> FloatArray:
        return await asyncio.to_thread(self._model.embed_pictures, [Path(text) for text in texts])
