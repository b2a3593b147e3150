"""Batching of single requests, for models inside this process."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

from beholder.aio import PerLoop
from beholder.backends.base import DescribedBackend, Request
from beholder.backends.money import Price

Q = TypeVar("Q")
A = TypeVar("A")
R = TypeVar("R")


@dataclass(eq=False)
class Batcher(Generic[Q, A]):
    """Collects what is asked at the same time and answers it together, in one worker thread.

    Args:
        answer: Answers a batch; runs in the thread. Gives the place of a question and its answer as
            soon as there is one, so that what is finished is kept when the rest is not. In place
            of an answer it may give an exception, for that question alone. The event is set when no
            caller waits any more (Ctrl-C): then it may end with questions unanswered.
        batch_size: Questions per batch at most.
        order: Sort key; questions that sort together go into one batch (equal length, or equal
            beginning).
    """

    answer: Callable[
        [Sequence[Q], threading.Event], Iterable[tuple[int, A | Exception]]
    ]
    batch_size: int
    order: Callable[[Q], Any]

    def __post_init__(self) -> None:
        # One thread: a model computes one batch at a time, whichever loop asks.
        self._thread = ThreadPoolExecutor(
            max_workers=1, thread_name_prefix="beholder-model"
        )
        self._queues = PerLoop(self._make_queue)

    async def ask(self, question: Q) -> A:
        """Return the answer to one question."""
        queue = await self._queues.get()
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        queue.put_nowait((question, future))
        return await future

    async def run(self, function: Callable[[], R]) -> R:
        """Return the result of a function that runs in the worker thread between two batches."""
        return await asyncio.get_running_loop().run_in_executor(
            self._thread, function
        )

    async def _make_queue(
        self,
    ) -> AsyncGenerator[asyncio.Queue[tuple[Q, asyncio.Future[A]]], None]:
        queue: asyncio.Queue[tuple[Q, asyncio.Future[A]]] = asyncio.Queue()
        stop = threading.Event()
        worker = asyncio.ensure_future(self._work(queue, stop))
        try:
            yield queue
        finally:
            worker.cancel()
            stop.set()

    async def _work(
        self,
        queue: asyncio.Queue[tuple[Q, asyncio.Future[A]]],
        stop: threading.Event,
    ) -> None:
        loop = asyncio.get_running_loop()
        waiting: list[tuple[Q, asyncio.Future[A]]] = []
        while True:
            if not waiting:
                waiting.append(await queue.get())
                # Let callers that ask at the same time join the batch.
                await asyncio.sleep(0.002)
            while not queue.empty():
                waiting.append(queue.get_nowait())
            # Callers that were cancelled need no answer.
            waiting = [pair for pair in waiting if not pair[1].done()]
            waiting.sort(key=lambda pair: self.order(pair[0]))
            batch, waiting = (
                waiting[: self.batch_size],
                waiting[self.batch_size :],
            )
            if not batch:
                continue
            try:
                await loop.run_in_executor(
                    self._thread, self._compute, batch, stop
                )
            except Exception as error:
                # Every caller without an answer gets the error.
                for _, future in batch:
                    _settle(future, error)

    def _compute(
        self,
        batch: Sequence[tuple[Q, asyncio.Future[A]]],
        stop: threading.Event,
    ) -> None:
        """Answer a batch; runs in the worker thread."""
        for place, answer in self.answer(
            [question for question, _ in batch], stop
        ):
            future = batch[place][1]
            # After a stop the loop is closing, and a call into it could raise.
            if not stop.is_set():
                future.get_loop().call_soon_threadsafe(_settle, future, answer)


def _settle(future: asyncio.Future[A], answer: A | Exception) -> None:
    if future.done():
        return
    if isinstance(answer, Exception):
        future.set_exception(answer)
    else:
        future.set_result(answer)


class InProcess(DescribedBackend):
    """Base of models inside this process."""

    def price(self) -> Price | None:
        """Return a price of 0: nothing is charged."""
        return Price(0.0, 0.0, free=True)

    def is_under_way(self, task: asyncio.Task[Any]) -> bool:
        """Return False: an unfinished answer costs nothing, so no one waits for it."""
        return False


def beginning(request: Request) -> str:
    """Return a sort key that brings prompts with a shared beginning together."""
    parts = (part for message in request.messages for part in message.parts)
    return "".join(
        part if isinstance(part, str) else part.digest for part in parts
    )


def weights_digest(place: Path) -> str:
    """Return the SHA-256 of a model's files with its weights, which are read for loading anyway.

    Args:
        place: A folder, of which the files in it count, or one file.
    """
    total = hashlib.sha256()
    for path in (
        sorted(p for p in place.iterdir() if p.is_file())
        if place.is_dir()
        else [place]
    ):
        total.update(f"{path.name}:{path.stat().st_size}:".encode())
        with path.open("rb") as data:
            total.update(hashlib.file_digest(data, "sha256").digest())
    return total.hexdigest()
