"""A block of subjects in, encoded outcomes out: the one seam between a run and where it works.

``Scorer`` is what a worker holds, whoever started it: a process of ours, an actor of a cluster. It
is small when it is pickled, makes its tools when it is first called, and keeps them. What it gives
back is bytes that go into the store as they are, so that whoever gathers has next to nothing to do.

As lists for the store (``Scorer.__call__`` gives an ``Encoded``), or as Arrow tables for engines
that pass tables around (``Scorer.table``)::

    from beholder.metrics import metric
    from beholder.run.batch import ROWS, Scorer
    from beholder.run.subjects import ITEM

    scorer = Scorer((metric("vcs_short"), metric("bleu")), ITEM)
    rows = scorer.rows(enumerate(items))  # position, row; a column askers says what is open
    outcomes = scorer.table(rows)  # the columns of OUTCOMES, a row per subject and asker
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import pyarrow as pa

from beholder.aio import run_sync
from beholder.metrics import Tools
from beholder.metrics.asker import Asker, Outcome, attempt
from beholder.run.codec import Encoded
from beholder.run.subjects import KINDS, SubjectKind
from beholder.threads import one_blas_thread

Task: TypeAlias = tuple[int, Any, Sequence[int]]
"""Position of a subject, the subject, and which askers it is put to, by their place."""

SCORED, FAILED = "scored", "failed"

ROWS = pa.schema([("position", pa.int64()), ("row", pa.string()), ("askers", pa.list_(pa.int32()))])
"""What ``Scorer.table`` takes: subjects as the store keeps them.

``askers`` holds the places of the askers that are open; where the column is missing or null, all
are.
"""

OUTCOMES = pa.schema(
    [
        ("position", pa.int64()),
        ("id", pa.string()),
        ("asker", pa.string()),
        ("status", pa.string()),
        ("signature", pa.string()),
        ("numbers", pa.string()),
        ("units", pa.binary()),
        ("detail", pa.binary()),
        ("unfinished", pa.bool_()),
        ("error", pa.string()),
        ("reason", pa.string()),
        ("transient", pa.bool_()),
    ]
)
"""What ``Scorer.table`` gives, ordered by position and then by place of the asker.

Of what is scored ``error``, ``reason`` and ``transient`` are null; of what failed ``signature``,
``numbers``, ``units`` and ``unfinished`` are. ``numbers`` is JSON; ``codec`` reads ``units`` and
``detail``.
"""


class Scorer:
    """Puts askers to blocks of subjects; picklable, and warm from the first block on.

    Tools are made on first use and are no part of the pickle. One BLAS thread is held while a block
    is worked on: a sum's rounding may depend on their number.

    Args:
        askers: What is asked, prepared on the data.
        kind: The kind of subject.
        make_tools: Makes the tools; picklable.

    Attributes:
        askers: What is asked, in order.
        kind: The kind of subject.
    """

    def __init__(
        self,
        askers: Iterable[Asker[Any]],
        kind: SubjectKind[Any],
        make_tools: Callable[[], Tools] = Tools,
    ) -> None:
        self.askers = tuple(askers)
        self.kind = kind
        self._make_tools = make_tools
        self._names = [asker.name for asker in self.askers]
        self._tools: Tools | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return _scorer, (self.askers, self.kind.name, self._make_tools)

    def __call__(self, tasks: Iterable[Task]) -> Encoded:
        """The outcomes of a block, encoded.

        Raises:
            ConfigError: A tool does not support the operation.
            RunError: The run cannot continue.
        """
        jobs = [(position, subject, place) for position, subject, open_ in tasks for place in open_]
        found = Encoded()
        for (position, _, place), outcome in zip(jobs, self.outcomes(jobs), strict=True):
            found.add(self._names[place], position, outcome)
        return found

    def outcomes(self, jobs: Sequence[tuple[int, Any, int]]) -> list[Outcome]:
        """The outcomes of jobs (position, subject, place of the asker), as records."""

        async def each() -> list[Outcome]:
            tools = self._warm()
            asked = (attempt(self.askers[place], subject, tools) for _, subject, place in jobs)
            return list(await asyncio.gather(*asked))

        with one_blas_thread():
            return run_sync(each())

    def rows(self, subjects: Iterable[tuple[int, Any]]) -> pa.Table:
        """Subjects with their positions as a table of ``ROWS``, open for all askers."""
        pairs = [(position, self.kind.row(subject)) for position, subject in subjects]
        columns = [[p for p, _ in pairs], [row for _, row in pairs], [None] * len(pairs)]
        return pa.table(columns, schema=ROWS)

    def table(self, rows: pa.Table) -> pa.Table:
        """The outcomes of a table of ``ROWS``, as a table of ``OUTCOMES``."""
        every = range(len(self.askers))
        open_ = rows["askers"].to_pylist() if "askers" in rows.column_names else [None] * len(rows)
        read = [self.kind.from_row(json.loads(row)) for row in rows["row"].to_pylist()]
        positions = rows["position"].to_pylist()
        tasks = [
            (position, subject, every if places is None else places)
            for position, subject, places in zip(positions, read, open_, strict=True)
        ]
        ids = {position: self.kind.id(subject) for position, subject, _ in tasks}
        return _as_table(self(tasks), ids, {name: n for n, name in enumerate(self._names)})

    def _warm(self) -> Tools:
        if self._tools is None:
            self._tools = self._make_tools()
        return self._tools


def _scorer(askers: tuple[Asker[Any], ...], kind: str, make_tools: Callable[[], Tools]) -> Scorer:
    return Scorer(askers, KINDS[kind], make_tools)  # kinds hold functions that cannot be pickled


def outcome_rows(found: Encoded) -> list[tuple[Any, ...]]:
    """The rows of ``OUTCOMES`` without ``id``, in no order."""
    scored = [
        (position, asker, SCORED, *rest, None, None, None)
        for asker, position, *rest in found.scores
    ]
    failed = [
        (position, asker, FAILED, *[None] * 3, detail, None, *reason)
        for asker, position, *reason, detail in found.failures
    ]
    return scored + failed


def _as_table(found: Encoded, ids: dict[int, str], places: dict[str, int]) -> pa.Table:
    ordered = sorted(outcome_rows(found), key=lambda row: (row[0], places[row[1]]))
    rows = [(position, ids[position], *rest) for position, *rest in ordered]
    columns = zip(*rows, strict=True) if rows else [()] * len(OUTCOMES)
    return pa.table([list(column) for column in columns], schema=OUTCOMES)
