"""Vectors of pictures and of texts by one CLIP model on this machine."""

from __future__ import annotations

import asyncio
import threading
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from beholder.embed.base import Embedder, FloatArray
from beholder.embed.images import ImageEmbedder, frame_file, image_embedder, unit_rows
from beholder.embed.sentence_transformers import folder_hash
from beholder.embed.service import EmbeddingService, VectorStore
from beholder.errors import ConfigError
from beholder.media import load_image
from beholder.optional import require
from beholder.records import Frame

_BATCH = 32


class Clip(ImageEmbedder):
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

    def __init__(
        self, name: str, *, device: str | None = None, revision: str | None = None
    ) -> None:
        self.name = name
        self._revision = revision
        purpose = f"the image embedder 'clip:{name}'"
        self._torch: Any = require("torch", extra="hf", purpose=purpose)
        self._transformers: Any = require("transformers", extra="hf", purpose=purpose)
        self._device = device or ("cuda" if self._torch.cuda.is_available() else "cpu")
        self._loaded: tuple[Any, Any] | None = None
        self._tokenizer: Any = None
        self._identity: str | None = None
        self._lock = threading.RLock()

    @property
    def identity(self) -> str:
        """``clip:NAME@REVISION``: the commit of a hub model, or a hash of a folder's files."""
        with self._lock:
            if self._identity is None:
                self._identity = self._find_identity()
            return self._identity

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that the model reads, its two special ones included; 77 as published."""
        model, _ = self._model()
        return int(model.config.text_config.max_position_embeddings)

    def embed(self, frames: Sequence[Frame], root: Path) -> FloatArray:
        """See ``ImageEmbedder.embed``."""
        return self.embed_pictures([frame_file(frame, root) for frame in frames])

    def embed_pictures(self, paths: Sequence[Path]) -> FloatArray:
        """Vectors (n, D) of length 1 of picture files.

        Raises:
            ItemError: A file is missing or no picture that can be read; names it.
        """
        rows = []
        with self._lock:
            model, processor = self._model()
            for start in range(0, len(paths), _BATCH):
                pixels = self._torch.cat(  # one picture in memory at a time
                    [
                        processor(images=[load_image(path)], return_tensors="pt")["pixel_values"]
                        for path in paths[start : start + _BATCH]
                    ]
                )
                with self._torch.inference_mode():
                    seen = model.vision_model(pixel_values=pixels.to(self._device))
                    rows.append(self._array(model.visual_projection(seen.pooler_output)))
        return unit_rows(np.concatenate(rows))

    def embed_texts(self, texts: Sequence[str]) -> FloatArray:
        """Vectors (n, D) of length 1; what a text has beyond ``max_tokens`` is not read."""
        rows = []
        with self._lock:
            model, _ = self._model()
            for start in range(0, len(texts), _BATCH):
                tokens = self._tokens()(
                    list(texts[start : start + _BATCH]),
                    padding=True,
                    truncation=True,
                    max_length=self.max_tokens,
                    return_tensors="pt",
                ).to(self._device)
                with self._torch.inference_mode():
                    read = model.text_model(
                        input_ids=tokens["input_ids"], attention_mask=tokens["attention_mask"]
                    )
                    rows.append(self._array(model.text_projection(read.pooler_output)))
        return unit_rows(np.concatenate(rows))

    def is_cut(self, text: str) -> bool:
        """Whether a text is longer than the model reads."""
        with self._lock:
            return len(self._tokens()(text, verbose=False)["input_ids"]) > self.max_tokens

    def _array(self, rows: Any) -> FloatArray:
        return np.asarray(rows.float().cpu().numpy(), dtype=np.float32)

    def _find_identity(self) -> str:
        folder = Path(self.name)
        if folder.is_dir():
            return f"clip:{folder.name}@{folder_hash(folder)}"
        model, _ = self._model()
        return f"clip:{self.name}@{getattr(model.config, '_commit_hash', None) or 'unversioned'}"

    def _tokens(self) -> Any:
        if self._tokenizer is None:
            self._tokenizer = self._transformers.AutoTokenizer.from_pretrained(
                self.name, revision=self._revision
            )
        return self._tokenizer

    def _model(self) -> tuple[Any, Any]:
        with self._lock:
            if self._loaded is None:
                model = self._transformers.CLIPModel.from_pretrained(
                    self.name, revision=self._revision, use_safetensors=True
                )
                processor = self._transformers.CLIPImageProcessor.from_pretrained(
                    self.name, revision=self._revision
                )
                self._loaded = model.to(self._device).eval(), processor
            return self._loaded


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
