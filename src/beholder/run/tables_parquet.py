"""The tables of a run as Parquet parts: any number of machines write, each its own.

    parts.json                                       where the parts are; askers, inputs
    prepared/5f0c9d37a1b2e464.bin                    what an asker found of the whole data
    subjects/item-000000000000.parquet               the subjects from that position on
    outcomes/part-000000000512-0001-3f9a0b12.parquet what became of some of them

An outcome part is named by its first position, by the start of the run that wrote it, and by the
jobs in it: a machine that does the same jobs of the same start once more replaces it. Where two
starts both wrote what became of a subject, the later one holds.
"""

from __future__ import annotations

import hashlib
import json
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from numpy.typing import NDArray

from beholder.base import files
from beholder.errors import RunError
from beholder.run.codec import MOST, Encoded, StoredAsker, SubjectRow
from beholder.run.place import PartsPlace, named_schema
from beholder.run.store_file import PARTS_NAME

FORMAT = 1
SUBJECTS, PARTS, PREPARED = "subjects", "outcomes", "prepared"

_SUBJECTS_A_PART = 2048
_PARTS_HELD = 8
"""Parts of which columns are held while rows are read in order."""

_SUBJECT = named_schema(SUBJECTS)
_OUTCOME = named_schema(PARTS)
"""What became of a subject; null are ``error``, ``reason`` and ``transient`` of what is scored, and
``signature``, ``numbers``, ``units`` and ``unfinished`` of what failed."""
_SCORED, _FAILED = "scored", "failed"
_FAILURE = ("error", "reason", "transient", "detail")
_STATES = ("position", "asker", "status", "unfinished", "transient")
_NONE, _WHOLE, _HALF, _LOST, _LATER = range(5)
"""State of a subject: open, scored, unfinished, failed, failed but to be retried."""


@dataclass
class _Known:
    """Where the outcomes of one asker are, by position.

    Attributes:
        state: One of ``_NONE`` to ``_LATER``, (n,).
        part: Which part holds it, (n,).
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
        lacking = int(positions.max(initial=-1)) + 1 - len(self.state)
        if lacking > 0:
            room = max(lacking, len(self.state))
            self.state = np.concatenate(
                [self.state, np.zeros(room, dtype=np.int8)]
            )
            self.part = np.concatenate(
                [self.part, np.zeros(room, dtype=np.int32)]
            )
        self.state[positions] = states
        self.part[positions] = part

    def chosen(
        self, states: Sequence[int], n: int, at: int | None
    ) -> NDArray[np.intp]:
        """Positions with one of some states, below ``n`` or one alone."""
        window = slice(0, n) if at is None else slice(at, at + 1)
        found = np.flatnonzero(np.isin(self.state[window], states))
        return found if at is None else found + at


class ParquetTables:
    """Tables of a run in parts; with the methods of ``SqliteTables``.

    Args:
        parts: Where the parts are.
        folder: The run directory, which says what is asked; None for a machine that only works.
        start: Number of the start of the run that writes; 0 to read alone.
    """

    def __init__(
        self, parts: PartsPlace, folder: Path | None = None, start: int = 0
    ) -> None:
        self.parts = parts
        self.start = start
        self._folder = folder
        self._known: dict[str, _Known] = {}
        self._names: list[str] = []
        self._looked = False
        self._n: dict[str, tuple[list[int], int]] = {}
        self._held = lru_cache(_PARTS_HELD)(self.parts.read)

    @classmethod
    def to_read(cls, folder: Path) -> ParquetTables:
        """The tables of a run directory.

        Raises:
            RunError: What it says of its parts is damaged, or they cannot be reached.
        """
        return cls(
            PartsPlace.named(_read_parts(folder).place or folder), folder
        )

    @classmethod
    def to_write(cls, folder: Path, place: str | None) -> ParquetTables:
        """The tables of a run directory at the beginning of a start; made if need be.

        Args:
            folder: The run directory, which this process holds.
            place: URL or path of where parts are kept; None for the run directory.

        Raises:
            RunError: The run keeps its parts elsewhere, or they cannot be reached.
        """
        new = not (folder / PARTS_NAME).is_file()
        asked = None if place is None else PartsPlace.named(place).url
        known = asked if new else _read_parts(folder).place
        if asked not in (None, known):
            raise RunError(
                f"{folder} keeps its parts at {known or folder}, not at {asked}; leave --parts out,"
                " or choose another run directory with -o"
            )
        parts = PartsPlace.named(known or folder)
        start = 1 + max(map(_start_of, parts.names(PARTS)), default=0)
        if new:  # a place that cannot be reached is not noted
            _write_parts(folder, _PartsFile(place=known))
        return cls(parts, folder, start)

    @property
    def place(self) -> str:
        """Where they are, for messages."""
        return self.parts.url

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Each part is whole by itself; what is missing is written by the next start."""
        yield

    # Subjects

    def digests(self, kind: str) -> Iterator[bytes]:
        """See ``SqliteTables``."""
        return (digest for _, digest in self._subjects(kind, "digest"))

    def add_subjects(self, kind: str, subjects: Iterable[SubjectRow]) -> None:
        """See ``SqliteTables``; that ids differ is seen where rows are read."""
        given = iter(subjects)
        while some := list(islice(given, _SUBJECTS_A_PART)):
            columns = [list(column) for column in zip(*some, strict=True)]
            name = _subject_part(kind, some[0][0])
            self.parts.write(name, pa.table(columns, schema=_SUBJECT))
        self._n.clear()

    def renew_subject(self, kind: str, position: int, row: str) -> None:
        """See ``SqliteTables``."""
        raise _stays("subjects")

    def n_subjects(self, kind: str) -> int:
        """See ``SqliteTables``."""
        return self._subject_parts(kind)[1]

    def subjects(
        self, kind: str, positions: Sequence[int] | None = None
    ) -> Iterator[tuple[int, str]]:
        """See ``SqliteTables``."""
        if positions is None:
            yield from self._subjects(kind, "row")
            return
        firsts, _ = self._subject_parts(kind)
        for position in positions:
            first = firsts[bisect_right(firsts, position) - 1]
            table = self._held(_subject_part(kind, first), ("row",))
            yield position, table["row"][position - first].as_py()

    def sources(self, kind: str, n: int) -> list[bytes]:
        """See ``SqliteTables``."""
        return [
            source for _, source in islice(self._subjects(kind, "source"), n)
        ]

    def _subjects(self, kind: str, column: str) -> Iterator[tuple[int, Any]]:
        for first in self._subject_parts(kind)[0]:
            values = self.parts.read(_subject_part(kind, first), (column,))[
                column
            ].to_pylist()
            yield from enumerate(values, start=first)

    def _subject_parts(self, kind: str) -> tuple[list[int], int]:
        """First positions of the parts, and how many subjects there are."""
        if kind not in self._n:
            names = [
                name
                for name in self.parts.names(SUBJECTS)
                if name.startswith(f"{kind}-")
            ]
            firsts = [
                int(name.removeprefix(f"{kind}-").partition(".")[0])
                for name in names
            ]
            rows = self.parts.n_rows(f"{SUBJECTS}/{names[-1]}") if names else 0
            self._n[kind] = firsts, firsts[-1] + rows if firsts else 0
        return self._n[kind]

    # Askers

    def askers(self) -> list[StoredAsker]:
        """See ``SqliteTables``."""
        return _read_parts(self._run).askers

    def add_asker(self, asker: StoredAsker) -> None:
        """See ``SqliteTables``."""
        said = _read_parts(self._run)
        said.askers.append(asker)
        _write_parts(self._run, said)

    def forget(self, asker: str) -> None:
        """See ``SqliteTables``."""
        raise _stays("outcomes")

    # What need not be found again; it stays in the run directory

    def input(self, key: str) -> tuple[int, str] | None:
        """See ``SqliteTables``."""
        return _read_parts(self._run).inputs.get(key)

    def add_input(self, key: str, n: int, data: str) -> None:
        """See ``SqliteTables``."""
        said = _read_parts(self._run)
        said.inputs[key] = (n, data)
        _write_parts(self._run, said)

    def state(self, asker: str, data: str) -> bytes | None:
        """See ``SqliteTables``."""
        path = self._prepared(asker, data)
        return path.read_bytes() if path.is_file() else None

    def add_state(self, asker: str, data: str, state: bytes) -> None:
        """See ``SqliteTables``."""
        path = self._prepared(asker, data)
        files.make_folder(path.parent)
        files.write_bytes(path, state)

    def _prepared(self, asker: str, data: str) -> Path:
        name = hashlib.sha256(
            json.dumps([asker, data]).encode("utf-8")
        ).hexdigest()[:16]
        return self._run / PREPARED / f"{name}.bin"

    @property
    def _run(self) -> Path:
        assert self._folder is not None, (
            "a machine that only works has no run directory"
        )
        return self._folder

    # Outcomes

    def part_name(self, jobs: Iterable[tuple[int, str]]) -> str:
        """The name of the part of some jobs, (position, asker), of this start of the run."""
        ordered = sorted(jobs)
        digest = hashlib.sha256(
            json.dumps(ordered).encode("utf-8")
        ).hexdigest()[:8]
        return f"{PARTS}/part-{ordered[0][0]:012d}-{self.start:04d}-{digest}.parquet"

    def put(self, found: Encoded) -> None:
        """See ``SqliteTables``."""
        scored: list[tuple[Any, ...]] = [
            (position, asker, _SCORED, *rest, None, None, None)
            for asker, position, *rest in found.scores
        ]
        failed: list[tuple[Any, ...]] = [
            (position, asker, _FAILED, *[None] * 3, detail, None, *reason)
            for asker, position, *reason, detail in found.failures
        ]
        rows = sorted(scored + failed, key=lambda row: row[:2])
        columns = [list(column) for column in zip(*rows, strict=True)]
        name = self.part_name((row[0], row[1]) for row in rows)
        self.parts.write(name, pa.table(columns, schema=_OUTCOME))

    def counts(self, part: str) -> tuple[int, int]:
        """How many of the outcomes in a part are scores, and how many failures."""
        states = self.parts.read(part, ("status",))["status"]
        n_scored = pc.sum(pc.equal(states, _SCORED)).as_py()
        return n_scored, len(states) - n_scored

    def keep_only(self, asker: str, positions: Iterable[int]) -> None:
        """See ``SqliteTables``."""
        raise _stays("outcomes")

    def finished(self, asker: str, n: int) -> Iterator[int]:
        """See ``SqliteTables``."""
        yield from self._of(asker).chosen((_WHOLE, _LOST), n, None).tolist()

    def n_finished(self, asker: str, n: int) -> int:
        """See ``SqliteTables``."""
        return len(self._of(asker).chosen((_WHOLE, _LOST), n, None))

    def scores(
        self, asker: str, columns: Sequence[str], n: int, at: int | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """See ``SqliteTables``."""
        return self._rows(asker, columns, (_WHOLE, _HALF), n, at)

    def failures(
        self, asker: str, n: int, at: int | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """See ``SqliteTables``."""
        return self._rows(asker, _FAILURE, (_LOST, _LATER), n, at)

    def signatures(self, asker: str) -> list[str]:
        """See ``SqliteTables``."""
        return sorted(
            {
                signature
                for _, signature in self.scores(asker, ("signature",), MOST)
            }
        )

    def _rows(
        self,
        asker: str,
        columns: Sequence[str],
        states: Sequence[int],
        n: int,
        at: int | None,
    ) -> Iterator[tuple[Any, ...]]:
        known = self._of(asker)
        positions = known.chosen(states, n, at)
        parts = known.part[positions]
        # Rows that follow each other in one part are read together; parts of retries lie between.
        ends = [*(np.flatnonzero(np.diff(parts)) + 1).tolist(), len(parts)]
        for start, end in zip([0, *ends], ends, strict=False):
            if start == end:
                continue
            name = f"{PARTS}/{self._names[parts[start]]}"
            table = self._held(name, ("position", "asker", *columns))
            own = table.filter(pc.equal(table["asker"], asker))
            places = np.searchsorted(
                own["position"].to_numpy(), positions[start:end]
            )
            found = own.take(places)
            values = [found[column].to_pylist() for column in columns]
            yield from zip(positions[start:end].tolist(), *values, strict=True)

    def _of(self, asker: str) -> _Known:
        """Where the outcomes of an asker are; while a run is made, parts may have come since."""
        if self.start or not self._looked:
            old = set(self._names)
            new = (name for name in self.parts.names(PARTS) if name not in old)
            for name in sorted(new, key=_start_of):
                self._note(name)
            self._looked = True
        return self._known.get(asker, _Known())

    def _note(self, name: str) -> None:
        """Learn what is in a part; what it holds is newer than what is known."""
        table = self.parts.read(f"{PARTS}/{name}", _STATES)
        self._names.append(name)
        scored = pc.equal(table["status"], _SCORED).to_numpy()
        again = pc.coalesce(table["unfinished"], table["transient"]).to_numpy()
        states = np.where(
            scored,
            np.where(again, _HALF, _WHOLE),
            np.where(again, _LATER, _LOST),
        )
        positions, askers = (
            table["position"].to_numpy(),
            table["asker"].to_numpy(),
        )
        for asker in np.unique(askers):
            own = askers == asker
            known = self._known.setdefault(str(asker), _Known())
            known.note(
                positions[own],
                states[own].astype(np.int8),
                len(self._names) - 1,
            )

    # Vectors

    def vectors(
        self, identity: str, digests: Sequence[bytes]
    ) -> Iterator[tuple[bytes, bytes]]:
        """None are kept: each machine has those of its own subjects in memory."""
        return iter(())

    def put_vectors(
        self, identity: str, vectors: Iterable[tuple[bytes, bytes]]
    ) -> None:
        """None are kept."""


def _start_of(name: str) -> int:
    return int(name.split("-")[2])


def _subject_part(kind: str, first: int) -> str:
    return f"{SUBJECTS}/{kind}-{first:012d}.parquet"


class _PartsFile(Struct, kw_only=True):
    """The content of ``parts.json``; ``place`` is None for the run directory."""

    format: int = FORMAT
    place: str | None
    askers: list[StoredAsker] = []
    inputs: dict[str, tuple[int, str]] = {}


def _read_parts(folder: Path) -> _PartsFile:
    path = folder / PARTS_NAME
    missing = f"{folder} is no run in parts: it has no {PARTS_NAME}"
    found = files.read_json(
        path, form=FORMAT, kind="list of parts", missing=missing
    )
    return files.as_record(
        found, _PartsFile, path, "choose another run directory with -o"
    )


def _write_parts(folder: Path, content: _PartsFile) -> None:
    plain = msgspec.to_builtins(content, enc_hook=str)
    files.write_text(
        folder / PARTS_NAME,
        json.dumps(plain, ensure_ascii=False, indent=2) + "\n",
    )


def _stays(what: str) -> RunError:
    return RunError(
        f"{what} of a run in parts stay as they were written; score into another run directory"
        " with -o"
    )
