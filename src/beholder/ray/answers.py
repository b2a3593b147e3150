"""The answers and the budget that a run's judges share over all machines, held by one actor.

The actor lives on the machine where the run was started, which holds the file of the answers. What
it holds is what a run on one machine holds (``Answers``, ``Budget``), so nothing is paid for twice
and the limit on cost stands for all machines together.
"""

from __future__ import annotations

import asyncio
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from beholder.backends.money import Budget, SampleSeries
from beholder.base.optional import require
from beholder.judges import AnswerStore
from beholder.options import WorkOptions
from beholder.run.answers import run_answers

LOST_AFTER = 30.0
"""Seconds of silence after which a process is lost, with the calls that it had under way."""

_CALLS = 100_000
"""Calls that may wait at the desk at once: those that wait for money must not keep out payers."""


@dataclass(frozen=True)
class Desk:
    """The handle by which a process of the cluster shares answers and budget; cheap to pickle.

    Attributes:
        actor: Of ``Keeper``.
        max_cost: The limit, in US dollars, or None.
    """

    actor: Any
    max_cost: float | None

    def answers(self) -> AnswerStore:
        """Return the run's answers, for this process."""
        return cast(AnswerStore, _SharedAnswers(self.actor))

    def budget(self) -> Budget:
        """Return the run's budget, for this process."""
        return (
            Budget()
            if self.max_cost is None
            else _SharedBudget(self.actor, self.max_cost)
        )


@contextmanager
def at_desk(ray: Any, folder: Path, work: WorkOptions) -> Iterator[Desk]:
    """Yield the desk with a run's answers and budget, while the cluster works on it.

    Args:
        ray: Ray, connected.
        folder: The run directory, on this machine.
        work: Shared cache and budget.

    Raises:
        RunError: A file of answers cannot be opened.
    """
    strategies = require(
        "ray.util.scheduling_strategies", extra="ray", purpose="the engine ray"
    )
    placement = strategies.NodeAffinitySchedulingStrategy(
        ray.get_runtime_context().get_node_id(), soft=False
    )
    keeper = ray.remote(Keeper).options(
        num_cpus=0, scheduling_strategy=placement, max_concurrency=_CALLS
    )
    # The actor runs in another working directory, so paths must be absolute.
    cache = (
        work.cache.resolve() if isinstance(work.cache, Path) else work.cache
    )
    actor = keeper.remote(folder.resolve(), replace(work, cache=cache))
    watch = actor.watch.remote()  # ends with the actor
    try:
        yield Desk(actor, work.max_cost)
    finally:
        ray.cancel(watch)
        ray.get(actor.close.remote())
        ray.kill(actor)


class Keeper:
    """Holds a run's answers and its budget; an actor of Ray, whose methods take turns.

    Args:
        folder: The run directory.
        work: Shared cache and budget.
    """

    def __init__(self, folder: Path, work: WorkOptions) -> None:
        self._open = ExitStack()
        self._answers, self._budget = self._open.enter_context(
            run_answers(folder, work.cache, work.max_cost)
        )
        self._claims: dict[str, str] = {}
        self._held: dict[str, Counter[float]] = {}
        self._begun: dict[str, set[str]] = {}
        self._heard: dict[str, float] = {}

    async def close(self) -> None:
        """Close the files."""
        self._open.close()

    async def ask(self, method: str, arguments: tuple[Any, ...]) -> Any:
        """Return the result of a method of ``AnswerStore``."""
        return getattr(self._answers, method)(*arguments)

    async def claim(self, name: str, who: str) -> bool:
        """Claim a name for a process; return False while another process or run has it."""
        self.hear(who, time.monotonic())
        # Two levels: first between the processes of this run, then between runs.
        is_free = self._claims.setdefault(
            name, who
        ) == who and self._answers.claim(name)
        if not is_free and self._claims[name] == who:
            del self._claims[name]  # another run has it
        return is_free

    async def release(self, name: str, who: str) -> None:
        """Give up the claim of a process, if it has one."""
        if self._claims.get(name) == who:
            del self._claims[name]
            self._answers.release(name)

    async def admit(
        self,
        highest_cost: float,
        who: str,
        drawing: SampleSeries | None = None,
    ) -> tuple[bool, float]:
        """Wait until it is known whether a call may cost so much.

        Returns:
            The answer, and the US dollars spent so far.
        """
        self.hear(who, time.monotonic())
        admitted = await self._budget.admits(highest_cost, drawing)
        if admitted:
            if drawing is not None:
                self._begun.setdefault(who, set()).add(drawing.key)
            self._held.setdefault(who, Counter())[highest_cost] += 1
        return admitted, self._budget.spent

    async def free(self, highest_cost: float, who: str) -> None:
        """Release the reserve of an admitted call that has ended."""
        # A process that was given up may come back; its calls are charged and released already.
        if self._held.get(who, Counter())[highest_cost]:
            self._held[who][highest_cost] -= 1
            self._budget.frees(highest_cost)

    async def end(self, key: str, who: str) -> None:
        """Release what is kept free for further calls of a question."""
        self._begun.get(who, set()).discard(key)
        self._budget.ends(key)

    async def pay(self, cost: float) -> None:
        """Add the cost of a call to what is spent."""
        self._budget.pay(cost)

    async def here(self, who: str) -> None:
        """Note that a process is alive."""
        self.hear(who, time.monotonic())

    async def watch(self) -> None:
        """Look for lost processes until the actor ends."""
        while True:
            await asyncio.sleep(LOST_AFTER / 3)
            self.give_up(time.monotonic())

    def hear(self, who: str, now: float) -> None:
        """Note when a process was heard of, in seconds."""
        self._heard[who] = now

    def give_up(self, now: float) -> None:
        """Charge lost processes' calls at the most they can have cost, and drop their claims."""
        for who in [
            who
            for who, heard in self._heard.items()
            if now - heard > LOST_AFTER
        ]:
            del self._heard[who]
            self._claims = {
                name: holder
                for name, holder in self._claims.items()
                if holder != who
            }
            for highest_cost in self._held.pop(who, Counter()).elements():
                self._budget.pay(highest_cost)
                self._budget.frees(highest_cost)
            for key in self._begun.pop(who, set()):
                self._budget.ends(key)


class _Caller:
    """A process that asks at the desk; it sends a sign of life from its first question on."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor
        self._who = uuid.uuid4().hex
        threading.Thread(target=self._live, daemon=True).start()

    def _live(self) -> None:
        while True:
            self._actor.here.remote(self._who)
            time.sleep(LOST_AFTER / 4)


class _SharedAnswers(_Caller):
    """The run's answers, in a process of the cluster; an ``AnswerStore``."""

    def __init__(self, actor: Any) -> None:
        super().__init__(actor)
        self._ray = require("ray", extra="ray", purpose="the engine ray")

    def __getattr__(self, method: str) -> Callable[..., Any]:
        """Return a function that calls a method of ``AnswerStore`` at the desk."""
        return lambda *arguments: self._ray.get(
            self._actor.ask.remote(method, arguments)
        )

    def claim(self, name: str) -> bool:
        """See ``ServerFacts``."""
        return bool(self._ray.get(self._actor.claim.remote(name, self._who)))

    def release(self, name: str) -> None:
        """See ``ServerFacts``."""
        self._ray.get(self._actor.release.remote(name, self._who))


class _SharedBudget(Budget, _Caller):
    """The run's budget, in a process of the cluster."""

    def __init__(self, actor: Any, max_cost: float) -> None:
        Budget.__init__(self, max_cost)
        _Caller.__init__(self, actor)

    async def admits(
        self, highest_cost: float, drawing: SampleSeries | None = None
    ) -> bool:
        """See ``Budget``."""
        admitted, self.spent = await self._actor.admit.remote(
            highest_cost, self._who, drawing
        )
        return bool(admitted)

    def frees(self, highest_cost: float) -> None:
        """See ``Budget``."""
        self._actor.free.remote(highest_cost, self._who)

    def ends(self, key: str) -> None:
        """See ``Budget``."""
        self._actor.end.remote(key, self._who)

    def pay(self, cost: float | None) -> None:
        """See ``Budget``."""
        self._actor.pay.remote(cost or 0.0)
