"""Time that passes only when nothing else can happen, so that no test waits for a clock."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class Clock:
    """Says the seconds it was set to; a wait sets it forward and takes no time."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def waits(self, n: int) -> Callable[[float], bool]:
        """Return a function that waits ``n`` times; after these, it says that the end is there."""
        left = iter(range(n))

        def wait(seconds: float) -> bool:
            if next(left, None) is None:
                return True
            self.now += seconds
            return False

        return wait


class _Selector(selectors.DefaultSelector):
    """Where the loop would sleep until its next timer, it sets the clock forward instead."""

    def __init__(self, is_idle: Callable[[], bool]) -> None:
        super().__init__()
        self.now = 0.0
        self._is_idle = is_idle

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        events = super().select(0)
        if not events and self._is_idle():
            self.now += timeout
        elif not events:
            return super().select(
                0.005
            )  # an answer is on its way: for that we do wait
        return events


class FakeTimeLoop(asyncio.SelectorEventLoop):
    """An event loop whose time begins at 0 and jumps to the next timer when nothing else is left.

    Args:
        is_idle: Whether nothing outside of the loop (a server, a thread) is at work for it. While
            something is, time stands still.
    """

    def __init__(self, is_idle: Callable[[], bool] = lambda: True) -> None:
        self._clock = _Selector(is_idle)
        super().__init__(self._clock)

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._clock.now


def run_in_fake_time(
    work: Coroutine[Any, Any, T], is_idle: Callable[[], bool] = lambda: True
) -> T:
    """``asyncio.run`` in a ``FakeTimeLoop``."""
    with asyncio.Runner(loop_factory=lambda: FakeTimeLoop(is_idle)) as runner:
        return runner.run(work)


def now() -> float:
    """The time of the running loop."""
    return asyncio.get_running_loop().time()


async def validate_params() -> None:
    """Let everything else in a ``FakeTimeLoop`` run until it waits for this task or for a timer."""
    assert isinstance(asyncio.get_running_loop(), FakeTimeLoop)
    await asyncio.sleep(1e-3)
