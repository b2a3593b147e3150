"""Scores batches as they come, for programs that go on meanwhile: trainers, evaluation harnesses.

Built-in analysis works in warm processes, all else is waited for in the caller's loop. No run is
made.
"""

from __future__ import annotations

import asyncio
import math
import multiprocessing
import os
import tempfile
import weakref
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from beholder.aio import bounded
from beholder.errors import ItemError, RunError
from beholder.metrics import Metric, Tools
from beholder.metrics.asker import Outcome, attempt
from beholder.records import Item
from beholder.run.answers import run_answers
from beholder.run.batch import Scorer
from beholder.run.execute import end_with_parent
from beholder.run.processes import remedy, starting
from beholder.run.session import Means
from beholder.run.subjects import ITEM

WORKERS = 4
"""Most worker processes where none are named: the caller needs its cores, too."""

CONCURRENCY = 64
"""Texts that wait for judges at once where nothing else is said."""

_STAND_IN = "A dog."


class LiveScorer:
    """A metric and what it works with, kept warm between batches.

    Args:
        metric: The metric, prepared.
        means: How judges are asked, how much at once, where pictures lie.

    Attributes:
        metric: The metric.
    """

    def __init__(self, metric: Metric[Any], means: Means) -> None:
        self.metric = metric
        self._means = means
        self._resources = ExitStack()
        self._tools = self._open()
        metric.identities(self._tools)  # a tool that cannot be made stops here
        self._pool: ProcessPoolExecutor | None = None
        self._pool_of = 0
        self._closed = False
        self._cheap = self._tools.are_per_process(metric.tool_specs())
        self._workers = means.work.workers or min(WORKERS, os.cpu_count() or 1)
        self._end = weakref.finalize(self, self._resources.close)

    async def score(self, items: Sequence[Item]) -> list[Outcome | None]:
        """What is found for each item; None where the metric does not apply.

        Raises:
            ConfigError: A tool cannot do what is asked.
            RunError: A worker process died, or the budget is spent.
        """
        if self._closed:
            raise RunError(f"this scorer of {self.metric.registered_name} is closed; make another")
        places = [k for k, item in enumerate(items) if self.applies(item)]
        score = self._in_processes if self._cheap else self._in_coroutines
        found: list[Outcome | None] = [None] * len(items)
        for place, outcome in zip(places, await score([items[k] for k in places]), strict=True):
            found[place] = outcome
        return found

    def applies(self, item: Item) -> bool:
        """Whether an item has all that the metric needs beside the text itself."""
        try:
            self.metric.check_item(replace(item, candidate=_STAND_IN))
        except ItemError:
            return False
        return True

    def fault_of_text(self, item: Item) -> str | None:
        """Why an item is refused before any work, if another text in its place would not be."""
        if self._refused(replace(item, candidate=_STAND_IN)) is not None:
            return None
        return self._refused(item)

    def close(self) -> None:
        """End the worker processes and close what is open."""
        self._closed = True
        self._end()

    def _refused(self, item: Item) -> str | None:
        try:
            self.metric.check(item)
            self.metric.check_tools(item, self._tools)
        except ItemError as error:
            return str(error)
        return None

    def _open(self) -> Tools:
        work = self._means.work
        answers, budget = None, None
        if self.metric.asks_judge():  # what is said in a long training is nothing to hold in memory
            folder = self._resources.enter_context(tempfile.TemporaryDirectory())
            kept = run_answers(Path(folder), work.cache, work.max_cost)
            answers, budget = self._resources.enter_context(kept)
        options = self._means.judging.for_tools()
        return Tools(None, options, answers, budget, folder=self._means.folder)

    async def _in_coroutines(self, items: Sequence[Item]) -> list[Outcome]:
        async def one(place: int) -> Outcome:
            return await attempt(self.metric, items[place], self._tools)

        limit = self._means.work.concurrency or CONCURRENCY
        found = {k: outcome async for k, outcome in bounded(one, range(len(items)), limit)}
        return [found[k] for k in range(len(items))]

    async def _in_processes(self, items: Sequence[Item]) -> list[Outcome]:
        """Blocks that lie together, so that a group's references are read by few processes."""
        size = max(1, math.ceil(len(items) / self._workers))
        blocks = [items[k : k + size] for k in range(0, len(items), size)]
        loop = asyncio.get_running_loop()
        with starting([self.metric]):
            waited = [loop.run_in_executor(self._processes(), _score, block) for block in blocks]
        try:
            return [outcome for block in await asyncio.gather(*waited) for outcome in block]
        except BrokenProcessPool as error:
            self._pool = None  # the next batch starts new ones
            raise RunError(
                "a worker process died (killed, or out of memory):"
                f" {remedy([self.metric], 'fewer workers need less memory')}"
            ) from error

    def _processes(self) -> ProcessPoolExecutor:
        # A child that was forked has none of its parent's processes, and must not end them.
        if self._pool is None or self._pool_of != os.getpid():
            self._pool_of = os.getpid()
            self._pool = ProcessPoolExecutor(
                self._workers,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_start,
                initargs=(Scorer([self.metric], ITEM, self._means.tools),),
            )
            self._resources.callback(self._pool.shutdown, wait=True, cancel_futures=True)
        return self._pool


_scorer: Scorer | None = None


def _start(scorer: Scorer) -> None:
    global _scorer  # one worker process serves one scorer
    end_with_parent()
    _scorer = scorer


def _score(items: Sequence[Item]) -> list[Outcome]:
    assert _scorer is not None
    return _scorer.outcomes([(place, item, 0) for place, item in enumerate(items)])
