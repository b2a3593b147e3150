"""Score batches on demand, for trainers and evaluation harnesses.

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
from collections.abc import Awaitable, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from beholder.aio import map_bounded
from beholder.asking.asker import Outcome, attempt
from beholder.base.processes import WorkerPool, end_with_parent
from beholder.errors import ItemError, RunError
from beholder.judges import Tally
from beholder.metrics import Metric, Tools
from beholder.records import Item, ItemFailure
from beholder.run.answers import run_answers
from beholder.run.execute import Scorer, hide_script, remedy
from beholder.run.session import RunContext
from beholder.run.subjects import ITEM

WORKERS = 4
"""Default maximum of worker processes; the caller needs cores, too."""

CONCURRENCY = 64
"""Texts that wait for judges at once by default."""

_STAND_IN = "A dog."


@dataclass(frozen=True, slots=True)
class TextFailure(ItemFailure):
    """A failure by the text's own fault: another text in its place would have a score."""


class LiveScorer:
    """A metric with its tools, kept ready between batches.

    Args:
        metric: The metric, prepared.
        means: Settings of questions to judges, concurrency, and folder of pictures.

    Attributes:
        metric: The metric.
    """

    def __init__(self, metric: Metric[Any], means: RunContext) -> None:
        self.metric = metric
        self._means = means
        self._resources = ExitStack()
        # Answers are stored on disk and not in memory: a training asks millions of questions.
        options, work = means.judging.for_tools(), means.work
        answers, budget = None, None
        if metric.asks_judge():
            folder = self._resources.enter_context(
                tempfile.TemporaryDirectory()
            )
            answer_context = run_answers(
                Path(folder), work.cache, work.max_cost
            )
            answers, budget = self._resources.enter_context(answer_context)
        self._tools = Tools(
            None, options, answers, budget, folder=means.folder
        )
        # Questions of models are typical answers here: it costs nothing to try another text.
        self._trial_tools = Tools(
            options=options, tally=Tally(), folder=means.folder
        )
        metric.identities(self._tools)  # a tool that cannot be made stops here
        # Built-in analysis gains from processes; all else waits for a server and does not.
        self._closed = False
        self._cheap = self._tools.are_per_process(metric.tool_specs())
        self._workers = _Workers(
            work.workers or min(WORKERS, os.cpu_count() or 1),
            Scorer([metric], ITEM, means.tools),
        )
        self._end = weakref.finalize(
            self, _close, os.getpid(), self._workers, self._resources
        )

    async def score(self, items: Sequence[Item]) -> list[Outcome | None]:
        """Return the outcome of each item; None where the metric does not apply.

        A failure that the text itself caused is a ``TextFailure``: the text was refused before a
        model was asked, and a stand-in text for the same item has a score.

        Raises:
            ConfigError: A tool does not support the operation.
            RunError: A worker process died, or the budget is spent.
        """
        if self._closed:
            raise RunError(
                f"this scorer of {self.metric.registered_name} is closed; make another"
            )
        # Items that the metric does not apply to are no failures and stay None.
        places = [k for k, item in enumerate(items) if self.applies(item)]
        score = self._in_processes if self._cheap else self._in_coroutines
        outcomes: list[Outcome | None] = [None] * len(items)
        for place, outcome in zip(
            places, await score([items[k] for k in places]), strict=True
        ):
            outcomes[place] = outcome
        return outcomes

    def applies(self, item: Item) -> bool:
        """Return whether an item has all that the metric needs beside the text itself."""
        try:
            self.metric.check_item(replace(item, candidate=_STAND_IN))
        except ItemError:
            return False
        return True

    def close(self) -> None:
        """End the worker processes and close all stores."""
        self._closed = True
        self._end()

    async def _in_coroutines(self, items: Sequence[Item]) -> list[Outcome]:
        async def score_place(place: int) -> Outcome:
            outcome = await attempt(self.metric, items[place], self._tools)
            if not _may_be_of_text(outcome):
                return outcome
            other_outcome = await attempt(
                self.metric, _with_other_text(items[place]), self._trial_tools
            )
            return _attribute_failure(outcome, other_outcome)

        limit = self._means.work.concurrency or CONCURRENCY
        outcomes = {
            k: outcome
            async for k, outcome in map_bounded(
                score_place, range(len(items)), limit
            )
        }
        return [outcomes[k] for k in range(len(items))]

    async def _in_processes(self, items: Sequence[Item]) -> list[Outcome]:
        """Score consecutive blocks, so that few processes read the references of a group."""
        # One block a worker: each block pays for the transfer once.
        size = max(1, math.ceil(len(items) / self._workers.n))
        blocks = [items[k : k + size] for k in range(0, len(items), size)]
        try:
            block_outcomes = await self._workers.do(blocks)
        except BrokenProcessPool:  # it may have been killed while it was idle
            try:
                block_outcomes = await self._workers.do(blocks)
            except BrokenProcessPool as error:
                raise RunError(
                    "a worker process died twice at the same texts (killed, or out of memory):"
                    f" {remedy([self.metric], 'fewer workers need less memory')}"
                ) from error
        return [outcome for block in block_outcomes for outcome in block]


class _Workers:
    """Worker processes, which are started when there is work and replaced when one of them died.

    Args:
        n: Number of workers.
        scorer: Scorer that is copied to each.
    """

    def __init__(self, n: int, scorer: Scorer) -> None:
        self.n = n
        self._scorer = scorer
        self._pool: WorkerPool | None = None
        self._owner_pid = 0

    async def do(
        self, blocks: Sequence[Sequence[Item]]
    ) -> list[list[Outcome]]:
        """Return the outcomes of each block.

        Raises:
            BrokenProcessPool: A worker died; the next call starts new ones.
        """
        loop = asyncio.get_running_loop()
        pool = self._get_pool()
        futures: list[Awaitable[list[Outcome]]] = []
        try:
            with hide_script(self._scorer.askers):
                futures += (
                    loop.run_in_executor(pool, _score, block)
                    for block in blocks
                )
            return await asyncio.gather(*futures)
        except BrokenProcessPool:
            # All calls must end before new workers start.
            await asyncio.gather(*futures, return_exceptions=True)
            if self._pool is pool:  # calls that overlap share it
                self._pool = None
            raise

    def stop(self) -> None:
        """End the processes."""
        # Only the process that started the workers may end them.
        if self._pool is not None and self._owner_pid == os.getpid():
            self._pool.shutdown(wait=True, cancel_futures=True)
        self._pool = None

    def _get_pool(self) -> WorkerPool:
        # A child that was forked has none of its parent's processes, and must not end them.
        if self._pool is None or self._owner_pid != os.getpid():
            self._owner_pid = os.getpid()
            self._pool = WorkerPool(
                self.n,
                mp_context=multiprocessing.get_context("spawn"),
                initializer=_start_worker,
                initargs=(self._scorer,),
            )
        return self._pool


def _close(owner: int, workers: _Workers, resources: ExitStack) -> None:
    workers.stop()
    if (
        os.getpid() == owner
    ):  # a forked child must not remove its parent's files
        resources.close()


def _forget_children() -> None:
    """Forget the parent's workers in a forked child, which would fail to wait for them."""
    multiprocessing.process._children.clear()  # type: ignore[attr-defined]  # as its own forks do


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_children)

_scorer: Scorer | None = None


def _start_worker(scorer: Scorer) -> None:
    global _scorer  # one worker process serves one scorer
    end_with_parent()
    _scorer = scorer


def _score(items: Sequence[Item]) -> list[Outcome]:
    assert _scorer is not None
    outcomes = _scorer.outcomes(
        [(place, item, 0) for place, item in enumerate(items)]
    )
    # Each permanent failure is tried once more with the stand-in text, to find what caused it.
    suspects = [
        place
        for place, outcome in enumerate(outcomes)
        if _may_be_of_text(outcome)
    ]
    other_outcomes = _scorer.outcomes(
        [(place, _with_other_text(items[place]), 0) for place in suspects]
    )
    for place, other_outcome in zip(suspects, other_outcomes, strict=True):
        outcomes[place] = _attribute_failure(outcomes[place], other_outcome)
    return outcomes


def _may_be_of_text(outcome: Outcome) -> bool:
    """Return whether the failure is permanent and no model was asked."""
    failed = isinstance(outcome, ItemFailure) and not outcome.transient
    return failed and not outcome.detail.get("questions")


def _with_other_text(item: Item) -> Item:
    return replace(item, candidate=_STAND_IN)


def _attribute_failure(outcome: Outcome, other_outcome: Outcome) -> Outcome:
    """Turn a failure into a ``TextFailure`` if the stand-in text has a score."""
    if isinstance(other_outcome, ItemFailure) or not isinstance(
        outcome, ItemFailure
    ):
        return outcome
    return TextFailure(
        **{
            field.name: getattr(outcome, field.name)
            for field in fields(outcome)
        }
    )
