"""Requests that come one by one, answered in batches: for models inside this process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar

from beholder.backends.base import Request
from beholder.backends.per_loop import PerLoop

Q = TypeVar("Q")
A = TypeVar("A")


class Batcher(Generic[Q, A]):
    """Collects what is asked at the same time and answers it together, in one worker thread.

    Args:
        answer: Answers a batch; runs in the thread. In place of an answer it may give an exception,
            for that question alone.
        batch_size: Questions per batch at most.
        order: Sort key; questions that sort together go into one batch (equal length, or equal
            beginning).
        stop: Called when nobody waits any more (Ctrl-C): a batch that is computed may end at once.
    """

    def __init__(
        self,
        answer: Callable[[Sequence[Q]], Sequence[A | Exception]],
        batch_size: int,
        order: Callable[[Q], Any],
        stop: Callable[[], None] = lambda: None,
    ) -> None:
        self._answer = answer
        self._stop = stop
        self._batch_size = batch_size
        self._order = order
        # One thread: a model computes one batch at a time, whichever loop asks.
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="beholder-model")
        self._queues = PerLoop(self._make_queue)

    async def ask(self, question: Q) -> A:
        """The answer to one question."""
        queue = await self._queues.get()
        future: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        queue.put_nowait((question, future))
        return await future

    async def run(self, function: Callable[[], A]) -> A:
        """The result of a function, computed in the same thread between two batches."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, function)

    async def _make_queue(self) -> AsyncGenerator[asyncio.Queue[tuple[Q, asyncio.Future[A]]], None]:
        queue: asyncio.Queue[tuple[Q, asyncio.Future[A]]] = asyncio.Queue()
        worker = asyncio.ensure_future(self._work(queue))
        try:
            yield queue
        finally:
            worker.cancel()
            self._stop()

    async def _work(self, queue: asyncio.Queue[tuple[Q, asyncio.Future[A]]]) -> None:
        loop = asyncio.get_running_loop()
        waiting: list[tuple[Q, asyncio.Future[A]]] = []
        while True:
            if not waiting:
                waiting.append(await queue.get())
                await asyncio.sleep(0.002)  # let those who ask at the same time join the batch
            while not queue.empty():
                waiting.append(queue.get_nowait())
            waiting = [pair for pair in waiting if not pair[1].done()]
            waiting.sort(key=lambda pair: self._order(pair[0]))
            batch, waiting = waiting[: self._batch_size], waiting[self._batch_size :]
            if not batch:
                continue
            questions = [question for question, _ in batch]
            try:
                answers = await loop.run_in_executor(self._thread, self._answer, questions)
            except Exception as error:  # the whole batch failed: every asker learns why
                answers = [error] * len(batch)
            for (_, future), answer in zip(batch, answers, strict=True):
                if future.done():
                    continue
                if isinstance(answer, Exception):
                    future.set_exception(answer)
                else:
                    future.set_result(answer)


def beginning(request: Request) -> str:
    """Sort key that brings prompts with a shared beginning together."""
    return "".join(
        part if isinstance(part, str) else part.digest
        for message in request.messages
        for part in message.parts
    )
