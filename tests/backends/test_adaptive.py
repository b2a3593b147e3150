"""How many calls run at once, and how often a call is tried."""

from __future__ import annotations

import asyncio
from itertools import pairwise

import pytest

from beholder.backends.calls import AdaptiveLimit, Caller, CallFailed, Limits
from beholder.errors import ConfigError, TransientError
from toy.cases import each_case
from toy.clock import now, run_in_fake_time


def test_limit_doubles_per_round_trip_until_strain_then_grows_by_one() -> None:
    async def go() -> None:
        limit = AdaptiveLimit(ceiling=100, start=4)
        for _ in range(4):
            limit.succeeded()
        assert limit.limit == 8
        limit.strained(started=now())
        assert limit.limit == 4
        limit.succeeded()  # a round trip is four calls now: 1/4 each, a little less as it grows
        assert limit.limit == 4.25
        for _ in range(3):
            limit.succeeded()
        # 4.25 + 1/4.25 = 4.4853, + 1/4.4853 = 4.7082, + 1/4.7082 = 4.9206
        assert limit.limit == pytest.approx(4.9206, abs=1e-4)

    run_in_fake_time(go())


def test_one_burst_of_refusals_halves_once() -> None:
    async def go() -> None:
        limit = AdaptiveLimit(ceiling=100, start=16)
        await asyncio.sleep(1)
        started = now()
        await asyncio.sleep(1)
        for _ in range(10):
            limit.strained(started)
        assert limit.limit == 8
        limit.strained(
            started=now()
        )  # one that began after the last decrease says more
        assert limit.limit == 4

    run_in_fake_time(go())


def test_limit_stays_between_one_and_its_ceiling() -> None:
    async def go() -> None:
        limit = AdaptiveLimit(ceiling=3, start=8)
        assert limit.limit == 3
        limit.succeeded()
        assert limit.limit == 3
        for _ in range(10):
            limit.strained(now())
        assert limit.limit == 1

    run_in_fake_time(go())


def test_no_more_calls_than_places_and_none_is_forgotten() -> None:
    async def go() -> tuple[int, int]:
        limit = AdaptiveLimit(ceiling=5, start=5)
        running = highest = done = 0

        async def call(i: int) -> None:
            nonlocal running, highest, done
            async with limit.place():
                running += 1
                highest = max(highest, running)
                await asyncio.sleep(1)
                running -= 1
                done += 1

        tasks = [asyncio.create_task(call(i)) for i in range(60)]
        await asyncio.sleep(1.5)  # ten have had their place
        for task in tasks[
            10:60:7
        ]:  # callers that give up while waiting must not block others
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        return highest, done

    # 10, 17, 24, 31, 38, 45, 52 and 59 gave up, or had begun and were stopped
    assert run_in_fake_time(asyncio.wait_for(go(), timeout=100)) == (5, 52)


def test_pause_that_the_server_asks_for_holds_all_calls() -> None:
    async def go() -> float:
        limit = AdaptiveLimit(ceiling=5)
        limit.strained(now(), retry_after=7)
        limit.strained(
            now(), retry_after=3
        )  # a shorter one takes nothing back
        async with limit.place():
            return now()

    assert run_in_fake_time(go()) == pytest.approx(7)


def test_transient_failures_are_tried_again_and_others_are_not() -> None:
    caller = Caller(Limits(attempts=3, wait=0.001, max_wait=0.01), "test")
    tries = 0

    async def third_time() -> str:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise CallFailed("not yet")
        return "done"

    assert run_in_fake_time(caller.call(third_time)) == "done"
    assert tries == 3

    async def wrong() -> str:
        nonlocal tries
        tries += 1
        raise ConfigError("never")

    tries = 0
    with pytest.raises(ConfigError):
        run_in_fake_time(caller.call(wrong))
    assert tries == 1


def test_deadline_of_a_try_is_kept_and_named() -> None:
    caller = Caller(Limits(attempts=2, wait=0.001, timeout=20), "test")

    async def call() -> float:
        with pytest.raises(
            TransientError,
            match=r"test: no answer within 20 s \(tried 2 times\)",
        ):
            await caller.call(asyncio.Event().wait)
        return now()

    assert 40 < run_in_fake_time(call()) < 41  # two tries and a short wait


def test_pauses_double_with_jitter_up_to_the_longest() -> None:
    starts: list[float] = []

    async def attempt() -> None:
        starts.append(now())
        raise CallFailed("busy")

    async def go() -> None:
        caller = Caller(Limits(wait=1.0, max_wait=5.0, attempts=6), "m")
        with pytest.raises(
            TransientError, match=r"^m: busy \(tried 6 times\)$"
        ):
            await caller.call(attempt)

    run_in_fake_time(go())
    pauses = [after - before for before, after in pairwise(starts)]
    assert all(
        low - 1e-3 <= p <= low + 1.001
        for low, p in zip((1, 2, 4), pauses, strict=False)
    )
    assert pauses[3:] == pytest.approx([5.0, 5.0], abs=1e-3)


def test_retry_after_beyond_the_longest_pause_ends_the_call_at_once() -> None:
    caller = Caller(Limits(attempts=5, wait=0.001, max_wait=0.01), "test")

    async def refused() -> None:
        raise CallFailed("come back tomorrow", strain=True, retry_after=86400)

    with pytest.raises(
        TransientError, match=r"come back tomorrow \(tried 1 times\)"
    ):
        run_in_fake_time(asyncio.wait_for(caller.call(refused), timeout=2))


@pytest.mark.parametrize(
    "field", ["concurrency", "timeout", "attempts", "tokens_per_minute"]
)
def test_limits_below_zero_are_refused(field: str) -> None:
    with pytest.raises(ConfigError, match=f"{field}=-1"):
        Limits(**{field: -1})


@each_case("value", ["x", True, [], float("nan"), float("inf"), 0])
@each_case(
    "field",
    ["timeout", "attempts", "requests_per_minute", "tokens_per_minute"],
)
def test_limits_that_are_no_numbers_are_refused(
    field: str, value: object
) -> None:
    with pytest.raises(
        ConfigError, match=rf"{field}=.*: expected a number above 0"
    ):
        Limits(**{field: value})  # type: ignore[arg-type]


def test_a_place_is_handed_to_who_waits_longest_and_not_to_a_newcomer() -> (
    None
):
    async def go() -> list[str]:
        limit = AdaptiveLimit(ceiling=1)
        log: list[str] = []

        async def call(name: str) -> None:
            async with limit.place():
                log.append(name)

        async with limit.place():
            waiting = [
                asyncio.create_task(call(name))
                for name in ("first", "second", "third")
            ]
            await asyncio.sleep(0)
            waiting[1].cancel()
        await call(
            "newcomer"
        )  # the place is free, and the first has not yet run
        await asyncio.gather(*waiting, return_exceptions=True)
        return log

    assert asyncio.run(asyncio.wait_for(go(), timeout=5)) == [
        "first",
        "third",
        "newcomer",
    ]


def test_who_gives_up_in_the_moment_of_the_handing_over_hands_it_on() -> None:
    async def go() -> None:
        limit = AdaptiveLimit(ceiling=1)

        async def call() -> None:
            async with limit.place():
                pass

        async with limit.place():
            late, next_one = (
                asyncio.create_task(call()),
                asyncio.create_task(call()),
            )
            await asyncio.sleep(0)
        late.cancel()  # it has the place, and does not know yet
        await next_one
        await call()

    asyncio.run(asyncio.wait_for(go(), timeout=5))


def test_after_a_pause_calls_start_in_order_and_no_more_than_the_limit() -> (
    None
):
    async def go() -> list[tuple[str, float]]:
        limit = AdaptiveLimit(ceiling=4, start=4)
        limit.strained(now(), retry_after=7)  # four become two
        log: list[tuple[str, float]] = []

        async def call(name: str) -> None:
            async with limit.place():
                log.append((name, now()))
                await asyncio.sleep(1)

        await asyncio.gather(*(call(name) for name in "abcde"))
        return log

    starts = run_in_fake_time(go())
    assert [name for name, _ in starts] == list("abcde")
    assert [time for _, time in starts] == pytest.approx([7, 7, 8, 8, 9])
