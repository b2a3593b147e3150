"""Who may call near the limit of a budget, and in which order; sums by hand."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from beholder.backends.money import PROBE, Budget, SampleSeries
from beholder.errors import BudgetError, ConfigError
from beholder.judges import AnswerFile


class Calls:
    """Calls against one budget that end when they are told to, and a log of their starts."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self.log: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def start(
        self,
        name: str,
        highest_cost: float,
        real: float,
        drawing: SampleSeries | None = None,
    ) -> None:
        self._ends[name] = asyncio.Event()
        self._tasks[name] = asyncio.create_task(
            self._call(name, highest_cost, real, drawing)
        )
        await self._settle()

    async def end(self, name: str) -> None:
        self._ends[name].set()
        await self._tasks[name]
        await self._settle()

    async def cancel(self, name: str) -> None:
        self._tasks[name].cancel()
        await asyncio.gather(self._tasks[name], return_exceptions=True)
        await self._settle()

    async def ends(self, key: str) -> None:
        self.budget.ends(key)
        await self._settle()

    async def _call(
        self,
        name: str,
        highest_cost: float,
        real: float,
        drawing: SampleSeries | None = None,
    ) -> None:
        async with self.budget.reserve(highest_cost, "m", drawing):
            self.log.append(name)
            await self._ends[name].wait()
            self.budget.pay(real)

    async def _settle(self) -> None:
        for _ in range(5):  # every task takes all the steps that it can
            await asyncio.sleep(0)


def test_a_call_that_could_pass_the_limit_waits_for_those_under_way_then_is_refused() -> (
    None
):
    async def go() -> None:
        calls = Calls(Budget(max_cost=1.0))
        await calls.start("first", 0.9, 0.3)
        await calls.start(
            "second", 0.6, 0.6
        )  # fits only once the first has told its real cost
        assert calls.log == ["first"]
        await calls.end("first")
        assert calls.log == ["first", "second"]
        await calls.start("third", 0.2, 0.2)
        await calls.end("second")
        with pytest.raises(
            BudgetError, match=r"cost 0\.2000 USD .* 1 \(spent 0\.9000\)"
        ):
            await calls.end("third")
        await calls.start("small", 0.01, 0.01)
        with pytest.raises(
            BudgetError
        ):  # after the stop nothing slips through
            await calls.end("small")
        assert calls.log == ["first", "second"]
        assert calls.budget.spent == pytest.approx(0.9)

    asyncio.run(go())


def test_calls_go_on_in_the_order_in_which_they_came() -> None:
    async def go() -> None:
        calls = Calls(Budget(max_cost=1.0))
        await calls.start("first", 0.9, 0.1)
        await calls.start("large", 0.5, 0.1)
        await calls.start(
            "small", 0.05, 0.05
        )  # 0.95 would fit, but another came before
        assert calls.log == ["first"]
        await calls.end("first")
        assert calls.log == ["first", "large", "small"]  # 0.1 spent, 0.55 held
        await calls.end("small")
        await calls.end("large")
        assert calls.budget.spent == pytest.approx(0.25)

    asyncio.run(go())


def test_all_who_wait_are_refused_once_one_is() -> None:
    async def go() -> None:
        calls = Calls(Budget(max_cost=1.0))
        await calls.start("first", 0.9, 0.9)
        await calls.start("second", 0.5, 0.5)
        await calls.start("third", 0.05, 0.05)
        await calls.end("first")
        for name in ("second", "third"):
            with pytest.raises(BudgetError):
                await calls.end(name)
        assert calls.log == ["first"]

    asyncio.run(go())


def test_who_gives_up_waiting_leaves_the_way_free() -> None:
    async def go() -> None:
        calls = Calls(Budget(max_cost=1.0))
        await calls.start("first", 0.6, 0.6)
        await calls.start("second", 0.5, 0.5)
        await calls.start("third", 0.4, 0.4)
        await calls.cancel("second")
        assert calls.log == ["first", "third"]
        await calls.cancel("third")  # what it held is free again
        await calls.start("fourth", 0.4, 0.4)
        assert calls.log == ["first", "third", "fourth"]
        await calls.end("first")
        await calls.end("fourth")
        assert calls.budget.spent == pytest.approx(1.0)

    asyncio.run(go())


def test_who_gives_up_in_the_moment_of_admission_holds_nothing() -> None:
    async def go() -> None:
        calls = Calls(Budget(max_cost=1.0))
        async with calls.budget.reserve(0.9, "m"):
            late = asyncio.create_task(calls._call("late", 0.5, 0.5))
            await asyncio.sleep(0)
        late.cancel()  # admitted when the block ended, and not yet told
        await asyncio.gather(late, return_exceptions=True)
        calls._ends["whole"] = asyncio.Event()
        calls._ends["whole"].set()
        await calls._call("whole", 1.0, 1.0)
        assert calls.log == ["whole"]

    asyncio.run(go())


def test_calls_of_two_threads_share_one_budget() -> None:
    budget = Budget(max_cost=1.0)
    log: list[str] = []
    is_reserved, waits = threading.Event(), threading.Event()

    async def first() -> None:
        async with budget.reserve(0.9, "m"):
            is_reserved.set()
            await asyncio.to_thread(waits.wait, 10)
            log.append("first")
            budget.pay(0.2)

    async def second() -> None:
        call = asyncio.create_task(reserved())
        await asyncio.sleep(0)
        waits.set()
        await asyncio.wait_for(call, 10)

    async def reserved() -> None:
        async with budget.reserve(0.8, "m"):
            log.append("second")

    with ThreadPoolExecutor() as pool:
        first_call = pool.submit(asyncio.run, first())
        assert is_reserved.wait(10)
        second_call = pool.submit(asyncio.run, second())
        first_call.result(10)
        second_call.result(10)
    assert log == ["first", "second"]


def test_a_budget_of_nothing_admits_what_costs_nothing() -> None:
    async def go() -> None:
        budget = Budget(max_cost=0)
        async with budget.reserve(0.0, "m"):
            pass
        with pytest.raises(BudgetError):
            async with budget.reserve(0.0001, "m"):
                pass

    asyncio.run(go())


def test_a_limit_needs_a_price_and_no_limit_needs_none() -> None:
    async def go() -> None:
        async with Budget().reserve(None, "m"):
            pass
        with pytest.raises(ConfigError, match="m has no known price"):
            async with Budget(max_cost=1.0).reserve(None, "m"):
                pass

    asyncio.run(go())
    with pytest.raises(ConfigError, match=r"max_cost=-0\.1"):
        Budget(max_cost=-0.1)


def test_a_question_is_begun_beside_others_only_if_all_can_be_finished() -> (
    None
):
    async def go() -> None:
        calls = Calls(Budget(max_cost=1.0))
        await calls.start(
            "a1", 0.2, 0.2, SampleSeries("a", 2)
        )  # 0.4 are promised to a's further calls
        await calls.start(
            "b1", 0.2, 0.2, SampleSeries("b", 1)
        )  # 0.4 with its own further call: fits
        await calls.start("c1", 0.1, 0.1)
        await calls.end("a1")
        await calls.end("b1")
        assert calls.log == ["a1", "b1"], (
            "0.4 spent, 0.6 promised, so nothing is free for c"
        )
        await calls.start("b2", 0.2, 0.1, SampleSeries("b", 0))
        await calls.start("a2", 0.2, 0.2, SampleSeries("a", 1))
        assert calls.log == ["a1", "b1", "b2", "a2"], (
            "further calls go before those who wait"
        )
        await calls.end("b2")
        # 0.5 spent, 0.2 held and 0.2 promised to a: 0.1 is left, as b took less than was held
        assert calls.log[4:] == ["c1"]
        await calls.ends("b")
        await calls.end("a2")
        await calls.end("c1")
        await calls.start("a3", 0.2, 0.2, SampleSeries("a", 0))
        await calls.end("a3")
        await calls.ends("a")
        assert calls.budget.spent == pytest.approx(1.0)

    asyncio.run(go())


def test_the_rest_of_a_limit_begins_a_question_that_it_may_not_finish() -> (
    None
):
    async def go() -> None:
        calls = Calls(Budget(max_cost=0.5))
        await calls.start(
            "a1", 0.2, 0.2, SampleSeries("a", 9)
        )  # alone: 2.0 do not fit, 0.2 do
        await calls.end("a1")
        await calls.start("a2", 0.2, 0.2, SampleSeries("a", 8))
        await calls.end("a2")
        with pytest.raises(BudgetError):
            await calls._call("a3", 0.2, 0.2, SampleSeries("a", 7))
        assert calls.log == ["a1", "a2"]

    asyncio.run(go())


def test_a_probe_waits_for_no_question_that_was_begun() -> None:
    """The next call of that question may need what the probe finds out."""

    async def go() -> None:
        calls = Calls(Budget(max_cost=1.0))
        await calls.start("a1", 0.3, 0.3, SampleSeries("a", 2))
        await calls.end("a1")
        await calls.start("other", 0.2, 0.2)
        await calls.start("probe", 0.2, 0.2, PROBE)
        assert calls.log == ["a1", "probe"]
        await calls.end("probe")
        await calls.ends("a")
        assert calls.log == ["a1", "probe", "other"]
        await calls.end("other")

    asyncio.run(go())


class MemoryLedger:
    """A ledger that shows what it holds."""

    def __init__(self) -> None:
        self.promises: dict[int, float] = {}
        self.n_promises = 0

    def put_promise(self, cost: float) -> int:
        self.n_promises += 1
        self.promises[self.n_promises] = cost
        return self.n_promises

    def remove_promise(self, promise: int) -> None:
        del self.promises[promise]


@pytest.mark.parametrize("max_cost", [None, 5.0])
def test_a_cost_is_in_the_ledger_from_before_the_call_until_after_its_answer_is_stored(
    max_cost: float | None,
) -> None:
    ledger = MemoryLedger()
    budget = Budget(max_cost, ledger=ledger)

    async def go() -> None:
        async with budget.reserve(1.5, "m"), budget.reserve(2.0, "m"):
            assert sorted(ledger.promises.values()) == [1.5, 2.0]
        assert sorted(ledger.promises.values()) == [1.5, 2.0], (
            "the caller stores the answer here"
        )
        await asyncio.sleep(0)
        assert not ledger.promises

    asyncio.run(go())


def test_what_a_batch_can_cost_is_not_left_open_because_its_answers_are_found_again() -> (
    None
):
    ledger = MemoryLedger()
    budget = Budget(5.0, ledger=ledger)

    async def go() -> None:
        async with budget.reserve(1.5, "m", is_recovered=True):
            await asyncio.sleep(0)
            assert not ledger.promises

    asyncio.run(go())


def test_promises_that_were_left_open_are_charged_once(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    file = AnswerFile(path)
    file.put_promise(0.25)
    settled = file.put_promise(0.5)
    file.remove_promise(settled)
    file.put_promise(0.125)
    file.close()  # as a killed process leaves it
    file = AnswerFile(path)
    assert file.cost() == 0.0
    assert file.charge_open_promises() == (2, 0.375)
    assert file.cost() == 0.375
    assert file.charge_open_promises() == (0, 0.0)
    assert file.cost() == 0.375
    file.close()
