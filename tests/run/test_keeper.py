"""What one actor holds for all machines of a run: answers, claims, and a budget that nobody takes along."""

from __future__ import annotations

import asyncio
from pathlib import Path

from beholder.options import WorkOptions
from beholder.ray.answers import LOST_AFTER, Keeper


def _lose(keeper: Keeper, who: str, *other_processes: str) -> None:
    """One process is not heard of for too long; the others are."""
    keeper.hear(who, -1.001 * LOST_AFTER)
    for process in other_processes:
        keeper.hear(process, -0.999 * LOST_AFTER)
    keeper.give_up(0.0)


def test_what_a_lost_process_had_under_way_is_counted_at_its_most(
    tmp_path: Path,
) -> None:
    async def go() -> None:
        keeper = Keeper(tmp_path, WorkOptions(max_cost=1.0))
        assert await keeper.admit(0.5, "a") == (True, 0.0)
        assert await keeper.admit(0.2, "a") == (True, 0.0)
        waiting = asyncio.ensure_future(keeper.admit(0.4, "b"))
        await asyncio.sleep(0)
        assert not waiting.done()
        await keeper.pay(0.1)
        await keeper.free(
            0.2, "a"
        )  # cost less than was held: now 0.1 + 0.5 + 0.4 fit
        assert await waiting == (True, 0.1)
        later = asyncio.ensure_future(keeper.admit(0.3, "b"))
        await asyncio.sleep(0)
        assert not later.done()
        _lose(keeper, "a", "b")
        assert not later.done(), "0.6 are spent and 0.4 under way"
        await keeper.free(0.4, "b")
        assert await later == (True, 0.6)
        await keeper.free(
            0.5, "a"
        )  # it was not lost after all; it holds nothing any more
        await keeper.free(0.3, "b")
        assert (await keeper.admit(0.41, "b"))[0] is False
        await keeper.close()

    asyncio.run(go())


def test_one_process_at_a_time_holds_a_claim(tmp_path: Path) -> None:
    async def go() -> None:
        keeper = Keeper(tmp_path, WorkOptions(cache=tmp_path / "cache.sqlite"))
        other_run = Keeper(
            tmp_path / "other", WorkOptions(cache=tmp_path / "cache.sqlite")
        )
        assert await keeper.claim("x", "a")
        assert await keeper.claim("x", "a")
        assert not await keeper.claim("x", "b")
        assert not await other_run.claim("x", "c")
        await keeper.release("x", "b")
        assert not await keeper.claim("x", "b")
        await keeper.release("x", "a")
        assert await other_run.claim("x", "c")
        assert not await keeper.claim("x", "b")
        await other_run.release("x", "c")
        assert await keeper.claim("x", "b")
        _lose(keeper, "b", "a")
        assert await keeper.claim("x", "a")
        await keeper.close()
        await other_run.close()

    asyncio.run(go())
