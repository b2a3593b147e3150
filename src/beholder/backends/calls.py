"""One call to a server: waits for its turn, is retried if that can help, gives up in the end.

The only place in beholder where anything is retried.
"""

from __future__ import annotations

import asyncio
import random
import re
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    nullcontext,
)
from dataclasses import dataclass
from typing import Any, TypeVar

from beholder.aio import PerLoop
from beholder.backends.base import ServerFacts
from beholder.backends.money import Usage
from beholder.base.ranges import check_number
from beholder.errors import ConfigError, ItemError, TransientError

T = TypeVar("T")

LASTS = 15.0
"""Seconds for which a claim holds; that of a process that was killed ends so."""

LOOK = 0.25
"""Seconds between looks at what another process has claimed."""


_TICK = 1e-6
"""Seconds below which a pause is over: timers are not more exact."""


async def once(
    facts: ServerFacts,
    name: str,
    look_up: Callable[[], T | None],
    work: Callable[[], Awaitable[T]],
) -> T:
    """Return a known fact, or do the work that determines it; only one process does it at a time.

    Args:
        facts: Store in which the work is claimed.
        name: Of the work.
        look_up: Returns the present result, or None; called again when another process may have it.
        work: Finds it, and keeps it where ``look_up`` looks.
    """
    # Another process works on it: wait for its result instead of paying for it twice. If that
    # process is killed, its claim ends by itself and this one takes over.
    while not facts.claim(name):
        await asyncio.sleep(LOOK)
        fact = look_up()
        if fact is not None:
            return fact
    loop = asyncio.get_running_loop()
    renewal: asyncio.TimerHandle

    def renew_claim() -> None:
        nonlocal renewal
        renewal = loop.call_later(LASTS / 3, renew_claim)
        facts.claim(name)

    renewal = loop.call_later(LASTS / 3, renew_claim)
    try:
        # The other process may have finished between the last look and this claim.
        fact = look_up()
        return await work() if fact is None else fact
    finally:
        renewal.cancel()
        facts.release(name)


SAYS_TOO_LONG = re.compile(
    r"context|too (long|large)|longer than|max_new_tokens|maximum.*token",
    re.IGNORECASE | re.DOTALL,
)
"""Finds in a server's refusal that the prompt was the reason."""

SURELY_TOO_LONG = re.compile(
    r"context[ _](length|window|size)|(prompt|input|message|request).{0,40}too long"
    r"|maximum.{0,40}tokens",
    re.IGNORECASE | re.DOTALL,
)
"""The same in an error of the server itself (HTTP 500), which could have any other reason."""


def too_long(
    name: str, tokens: str, room: int | None, server_message: str = ""
) -> ItemError:
    """Return the error of a prompt that does not fit into a model; prompts are never cut.

    Args:
        name: Name of the model.
        tokens: Lengths of prompt and answer, for messages.
        room: Tokens that fit; None if unknown.
        server_message: The server's own words, if it was the server who refused.
    """
    room_text = "fewer" if room is None else str(room)
    server_note = (
        f" The server says: {server_message}" if server_message else ""
    )
    return ItemError(
        f"the prompt does not fit: with its answer it has {tokens} tokens, and {name} takes"
        f" {room_text}. It is not cut: shorten the text or use a judge with more room.{server_note}"
    )


@dataclass(eq=False)
class Refused(Exception):
    """The server refused the content of a request (HTTP 400, 413 or 422, or a 403 about it).

    Attributes:
        reason: The server's words.
        broke: Whether it said so by breaking down (HTTP 500 time and again, as some do).
    """

    reason: str
    broke: bool = False


class Forbidden(ConfigError):
    """The server does not allow a request (HTTP 403): wrong key, or asked for too much."""


@dataclass(eq=False)
class CallFailed(Exception):
    """A call failed in a way that may pass.

    Attributes:
        reason: Description of the failure, for people.
        strain: Whether the server has too much to do (429, timeout).
        retry_after: Seconds the server asks to wait, or None.
        charged: Whether the server may charge for it: it took the request and sent no error.
        usage: Tokens that it will charge for, if reported.
        status: HTTP status of the answer, if there was one.
    """

    reason: str
    strain: bool = False
    retry_after: float | None = None
    charged: bool = False
    usage: Usage | None = None
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of the load on a server.

    Attributes:
        concurrency: Calls at once at most.
        requests_per_minute: Rate of calls, or None.
        tokens_per_minute: Rate of (estimated) tokens, or None.
        timeout: Seconds for one try.
        attempts: Tries per call.
        wait: Seconds before the second try; doubles each time, with jitter, up to ``max_wait``.
        max_wait: Longest pause between tries; a longer Retry-After ends the call.
    """

    concurrency: int = 32
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    timeout: float = 120.0
    attempts: int = 8
    wait: float = 0.5
    max_wait: float = 60.0

    def __post_init__(self) -> None:
        for name in ("concurrency", "timeout", "attempts", "wait", "max_wait"):
            check_number(name, getattr(self, name), 0, above=True)
        for name in ("requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None:
                check_number(name, value, 0, above=True, hint="or None")


class Caller:
    """Makes the calls of one backend within its limits.

    Args:
        limits: The limits.
        name: Whose calls, for messages.
    """

    def __init__(self, limits: Limits, name: str) -> None:
        self.limits = limits
        self.name = name
        self._gates = PerLoop(self._make_gates)
        self._task_for: set[asyncio.Task[Any] | None] = set()

    def is_under_way(self, task: asyncio.Task[Any]) -> bool:
        """Return whether a task has sent its call and waits for the answer."""
        return task in self._task_for

    async def call(
        self,
        attempt: Callable[[], Awaitable[T]],
        tokens: int = 0,
        hold: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
    ) -> T:
        """Return the result of an attempt; retry after ``CallFailed`` and timeouts.

        Args:
            attempt: Makes one try.
            tokens: Estimated tokens, for the token rate.
            hold: Entered before each try and left after it, for its money.

        Raises:
            TransientError: All tries failed.
        """
        gates = await self._gates.get()
        n_tried = 0
        while True:
            n_tried += 1
            try:
                async with hold():
                    return await self._once(gates, attempt, tokens)
            except CallFailed as error:
                pause = self._pause(n_tried, error.retry_after)
                if pause is None:
                    raise TransientError(
                        f"{self.name}: {error} (tried {n_tried} times)"
                    ) from error
            await asyncio.sleep(pause)

    def _pause(self, n_tried: int, retry_after: float | None) -> float | None:
        """Return seconds until the next try: the server's, or doubled each time; None to stop."""
        limits = self.limits
        if n_tried >= limits.attempts:
            return None
        if retry_after is not None:
            return retry_after if retry_after <= limits.max_wait else None
        # Jitter keeps calls that failed together from coming back together. The exponent is
        # bounded, as floats overflow at 1024.
        doubled = limits.wait * 2.0 ** min(n_tried - 1, 99)
        return min(limits.max_wait, doubled + random.uniform(0, limits.wait))  # noqa: S311

    async def _once(
        self, gates: _Gates, attempt: Callable[[], Awaitable[T]], tokens: int
    ) -> T:
        # First the rates, then a place, so that a call that waits for its rate keeps no place from
        # others. Strain, by status or by silence, lowers the number of places.
        await gates.rates(tokens)
        async with gates.places.place() as started:
            task = asyncio.current_task()
            self._task_for.add(task)
            try:
                async with asyncio.timeout(self.limits.timeout):
                    result = await attempt()
            except TimeoutError:
                gates.places.strained(started)
                raise CallFailed(
                    f"no answer within {self.limits.timeout:g} s",
                    strain=True,
                    charged=True,
                ) from None
            except CallFailed as error:
                if error.strain:
                    is_within_limit = (
                        error.retry_after or 0
                    ) <= self.limits.max_wait
                    gates.places.strained(
                        started, error.retry_after if is_within_limit else None
                    )
                raise
            finally:
                self._task_for.discard(task)
            gates.places.succeeded()
            return result

    async def _make_gates(self) -> AsyncGenerator[_Gates, None]:
        yield _Gates(self.limits)


class _Gates:
    """The limits on the calls of one event loop: the adaptive bound and the two rates."""

    def __init__(self, limits: Limits) -> None:
        self.places = AdaptiveLimit(int(limits.concurrency))
        rates = (limits.requests_per_minute, limits.tokens_per_minute)
        if rates == (None, None):
            self._requests = self._tokens = None
            return
        import aiolimiter

        # Buckets of a few seconds: a bucket of a minute would let the whole minute's calls burst.
        self._requests, self._tokens = (
            None
            if rate is None
            else aiolimiter.AsyncLimiter(
                max(1.0, rate / 12), 60 * max(1.0, rate / 12) / rate
            )
            for rate in rates
        )

    async def rates(self, tokens: int) -> None:
        if self._requests is not None:
            await self._requests.acquire()
        if self._tokens is not None and tokens:
            await self._tokens.acquire(min(tokens, self._tokens.max_rate))


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
        """Wait for a place; yield the loop's time at which the call starts."""
        await self._acquire()
        try:
            yield _now()
        finally:
            self._in_flight -= 1
            self._admit()

    def succeeded(self) -> None:
        """Raise the limit after a call that succeeded: by 1 until the first strain, then slowly."""
        self.limit = min(
            self.ceiling,
            self.limit + (1.0 / self.limit if self._strained else 1.0),
        )

    def strained(
        self, started: float, retry_after: float | None = None
    ) -> None:
        """Halve the limit after a 429 or a timeout, and pause if the server asks for it.

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
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
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
        """Give free places to waiting calls, in the order of their arrival."""
        while self._waiting and self._in_flight < int(self.limit):
            pause = self._pause_until - _now()
            if pause > _TICK:
                if not self._resuming:
                    self._resuming = True
                    asyncio.get_running_loop().call_later(pause, self._resume)
                return
            turn = self._waiting.popleft()
            if not turn.cancelled():
                self._in_flight += 1
                turn.set_result(None)

    def _resume(self) -> None:
        self._resuming = False
        self._admit()


def _now() -> float:
    """Return the time of the loop's clock, which also measures sleeps."""
    return asyncio.get_running_loop().time()
