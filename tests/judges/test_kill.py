"""A run killed at any moment goes on where it was: only calls in flight are asked again."""

from __future__ import annotations

import multiprocessing
import random
import time
from pathlib import Path
from typing import Any

from beholder import judges
from servers.faults import FaultServer, completion, serving
from servers.killed_run import CONCURRENCY, N_QUESTIONS, run

N_KILLS = 20


def reply(body: dict[str, Any]) -> dict[str, Any]:
    return completion("a phrase")


def test_sigkill_at_20_moments_repeats_at_most_the_calls_in_flight(tmp_path: Path) -> None:
    # A fork server that has imported everything starts a run in milliseconds.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["servers.killed_run", "beholder.backends.openai"])
    rng = random.Random(0)
    path = tmp_path / "run.sqlite"
    n_killed = 0
    with serving(FaultServer(reply, delay=0.02)) as server:
        while True:
            n_before = len(server.bodies)
            process = context.Process(target=run, args=(server.url, str(path)))
            process.start()
            if n_killed < N_KILLS:
                while len(server.bodies) == n_before and process.is_alive():
                    time.sleep(0.002)  # no question asked yet
                time.sleep(rng.uniform(0.0, 0.05))
                process.kill()
            process.join(timeout=60)
            if process.exitcode == 0:
                break
            assert process.exitcode == -9
            n_killed += 1
            time.sleep(0.05)  # let the server finish what it was sent
        n_calls = sum(server.paid.values())
        n_questions = len(server.paid)
    assert n_killed == N_KILLS
    assert n_questions == N_QUESTIONS + 1  # and the probe
    assert 0 < n_calls - n_questions <= N_KILLS * CONCURRENCY
    assert max(server.paid.values()) <= 1 + N_KILLS // 2, "no question is stuck"

    file = judges.AnswerFile(path)
    assert sum(record.operation == "rewrite" for record in file.records()) == N_QUESTIONS
    file.close()
