"""Embeddings from an OpenAI-compatible endpoint."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from typing import Any
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import numpy as np
import openai

from beholder.embed.base import Embedder, FloatArray
from beholder.errors import ConfigError, ItemError, TransientError

_OFFICIAL = "https://api.openai.com/v1"
_TRY_LATER = (408, 409, 425, 429)
_WRONG_SETUP = (401, 403, 404)


class OpenAIEmbedder(Embedder):
    """Embeddings from an OpenAI-compatible endpoint (spec ``openai:MODEL``).

    One attempt a call; what failed in passing is tried again by the next start of the run.

    Args:
        model: Model name as the endpoint knows it.
        base_url: Address of the endpoint, up to ``/v1``; None is OpenAI's own.
        api_key: Key; None takes ``OPENAI_API_KEY``. A local server without keys needs none.
        dimensions: Length of the vectors, for models that can shorten them; None leaves it.
        timeout: Seconds to wait for an answer.

    Raises:
        ConfigError: No key was given for OpenAI's own endpoint, or the address is none.
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        dimensions: int | None = None,
        timeout: float = 120.0,
    ) -> None:
        self.model = model
        self.dimensions = dimensions
        self._address = base_url or _OFFICIAL
        self._place = urlsplit(self._address)
        if self._place.scheme not in ("http", "https") or not self._place.hostname:
            raise ConfigError(
                f"base_url {base_url!r} is no http address of the form http://HOST/v1"
            )
        key = api_key or os.environ.get("OPENAI_API_KEY")
        if not key and self._address == _OFFICIAL:
            raise ConfigError(
                f"the embedder 'openai:{model}' needs a key: set OPENAI_API_KEY, or give base_url"
                " for a server of your own"
            )
        self._key = key or "none"
        self._timeout = timeout
        self._length: int | None = None
        self._clients: WeakKeyDictionary[Any, tuple[Any, openai.AsyncOpenAI]] = WeakKeyDictionary()

    @property
    def identity(self) -> str:
        """``openai:MODEL@HOST``, with ``/DIMENSIONS`` when they were asked for."""
        port = f":{self._place.port}" if self._place.port else ""
        shortened = f"/{self.dimensions}" if self.dimensions else ""
        return f"openai:{self.model}@{self._place.hostname}{port}{shortened}"

    async def embed(self, texts: Sequence[str]) -> FloatArray:
        """See ``Embedder.embed``.

        Raises:
            TransientError: No connection, no answer in time, too many requests, a server error.
            ItemError: The endpoint refuses the texts, or its vectors cannot be used.
            ConfigError: The endpoint refuses the key or does not know the model.
        """
        client = await self._client()
        extra = None if self.dimensions is None else {"dimensions": self.dimensions}
        try:
            answer = await client.embeddings.create(
                model=self.model, input=list(texts), encoding_format="float", extra_body=extra
            )
        except openai.APIStatusError as error:
            raise self._refusal(error) from error
        except openai.APIConnectionError as error:  # a time-out is one of these
            cause = error.__cause__ or error
            raise TransientError(f"{self._at()}: {error} ({type(cause).__name__})") from error
        except (openai.OpenAIError, ValueError) as error:
            raise TransientError(f"{self._at()}: the answer is not JSON: {error}") from error
        return self._rows(answer, len(texts))

    async def _client(self) -> openai.AsyncOpenAI:
        """The client of the running event loop: its connections belong to that loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            # An asynchronous generator left open is closed by the loop when it ends, and with it
            # the connections.
            keeper = self._open()
            self._clients[loop] = (keeper, await anext(keeper))
        return self._clients[loop][1]

    async def _open(self) -> AsyncGenerator[openai.AsyncOpenAI, None]:
        client = openai.AsyncOpenAI(
            api_key=self._key,
            base_url=self._address,
            timeout=self._timeout,
            max_retries=0,
            # A redirect would carry the texts to an address that nobody named.
            http_client=openai.DefaultAsyncHttpxClient(follow_redirects=False),
        )
        try:
            yield client
        finally:
            self._clients.pop(asyncio.get_running_loop(), None)
            await client.close()

    def _at(self) -> str:
        return f"embeddings of {self.model!r} at {self._place.netloc.rpartition('@')[2]}"

    def _refusal(self, error: openai.APIStatusError) -> Exception:
        status = error.status_code
        message = f"{self._at()}: status {status}: {str(error.message)[:300]}"
        if status >= 500 or status in _TRY_LATER:
            return TransientError(message)
        if status in _WRONG_SETUP:
            return ConfigError(f"{message}; check the model, base_url and the key")
        return ItemError(message)

    def _rows(self, answer: Any, n: int) -> FloatArray:
        data = getattr(answer, "data", None)
        if not isinstance(data, list):
            raise TransientError(f"{self._at()}: no list of embeddings in {str(answer)[:80]!r}")
        by_index = {
            getattr(entry, "index", None): getattr(entry, "embedding", None) for entry in data
        }
        if len(data) != n or set(by_index) != set(range(n)):
            raise ItemError(
                f"{self._at()}: asked for {n} embeddings, got {len(data)} with indices"
                f" {list(by_index)[:5]}"
            )
        try:
            rows = np.array([by_index[i] for i in range(n)], dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise ItemError(f"{self._at()}: the vectors are no equal lists of numbers") from error
        length = rows.shape[1] if rows.ndim == 2 else 0
        expected = self.dimensions or self._length or length
        if not length or length != expected or not np.isfinite(rows).all():
            raise ItemError(
                f"{self._at()}: expected vectors of {expected or 'some'} finite numbers, got an"
                f" array of shape {rows.shape}"
            )
        self._length = length
        norms = np.linalg.norm(rows, axis=1, keepdims=True)
        return (rows / np.where(norms > 0, norms, 1.0)).astype(np.float32)
