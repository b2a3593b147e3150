"""How many calls may run at once: found out from how the server takes them.

Starts low, doubles per round trip until the server first shows strain, then adds one call per round
trip and halves at each further sign (429 or timeout), as TCP does.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class AdaptiveLimit:
    """A bound on calls in flight that follows the server.

    Args:
        ceiling: Never more calls than this at once.
        start: Calls at once in the beginning.
    """

    def __init__(self, ceiling: int, start: int = 8) -> None:
        self.ceiling = ceiling
        self.limit = float(min(start, ceiling))
        self._in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._strained = False
        self._last_decrease = 0.0
        self._pause_until = 0.0
        self._resuming = False

    @asynccontextmanager
    async def place(self) -> AsyncIterator[float]:
        """Wait for a place; gives the loop's time at which the call started."""
        await self._acquire()
        try:
            yield _now()
        finally:
            self._in_flight -= 1
            self._admit()

    def succeeded(self) -> None:
        """A call came back well: allow more."""
        self.limit = min(self.ceiling, self.limit + (1.0 / self.limit if self._strained else 1.0))

    def strained(self, started: float, retry_after: float | None = None) -> None:
        """A call that started then met a 429 or a timeout: allow half, and pause if told so.

        One burst of refusals halves once: calls that were already under way at the last decrease
        say nothing new.
        """
        self._strained = True
        if started >= self._last_decrease:
            self.limit = max(1.0, self.limit / 2)
            self._last_decrease = _now()
        if retry_after is not None:
            self._pause_until = max(self._pause_until, _now() + retry_after)

    async def _acquire(self) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._admit()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # the place came too late: hand it on
                self._in_flight -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        """Hand free places to those who wait, first come first."""
        pause = self._pause_until - _now()
        if pause > 0:
            if self._waiting and not self._resuming:
                self._resuming = True
                asyncio.get_running_loop().call_later(pause, self._resume)
            return
        while self._waiting and self._in_flight < int(self.limit):
            turn = self._waiting.popleft()
            if not turn.cancelled():
                self._in_flight += 1
                turn.set_result(None)

    def _resume(self) -> None:
        self._resuming = False
        self._admit()


def _now() -> float:
    """The clock that pauses are slept by."""
    return asyncio.get_running_loop().time()
