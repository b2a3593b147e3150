"""Do the open work of a run and pass on its encoded outcomes as they arrive.

Two ways, one rule: in worker processes when every tool is cheap to make in each process (built-in
analysis and embeddings), in coroutines of this process otherwise (remote or big models). Outcomes
are the same either way and do not depend on their order.

``Scorer`` is what a worker holds, whoever started it: a process of ours, an actor of a cluster. A
worker is handed positions, reads the subjects from the store and hands back encoded rows for it, so
that the one process that writes has little to do for many that work.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from beholder.aio import map_bounded, run_sync
from beholder.asking.asker import Asker, Outcome, attempt
from beholder.base.processes import (
    SCRIPT,
    end_with_parent,
    hide_main_script,
    process_pool,
)
from beholder.base.registry import Registry
from beholder.base.threads import one_blas_thread
from beholder.errors import RunError
from beholder.metrics import Tools
from beholder.run.codec import Encoded
from beholder.run.store import Store
from beholder.run.subjects import KINDS, SubjectKind

Task: TypeAlias = tuple[int, Any, Sequence[int]]
"""Position of a subject, the subject, and which askers it is put to, by their place."""


@dataclass(eq=False)
class Scorer:
    """Puts askers to blocks of subjects; picklable, and warm from the first block on.

    Tools are made on first use and are no part of the pickle. One BLAS thread is held while a block
    is worked on: a sum's rounding may depend on their number.

    Args:
        askers: Askers, prepared on the data.
        kind: The kind of subject.
        make_tools: Makes the tools; picklable.
    """

    askers: Sequence[Asker[Any]]
    kind: SubjectKind[Any]
    make_tools: Callable[[], Tools] = Tools

    def __post_init__(self) -> None:
        self._names = [asker.name for asker in self.askers]
        self._tools: Tools | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _build_scorer, (
            tuple(self.askers),
            self.kind.name,
            self.make_tools,
        )

    def __call__(self, tasks: Iterable[Task]) -> Encoded:
        """Evaluate a block of subjects and return its outcomes, encoded.

        Raises:
            ConfigError: A tool does not support the operation.
            RunError: The run cannot continue.
        """
        jobs = [
            (position, subject, place)
            for position, subject, asker_places in tasks
            for place in asker_places
        ]
        encoded = Encoded()
        for (position, _, place), outcome in zip(
            jobs, self.outcomes(jobs), strict=True
        ):
            encoded.add(self._names[place], position, outcome)
        return encoded

    def outcomes(self, jobs: Sequence[tuple[int, Any, int]]) -> list[Outcome]:
        """Evaluate jobs (position, subject, index of the asker); outcomes in order of the jobs."""

        async def ask_all() -> list[Outcome]:
            if self._tools is None:
                self._tools = self.make_tools()
            tools = self._tools
            attempts = (
                attempt(self.askers[place], subject, tools)
                for _, subject, place in jobs
            )
            return list(await asyncio.gather(*attempts))

        # The result of a sum may depend on the number of threads, and runs must be equal.
        with one_blas_thread():
            return run_sync(ask_all())


def _build_scorer(
    askers: tuple[Asker[Any], ...], kind: str, make_tools: Callable[[], Tools]
) -> Scorer:
    return Scorer(
        askers, KINDS[kind], make_tools
    )  # kinds hold functions that cannot be pickled


StoreOutcomes: TypeAlias = Callable[[Encoded], None]
"""Stores the outcomes of some jobs."""

BLOCKS_A_WORKER = 32
"""Blocks into which a run is cut for each worker, each worker having two at once: a killed run
redoes at most a sixteenth."""

SMALLEST, LARGEST = 16, 64
"""Subjects of a block: to hand over a smaller one costs more than it is worth, and Ctrl-C waits for
the blocks that are under way (three seconds of PoSh)."""

WORTH_WORKERS = 400
"""Jobs from which starting worker processes (about a second together) pays."""


@dataclass(frozen=True)
class Work:
    """The open work of a run and what it is done with.

    Attributes:
        scorer: Scorer of the subjects; each worker gets a copy.
        open: Mask of the subjects that each asker still has to do, (askers, subjects).
        store: Holds the subjects.
        tools: Tools of this process.
    """

    scorer: Scorer
    open: NDArray[np.bool_]
    store: Store
    tools: Tools

    def are_cheap(self) -> bool:
        """Return whether every process can make all tools itself."""
        return all(
            self.tools.are_per_process(asker.tool_specs())
            for asker in self.scorer.askers
        )

    def size_for(self, workers: int) -> int:
        """Return the number of subjects of a block for that many workers."""
        # Small blocks lose little when a process is killed, large ones have less overhead.
        n = int(self.open.any(axis=0).sum())
        return min(max(n // (BLOCKS_A_WORKER * workers), SMALLEST), LARGEST)

    def blocks(self, size: int = SMALLEST) -> Iterator[_Positions]:
        """Yield blocks of positions with an open job, in order, with the open jobs of each."""
        positions = np.flatnonzero(self.open.any(axis=0))
        for start in range(0, len(positions), size):
            block_positions = positions[start : start + size]
            yield _Positions(block_positions, self.open[:, block_positions])


@dataclass(frozen=True, slots=True)
class _Positions:
    """Some subjects by position, with a mask of each one's open work, (askers, subjects)."""

    positions: NDArray[np.intp]
    open: NDArray[np.bool_]

    def tasks(self, store: Store, scorer: Scorer) -> Iterator[Task]:
        """Read the subjects; each comes with the indices of the askers that are open for it."""
        subjects = store.subjects(scorer.kind, self.positions.tolist())
        for (position, subject), column in zip(
            subjects, self.open.T, strict=True
        ):
            yield position, subject, np.flatnonzero(column).tolist()


def execute(
    work: Work,
    store_outcomes: StoreOutcomes,
    *,
    workers: int | None,
    concurrency: int,
) -> None:
    """Do the open work and pass on its outcomes; may be interrupted at any time.

    Args:
        work: Work to do.
        store_outcomes: Called in this process as outcomes arrive.
        workers: Worker processes; None decides from the number of jobs.
        concurrency: Subjects that wait for remote tools at once.

    Raises:
        RunError: A worker process died.
        KeyboardInterrupt: Passed on, after all that was finished was handed over.
    """
    # Below this number of jobs, starting processes takes longer than the work.
    if workers is None:
        workers = (
            os.cpu_count() or 1 if work.open.sum() >= WORTH_WORKERS else 1
        )
    if workers > 1 and work.are_cheap():
        _execute_in_processes(work, store_outcomes, workers)
    else:
        with one_blas_thread():
            run_sync(_execute_in_coroutines(work, store_outcomes, concurrency))


async def _execute_in_coroutines(
    work: Work, store_outcomes: StoreOutcomes, concurrency: int
) -> None:
    askers = work.scorer.askers

    def jobs() -> Iterator[tuple[int, Any, int]]:
        for block in work.blocks():
            for position, subject, places in block.tasks(
                work.store, work.scorer
            ):
                # A generator: subjects of a large run are read only as jobs start.
                yield from ((position, subject, place) for place in places)

    async def attempt_job(job: tuple[int, Any, int]) -> Encoded:
        position, subject, place = job
        encoded = Encoded()
        outcome = await attempt(askers[place], subject, work.tools)
        encoded.add(askers[place].name, position, outcome)
        return encoded

    async for _, encoded in map_bounded(attempt_job, jobs(), concurrency):
        store_outcomes(encoded)


def _execute_in_processes(
    work: Work, store_outcomes: StoreOutcomes, workers: int
) -> None:
    blocks = work.blocks(work.size_for(workers))
    running: set[Future[Encoded]] = set()
    try:
        with process_pool(
            workers, _start_worker, work.scorer, work.store.folder
        ) as pool:
            while True:
                # Two blocks for each worker: one is worked on while the next is on its way.
                while (
                    len(running) < 2 * workers
                    and (block := next(blocks, None)) is not None
                ):
                    with hide_script(work.scorer.askers):
                        running.add(pool.submit(_run_block, block))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    store_outcomes(future.result())
    # The operating system kills workers that need too much memory, without any message.
    except BrokenProcessPool as error:
        again = "run the same command again, with fewer --workers if memory was short"
        raise RunError(
            "a worker process died (killed, or out of memory); what was finished is kept:"
            f" {remedy(work.scorer.askers, again)}"
        ) from error


_worker_resources = ExitStack()
"""Keeps the store of a worker process open until the process ends."""
_work: Callable[[_Positions], Encoded] | None = None


def _start_worker(scorer: Scorer, folder: Path) -> None:
    global _work  # one worker process serves one run
    end_with_parent()
    store = _worker_resources.enter_context(Store.read(folder))
    _work = lambda block: scorer(block.tasks(store, scorer))  # noqa: E731


def _run_block(block: _Positions) -> Encoded:
    assert _work is not None
    return _work(block)


_GUARD_ADVICE = (
    "put what the script does under `if __name__ == '__main__':`, since each"
    " worker runs it"
)


def needs_script(askers: Iterable[Asker[Any]]) -> bool:
    """Return whether workers must import the caller's script."""
    return bool(Registry.script_names) or any(
        type(asker).__module__ == SCRIPT for asker in askers
    )


def remedy(askers: Iterable[Asker[Any]], otherwise: str) -> str:
    """Return advice for the user after a worker died."""
    has_file = getattr(sys.modules[SCRIPT], "__file__", None) is not None
    return (
        f"{_GUARD_ADVICE}; {otherwise}"
        if has_file and needs_script(askers)
        else otherwise
    )


@contextmanager
def hide_script(askers: Iterable[Asker[Any]]) -> Iterator[None]:
    """Hide the script from processes that are started meanwhile, unless they need it."""
    if needs_script(askers):
        yield
        return
    with hide_main_script():
        yield
