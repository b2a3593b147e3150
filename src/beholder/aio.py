"""Small helpers for coroutines: run one from ordinary code, and many with a bound."""

from __future__ import annotations

import asyncio
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
)
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")
R = TypeVar("R")

ARRIVAL_TIMEOUT = 10.0
"""Seconds for which work that is paid for is waited for when all else has ended."""

_arriving_tasks: WeakKeyDictionary[
    asyncio.AbstractEventLoop, set[asyncio.Task[Any]]
] = WeakKeyDictionary()


def run_sync(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine; a running loop in this thread (a notebook's) is left alone."""
    results: list[T] = []

    # asyncio writes out the result of its task when it ends, so the task returns None.
    async def keep_result() -> None:
        results.append(await run_to_end(coroutine))

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(keep_result())
    else:
        # A running loop cannot be entered again, so the coroutine gets a loop in another thread.
        with ThreadPoolExecutor(max_workers=1) as pool:
            pool.submit(asyncio.run, keep_result()).result()
    return results[0]


def finish_before_exit(task: asyncio.Task[Any]) -> None:
    """Have ``run_to_end`` wait a moment for a task whose work is paid for already."""
    tasks = _arriving_tasks.setdefault(asyncio.get_running_loop(), set())
    tasks.add(task)
    task.add_done_callback(tasks.discard)


async def run_to_end(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine; arriving tasks get a moment, also after an error."""
    try:
        return await coroutine
    finally:
        tasks = _arriving_tasks.get(asyncio.get_running_loop())
        if tasks:
            await asyncio.wait(tasks, timeout=ARRIVAL_TIMEOUT)


async def map_bounded(
    function: Callable[[T], Awaitable[R]], inputs: Iterable[T], limit: int
) -> AsyncIterator[tuple[T, R]]:
    """Call a coroutine function on many inputs, at most ``limit`` at once, as they finish.

    Inputs are drawn only when a place is free, so a million of them cost no memory. The first error
    cancels the rest and is raised, after what finished together with it.
    """
    running: dict[asyncio.Task[R], T] = {}
    source = iter(inputs)
    try:
        while True:
            for argument in source:
                running[asyncio.ensure_future(_call(function, argument))] = (
                    argument
                )
                if len(running) >= limit:
                    break
            if not running:
                return
            done, _ = await asyncio.wait(
                running, return_when=asyncio.FIRST_COMPLETED
            )
            # Results of the same moment are yielded before an error is raised.
            for task in sorted(done, key=_has_failed):
                yield running.pop(task), task.result()
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


def _has_failed(task: asyncio.Task[Any]) -> bool:
    return task.cancelled() or task.exception() is not None


async def _call(function: Callable[[T], Awaitable[R]], argument: T) -> R:
    return await function(argument)


class PerLoop(Generic[T]):
    """One value per event loop.

    Args:
        make: Generator that yields the value once and then cleans up. asyncio closes open
            generators when a loop ends, so the clean-up runs inside the loop it belongs to.
    """

    def __init__(self, make: Callable[[], AsyncGenerator[T, None]]) -> None:
        self._make = make
        self._made: WeakKeyDictionary[
            asyncio.AbstractEventLoop, tuple[T, AsyncGenerator[T, None]]
        ] = WeakKeyDictionary()

    async def get(self) -> T:
        """The value of the running loop, made on first use."""
        loop = asyncio.get_running_loop()
        if loop not in self._made:
            generator = self._make()
            value = await anext(generator)
            self._made[loop] = (value, generator)
        return self._made[loop][0]
