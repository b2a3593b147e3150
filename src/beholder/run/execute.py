"""Score what a run still lacks, and write each outcome as it arrives.

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
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from threadpoolctl import threadpool_limits

from beholder.aio import bounded, run_sync
from beholder.errors import RunError
from beholder.metrics import Metric, Tools
from beholder.metrics.base import attempt
from beholder.records import Item, ItemFailure, ItemScore
from beholder.run.config import RunConfig
from beholder.run.store import Store

Job: TypeAlias = tuple[int, int]
"""Position of the item, index of the metric."""

Outcome: TypeAlias = ItemScore | ItemFailure

BLOCK = 16
"""Items a worker takes at once: small enough that a killed run redoes little."""

WORTH_WORKERS = 400
"""Jobs from which starting worker processes (about a second each) pays."""


class Progress(Protocol):
    """Hears how a run goes on."""

    def start(self, total: int, reused: int) -> None:
        """The run has ``total`` jobs, of which ``reused`` were finished before."""

    def advance(self, outcome: Outcome) -> None:
        """One job is finished and written."""


def execute(
    store: Store, config: RunConfig, jobs: Sequence[Job], tools: Tools, progress: Progress
) -> None:
    """Do jobs and write each outcome; may be interrupted at any time.

    Raises:
        RunError: A worker process died.
        KeyboardInterrupt: Passed on, after the store has all that was finished.
    """
    cheap = all(tools.are_per_process(metric.tool_specs()) for metric in config.metrics)
    workers = config.workers
    if workers is None:
        workers = os.cpu_count() or 1 if len(jobs) >= WORTH_WORKERS else 1
    with threadpool_limits(1):  # a sum's rounding may depend on the number of BLAS threads
        if workers > 1 and cheap:
            for (position, index), outcome in _in_processes(store, config, jobs, workers):
                store.put(config.metrics[index].name, position, outcome)
                progress.advance(outcome)
        else:
            run_sync(_in_coroutines(store, config, jobs, tools, progress))


def pending_jobs(store: Store, metrics: Sequence[Metric[Any]], n_items: int) -> list[Job]:
    """What is left to do, item by item."""
    return sorted(
        (position, index)
        for index, metric in enumerate(metrics)
        for position in store.pending(metric.name, n_items)
    )


async def _in_coroutines(
    store: Store, config: RunConfig, jobs: Iterable[Job], tools: Tools, progress: Progress
) -> None:
    metrics = config.metrics

    async def one(job: tuple[Job, Item]) -> Outcome:
        (_, index), item = job
        return await attempt(metrics[index], item, tools)

    outcomes: AsyncIterator[tuple[tuple[Job, Item], Outcome]]
    outcomes = bounded(one, _with_items(store, jobs), config.concurrency)
    async for ((position, index), _), outcome in outcomes:
        store.put(metrics[index].name, position, outcome)
        progress.advance(outcome)


def _in_processes(
    store: Store, config: RunConfig, jobs: Iterable[Job], workers: int
) -> Iterator[tuple[Job, Outcome]]:
    source = _with_items(store, jobs)
    running: dict[Future[list[Outcome]], list[Job]] = {}
    pool = ProcessPoolExecutor(
        workers,
        mp_context=multiprocessing.get_context("spawn"),
        initializer=_start_worker,
        initargs=(config.metrics, config.tool_options, config.folder),
    )
    try:
        while True:
            while len(running) < 2 * workers and (block := list(islice(source, BLOCK))):
                future = pool.submit(_score_block, [(index, item) for (_, index), item in block])
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


def _with_items(store: Store, jobs: Iterable[Job]) -> Iterator[tuple[Job, Item]]:
    position, item = -1, None
    for job in jobs:
        if job[0] != position or item is None:
            position, item = next(iter(store.items([job[0]])))
        yield job, item


_worker: tuple[tuple[Metric[Any], ...], Tools] | None = None


def _start_worker(
    metrics: tuple[Metric[Any], ...],
    tool_options: Mapping[str, Mapping[str, object]],
    folder: Path,
) -> None:
    global _worker  # one worker process serves one run
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the main process decides what Ctrl-C means
    threading.Thread(target=_die_with_parent, daemon=True).start()
    threadpool_limits(1)
    _worker = (metrics, Tools(options=tool_options, folder=folder))


def _die_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # killed without a word: no one is left to take a result


def _score_block(block: list[tuple[int, Item]]) -> list[Outcome]:
    assert _worker is not None
    metrics, tools = _worker

    async def each() -> list[Outcome]:
        return list(
            await asyncio.gather(*(attempt(metrics[index], item, tools) for index, item in block))
        )

    return asyncio.run(each())
