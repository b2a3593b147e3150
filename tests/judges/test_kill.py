"""A run killed at any moment goes on where it was: only calls in flight are asked again."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest

from beholder import judges
from servers.faults import FaultServer, completion, serving
from servers.killed_run import (
    CONCURRENCY,
    N_QUESTIONS,
    OVER_BUDGET,
    run,
    run_within_budget,
)
from servers.vendors import VendorServer

pytestmark = pytest.mark.slow  # kills

N_KILLS = 6
"""Of each kind of server."""


def reply(body: dict[str, Any]) -> dict[str, Any]:
    return completion("a phrase")


class Killer(FaultServer):
    """Kills its client when it has seen so many requests, before it answers the last of them."""

    victim: int | None = None
    kill_at = 0

    async def before_answer(self) -> None:
        if self.victim is not None and len(self.bodies) >= self.kill_at:
            os.kill(self.victim, signal.SIGKILL)
            self.victim = None


class VendorKiller(Killer, VendorServer):
    """The same in a vendor's form."""


@pytest.mark.parametrize("kind", ["openai", "anthropic", "gemini"])
def test_sigkill_at_any_moment_repeats_at_most_the_calls_in_flight(
    tmp_path: Path, kind: str
) -> None:
    # A fork server that has imported everything starts a run in milliseconds.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["servers.killed_run", f"beholder.backends.{kind}"]
    )
    rng = random.Random(0)
    path = tmp_path / "run.sqlite"
    killer = Killer(reply) if kind == "openai" else VendorKiller(kind, reply)
    with serving(killer) as server:
        url = server.base if isinstance(server, VendorServer) else server.url
        for _ in range(N_KILLS):
            server.kill_at = len(server.bodies) + rng.randint(4, 20)
            process = context.Process(
                target=run, args=(url, str(path), None, kind)
            )
            process.start()
            server.victim = process.pid
            process.join(timeout=60)
            assert process.exitcode == -signal.SIGKILL
        process = context.Process(
            target=run, args=(url, str(path), None, kind)
        )
        process.start()
        process.join(timeout=60)
        assert process.exitcode == 0
        n_calls = sum(server.paid.values())
        n_questions = len(server.paid)
    assert n_questions == N_QUESTIONS + 1  # and the probe
    assert N_KILLS <= n_calls - n_questions <= N_KILLS * CONCURRENCY
    assert max(server.paid.values()) <= N_KILLS, "no question is stuck"

    file = judges.AnswerFile(path)
    assert (
        sum(record.operation == "rewrite" for record in file.records())
        == N_QUESTIONS
    )
    file.close()


def test_calls_that_kills_left_open_count_towards_the_limit(
    tmp_path: Path,
) -> None:
    """Each answer is charged 0.02 USD: 100 tokens of 100 and 10 of 1,000 USD a million."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["servers.killed_run", "beholder.backends.openai"]
    )
    rng = random.Random(1)
    (tmp_path / "prices.json").write_text(
        '{"models": {"served-1": {"input": 100, "cached": 100, "output": 1000}}}'
    )
    limit = 1.0
    with serving(Killer(reply)) as server:
        arguments = (
            server.url,
            str(tmp_path / "run"),
            str(tmp_path / "prices.json"),
            limit,
        )
        exit_codes = []
        for _ in range(2 * N_KILLS):
            server.kill_at = len(server.bodies) + rng.randint(4, 10)
            process = context.Process(target=run_within_budget, args=arguments)
            process.start()
            server.victim = process.pid
            process.join(timeout=60)
            exit_codes.append(process.exitcode)
        assert -signal.SIGKILL in exit_codes
        assert exit_codes[-1] == OVER_BUDGET, (
            "the limit was reached, so the last start was refused"
        )
        # The server charges each request that it saw, answered or not.
        assert 0.02 * len(server.bodies) <= limit
