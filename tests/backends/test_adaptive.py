"""How many calls run at once, and how often a call is tried."""

from __future__ import annotations

import asyncio
import time

import pytest

from beholder.backends.adaptive import AdaptiveLimit
from beholder.backends.calls import Caller, CallFailed, Limits
from beholder.errors import ConfigError, TransientError


def test_limit_doubles_per_round_trip_until_strain_then_grows_by_one() -> None:
    limit = AdaptiveLimit(ceiling=100, start=4)
    for _ in range(4):
        limit.succeeded()
    assert limit.limit == 8
    limit.strained(started=time.monotonic())
    assert limit.limit == 4
    for _ in range(4):  # one round trip: 1/4 each, a little less as it grows
        limit.succeeded()
    assert 4.8 < limit.limit < 5


def test_one_burst_of_refusals_halves_once() -> None:
    limit = AdaptiveLimit(ceiling=100, start=16)
    started = time.monotonic()
    for _ in range(10):
        limit.strained(started)
    assert limit.limit == 8
    time.sleep(0.001)
    limit.strained(time.monotonic())
    assert limit.limit == 4


def test_limit_stays_between_one_and_its_ceiling() -> None:
    limit = AdaptiveLimit(ceiling=3, start=8)
    for _ in range(10):
        limit.succeeded()
    assert limit.limit == 3
    for _ in range(10):
        time.sleep(0.0002)
        limit.strained(time.monotonic())
    assert limit.limit == 1


def test_no_more_calls_than_places_and_none_is_forgotten() -> None:
    async def go() -> tuple[int, int]:
        limit = AdaptiveLimit(ceiling=5, start=5)
        running = most = done = 0

        async def call(i: int) -> None:
            nonlocal running, most, done
            async with limit.place():
                running += 1
                most = max(most, running)
                await asyncio.sleep(0.001)
                running -= 1
                done += 1

        tasks = [asyncio.create_task(call(i)) for i in range(60)]
        await asyncio.sleep(0.002)
        for task in tasks[10:60:7]:  # callers that give up while waiting must not block others
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return most, done

    most, done = asyncio.run(asyncio.wait_for(go(), timeout=5))
    assert most == 5
    assert done >= 52


def test_pause_that_the_server_asks_for_holds_all_calls() -> None:
    async def go() -> float:
        limit = AdaptiveLimit(ceiling=5)
        limit.strained(time.monotonic(), retry_after=0.05)
        start = time.monotonic()
        async with limit.place():
            return time.monotonic() - start

    assert asyncio.run(go()) >= 0.045


def test_transient_failures_are_tried_again_and_others_are_not() -> None:
    caller = Caller(Limits(attempts=3, wait=0.001, max_wait=0.01), "test")
    tries = 0

    async def third_time() -> str:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise CallFailed("not yet")
        return "done"

    assert asyncio.run(caller.call(third_time)) == "done"
    assert tries == 3

    async def wrong() -> str:
        nonlocal tries
        tries += 1
        raise ConfigError("never")

    tries = 0
    with pytest.raises(ConfigError):
        asyncio.run(caller.call(wrong))
    assert tries == 1


def test_deadline_of_a_try_is_kept_and_named() -> None:
    caller = Caller(Limits(attempts=2, wait=0.001, timeout=0.02), "test")

    async def never() -> None:
        await asyncio.sleep(60)

    start = time.monotonic()
    with pytest.raises(TransientError, match=r"test: no answer within 0.02 s \(tried 2 times\)"):
        asyncio.run(caller.call(never))
    assert time.monotonic() - start < 2


def test_retry_after_beyond_the_longest_pause_ends_the_call_at_once() -> None:
    caller = Caller(Limits(attempts=5, wait=0.001, max_wait=0.01), "test")

    async def refused() -> None:
        raise CallFailed("come back tomorrow", strain=True, retry_after=86400)

    with pytest.raises(TransientError, match=r"come back tomorrow \(tried 1 times\)"):
        asyncio.run(asyncio.wait_for(caller.call(refused), timeout=2))


@pytest.mark.parametrize("field", ["concurrency", "timeout", "attempts", "tokens_per_minute"])
def test_limits_below_zero_are_refused(field: str) -> None:
    with pytest.raises(ConfigError, match=f"{field}=-1"):
        Limits(**{field: -1})


def test_a_place_is_handed_to_who_waits_longest_and_not_to_a_newcomer() -> None:
    async def go() -> list[str]:
        limit = AdaptiveLimit(ceiling=1)
        log: list[str] = []

        async def call(name: str) -> None:
            async with limit.place():
                log.append(name)

        async with limit.place():
            waiting = [asyncio.create_task(call(name)) for name in ("first", "second", "third")]
            await asyncio.sleep(0)
            waiting[1].cancel()
        await call("newcomer")  # the place is free, and the first has not yet run
        await asyncio.gather(*waiting, return_exceptions=True)
        return log

    assert asyncio.run(asyncio.wait_for(go(), timeout=5)) == ["first", "third", "newcomer"]


def test_who_gives_up_in_the_moment_of_the_handing_over_hands_it_on() -> None:
    async def go() -> None:
        limit = AdaptiveLimit(ceiling=1)

        async def call() -> None:
            async with limit.place():
                pass

        async with limit.place():
            late, next_one = asyncio.create_task(call()), asyncio.create_task(call())
            await asyncio.sleep(0)
        late.cancel()  # it has the place, and does not know yet
        await next_one
        await call()

    asyncio.run(asyncio.wait_for(go(), timeout=5))
