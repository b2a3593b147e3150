"""Prices of calls, and the limit on spending.

Prices are in ``prices.json``, a file to edit: US dollars per million tokens. ``Budget`` refuses
the call that would pass the limit, before it is made.
"""

from __future__ import annotations

import asyncio
import math
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    nullcontext,
)
from dataclasses import astuple, dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from operator import add
from pathlib import Path
from typing import Protocol

import msgspec

from beholder.base.files import decode_json
from beholder.errors import BudgetError, ConfigError


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer; thoughts count as ``completion``.

    ``cached``, ``image`` and ``written`` (to the server's cache) are parts of ``prompt``.

    If a server reports none, these are upper bounds.

    Raises:
        ValueError: A count is not a whole number, or below 0.
    """

    prompt: int = 0
    cached: int = 0
    completion: int = 0
    image: int = 0
    written: int = 0

    def __post_init__(self) -> None:
        for name in Usage.__slots__:
            value = getattr(self, name)
            if type(value) is not int or not 0 <= value < 10**12:
                raise ValueError(
                    f"the count of {name} tokens is not a whole number from 0"
                )

    def __add__(self, other: Usage) -> Usage:
        return Usage(*map(add, astuple(self), astuple(other)))


NO_TOKENS = Usage()


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens.

    Attributes:
        input: Prompt tokens.
        output: Answer tokens.
        cached: Prompt tokens that the server had cached; as ``input`` when not given.
        image: Tokens of one picture at most, of any size; None if unknown.
        written: Prompt tokens that the server writes to its cache; as ``input`` when not given.
        cache_minimum: Tokens of the shortest beginning that the server caches.
        over: Prompt tokens above which the whole call costs ``long``.
        long: See ``over``.
        batch_cached: Prompt tokens that were cached, in a batch; the batch's share of ``cached``
            when not given.
        until: Last day of this price; ``then`` holds after it.
        then: See ``until``.
        released: Day or month in which the model came, where the table states it.
        date: Day on which the price was read.
        source: File or address that the price was read from.
        free: Whether calls cost nothing; without it, prices of 0 for prompts and answers are
            refused.

    Raises:
        ValueError: A price is negative or not finite, or all is 0 without ``free``.
    """

    input: float
    output: float
    cached: float | None = None
    image: int | None = None
    written: float | None = None
    cache_minimum: int | None = None
    over: int | None = None
    long: Price | None = None
    batch_cached: float | None = None
    until: str = ""
    then: Price | None = None
    released: str = ""
    date: str = ""
    source: str = ""
    free: bool = False

    def __post_init__(self) -> None:
        for name in (
            "input",
            "output",
            "cached",
            "written",
            "batch_cached",
            "image",
        ):
            value = getattr(self, name)
            if value is not None and not 0 <= value < math.inf:
                raise ValueError(
                    f"{name} is {value}, expected US dollars, 0 or more"
                )
        if not self.free and self.input == self.output == 0:
            raise ValueError(
                'input and output are 0; add "free": true if the model costs nothing'
            )

    def cost(self, usage: Usage, factor: float = 1.0) -> float:
        """Return the US dollars for tokens, times the share of the list price that is charged."""
        # Above a number of prompt tokens, some vendors charge the whole call at a higher price.
        if self.long is not None and usage.prompt > (self.over or 0):
            return self.long.cost(usage, factor)
        cached = self.input if self.cached is None else self.cached
        if factor < 1 and self.batch_cached is not None:
            # `factor` is applied to the whole sum below, and this price includes it already.
            cached = self.batch_cached / factor
        written = self.input if self.written is None else self.written
        # `prompt` includes the cached and the written tokens.
        fresh = usage.prompt - usage.cached - usage.written
        total = (
            fresh * self.input
            + usage.cached * cached
            + usage.written * written
        )
        total += usage.completion * self.output
        return factor * total / 1e6


class _PriceTable(msgspec.Struct):
    models: dict[str, Price]


def load_prices(path: Path | None = None) -> Mapping[str, Price]:
    """Return beholder's price table, updated from a file of your own.

    Args:
        path: JSON ``{"models": {"NAME": {"input": 2.0, "output": 8.0, "cached": 0.5}}}``;
            further fields as of ``Price``.

    Raises:
        ConfigError: The file cannot be read as a price table.
    """
    if path is None:
        return _load_default_prices()
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = error.strerror or error
        raise ConfigError(
            f"the price table {path} cannot be read: {reason}"
        ) from error
    return {**_load_default_prices(), **_parse_prices(data, str(path))}


def price_of(model: str, prices: Mapping[str, Price]) -> Price | None:
    """Return today's price of a model, or None if it is in no table.

    A dated snapshot (``name-2025-04-14``) costs as its family.
    """
    # The longest name wins: `gpt-4o-mini-2024` is a snapshot of `gpt-4o-mini`, not of `gpt-4o`.
    price = prices.get(model)
    if price is None and ("-20" in model or "@" in model):
        names = [
            name
            for name in prices
            if model.startswith((f"{name}-20", f"{name}@"))
        ]
        price = prices[max(names, key=len)] if names else None
    if price is None:
        return None
    has_ended = price.until and price.until < date.today().isoformat()
    return price.then if has_ended else price


@cache
def _load_default_prices() -> Mapping[str, Price]:
    text = (files("beholder.backends") / "prices.json").read_text("utf-8")
    return _parse_prices(text, "prices.json")


def _parse_prices(data: bytes | str, path: str) -> dict[str, Price]:
    try:
        return decode_json(data, _PriceTable).models
    except ValueError as error:
        raise ConfigError(
            f'{path} is not a price table ({error}); expected {{"models": {{"NAME":'
            ' {"input": 2.0, "output": 8.0}}} in US dollars per million tokens, and "free": true'
            " for a model of price 0"
        ) from error


@dataclass(frozen=True, slots=True)
class SampleSeries:
    """A question that several calls may answer: one for each sample.

    Attributes:
        key: Of the question.
        n_after: Samples that further calls must draw.
    """

    key: str
    n_after: int = 0


PROBE = SampleSeries("")
"""Stands for a call that finds out what a server can do: questions that were begun may need it."""


class Ledger(Protocol):
    """Keeps on disk the most that calls under way can cost.

    A process that is killed settles nothing: what it left open counts as spent at the next start.
    """

    def put_promise(self, cost: float) -> int:
        """Store a cost before its request leaves; returns its id."""

    def remove_promise(self, promise: int) -> None:
        """Remove a cost whose call has ended."""


class Budget:
    """Money spent so far and its limit. Calls of several event loops and threads may share one.

    Args:
        max_cost: US dollars, or None for no limit.
        spent: Cost of earlier starts of the same run.
        ledger: Store for the costs of calls under way; None keeps them in memory.
    """

    def __init__(
        self,
        max_cost: float | None = None,
        spent: float = 0.0,
        ledger: Ledger | None = None,
    ) -> None:
        if max_cost is not None and max_cost < 0:
            raise ConfigError(
                f"max_cost={max_cost!r}: expected US dollars, 0 or more"
            )
        self.max_cost = max_cost
        self.spent = spent
        self._reserved = 0.0
        self._n_under_way = 0
        self._stopped = False
        self._promised: dict[str, float] = {}  # to further calls, by question
        self._ledger = ledger
        self._open: dict[float, list[int]] = {}  # ids in the ledger, by cost
        self._with_form: list[int] = []
        self._waiting: deque[_Turn] = deque()
        self._lock = threading.Lock()

    def reserve(
        self,
        highest_cost: float | None,
        name: str,
        drawing: SampleSeries | None = None,
        *,
        is_recovered: bool = False,
    ) -> AbstractAsyncContextManager[None]:
        """Reserve the most that a call can cost while it runs; ``pay`` records its actual cost.

        Near the limit a call waits until those under way have reported their cost. Calls continue
        in the order in which they came, except that the further calls of a question that was begun
        go first, and what they can cost is kept free until ``ends``.

        Args:
            highest_cost: US dollars that the call can cost at most, or None if unknown.
            name: Of the model, for messages.
            drawing: The question that this call and further ones answer; None if it is the only
                call.
            is_recovered: The next start finds the answer at the server, as in a batch, so the call
                is not left open by a kill.

        Raises:
            BudgetError: The limit could be passed, so the call must not be made.
            ConfigError: There is a limit, and the model has no known price.
        """
        if self.max_cost is not None:
            return self._hold_within_limit(
                highest_cost, name, drawing, is_recovered
            )
        if highest_cost is None or self._ledger is None or is_recovered:
            return nullcontext()
        return self._record_in_ledger(highest_cost)

    @asynccontextmanager
    async def _record_in_ledger(
        self, highest_cost: float
    ) -> AsyncIterator[None]:
        """Keep a call in the ledger without a limit: a later start may have one."""
        self._put_promise(highest_cost)
        try:
            yield
        finally:
            self._settle(highest_cost)

    @asynccontextmanager
    async def _hold_within_limit(
        self,
        highest_cost: float | None,
        name: str,
        drawing: SampleSeries | None,
        is_recovered: bool,
    ) -> AsyncIterator[None]:
        if highest_cost is None:
            raise ConfigError(
                f"{name} has no known price, so --max-cost cannot be kept; add it to a price table"
                " (judge option prices='FILE'), or leave --max-cost out"
            )
        if not await self.admits(highest_cost, drawing):
            raise BudgetError(
                f"the next call to {name} could cost {highest_cost:.4f} USD and pass --max-cost"
                f" {self.max_cost:g} (spent {self.spent:.4f}); all answers so far are kept: start"
                " the same command with a higher --max-cost to continue"
            )
        if is_recovered:
            self._settle(highest_cost)
        try:
            yield
        finally:
            self.frees(highest_cost)

    def pay(self, cost: float | None) -> None:
        """Add the cost of a call to what is spent."""
        with self._lock:
            self.spent += cost or 0.0

    async def admits(
        self, highest_cost: float, drawing: SampleSeries | None = None
    ) -> bool:
        """Wait until it is known whether a call may cost so much; return the answer.

        An admitted call must be ended by ``frees``.
        """
        turn = _Turn(highest_cost, drawing)
        with self._lock:
            if self._goes_first(turn):
                self._waiting.appendleft(turn)
            else:
                self._waiting.append(turn)
            self._serve()
        try:
            is_admitted = await turn.answer()
            if is_admitted:
                self._put_promise(highest_cost)
            return is_admitted
        except asyncio.CancelledError:
            if turn.admitted:  # too late: another may have it
                self.frees(highest_cost)
            with self._lock:
                if turn in self._waiting:
                    self._waiting.remove(turn)
                self._serve()
            raise

    def frees(self, highest_cost: float) -> None:
        """Release the reserve of an admitted call that has ended."""
        self._settle(highest_cost)
        with self._lock:
            self._n_under_way -= 1
            # Sums of floats do not come back to 0 by themselves.
            self._reserved = (
                self._reserved - highest_cost if self._n_under_way else 0.0
            )
            self._serve()

    def ends(self, key: str) -> None:
        """Release the money that is reserved for further calls of a question."""
        with self._lock:
            if self._promised.pop(key, None) is not None:
                self._serve()

    def _put_promise(self, highest_cost: float) -> None:
        if self._ledger is not None:
            promise = self._ledger.put_promise(highest_cost)
            with self._lock:
                self._open.setdefault(highest_cost, []).append(promise)

    def _settle(self, highest_cost: float) -> None:
        """Remove a call of this cost from the ledger, once its answer is stored.

        The caller stores the answer before its task waits again, so the loop's next step is late
        enough; a kill before it counts the call twice rather than not at all.
        """
        with self._lock:
            promises = self._open.get(highest_cost)
            if not promises:
                return
            self._with_form.append(promises.pop())
        try:
            asyncio.get_running_loop().call_soon(self.remove_settled)
        except RuntimeError:  # outside of a loop nothing is pending
            self.remove_settled()

    def remove_settled(self) -> None:
        """Remove calls that have ended from the ledger; also when the run is closed."""
        with self._lock:
            settled, self._with_form = self._with_form, []
        for promise in settled:
            assert self._ledger is not None
            self._ledger.remove_promise(promise)

    def _serve(self) -> None:
        """Admit or refuse waiting calls in their order, as far as it is known; needs the lock."""
        # Three outcomes for the first waiting call: it fits and is admitted; it may fit once calls
        # under way report less than was reserved, so all wait; or it can never fit, and then it and
        # all later calls are refused.
        assert self.max_cost is not None
        while self._waiting:
            turn = self._waiting[0]
            total = self.spent + self._reserved + turn.highest_cost
            fits = total <= self.max_cost and not self._stopped
            has_others = self._n_under_way or self._promised
            if has_others and not self._stopped and not self._goes_first(turn):
                # A question is begun beside others only if all of them can be finished.
                fits = (
                    total + sum(self._promised.values()) + turn.further_cost
                    <= self.max_cost
                )
                if not fits:
                    return  # those under way may cost less than is held for them
            if not fits and self._n_under_way and not self._stopped:
                return
            self._waiting.popleft()
            if fits:
                self._reserved += turn.highest_cost
                self._n_under_way += 1
                if turn.key:
                    self._promised[turn.key] = turn.further_cost
            else:
                self._stopped = True
            turn.set_answer(fits)

    def _goes_first(self, turn: _Turn) -> bool:
        return turn.is_probe or turn.key in self._promised


class _Turn:
    """A call that waits for its answer, in the event loop that makes it."""

    def __init__(
        self, highest_cost: float, drawing: SampleSeries | None
    ) -> None:
        self.highest_cost = highest_cost
        self.key = "" if drawing is None else drawing.key
        self.is_probe = drawing == PROBE
        self.further_cost = (
            0.0 if drawing is None else highest_cost * drawing.n_after
        )
        self.admitted: bool | None = None
        self._loop = asyncio.get_running_loop()
        self._answered: asyncio.Future[None] = self._loop.create_future()

    async def answer(self) -> bool:
        if self.admitted is None:
            await self._answered
        return bool(self.admitted)

    def set_answer(self, admitted: bool) -> None:
        self.admitted = admitted
        self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        if not self._answered.done():
            self._answered.set_result(None)


class Account:
    """The budget of one model's calls, and the record of costs without an answer.

    Args:
        budget: Limit on the spending; no limit if None.
        note: Records a cost that is in no stored answer: of calls that failed but may be charged,
            and of those that found out what a server can do.

    Attributes:
        budget: See above.
    """

    def __init__(
        self,
        budget: Budget | None = None,
        note: Callable[[float], None] | None = None,
    ) -> None:
        self.budget = budget or Budget()
        self._note = note

    def lose(self, cost: float | None) -> None:
        """Pay for a call that leaves no answer, and record the cost."""
        self.budget.pay(cost)
        self.note(cost)

    def note(self, cost: float | None) -> None:
        """Record a cost that was paid for an answer that will not be stored."""
        if cost and self._note is not None:
            self._note(cost)
