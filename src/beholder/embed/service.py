"""Embeddings for a whole run: each distinct text once, requests of many items in one batch."""

from __future__ import annotations

import asyncio
import math
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np
from cachetools import LRUCache

from beholder.base.registry import versioned_identity
from beholder.embed.base import Embedder, FloatArray
from beholder.errors import ItemError, TransientError

_Outcome: TypeAlias = "asyncio.Future[FloatArray]"

_BATCHES_AT_ONCE = 8
_MEMORY = 256 * 2**20


class VectorStore(Protocol):
    """Stores vectors beyond the life of a process."""

    def get_vectors(
        self,
        identity: str,
        texts: Sequence[str],
    ) -> dict[str, FloatArray]:
        """Return the vectors (D,) of those texts that are stored."""

    def put_vectors(
        self,
        identity: str,
        vectors: Mapping[str, FloatArray],
    ) -> None:
        """Store vectors (D,) by text."""


@dataclass
class _Flight:
    """Requests under way in one event loop."""

    outcomes: dict[str, _Outcome] = field(default_factory=dict)
    queue: deque[str] = field(default_factory=deque)
    workers: set[asyncio.Task[None]] = field(default_factory=set)


class EmbeddingService:
    """Shares one embedder between all items of a run.

    Texts asked for in the same turn of the event loop, or while earlier batches are under way, go
    to the embedder together; a text is requested once however many items wait for it. Vectors are
    kept in memory up to a limit, and in ``vectors`` unless the embedder is cheap. A failure reaches
    everyone who waits for the text and is forgotten then; a caller that stops waiting does not
    affect others. One service can be used from several event loops, also in several threads.

    Args:
        embedder: Makes the vectors.
        vectors: Store in which vectors outlive the process; None keeps them in memory only.
        memory: Bytes of vectors and texts to keep in memory; the least used go first.

    Attributes:
        per_process: The embedder's.
        english_only: The embedder's.
    """

    def __init__(
        self,
        embedder: Embedder,
        vectors: VectorStore | None = None,
        *,
        memory: int = _MEMORY,
    ) -> None:
        self.embedder = embedder
        self.per_process, self.english_only = (
            embedder.per_process,
            embedder.english_only,
        )
        self._vectors = None if embedder.per_process else vectors
        self._recent = Recent(memory)
        self._flights: WeakKeyDictionary[
            asyncio.AbstractEventLoop, _Flight
        ] = WeakKeyDictionary()

    @cached_property
    def identity(self) -> str:
        """The embedder's, with a digest of its code and of this."""
        return versioned_identity(
            self.embedder, self.embedder.identity, type(self)
        )

    async def embed(self, texts: Sequence[str]) -> FloatArray:
        """Return vectors of texts.

        Args:
            texts: n texts, none blank; equal ones are allowed.

        Returns:
            Array (n, D), float32, row i for text i; (0, 0) when there are no texts.

        Raises:
            ItemError: A text is blank, or the embedder cannot embed it.
            TransientError: The embedder could not be reached; trying again may help.
        """
        if not texts:
            return np.zeros((0, 0), dtype=np.float32)
        rows: dict[str, FloatArray] = {}
        unknown: list[str] = []
        for text in dict.fromkeys(texts):
            row = self._recent.get(text)
            if row is not None:
                rows[text] = row
            elif text.strip():
                unknown.append(text)
            else:
                raise ItemError(
                    f"text {texts.index(text)} of {len(texts)} is blank: nothing to embed"
                )
        if unknown:
            outcomes = self._ask(unknown)
            # ``wait``, unlike ``gather``, leaves the shared outcomes alone when it is cancelled.
            await asyncio.wait(
                outcomes.values(), return_when=asyncio.FIRST_EXCEPTION
            )
            for outcome in outcomes.values():
                if outcome.done():
                    outcome.result()  # raises the failure, if this is the one that failed
            rows.update(
                (text, outcome.result()) for text, outcome in outcomes.items()
            )
        return np.stack([rows[text] for text in texts])

    def _ask(self, texts: list[str]) -> dict[str, _Outcome]:
        """Return the outcomes of texts in this loop, each under way from now on at the latest."""
        loop = asyncio.get_running_loop()
        flight = self._flights.setdefault(loop, _Flight())
        new = [text for text in texts if text not in flight.outcomes]
        flight.outcomes.update((text, loop.create_future()) for text in new)
        flight.queue.extend(new)
        # As many workers as there are batches to send, and no more than the
        # limit together.
        room = _BATCHES_AT_ONCE - len(flight.workers)
        for _ in range(
            min(room, math.ceil(len(new) / self.embedder.batch_size))
        ):
            worker = loop.create_task(self._work(flight))
            flight.workers.add(worker)
            worker.add_done_callback(flight.workers.discard)
        return {text: flight.outcomes[text] for text in texts}

    async def _work(self, flight: _Flight) -> None:
        """Take batches from the queue until it is empty."""
        # Lets everyone who is ready in this turn of the loop join the first batch.
        await asyncio.sleep(0)
        while flight.queue:
            size = min(len(flight.queue), self.embedder.batch_size)
            batch = [flight.queue.popleft() for _ in range(size)]
            try:
                await self._settle(flight, batch)
            except Exception as error:
                _fail(flight, batch, error)
            except BaseException:
                # The loop shuts down: no caller may be left waiting.
                for text in [*batch, *flight.queue]:
                    if outcome := flight.outcomes.pop(text, None):
                        outcome.cancel()
                flight.queue.clear()
                raise

    async def _settle(self, flight: _Flight, batch: list[str]) -> None:
        """Set the vector, or the failure, of each text of a batch.

        The store is read first; the embedder is asked for what is missing. A batch that it
        refuses is halved until the text to blame is alone.
        """
        stored: dict[str, FloatArray] = {}
        if self._vectors is not None:
            stored = self._vectors.get_vectors(self.identity, batch)
        self._deliver(flight, stored)
        missing = [text for text in batch if text not in stored]
        if not missing:
            return
        try:
            vectors = self._check_rows(
                missing, await self.embedder.embed(missing)
            )
        except TransientError:
            raise
        except ItemError as error:
            if len(missing) == 1:
                _fail(flight, missing, error)
            else:
                # Halving finds the text to blame, so that it fails alone.
                middle = len(missing) // 2
                await self._settle(flight, missing[:middle])
                await self._settle(flight, missing[middle:])
            return
        if self._vectors is not None:
            self._vectors.put_vectors(self.identity, vectors)
        self._deliver(flight, vectors)

    def _check_rows(
        self,
        texts: list[str],
        rows: FloatArray,
    ) -> dict[str, FloatArray]:
        if (
            rows.ndim != 2
            or len(rows) != len(texts)
            or not np.isfinite(rows).all()
        ):
            raise ItemError(
                f"the embedder {self.embedder.identity!r} was asked for {len(texts)} vectors of"
                f" finite numbers and gave an array of shape {rows.shape}"
            )
        # Copies: a row kept in memory must not keep its whole batch alive.
        return {
            text: row.astype(np.float32)
            for text, row in zip(texts, rows, strict=True)
        }

    def _deliver(
        self,
        flight: _Flight,
        vectors: Mapping[str, FloatArray],
    ) -> None:
        for text, row in vectors.items():
            self._recent.add_row(text, row)
            flight.outcomes.pop(text).set_result(row)


def _fail(flight: _Flight, texts: list[str], error: Exception) -> None:
    for text in texts:
        if outcome := flight.outcomes.pop(text, None):
            outcome.set_exception(error)
            outcome.exception()  # seen: no warning when no caller waits any more


class Recent:
    """The vectors used last, up to a number of bytes; safe in threads."""

    def __init__(self, memory: int) -> None:
        # Texts count with their vectors because they take memory, too.
        self._entries: LRUCache[str, tuple[str, FloatArray]] = LRUCache(
            memory, _size
        )
        self._lock = threading.Lock()

    def get(self, text: str) -> FloatArray | None:
        """Return the array under a text, or None."""
        with self._lock:
            entry = self._entries.get(text)
        return None if entry is None else entry[1]

    def add_row(self, text: str, row: FloatArray) -> None:
        """Store an array under a text, unless it alone takes more than the limit."""
        entry = (text, row)
        with self._lock:
            if _size(entry) <= self._entries.maxsize:
                self._entries[text] = entry


def _size(entry: tuple[str, FloatArray]) -> int:
    text, row = entry
    # 256: bytes of the objects themselves, about.
    return row.nbytes + 4 * len(text) + 256
