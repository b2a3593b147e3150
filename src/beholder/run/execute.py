"""Ask what a run still lacks, and hand over each outcome as it arrives.

Two ways, one rule: in worker processes when every tool is cheap to make anew in each (built-in
analysis and embeddings), in coroutines of this process otherwise (remote or big models). Outcomes
are the same either way and do not depend on their order.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

from threadpoolctl import threadpool_limits

from beholder.aio import bounded, run_sync
from beholder.errors import RunError
from beholder.metrics import Tools
from beholder.metrics.asker import Asker, Outcome, attempt

Job: TypeAlias = tuple[int, int]
"""Position of the subject, index of the asker."""

Put: TypeAlias = Callable[[Job, Outcome], None]
"""Keeps what became of a job."""

BLOCK = 16
"""Subjects a worker takes at once: small enough that a killed run redoes little."""

WORTH_WORKERS = 400
"""Jobs from which starting worker processes (about a second each) pays."""


@dataclass(frozen=True)
class Work:
    """Jobs to do, and with what.

    Attributes:
        askers: What is asked.
        jobs: Of which subjects, in order of subjects.
        subject: Gives the subject at a position.
        tools: Tools of this process.
        make_tools: Makes the same tools anew in a worker process.
    """

    askers: Sequence[Asker[Any]]
    jobs: Sequence[Job]
    subject: Callable[[int], Any]
    tools: Tools
    make_tools: Callable[[], Tools]

    def pairs(self) -> Iterator[tuple[Job, Any]]:
        """Jobs with their subjects; one that several askers are asked of is read once."""
        position, subject = -1, None
        for job in self.jobs:
            if job[0] != position:
                position, subject = job[0], self.subject(job[0])
            yield job, subject


def execute(work: Work, put: Put, *, workers: int | None, concurrency: int) -> None:
    """Do jobs and hand over each outcome; may be interrupted at any time.

    Args:
        work: What to do.
        put: Called in this process, once per job, as outcomes arrive.
        workers: Worker processes; None decides from the number of jobs.
        concurrency: Subjects that wait for remote tools at once.

    Raises:
        RunError: A worker process died.
        KeyboardInterrupt: Passed on, after all that was finished was handed over.
    """
    cheap = all(work.tools.are_per_process(asker.tool_specs()) for asker in work.askers)
    if workers is None:
        workers = os.cpu_count() or 1 if len(work.jobs) >= WORTH_WORKERS else 1
    with threadpool_limits(1):  # a sum's rounding may depend on the number of BLAS threads
        if workers > 1 and cheap:
            for job, outcome in _in_processes(work, workers):
                put(job, outcome)
        else:
            run_sync(_in_coroutines(work, put, concurrency))


async def _in_coroutines(work: Work, put: Put, concurrency: int) -> None:
    async def one(pair: tuple[Job, Any]) -> Outcome:
        (_, index), subject = pair
        return await attempt(work.askers[index], subject, work.tools)

    async for (job, _), outcome in bounded(one, work.pairs(), concurrency):
        put(job, outcome)


def _in_processes(work: Work, workers: int) -> Iterator[tuple[Job, Outcome]]:
    source = work.pairs()
    running: dict[Future[list[Outcome]], list[Job]] = {}
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(work.askers, work.make_tools),
    )
    try:
        while True:
            while len(running) < 2 * workers and (block := list(islice(source, BLOCK))):
                future = pool.submit(
                    _ask_block, [(index, subject) for (_, index), subject in block]
                )
                running[future] = [job for job, _ in block]
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield from zip(running.pop(future), future.result(), strict=True)
    except BrokenProcessPool as error:
        raise RunError(
            "a worker process died (killed, or out of memory); what was finished is kept: run the"
            " same command again, with fewer --workers if memory was short"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


_worker: tuple[Sequence[Asker[Any]], Tools] | None = None


def _start_worker(askers: Sequence[Asker[Any]], make_tools: Callable[[], Tools]) -> None:
    global _worker  # one worker process serves one run
    end_with_parent()
    threadpool_limits(1)
    _worker = (askers, make_tools())


def end_with_parent() -> None:
    """Have this worker process end when its parent does, and leave Ctrl-C to the parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_parent, daemon=True).start()


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # killed without a word: no one is left to take a result


def _ask_block(block: Iterable[tuple[int, Any]]) -> list[Outcome]:
    assert _worker is not None
    askers, tools = _worker

    async def each() -> list[Outcome]:
        asked = (attempt(askers[index], subject, tools) for index, subject in block)
        return list(await asyncio.gather(*asked))

    return asyncio.run(each())
