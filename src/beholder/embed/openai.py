"""Embeddings from an OpenAI-compatible endpoint."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from beholder.backends.calls import CallFailed, Refused
from beholder.backends.openai_http import (
    HOSTED,
    Connection,
    is_official,
    public_address,
)
from beholder.embed.base import Embedder, FloatArray
from beholder.embed.images import unit_rows
from beholder.errors import ConfigError, ItemError, TransientError

_KEY = "OPENAI_API_KEY"
_MOST_BYTES = 64_000
_MOST_OF_VECTOR = 300_000
"""Bytes of one vector in an answer: some 10,000 numbers with all their digits."""


class OpenAIEmbedder(Embedder):
    """Embeddings from an OpenAI-compatible endpoint (spec ``openai:MODEL``).

    One attempt a call; what failed in passing is tried again by the next start of the run.

    Args:
        model: Model name as the endpoint knows it.
        base_url: Address of the endpoint, up to ``/v1``; None is OpenAI's own.
        key_env: Environment variable with the key; None takes ``OPENAI_API_KEY`` for
            OpenAI's own address and sends no key to any other.
        api_key: The key itself, from a program.
        dimensions: Length of the vectors, for models that can shorten them; None leaves it.
        timeout: Seconds to wait for an answer.

    Raises:
        ConfigError: No key was given for OpenAI's own endpoint, or the address is not valid.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        key_env: str | None = None,
        api_key: str | None = None,
        dimensions: int | None = None,
        timeout: float = 120.0,
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        self._place = urlsplit(public_address(base_url or HOSTED))
        variable = key_env or _KEY
        needs_key = key_env is not None or is_official(base_url or HOSTED)
        if needs_key and not (api_key or os.environ.get(variable)):
            raise ConfigError(
                f"the embedder 'openai:{model}' needs a key: set {variable}, or give base_url for a"
                " server of your own"
            )
        name = f"embeddings of {model!r} at {self._place.netloc}"
        self._name = name
        self._connection = Connection(
            name,
            base_url or HOSTED,
            key_env,
            timeout,
            api_key,
        )
        self._length: int | None = None

    @property
    def identity(self) -> str:
        """``openai:MODEL@HOST``, with ``/DIMENSIONS`` when they were asked for."""
        port = f":{self._place.port}" if self._place.port else ""
        shortened = f"/{self.dimensions}" if self.dimensions else ""
        return f"openai:{self.model}@{self._place.hostname}{port}{shortened}"

    async def embed(self, texts: Sequence[str]) -> FloatArray:
        """Return vectors of texts; see ``Embedder.embed``.

        Raises:
            TransientError: No answer in time, too many requests, a server error, a broken answer.
            ItemError: The endpoint refuses the texts, or its vectors cannot be used.
            ConfigError: The endpoint cannot be reached, refuses the key, does not know the model,
                or sends everything on to another address.
            RunError: The account has no quota left.
        """
        body: dict[str, Any] = {"model": self.model, "input": list(texts)}
        body["encoding_format"] = "float"
        if self.dimensions is not None:
            body["dimensions"] = self.dimensions
        try:
            answer = await self._connection.post(
                "/embeddings",
                body,
                max_bytes=_MOST_BYTES + _MOST_OF_VECTOR * len(texts),
            )
        except CallFailed as error:
            raise TransientError(f"{self._name}: {error}") from error
        except Refused as error:
            raise ItemError(
                f"{self._name} refuses the texts: {error}"
            ) from error
        return self._rows(answer, len(texts))

    def _rows(self, answer: Any, n: int) -> FloatArray:
        data = answer.get("data") if isinstance(answer, dict) else None
        if not isinstance(data, list):
            raise TransientError(
                f"{self._name}: no list of embeddings in {str(answer)[:80]!r}"
            )
        entries = [entry for entry in data if isinstance(entry, dict)]
        # An endpoint may answer in any order; the index names the text of a vector.
        by_index = {
            str(entry.get("index")): entry.get("embedding")
            for entry in entries
        }
        if len(data) != n or set(by_index) != set(map(str, range(n))):
            raise ItemError(
                f"{self._name}: asked for {n} embeddings, got {len(data)} with indices"
                f" {str(list(by_index)[:5])[:80]}"
            )
        try:
            rows = np.array(
                [by_index[str(i)] for i in range(n)], dtype=np.float64
            )
        except (TypeError, ValueError, OverflowError) as error:
            raise ItemError(
                f"{self._name}: the vectors are not lists of numbers of one length"
            ) from error
        length = rows.shape[1] if rows.ndim == 2 else 0
        # All vectors of a run have one length: that asked for, or that of the first answer.
        expected = self.dimensions or self._length or length
        if not length or length != expected or not np.isfinite(rows).all():
            raise ItemError(
                f"{self._name}: expected vectors of {expected or 'some'} finite numbers, got an"
                f" array of shape {rows.shape}"
            )
        self._length = length
        return unit_rows(rows)
