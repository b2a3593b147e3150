"""The tables of a run whose outcomes are Parquet parts: any number of machines write, each its own.

    store.sqlite                                     all else: subjects, askers, inputs
    parts.json                                       where the parts are
    outcomes/part-000000000512-0001-3f9a0b12.parquet what became of some subjects

A part is named by its first position, by the start of the run that wrote it, and by the jobs in it:
a machine that does the same jobs of the same start once more replaces it. Where two starts both
wrote what became of a subject, the later one holds.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from beholder.base import files
from beholder.errors import RunError
from beholder.run.codec import MAX_SUBJECTS, Encoded
from beholder.run.place import PartsPlace, named_schema
from beholder.run.store_file import PARTS_NAME
from beholder.run.tables_sqlite import SqliteTables

FORMAT = 2
PARTS = "outcomes"

_CACHED_PARTS = 8
"""Parts of which columns are held while rows are read in order."""

_START_MARKER = ".begun.parquet"
"""An empty part, by which a machine sees that it reaches the place of the run."""

_OUTCOME = named_schema(PARTS)
"""Columns of an outcome; null are ``error``, ``reason`` and ``transient`` of what is scored, and
``signature``, ``numbers``, ``units`` and ``unfinished`` of what failed."""
_SCORED, _FAILED = "scored", "failed"
_FAILURE = ("error", "reason", "transient", "detail")
_STATES = ("position", "asker", "status", "unfinished", "transient")
_NONE, _WHOLE, _HALF, _LOST, _LATER = range(5)
"""State of a subject: open, scored, unfinished, failed, failed but to be retried."""


@dataclass
class _OutcomeIndex:
    """Index of the outcomes of one asker, by position.

    Attributes:
        state: One of ``_NONE`` to ``_LATER``, (n,).
        part: Number of the part that contains it, (n,).
    """

    state: NDArray[np.int8] = field(
        default_factory=lambda: np.zeros(0, dtype=np.int8)
    )
    part: NDArray[np.int32] = field(
        default_factory=lambda: np.zeros(0, dtype=np.int32)
    )

    def note(
        self, positions: NDArray[np.int64], states: NDArray[np.int8], part: int
    ) -> None:
        n_missing = int(positions.max(initial=-1)) + 1 - len(self.state)
        if n_missing > 0:
            # Doubling keeps the cost of growth linear in the number of outcomes.
            n_added = max(n_missing, len(self.state))
            self.state = np.concatenate(
                [self.state, np.zeros(n_added, dtype=np.int8)]
            )
            self.part = np.concatenate(
                [self.part, np.zeros(n_added, dtype=np.int32)]
            )
        self.state[positions] = states
        self.part[positions] = part

    def select_positions(
        self, states: Sequence[int], n: int, at: int | None
    ) -> NDArray[np.intp]:
        """Positions with one of some states, below ``n`` or one alone."""
        window = slice(0, n) if at is None else slice(at, at + 1)
        positions = np.flatnonzero(np.isin(self.state[window], states))
        return positions if at is None else positions + at


@dataclass(frozen=True)
class PartWriter:
    """Writes parts of one start of a run, on any machine.

    Attributes:
        place: Folder or address of the parts.
        start: Number of the start; 0 to read alone.
    """

    place: PartsPlace
    start: int = 0

    def check_reached(self) -> None:
        """Refuse a machine that does not reach the place of the run.

        Raises:
            RunError: Says what to do.
        """
        if not self.place.holds(_START_MARKER):
            raise RunError(
                f"a machine of the cluster finds no run at {self.place.url}; name a place that"
                " every machine reaches with --parts, such as s3://BUCKET/PATH"
            )

    def begin(self) -> None:
        """Write the file that ``check_reached`` expects."""
        self.place.write(_START_MARKER, _OUTCOME.empty_table())

    def part_name(self, jobs: Iterable[tuple[int, str]]) -> str:
        """Return the name of the part of some jobs, (position, asker), of this start of the run."""
        ordered = sorted(jobs)
        digest = hashlib.sha256(
            json.dumps(ordered).encode("utf-8")
        ).hexdigest()[:8]
        return f"{PARTS}/part-{ordered[0][0]:012d}-{self.start:04d}-{digest}.parquet"

    def write(self, outcomes: Encoded) -> None:
        """Write outcomes of subjects as one part."""
        # Columns that belong to the other status are null.
        scored: list[tuple[Any, ...]] = [
            (position, asker, _SCORED, *fields, None, None, None)
            for asker, position, *fields in outcomes.scores
        ]
        failed: list[tuple[Any, ...]] = [
            (position, asker, _FAILED, *[None] * 3, detail, None, *reason)
            for asker, position, *reason, detail in outcomes.failures
        ]
        rows = sorted(scored + failed, key=lambda row: row[:2])
        columns = [list(column) for column in zip(*rows, strict=True)]
        name = self.part_name((row[0], row[1]) for row in rows)
        self.place.write(name, pa.table(columns, schema=_OUTCOME))

    def counts(self, part: str) -> tuple[int, int]:
        """Return the numbers of scores and of failures in a part."""
        states = self.place.read_columns(part, ("status",))["status"]
        n_scored = pc.sum(pc.equal(states, _SCORED)).as_py()
        return n_scored, len(states) - n_scored


class ParquetTables(SqliteTables):
    """Tables of a run whose outcomes are parts.

    Args:
        folder: The run directory.
        connection: To its file.
        writer: Writes the parts of this start.
    """

    def __init__(
        self, folder: Path, connection: sqlite3.Connection, writer: PartWriter
    ) -> None:
        super().__init__(folder, connection)
        self.writer = writer
        self._parts = writer.place
        self._indexes: dict[str, _OutcomeIndex] = {}
        self._names: list[str] = []
        self._has_listed_parts = False
        self._read_cached = lru_cache(_CACHED_PARTS)(self._parts.read_columns)

    @classmethod
    def to_read(
        cls, folder: Path, connection: sqlite3.Connection
    ) -> ParquetTables:
        """Open the tables of a run directory to read.

        Raises:
            RunError: Its list of parts is damaged, or they cannot be reached.
        """
        place = PartsPlace.from_url(_read_place(folder) or folder)
        return cls(folder, connection, PartWriter(place))

    @classmethod
    def to_write(
        cls, folder: Path, connection: sqlite3.Connection, place: str | None
    ) -> ParquetTables:
        """Open the tables of a run directory at the beginning of a start; made if need be.

        Args:
            folder: The run directory, which this process holds.
            connection: To its file.
            place: URL or path of where parts are kept; None for the run directory.

        Raises:
            RunError: The run keeps its parts elsewhere, or they cannot be reached.
        """
        is_new = not (folder / PARTS_NAME).is_file()
        requested_url = (
            None if place is None else PartsPlace.from_url(place).url
        )
        stored_url = requested_url if is_new else _read_place(folder)
        if requested_url not in (None, stored_url):
            raise RunError(
                f"{folder} keeps its parts at {stored_url or folder}, not at {requested_url};"
                " leave --parts out, or choose another run directory with -o"
            )
        parts = PartsPlace.from_url(stored_url or folder)
        start = 1 + max(map(_start_of, parts.names(PARTS)), default=0)
        writer = PartWriter(parts, start)
        # The file that names the place is written last.
        if is_new:  # a place that cannot be reached is not noted
            writer.begin()
            content = json.dumps(
                {"format": FORMAT, "place": stored_url}, indent=2
            )
            files.write_text(folder / PARTS_NAME, f"{content}\n")
        return cls(folder, connection, writer)

    @property
    def place(self) -> str:
        """Location of the outcomes, for messages."""
        return self._parts.url

    def forget(self, asker: str) -> None:
        """Refuse: parts are never deleted."""
        raise _make_stays_error()

    def keep_only(self, asker: str, positions: Iterable[int]) -> None:
        """Refuse: parts are never deleted."""
        raise _make_stays_error()

    def write_outcomes(self, outcomes: Encoded) -> None:
        """Write outcomes as one part."""
        self.writer.write(outcomes)

    def finished(self, asker: str, n: int) -> Iterator[int]:
        """Yield positions below ``n`` with a complete score or a permanent failure."""
        yield from (
            self._load_index(asker)
            .select_positions((_WHOLE, _LOST), n, None)
            .tolist()
        )

    def n_finished(self, asker: str, n: int) -> int:
        """Return the number of finished positions below ``n``."""
        return len(
            self._load_index(asker).select_positions((_WHOLE, _LOST), n, None)
        )

    def scores(
        self, asker: str, columns: Sequence[str], n: int, at: int | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Yield position and columns of scores, below ``n`` or at one position."""
        return self._outcomes(asker, columns, (_WHOLE, _HALF), n, at)

    def failures(
        self, asker: str, n: int, at: int | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Yield position and columns of failures, below ``n`` or at one position."""
        return self._outcomes(asker, _FAILURE, (_LOST, _LATER), n, at)

    def signatures(self, asker: str) -> list[str]:
        """Return the distinct signatures of an asker's scores, in order."""
        return sorted(
            {
                signature
                for _, signature in self.scores(
                    asker, ("signature",), MAX_SUBJECTS
                )
            }
        )

    def _outcomes(
        self,
        asker: str,
        columns: Sequence[str],
        states: Sequence[int],
        n: int,
        at: int | None,
    ) -> Iterator[tuple[Any, ...]]:
        index = self._load_index(asker)
        positions = index.select_positions(states, n, at)
        parts = index.part[positions]
        # Rows that follow each other in one part are read together; parts of retries lie between.
        ends = [*(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(parts)]
        for start, end in zip([0, *ends], ends, strict=False):
            if start == end:
                continue
            name = f"{PARTS}/{self._names[parts[start]]}"
            table = self._read_cached(name, ("position", "asker", *columns))
            asker_rows = table.filter(pc.equal(table["asker"], asker))
            # Rows of an asker are sorted by position within a part.
            places = np.searchsorted(
                asker_rows["position"].to_numpy(), positions[start:end]
            )
            rows = asker_rows.take(places)
            values = [rows[column].to_pylist() for column in columns]
            yield from zip(positions[start:end].tolist(), *values, strict=True)

    def _load_index(self, asker: str) -> _OutcomeIndex:
        """Return the index of an asker's outcomes; during a run, new parts are added first."""
        # A reader lists the parts once; a writer sees the parts that other machines add.
        if self.writer.start or not self._has_listed_parts:
            known_names = set(self._names)
            new_names = (
                name
                for name in self._parts.names(PARTS)
                if name not in known_names
            )
            # Parts of later starts replace those of earlier ones, so they are read last.
            for name in sorted(new_names, key=_start_of):
                self._index_part(name)
            self._has_listed_parts = True
        return self._indexes.get(asker, _OutcomeIndex())

    def _index_part(self, name: str) -> None:
        """Add a part to the indexes; its outcomes replace those of earlier parts."""
        table = self._parts.read_columns(f"{PARTS}/{name}", _STATES)
        self._names.append(name)
        scored = pc.equal(table["status"], _SCORED).to_numpy()
        is_retried = pc.coalesce(
            table["unfinished"], table["transient"]
        ).to_numpy()
        states = np.where(
            scored,
            np.where(is_retried, _HALF, _WHOLE),
            np.where(is_retried, _LATER, _LOST),
        )
        positions, askers = (
            table["position"].to_numpy(),
            table["asker"].to_numpy(),
        )
        for asker in np.unique(askers):
            is_asker_row = askers == asker
            index = self._indexes.setdefault(str(asker), _OutcomeIndex())
            index.note(
                positions[is_asker_row],
                states[is_asker_row].astype(np.int8),
                len(self._names) - 1,
            )


def _start_of(name: str) -> int:
    return int(name.split("-")[2])


def _read_place(folder: Path) -> str | None:
    """Return the place that a run directory states; None for the directory itself."""
    path = folder / PARTS_NAME
    missing = f"{folder} is no run in parts: it has no {PARTS_NAME}"
    content = files.read_json(
        path, form=FORMAT, kind="list of parts", missing_message=missing
    )
    return files.as_record(
        content.get("place"),
        str | None,  # type: ignore[arg-type]
        path,
        "choose another run directory with -o",
    )


def _make_stays_error() -> RunError:
    return RunError(
        "outcomes of a run in parts stay as they were written; score into another run directory"
        " with -o"
    )
