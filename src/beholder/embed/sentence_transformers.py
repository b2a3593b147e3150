"""Models of a hub on this machine, and embeddings by sentence-transformers."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from beholder.base.optional import require
from beholder.embed.base import Embedder, FloatArray


class SentenceTransformerEmbedder(Embedder):
    """Embeddings by sentence-transformers (spec ``st:NAME_OR_PATH``, extra ``hf``).

    The model is loaded on first use and runs in a thread, one batch at a time.

    Args:
        name: Name on the model hub, or folder of a model.
        device: As sentence-transformers takes it, for example ``"cuda"``; None lets it choose.
        revision: Commit or tag on the hub.

    Raises:
        MissingExtraError: The package sentence-transformers is not installed.
    """

    def __init__(
        self,
        name: str,
        *,
        device: str | None = None,
        revision: str | None = None,
    ) -> None:
        self.name = name
        self._revision = revision
        self.device = device
        self._package = require(
            "sentence_transformers",
            extra="hf",
            purpose=f"the embedder 'st:{name}'",
        )
        self._lock = threading.RLock()

    @cached_property
    def identity(self) -> str:
        """Return ``st:NAME@REVISION``: the commit of a hub model, or a hash of a folder's files."""

        def config() -> object:
            # A model that is no transformer has no configuration, and so no
            # commit.
            return getattr(
                getattr(self._model[0], "auto_model", None),
                "config",
                None,
            )

        with self._lock:
            return hub_identity("st", self.name, config)

    async def embed(self, texts: Sequence[str]) -> FloatArray:
        """Return vectors of texts; the model runs in a thread."""
        return await asyncio.to_thread(self._encode, list(texts))

    def _encode(self, texts: list[str]) -> FloatArray:
        with self._lock:
            rows = self._model.encode(
                texts,
                normalize_embeddings=True,
                show_progress_bar=False,
            )
        return np.asarray(rows, dtype=np.float32)

    @cached_property
    def _model(self) -> Any:
        return self._package.SentenceTransformer(
            self.name,
            device=self.device,
            revision=self._revision,
            # Pickled weights can run code when they are loaded.
            model_kwargs={"use_safetensors": True},
        )


def hub_identity(kind: str, name: str, config: Callable[[], object]) -> str:
    """Return ``KIND:NAME@REVISION``: a hub model's commit, or a hash of a folder's files.

    Args:
        kind: Name of the kind of model in specs.
        name: Name on the hub, or folder.
        config: Gives the configuration of a model of the hub.
    """
    folder = Path(name)
    if folder.is_dir():
        return f"{kind}:{folder.name}@{folder_hash(folder)}"
    return f"{kind}:{name}@{getattr(config(), '_commit_hash', None) or 'unversioned'}"


def folder_hash(folder: Path) -> str:
    """Return twelve hex digits over the names and bytes of a folder's files."""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(path.relative_to(folder).as_posix().encode())
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()[:12]


class HubModel(ABC):
    """A model of the transformers library (extra ``hf``), whose parts are loaded on first use.

    Args:
        name: Name on the hub, or folder of a model.
        purpose: Component that needs it, for the message if a package is not installed.
        device: As torch takes it; None uses a GPU if there is one.
        revision: Commit or tag on the hub.

    Attributes:
        kind: Name of the kind of model in specs.
        loader: The class of the library that loads the weights.
    """

    kind: ClassVar[str]
    loader: ClassVar[str]

    def __init__(
        self,
        name: str,
        purpose: str,
        device: str | None = None,
        revision: str | None = None,
    ) -> None:
        self.name = name
        self._revision = revision
        self._torch: Any = require("torch", extra="hf", purpose=purpose)
        self._transformers: Any = require(
            "transformers",
            extra="hf",
            purpose=purpose,
        )
        self._device = device or (
            "cuda" if self._torch.cuda.is_available() else "cpu"
        )
        self._lock = threading.RLock()

    @cached_property
    def identity(self) -> str:
        """Return ``KIND:NAME@REVISION``: a hub model's commit, or a hash of a folder's files."""
        with self._lock:
            return hub_identity(self.kind, self.name, lambda: self._config)

    @property
    @abstractmethod
    def max_tokens(self) -> int:
        """Tokens of a text that the model reads, special ones included."""

    def _tokens(self, texts: Sequence[str]) -> Any:
        """Return texts as model input, cut where the model stops reading."""
        return self._tokenizer(
            list(texts),
            padding=True,
            truncation=True,
            max_length=self.max_tokens,
            return_tensors="pt",
        ).to(self._device)

    def _load(self, loader: str, **options: object) -> Any:
        model_class = getattr(self._transformers, loader)
        return model_class.from_pretrained(
            self.name,
            revision=self._revision,
            **options,
        )

    @cached_property
    def _config(self) -> Any:
        return self._load("AutoConfig")

    @cached_property
    def _tokenizer(self) -> Any:
        return self._load("AutoTokenizer")

    @cached_property
    def _model(self) -> Any:
        return (
            self._load(self.loader, use_safetensors=True)
            .to(self._device)
            .eval()
        )
