"""The engine of runs on a Ray cluster: blocks of subjects go to warm actors, which write parts.

``score`` leads from a data set of Ray, or rows, to a run in parts.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, Unpack

from beholder.api import Run
from beholder.base.optional import require
from beholder.errors import BeholderError, ConfigError, RunError
from beholder.kinds.scores import door
from beholder.metrics import Metric, Tools
from beholder.options import Options, check_amount
from beholder.ray.answers import Desk, at_desk
from beholder.run.execute import Scorer, Work
from beholder.run.session import CONCURRENCY, Done, Progress, RunContext
from beholder.run.store import Store
from beholder.run.tables_parquet import ParquetTables, PartWriter

A = TypeVar("A")
B = TypeVar("B")

BLOCK = 512
"""Subjects an actor takes at once and writes as one part: few files, little lost with a machine."""

Block = list[tuple[int, list[int]]]
"""The open jobs of some subjects: the position of each subject and the numbers of its askers."""

Rows = Callable[[Block], list[str]]
"""Returns the rows of a block's subjects, in order."""

_LOSSES = 1
"""Losses in a row, without a finished block between them, tolerated beyond one per actor."""

_OBJECTS = 256 * 2**20
"""Bytes for objects of Ray on this machine alone: none of ours is large."""


@dataclass(frozen=True)
class RayEngine:
    """Works on a Ray cluster and keeps a run as parts; a ``run.session.Engine``.

    Attributes:
        address: The cluster, as ``ray.init`` takes it. None uses the connection of this process,
            else what RAY_ADDRESS names, else starts Ray on this machine alone.
        parts: URL or path of where parts are kept, which every machine reaches and may write:
            ``s3://BUCKET/PATH``, ``gs://BUCKET/PATH`` or a shared disk. None for the run directory.
        num_gpus: GPUs of each actor, for judges that run in the actors (``hf:``, ``vllm:``).

    Raises:
        ConfigError: The number of GPUs is not valid.
    """

    address: str | None = None
    parts: str | None = None
    num_gpus: float = 0.0

    def __post_init__(self) -> None:
        check_amount(
            "num_gpus", self.num_gpus, "leave it out for judges that need none"
        )

    def store(self, folder: Path) -> AbstractContextManager[Store]:
        """Open the run's store, with its outcomes in parts."""
        return Store.open_parts(folder, self.parts)

    def execute(self, work: Work, means: RunContext, done: Done) -> None:
        """Do the open jobs of a run on the cluster, and report each block to ``done``."""
        if not work.open.any():
            return
        # The scorer and the writer are pickled once and sent to each actor. Judges share answers
        # and budget through the desk, so it is opened only where a judge is asked.
        tables = work.store.tables
        assert isinstance(tables, ParquetTables)

        def rows(block: Block) -> list[str]:
            positions = [position for position, _ in block]
            kind = work.scorer.kind.name
            return [row for _, row in tables.subjects(kind, positions)]

        with ExitStack() as stack:
            ray = stack.enter_context(_connected(self.address))
            scorer = work.scorer
            means = _everywhere(means)
            make_tools = means.tools
            size = BLOCK
            # Askers that wait for judges or models take as many at once as the options say.
            if not work.are_cheap():
                size = means.work.concurrency or CONCURRENCY
            if any(asker.asks_judge() for asker in scorer.askers):
                desk = stack.enter_context(
                    at_desk(ray, work.store.folder, means.work)
                )
                make_tools = partial(_shared_tools, means, desk)
            scorer = Scorer(scorer.askers, scorer.kind, make_tools)
            make = ray.remote(Worker).options(
                num_cpus=1, num_gpus=self.num_gpus or None
            )
            try:
                start = partial(make.remote, ray.put(scorer), tables.writer)
                self._map(
                    ray,
                    start,
                    deque(_blocks(work, size)),
                    rows,
                    means.work.workers,
                    done,
                )
            except ray.exceptions.RayError as error:
                raise RunError(
                    f"the cluster failed: {error}; what was finished is kept: run the"
                    " same command again"
                ) from error

    def map(
        self, function: Callable[[A], B], tasks: Sequence[A]
    ) -> Iterator[tuple[A, B]]:
        """Yield tasks with their results as they finish; a task whose machine is lost is repeated.

        Args:
            function: A function of a module, which every machine has.
            tasks: Its arguments, such as files of a shared disk.

        Raises:
            RunError: The cluster failed, or is out of reach.
        """
        with _connected(self.address) as ray:
            remote = ray.remote(function).options(num_cpus=1, max_retries=3)
            waiting = deque(tasks)
            # A few tasks wait for each processor, so that none is idle.
            n_open = 2 * self._room(ray)
            running: dict[Any, A] = {}
            try:
                while waiting or running:
                    while waiting and len(running) < n_open:
                        task = waiting.popleft()
                        running[remote.remote(task)] = task
                    (ready,), _ = ray.wait(list(running), num_returns=1)
                    yield running.pop(ready), ray.get(ready)
            except ray.exceptions.RayError as error:
                raise RunError(
                    f"the cluster failed: {error}; what was finished is kept: run the same command"
                    " again"
                ) from error

    def _map(
        self,
        ray: Any,
        make: Callable[[], Any],
        blocks: deque[Block],
        rows: Rows,
        workers: int | None,
        done: Done,
    ) -> None:
        """Give each block to a free actor; replace actors that are lost and repeat their blocks."""
        room = self._room(ray)
        # `workers` may exceed the room: a cluster may grow.
        n_actors = min(workers or room, len(blocks))
        # Each actor has one block at a time. A lost actor's block goes back to the front of
        # the queue, and a new actor replaces it; many losses in a row mean that the work
        # itself kills actors. After an error, no further block is handed out, but those under
        # way may finish.
        losses = 0
        stopped: BeholderError | None = None
        busy: dict[Any, tuple[Any, Block | None]] = {}

        def start() -> None:
            actor = make()
            busy[actor.__ray_ready__.remote()] = actor, None

        for _ in range(n_actors):
            start()
        try:
            while True:
                is_working = any(block for _, block in busy.values())
                has_more = bool(blocks) and stopped is None
                if not is_working and not has_more:
                    break
                (answer,), _ = ray.wait(list(busy), num_returns=1)
                actor, block = busy.pop(answer)
                try:
                    outcome = ray.get(answer)
                except ray.exceptions.RayActorError:
                    losses += 1
                    if losses > n_actors + _LOSSES:
                        raise
                    ray.kill(actor)  # it may only be out of reach
                    blocks.extendleft([block] if block else [])
                    start()
                    continue
                if block:
                    losses = 0
                    # Let the blocks under way finish.
                    if isinstance(outcome, BeholderError):
                        stopped = stopped or outcome
                    else:
                        done(*outcome)
                if blocks and stopped is None:
                    block = blocks.popleft()
                    busy[actor.work.remote(block, rows(block))] = actor, block
                else:
                    ray.kill(actor)
        finally:
            for actor, _ in busy.values():
                ray.kill(actor)
        if stopped is not None:
            raise stopped

    def _room(self, ray: Any) -> int:
        """Return the number of actors that the cluster has room for.

        Raises:
            RunError: There is no room for one.
        """
        resources = ray.cluster_resources()
        n_cpus = resources.get("CPU", 0.0)
        n_gpus = resources.get("GPU", 0.0)
        rooms = [n_cpus]
        if self.num_gpus:
            rooms.append(n_gpus / self.num_gpus)
        if min(rooms) < 1:
            raise RunError(
                f"the cluster has {n_cpus:g} CPUs and {n_gpus:g} GPUs, which is no room"
                " for one actor; add machines, or ask for fewer GPUs"
            )
        return int(min(rooms))


class Worker:
    """Scores blocks and writes a part of each; its tools are made once.

    Args:
        scorer: Scorer of the subjects.
        writer: Writes the parts of this start of the run.
    """

    def __init__(self, scorer: Scorer, writer: PartWriter) -> None:
        self._scorer = scorer
        self._writer = writer

    def work(
        self, block: Block, rows: Sequence[str]
    ) -> tuple[int, int] | BeholderError:
        """Do the open work of a block.

        Args:
            block: The open jobs.
            rows: The rows of its subjects.

        Returns:
            How many jobs got a score and how many failed; or the error that ends the run.
        """
        try:
            return self._do(block, rows)
        except BeholderError as error:
            return error

    def _do(self, block: Block, rows: Sequence[str]) -> tuple[int, int]:
        self._writer.check_reached()
        names = [asker.name for asker in self._scorer.askers]
        jobs = []
        for position, open_places in block:
            for place in open_places:
                jobs.append((position, names[place]))
        # The name of a part follows from its jobs alone.
        part = self._writer.part_name(jobs)
        # A machine may have been lost after it wrote.
        if not self._writer.place.holds(part):
            from_row = self._scorer.kind.from_row
            tasks = []
            for (position, open_places), row in zip(block, rows, strict=True):
                subject = from_row(json.loads(row))
                tasks.append((position, subject, open_places))
            self._writer.write(self._scorer(tasks))
        return self._writer.counts(part)


def _blocks(work: Work, size: int) -> Iterator[Block]:
    for batch in work.blocks(size):
        # `open` has a row per asker and a column per subject.
        block: Block = []
        for position, column in zip(
            batch.positions, batch.open.T, strict=True
        ):
            places = column.nonzero()[0].tolist()
            block.append((int(position), places))
        yield block


def _everywhere(means: RunContext) -> RunContext:
    """Return the means with absolute paths: actors have another working directory."""
    prompts = means.judging.prompts
    judging = replace(
        means.judging, prompts=None if prompts is None else prompts.resolve()
    )
    return replace(means, judging=judging, folder=means.folder.resolve())


def _shared_tools(means: RunContext, desk: Desk) -> Tools:
    return means.tools(answers=desk.answers(), budget=desk.budget())


@contextmanager
def _connected(address: str | None) -> Iterator[Any]:
    """Yield Ray, connected already, or connected here and stopped afterwards.

    Raises:
        ConfigError: This process is connected already, and an address is given.
        MissingExtraError: Ray is not installed.
        RunError: There is no cluster at the address.
    """
    ray = require("ray", extra="ray", purpose="the engine ray")
    if ray.is_initialized():
        if address is not None:
            raise ConfigError(
                f"address={address!r}: this process is connected to a cluster already; leave the"
                " address out, or call ray.shutdown() first"
            )
        yield ray
        return
    # Ray is stopped at the end only if it was started here.
    cluster = address or os.environ.get("RAY_ADDRESS") or "local"
    local_options = {
        "include_dashboard": False,
        "object_store_memory": _OBJECTS,
    }
    try:
        ray.init(
            cluster,
            log_to_driver=False,
            logging_level=logging.WARNING,
            **(local_options if cluster == "local" else {}),
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise RunError(
            f"Ray cannot be reached at {cluster!r}: {error}; name a cluster with --address, or"
            " leave it out to work on this machine"
        ) from error
    try:
        yield ray
    finally:
        ray.shutdown()


_ROWS = 1024


def score(
    dataset: Any,
    metrics: Sequence[str | Metric[Any]] = ("headline",),
    *,
    engine: RayEngine | None = None,
    judge: str | None = None,
    embedder: str | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Run:
    """Score a data set on a Ray cluster, or resume an interrupted run.

    Args:
        dataset: A ``ray.data.Dataset`` whose columns are the fields of rows (``candidate``,
            ``references`` ...), or what ``beholder.score`` takes: a file, a URL, rows. Its order is
            that of the run; a data set that is shuffled each time cannot be resumed.
        metrics: Metrics, or their text forms, as for ``beholder.score``.
        engine: The cluster, where parts are kept, GPUs of an actor; None for ``RayEngine()``.
        judge: Judge for the metrics that ask one and do not name one.
        embedder: Embedder for the metrics that do not name one.
        out: Run directory, on this machine; None as for ``beholder.score``.
        progress: Receives the progress of the run.
        options: As for ``beholder.score``; ``workers`` are the actors, by default one per CPU of
            the cluster.

    Returns:
        The finished run: equal to one of ``beholder.score``, but for where its outcomes lie.

    Raises:
        ConfigError: A metric, tool or option is wrong.
        DataError: Rows are wrong and ``skip_bad_rows`` is not set, or the file cannot be read.
        MissingExtraError: Ray is not installed.
        RunError: The run directory is busy or contains another run, or the cluster fails.
    """
    require("ray", extra="ray", purpose="beholder.ray.score")
    # A data set of Ray exists only where `ray.data` is imported.
    data = sys.modules.get("ray.data")
    return door.score(
        _rows(dataset)
        if data and isinstance(dataset, data.Dataset)
        else dataset,
        metrics,
        judge=judge,
        embedder=embedder,
        out=out,
        progress=progress,
        engine=engine or RayEngine(),
        **options,
    )


def _rows(dataset: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the rows of a data set of Ray, in its order, as Python's values."""
    # Ray may return blocks in any order; a run that is resumed needs the same positions again.
    ordered = dataset.context.execution_options
    before = ordered.preserve_order
    ordered.preserve_order = True
    try:
        for table in dataset.iter_batches(
            batch_size=_ROWS, batch_format="pyarrow"
        ):
            yield from table.to_pylist()
    finally:
        ordered.preserve_order = before
