"""Values that belong to one event loop: clients, limiters and queues.

``score_text`` in a notebook runs each call in a loop of its own, a run has one loop for all. What
is bound to a loop is therefore made per loop, and ends with it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


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
