"""Many coroutines with a bound: what finishes is given, whatever fails beside it."""

from __future__ import annotations

import asyncio

import pytest

from beholder.aio import map_bounded


def test_what_finished_in_the_step_of_an_error_is_given_before_it() -> None:
    """A set of tasks has no order, so several of each kind show that errors come last."""

    async def work(number: int) -> int:
        if number % 2:
            raise ValueError(f"planned {number}")
        return 10 * number

    arguments = set()

    async def take() -> None:
        async for pair in map_bounded(work, range(20), 20):
            arguments.add(pair)

    with pytest.raises(ValueError, match="planned"):
        asyncio.run(take())
    assert arguments == {(number, 10 * number) for number in range(0, 20, 2)}


def test_an_error_ends_what_is_under_way() -> None:
    ended: list[int] = []

    async def work(number: int) -> int:
        try:
            if number == 2:
                raise ValueError("planned")
            await asyncio.Event().wait()  # for ever
        finally:
            ended.append(number)
        return number

    async def all_of() -> None:
        async for _ in map_bounded(work, range(9), 3):
            pass

    with pytest.raises(ValueError, match="planned"):
        asyncio.run(all_of())
    assert sorted(ended) == [0, 1, 2], "and no more are begun"
