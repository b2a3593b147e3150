"""Samples that a server gives one by one: each is kept when it arrives and is paid for once."""

from __future__ import annotations

import asyncio
import itertools
import json
import multiprocessing
import os
import signal
import sqlite3
import threading
from pathlib import Path
from typing import Any

import pytest

from beholder import judges
from beholder.aio import run_sync
from beholder.errors import BudgetError, ItemError
from beholder.judges import AnswerFile, Answers, Budget, Judge
from beholder.judges.answers import export_answers
from beholder.judges.operations import Presence, Question, Rewrite
from servers.batches import QUICK, BatchServer
from servers.faults import (
    FaultServer,
    Refusal,
    Reply,
    completion,
    run_beside,
    serving,
)
from servers.killed_run import CONCURRENCY, N_GRADES, SAMPLES, run_grades

PRICES = (
    '{"models": {"served-1": {"input": 100, "cached": 100, "output": 1000}}}'
)
CHARGED = 100 * 100 / 1e6 + 10 * 1000 / 1e6
"""US dollars that the server charges for one call: 100 tokens of prompt and 10 of answer."""


_draw_numbers = itertools.count()


def one_answer(body: dict[str, Any]) -> dict[str, Any]:
    """Whatever ``n`` says, and without log-probabilities; no two draws in a row are equal."""
    return completion(str(next(_draw_numbers) % 5 + 1))


def asks_for_a_grade(body: dict[str, Any]) -> bool:
    """Return whether a request asks for a grade; the others are probes."""
    return "Your digit" in str(body["messages"])


def n_graded(outcomes: list[Any]) -> int:
    return sum(isinstance(outcome, float) for outcome in outcomes)


async def grade(judge: Judge, i: int) -> float:
    (grade_,) = await judge.ask(
        Presence([Question("entity", f"thing {i}")], "A text.")
    )
    return grade_.value


async def grade_all(judge: Judge, n: int) -> list[Any]:
    return await asyncio.gather(
        *(grade(judge, i) for i in range(n)), return_exceptions=True
    )


def stored_requests(file: AnswerFile) -> tuple[list[str], list[str]]:
    """Requests of the complete answers, and of draws."""
    records = [
        record for record in file.records() if record.operation == "presence"
    ]
    whole = [record.request for record in records if not record.is_draw]
    return whole, [record.request for record in records if record.is_draw]


def test_a_limit_that_is_raised_pays_for_nothing_twice(tmp_path: Path) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(PRICES)
    n_questions, limits = 40, (0.3, 0.6, 0.9, 5.0)

    with serving(FaultServer(one_answer)) as server:
        for limit in limits:
            file = AnswerFile(tmp_path / "run.sqlite")
            budget = Budget(max_cost=limit, spent=file.cost())
            options: dict[str, Any] = {
                "base_url": server.url,
                "prices": str(prices),
            }
            judge = judges.judge(
                "openai:m",
                answers=Answers(file),
                budget=budget,
                samples=3,
                **options,
            )
            outcomes = run_beside(server, grade_all(judge, n_questions))
            n_calls = len(server.bodies)
            assert n_calls * CHARGED == pytest.approx(budget.spent)
            assert file.cost() == pytest.approx(budget.spent), (
                "the next start counts all of it"
            )
            assert budget.spent <= limit
            whole, draws = stored_requests(file)
            n_drawn = 3 * len(whole) + len(draws)
            probes = sum(not asks_for_a_grade(body) for body in server.bodies)
            assert n_drawn == n_calls - probes, "all that was paid for is kept"
            if limit != limits[-1]:
                assert BudgetError in map(type, outcomes)
                assert len(whole) == n_graded(outcomes)
                assert len(draws) <= 2, (
                    "questions that were begun are finished before others"
                )
                assert len(whole) >= 3
            file.close()
        assert n_graded(outcomes) == n_questions
        assert (len(whole), draws) == (n_questions, [])
        assert max(server.paid.values()) == 1


@pytest.mark.slow
def test_sigkill_repeats_at_most_the_calls_under_way(tmp_path: Path) -> None:
    class Killer(FaultServer):
        victim: int | None = None
        kill_at = 0

        async def before_answer(self) -> None:
            if self.victim is not None and len(self.bodies) >= self.kill_at:
                os.kill(self.victim, signal.SIGKILL)
                self.victim = None

    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["servers.killed_run", "beholder.backends.openai"]
    )
    path = tmp_path / "run.sqlite"
    n_kills = 5
    with serving(Killer(one_answer)) as server:
        for _ in range(n_kills):
            server.kill_at = len(server.bodies) + 3 * CONCURRENCY
            process = context.Process(
                target=run_grades, args=(server.url, str(path))
            )
            process.start()
            server.victim = process.pid
            process.join(timeout=60)
            assert process.exitcode == -signal.SIGKILL
        process = context.Process(
            target=run_grades, args=(server.url, str(path))
        )
        process.start()
        process.join(timeout=60)
        assert process.exitcode == 0
        twice = sum(server.paid.values()) - len(server.paid)
    assert n_kills * 2 * CONCURRENCY <= SAMPLES * N_GRADES, (
        "a kill falls amid the draws"
    )
    assert twice <= n_kills * CONCURRENCY
    file = AnswerFile(path)
    whole, draws = stored_requests(file)
    assert (len(whole), draws) == (N_GRADES, [])
    file.close()


def test_an_interrupt_keeps_what_arrives_and_draws_no_more(
    tmp_path: Path,
) -> None:
    class Slow(FaultServer):
        loop: asyncio.AbstractEventLoop
        arrived = threading.Event()

        async def before_answer(self) -> None:
            if not asks_for_a_grade(self.bodies[-1]) or go.is_set():
                return
            self.loop = asyncio.get_running_loop()
            if self.in_flight >= 4:
                self.arrived.set()
            await go.wait()

    go = asyncio.Event()
    file = AnswerFile(tmp_path / "run")

    async def interrupted(judge: Judge, server: Slow) -> None:
        questions = asyncio.gather(*(grade(judge, i) for i in range(20)))
        await asyncio.to_thread(server.arrived.wait, 60)
        questions.cancel()  # as Ctrl-C does
        server.loop.call_soon_threadsafe(go.set)
        with pytest.raises(asyncio.CancelledError):
            await questions

    with serving(Slow(one_answer)) as server:
        options: dict[str, Any] = {
            "base_url": server.url,
            "samples": 3,
            "concurrency": 4,
        }
        judge = judges.judge("openai:m", answers=Answers(file), **options)
        run_sync(interrupted(judge, server))
        n_sent = sum(map(asks_for_a_grade, server.bodies))
        assert n_sent == 4
        whole, draws = stored_requests(file)
        assert (whole, len(draws)) == ([], 4)
        judge = judges.judge("openai:m", answers=Answers(file), **options)
        assert n_graded(run_sync(grade_all(judge, 20))) == 20
        assert max(server.paid.values()) == 1
        assert sum(map(asks_for_a_grade, server.bodies)) == 60
    file.close()


def third_is_refused() -> Reply:
    """A reply that refuses the third draw."""
    draw_numbers = itertools.count(1)

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        if asks_for_a_grade(body) and next(draw_numbers) == 3:
            raise Refusal(400, "not now")
        return one_answer(body)

    return reply


def test_draws_of_another_run_come_from_the_cache_and_cost_nothing(
    tmp_path: Path,
) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(PRICES)
    cache = AnswerFile(tmp_path / "cache")
    files = [AnswerFile(tmp_path / name) for name in ("first", "second")]
    with serving(FaultServer(third_is_refused())) as server:
        options: dict[str, Any] = {
            "base_url": server.url,
            "prices": str(prices),
            "samples": 3,
        }
        outcomes = []
        for file in files:
            judge = judges.judge(
                "openai:m", answers=Answers(file, cache), **options
            )
            outcomes += run_beside(server, grade_all(judge, 1))
        n_probes = len(server.bodies) - 4
        assert max(server.paid.values()) == 1
    assert isinstance(outcomes[0], ItemError)
    assert isinstance(outcomes[1], float)
    first, second = (file.cost() for file in files)
    assert first == pytest.approx((n_probes + 2) * CHARGED), (
        "the refused call costs nothing"
    )
    assert second == pytest.approx(CHARGED), (
        "one draw; the others were paid for"
    )
    (record,) = [
        record for record in cache.records() if record.operation == "presence"
    ]
    assert record.cost == pytest.approx(3 * CHARGED)
    assert [len(answer.samples) for answer in [record.answer]] == [3]
    assert record.answer.usage.completion == 3 * 10
    for kept_file in (*files, cache):
        kept_file.close()


def test_draws_of_batches_are_found_again_whatever_was_kept(
    tmp_path: Path,
) -> None:
    """The first batch asked for three samples each; the server is known to give one since."""

    class Batches(BatchServer):
        def line(
            self, request: dict[str, Any], response: dict[str, Any]
        ) -> str:
            return super().line(
                request,
                {"status_code": 200, "body": one_answer(request["body"])},
            )

        def route(self, method: str, path: str, raw: bytes) -> Any:
            if path == "/chat/completions":
                return one_answer(json.loads(raw))
            return super().route(method, path, raw)

    path = tmp_path / "run.sqlite"
    with serving(Batches()) as server:
        options: dict[str, Any] = {
            "base_url": server.url,
            "samples": 3,
            **QUICK,
        }
        for _ in range(2):
            file = AnswerFile(path)
            judge = judges.judge("openai:m", answers=Answers(file), **options)
            assert n_graded(run_beside(server, grade_all(judge, 5))) == 5
            file.close()
            with sqlite3.connect(
                path
            ) as database:  # a kill came before they were kept
                database.execute("DELETE FROM answers")
            database.close()
        assert (len(server.sent()), len(set(server.sent()))) == (15, 15)


def test_draws_are_not_exported(tmp_path: Path) -> None:
    file = AnswerFile(tmp_path / "run")
    with serving(FaultServer(third_is_refused())) as server:
        judge = judges.judge(
            "openai:m", base_url=server.url, answers=Answers(file), samples=3
        )
        run_beside(server, judge.ask(Rewrite("a phrase")))
        run_beside(server, grade_all(judge, 1))
    assert len(stored_requests(file)[1]) == 2
    assert export_answers(file, tmp_path / "out.jsonl") == 1
    file.close()
