"""Runs that share a cache pay once; a run that is interrupted keeps what was under way."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from beholder import judges
from beholder.aio import run_sync, run_to_end
from beholder.backends.calls import LASTS
from beholder.errors import TransientError
from beholder.judges import AnswerFile, Answers, Budget, Judge
from beholder.judges.operations import Decompose, Rewrite
from servers.faults import (
    FaultServer,
    Refusal,
    completion,
    probe_answer,
    run_beside,
    serving,
)
from toy import clock


def reply(body: dict[str, Any]) -> dict[str, Any]:
    if "response_format" in body:
        return probe_answer(body) or completion('{"statements": []}')
    return completion("a phrase")


async def ask_all(judge: Judge, n: int) -> None:
    both = [
        [judge.ask(Rewrite(f"thing {i}")), judge.ask(Decompose(f"A {i}."))]
        for i in range(n)
    ]
    await asyncio.gather(*(question for pair in both for question in pair))


@pytest.mark.slow
def test_four_runs_at_once_on_one_cache_ask_hardly_more_than_one(
    tmp_path: Path,
) -> None:
    with serving(FaultServer(reply)) as server:
        judge = judges.judge("openai:m", base_url=server.url)
        run_beside(server, ask_all(judge, 40))
        n_alone = len(server.bodies)
        server.bodies.clear()
        files = [AnswerFile(tmp_path / f"run-{i}") for i in range(4)]
        caches = [AnswerFile(tmp_path / "cache") for _ in range(4)]
        runs = [
            judges.judge(
                "openai:m", base_url=server.url, answers=Answers(file, cache)
            )
            for file, cache in zip(files, caches, strict=True)
        ]

        async def at_once() -> None:
            await asyncio.gather(*(ask_all(run, 40) for run in runs))

        run_beside(server, at_once())
        assert len(server.bodies) <= 1.1 * n_alone
        assert [sum(1 for _ in file.records()) for file in files] == [80] * 4
        assert (
            max(server.paid.values()) == 2
        )  # once alone, once for the four together
    for file in (*files, *caches):
        file.close()


def test_the_claim_of_a_run_that_was_killed_ends_by_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1_000_000.0
    monkeypatch.setattr("time.time", lambda: now)
    killed, alive = (
        AnswerFile(tmp_path / "cache"),
        AnswerFile(tmp_path / "cache"),
    )
    assert killed.claim("q")
    assert killed.claim("q"), "one's own claim can be renewed"
    assert not alive.claim("q")
    now += LASTS - 1
    assert killed.claim("q")
    now += LASTS - 1
    assert not alive.claim("q"), "it was renewed"
    now += 2
    assert alive.claim("q")
    assert not killed.claim("q")
    killed.release("q")
    assert not killed.claim("q"), "nobody gives up what another has claimed"
    alive.release("q")
    assert killed.claim("q")
    killed.close()
    alive.close()


def test_a_run_that_fails_leaves_its_questions_to_the_others(
    tmp_path: Path,
) -> None:
    broken, good = AnswerFile(tmp_path / "a"), AnswerFile(tmp_path / "b")
    cache, second_cache = (
        AnswerFile(tmp_path / "cache"),
        AnswerFile(tmp_path / "cache"),
    )

    def one_refuses(body: dict[str, Any]) -> dict[str, Any]:
        if body.get("user") == "first" and "thing" in str(body["messages"]):
            raise Refusal(500, "no room")
        return reply(body)

    async def both(first: Judge, second: Judge) -> tuple[object, str]:
        failing = asyncio.ensure_future(first.ask(Rewrite("thing")))
        while not server.tries or "thing" not in str(
            server.bodies[-1]["messages"]
        ):
            await clock.validate_params()
        phrase = await second.ask(Rewrite("thing"))
        return (await asyncio.gather(failing, return_exceptions=True))[
            0
        ], phrase

    with serving(FaultServer(one_refuses)) as server:
        address: dict[str, Any] = {"base_url": server.url, "attempts": 2}
        first = judges.judge(
            "openai:m", answers=Answers(broken, cache), **address
        )
        second = judges.judge(
            "openai:m", answers=Answers(good, second_cache), **address
        )
        assert isinstance(first, judges.LLMJudge)
        first.backend.extra["user"] = "first"  # type: ignore[attr-defined]  # of one backend
        error, phrase = run_beside(server, both(first, second))
    assert isinstance(error, TransientError)
    assert phrase == "a phrase"
    for file in (broken, good, cache, second_cache):
        file.close()


class Slow(FaultServer):
    """Answers when it is told to."""

    loop: asyncio.AbstractEventLoop

    def __init__(self, n_expected: int) -> None:
        super().__init__(reply)
        self.n_expected = n_expected
        self.arrived = threading.Event()
        self.go = asyncio.Event()

    async def before_answer(self) -> None:
        if "thing" not in str(self.bodies[-1]["messages"]):
            return
        self.loop = asyncio.get_running_loop()
        if self.in_flight >= self.n_expected:
            self.arrived.set()
        await self.go.wait()


def test_calls_under_way_at_an_interrupt_are_waited_for_and_kept(
    tmp_path: Path,
) -> None:
    file = AnswerFile(tmp_path / "run")

    async def interrupted(judge: Judge, server: Slow) -> None:
        whole = asyncio.gather(
            *(judge.ask(Rewrite(f"thing {i}")) for i in range(20))
        )
        await asyncio.to_thread(server.arrived.wait, 60)
        whole.cancel()  # as Ctrl-C does
        server.loop.call_soon_threadsafe(server.go.set)
        with pytest.raises(asyncio.CancelledError):
            await whole

    with serving(Slow(n_expected=4)) as server:
        budget = Budget()
        judge = judges.judge(
            "openai:m",
            base_url=server.url,
            answers=Answers(file),
            budget=budget,
            concurrency=4,
        )
        run_sync(interrupted(judge, server))
        n_sent = sum(
            "thing" in str(body["messages"]) for body in server.bodies
        )
        records = [
            record
            for record in file.records()
            if record.operation == "rewrite"
        ]
        assert n_sent == len(records) == 4, (
            "what was sent is kept, and nothing more was sent"
        )
    file.close()


def test_an_answer_that_never_comes_holds_up_an_interrupt_for_ten_seconds() -> (
    None
):
    async def interrupted(judge: Judge) -> None:
        await judge.ask(Decompose("The probe first."))
        server.fault_rate = 1.0
        question = asyncio.ensure_future(judge.ask(Rewrite("thing")))
        while not server.hanging:
            await clock.validate_params()
        question.cancel()
        await asyncio.gather(question, return_exceptions=True)
        assert question.cancelled(), "who gave up need not wait"

    async def seconds(judge: Judge) -> float:
        start = clock.now()
        await run_to_end(interrupted(judge))
        return clock.now() - start

    with serving(
        FaultServer(reply, faults=("hang",), most_in_a_row=99)
    ) as server:
        judge = judges.judge("openai:m", base_url=server.url, timeout=600)
        assert run_beside(server, seconds(judge)) == pytest.approx(10, abs=1)
