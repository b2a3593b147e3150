"""The store of one run: subjects, outcomes and vectors in one SQLite file.

Everything is written as it arrives, so a killed run loses only what was in flight. One process
writes (``Store.open``, which locks the run directory); any number may read (``Store.read``), also
from a disk that cannot be written.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from beholder.embed.base import FloatArray
from beholder.errors import RunError
from beholder.records import Item, ItemFailure, ItemScore, Unit
from beholder.run import codec
from beholder.run.codec import Encoded
from beholder.run.store_file import FILE_NAME, to_read, to_write
from beholder.run.subjects import ITEM, KINDS, SubjectKind

S = TypeVar("S")
T = TypeVar("T")

_ALL = 2**62
_DAMAGE = (ValueError, KeyError, TypeError, AttributeError, zlib.error, RecursionError)


@dataclass(frozen=True)
class StoredAsker:
    """An asker as a run keeps it: canonical name, kind of subject, resolved fields, signature."""

    name: str
    kind: str
    config: Mapping[str, Any]
    signature: str


class Store:
    """One run's SQLite file. Use ``Store.open`` to write, ``Store.read`` to read."""

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self._db = connection

    @classmethod
    @contextmanager
    def open(cls, folder: Path) -> Iterator[Store]:
        """Open for writing, made if need be; the run directory is locked meanwhile.

        Raises:
            RunError: Another process writes there, or the file is not a store of this version.
        """
        with to_write(folder) as connection:
            yield cls(folder, connection)

    @classmethod
    @contextmanager
    def read(cls, folder: Path) -> Iterator[Store]:
        """Open for reading; works on a disk that cannot be written.

        Raises:
            RunError: There is no run in that folder, or one of another format.
        """
        with to_read(folder) as connection:
            yield cls(folder, connection)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep several writes together: all or none."""
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    # Subjects

    def sync(self, kind: SubjectKind[S], subjects: Iterable[S]) -> tuple[int, str]:
        """Take in the subjects of a data set, or check that they are the ones that are here.

        A run may grow (``--limit`` raised) or be asked for its first subjects; none may change but
        in what no outcome depends on.

        Returns:
            The number of subjects given, and the hash of the data set.

        Raises:
            RunError: A subject differs from the one the run holds at its place, or two have one id.
        """
        total = hashlib.sha256()
        n = 0
        with self.transaction():
            n_stored = self.n_subjects(kind)
            stored = self._db.execute(
                "SELECT digest FROM subjects WHERE kind = ? AND position < ? ORDER BY position",
                (kind.name, n_stored),
            )
            for position, subject in enumerate(subjects):
                row = kind.row(subject)
                digest = kind.digest(subject, row)
                total.update(digest)
                n = position + 1
                if position >= n_stored:
                    self._add_subject(kind, position, subject, digest, row)
                elif next(stored, (None,))[0] != digest:
                    raise RunError(
                        f"{self.folder} holds a run over other data ({kind.name}"
                        f" {kind.id(subject)!r} differs); choose another run directory with -o"
                    )
                elif kind.loose:
                    self._db.execute(
                        "UPDATE subjects SET row = ? WHERE kind = ? AND position = ?",
                        (row, kind.name, position),
                    )
        return n, total.hexdigest()

    def _add_subject(
        self, kind: SubjectKind[S], position: int, subject: S, digest: bytes, row: str
    ) -> None:
        values = (kind.name, position, kind.id(subject), digest, row, kind.source_key(subject))
        try:
            self._db.execute("INSERT INTO subjects VALUES (?, ?, ?, ?, ?, ?)", values)
        except sqlite3.IntegrityError:
            raise RunError(
                f"two of the data are called {kind.id(subject)!r}; ids must differ"
            ) from None

    def n_subjects(self, kind: SubjectKind[Any] = ITEM) -> int:
        """How many subjects of a kind the run holds."""
        counted = self._db.execute("SELECT count(*) FROM subjects WHERE kind = ?", (kind.name,))
        return int(counted.fetchone()[0])

    def subjects(
        self, kind: SubjectKind[S], positions: Sequence[int] | None = None
    ) -> Iterator[tuple[int, S]]:
        """Subjects of a kind with their positions, in order; all, or those asked for."""
        if positions is None:
            rows = self._db.execute(
                "SELECT position, row FROM subjects WHERE kind = ? ORDER BY position", (kind.name,)
            )
            for position, row in rows:
                yield position, self._read(_subject(kind), row, kind.name, position)
            return
        for position in positions:
            found = self._db.execute(
                "SELECT row FROM subjects WHERE kind = ? AND position = ?", (kind.name, position)
            )
            yield position, self._read(_subject(kind), _only(found), kind.name, position)

    def items(self, positions: Sequence[int] | None = None) -> Iterator[tuple[int, Item]]:
        """Items with their positions, in order; all of them, or those asked for."""
        return self.subjects(ITEM, positions)

    def sources(self, n: int, kind: SubjectKind[Any] = ITEM) -> list[bytes]:
        """A key per subject of what it describes: equal for texts about the same picture."""
        rows = self._db.execute(
            "SELECT source FROM subjects WHERE kind = ? AND position < ? ORDER BY position",
            (kind.name, n),
        )
        return [source for (source,) in rows]

    # Askers

    def add_asker(
        self,
        name: str,
        kind: SubjectKind[Any],
        config: Mapping[str, Any],
        signature: str,
        *,
        renew: bool = False,
    ) -> None:
        """Note an asker of the run.

        Args:
            name: Canonical name.
            kind: Kind of subject.
            config: Resolved fields.
            signature: How outcomes are made.
            renew: Forget outcomes that were made in another way, instead of refusing them.

        Raises:
            RunError: The run holds outcomes of that name that were made in another way.
        """
        known = self._db.execute("SELECT signature FROM askers WHERE name = ?", (name,)).fetchone()
        if renew and known is not None and known[0] != signature:
            with self.transaction():
                for table, column in (
                    ("scores", "asker"),
                    ("failures", "asker"),
                    ("askers", "name"),
                ):
                    self._db.execute(f"DELETE FROM {table} WHERE {column} = ?", (name,))  # noqa: S608  # the names are ours
            known = None
        if known is None:
            row = (name, kind.name, json.dumps(config, ensure_ascii=False, default=str), signature)
            self._db.execute("INSERT INTO askers VALUES (?, ?, ?, ?)", row)
        elif known[0] != signature:
            raise RunError(
                f"{self.folder} holds scores of {name} made as {known[0]!r}, now it would be"
                f" {signature!r}; choose another run directory with -o"
            )

    def askers(self) -> list[StoredAsker]:
        """The askers of the run, in the order they were added."""
        rows = self._db.execute("SELECT name, kind, config, signature FROM askers ORDER BY rowid")
        return [
            StoredAsker(name, kind, json.loads(config), signature)
            for name, kind, config, signature in rows
        ]

    def kind_of(self, asker: str) -> SubjectKind[Any]:
        """The kind of subject an asker of the run is asked of.

        Raises:
            RunError: The run has no such asker, or one of an unknown kind.
        """
        row = self._db.execute("SELECT kind FROM askers WHERE name = ?", (asker,)).fetchone()
        if row is None or row[0] not in KINDS:
            raise RunError(f"{self.folder} has asked nothing called {asker!r} that can be read")
        return KINDS[row[0]]

    # Outcomes

    def finished(self, asker: str) -> set[int]:
        """Positions with a whole score, or with a failure that will stay."""
        return {position for (position,) in self._finished(asker, "position", _ALL)}

    def n_finished(self, asker: str, n: int) -> int:
        """How many of the first ``n`` subjects are finished."""
        return sum(count for (count,) in self._finished(asker, "count(*)", n))

    def pending(self, asker: str, n: int) -> NDArray[np.bool_]:
        """Which of the first ``n`` subjects are not finished, (n,)."""
        found = np.ones(n, dtype=np.bool_)
        for (position,) in self._finished(asker, "position", n):
            found[position] = False
        return found

    def _finished(self, asker: str, what: str, n: int) -> Iterator[tuple[int]]:
        """Of positions below ``n`` that are finished; read from indices, no outcome is touched."""
        for table, not_yet in (("scores", "unfinished"), ("failures", "transient")):
            chosen = f"FROM {table} WHERE asker = :asker AND position < :n"  # the names are ours
            without = f"position NOT IN (SELECT position {chosen} AND {not_yet})"
            yield from self._db.execute(
                f"SELECT {what} {chosen} AND {without}", {"asker": asker, "n": n}
            )

    def put(self, asker: str, position: int, outcome: ItemScore | ItemFailure) -> None:
        """Write what became of one subject."""
        found = Encoded()
        found.add(asker, position, outcome)
        self.put_block(found)

    def put_block(self, found: Encoded) -> None:
        """Write what became of subjects: all of it or, where the process is killed, nothing."""
        with self.transaction():
            # An asker has one outcome of a subject: what was there before gives way.
            for table, others in (("failures", found.scores), ("scores", found.failures)):
                self._db.executemany(
                    f"DELETE FROM {table} WHERE asker = ? AND position = ?",  # noqa: S608  # the names are ours
                    [row[:2] for row in others],
                )
            self._db.executemany(
                "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)", found.scores
            )
            self._db.executemany(
                "INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?)", found.failures
            )

    def keep_only(self, asker: str, positions: Iterable[int]) -> None:
        """Forget the outcomes of an asker at all other positions."""
        with self.transaction():
            for table in ("scores", "failures"):
                found = self._db.execute(
                    f"SELECT position FROM {table} WHERE asker = ?",  # noqa: S608  # the names are ours
                    (asker,),
                ).fetchall()
                stale = {position for (position,) in found} - set(positions)
                self._db.executemany(
                    f"DELETE FROM {table} WHERE asker = ? AND position = ?",  # noqa: S608  # likewise
                    [(asker, position) for position in stale],
                )

    def values(self, asker: str, n: int | None = None) -> Iterator[tuple[int, Mapping[str, float]]]:
        """Scores by name per scored subject, in order, without units or detail."""
        kind = self.kind_of(asker)
        if kind.measure is not None:
            subjects = dict(self.subjects(kind))
            for position, detail in self.details(asker, n):
                yield position, kind.measure(subjects[position], detail)
            return
        for position, numbers in self._column("numbers", asker, n):
            yield position, self._read(json.loads, numbers, asker, position)

    def units(self, asker: str, n: int | None = None) -> Iterator[tuple[int, tuple[Unit, ...]]]:
        """Units per scored subject, of all or of the first ``n`` subjects, in order."""
        for position, units in self._column("units", asker, n):
            yield position, self._read(codec.decode_units, units, asker, position)

    def unit_fields(self, asker: str, n: int) -> Iterator[tuple[int, list[dict[str, Any]]]]:
        """The same as plain fields, for tables."""
        for position, units in self._column("units", asker, n):
            yield position, self._read(codec.unit_fields, units, asker, position)

    def details(self, asker: str, n: int | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
        """Detail per scored subject, of all or of the first ``n`` subjects, in order."""
        for position, detail in self._column("detail", asker, n):
            yield position, self._read(codec.decode_detail, detail, asker, position)

    def _column(self, name: str, asker: str, n: int | None) -> Iterator[tuple[int, Any]]:
        yield from self._db.execute(
            f"SELECT position, {name} FROM scores"  # noqa: S608  # the name is ours
            " WHERE asker = ? AND position < ? ORDER BY position",
            (asker, _ALL if n is None else n),
        )

    def score(self, asker: str, position: int) -> ItemScore | ItemFailure | None:
        """All that is known of one subject under an asker; None while it is not finished."""
        row = self._db.execute(
            "SELECT numbers, units, signature, detail, unfinished FROM scores"
            " WHERE asker = ? AND position = ?",
            (asker, position),
        ).fetchone()
        if row is not None:
            return ItemScore(
                values=self._read(json.loads, row[0], asker, position),
                units=self._read(codec.decode_units, row[1], asker, position),
                signature=row[2],
                detail=self._read(codec.decode_detail, row[3], asker, position),
                unfinished=bool(row[4]),
            )
        return dict(self._failures(asker, "AND position = ?", position)).get(position)

    def failures(self, asker: str) -> Iterator[tuple[int, ItemFailure]]:
        """Failures of an asker, in order."""
        return self._failures(asker, "ORDER BY position")

    def _failures(
        self, asker: str, clause: str, *arguments: int
    ) -> Iterator[tuple[int, ItemFailure]]:
        rows = self._db.execute(
            "SELECT position, error, message, transient, detail FROM failures"  # noqa: S608  # the clause is ours
            f" WHERE asker = ? {clause}",
            (asker, *arguments),
        )
        for position, error, message, transient, detail in rows:
            found = codec.decode_detail(detail) if detail else {}  # format 1 kept none
            yield position, ItemFailure(error, message, bool(transient), found)

    def signatures(self, asker: str) -> list[str]:
        """The distinct signatures of an asker's scores; more than one means that a tool changed."""
        rows = self._db.execute(
            "SELECT DISTINCT signature FROM scores WHERE asker = ? ORDER BY signature", (asker,)
        )
        return [signature for (signature,) in rows]

    def _read(self, decode: Callable[[Any], T], data: Any, what: str, position: int) -> T:
        """What is kept of a subject.

        Raises:
            RunError: The store is damaged there, or another program wrote it.
        """
        try:
            return decode(data)
        except (
            ValueError,
            KeyError,
            TypeError,
            AttributeError,
            zlib.error,
            RecursionError,
        ) as error:
            raise RunError(
                f"{self.folder / FILE_NAME} is damaged ({what}, number {position}:"
                f" {type(error).__name__}: {error}); restore it from a copy, or score again into"
                " another run directory with -o"
            ) from error

    # Vectors (the VectorStore of embed.service)

    def get_vectors(self, identity: str, texts: Sequence[str]) -> dict[str, FloatArray]:
        """The vectors that are here, by text."""
        found = {}
        for text in texts:
            row = self._db.execute(
                "SELECT vector FROM vectors WHERE identity = ? AND digest = ?",
                (identity, _digest(text)),
            ).fetchone()
            if row is not None:
                found[text] = np.frombuffer(row[0], dtype="<f4")
        return found

    def put_vectors(self, identity: str, vectors: Mapping[str, FloatArray]) -> None:
        """Keep vectors by text."""
        with self.transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)",
                [
                    (identity, _digest(text), np.ascontiguousarray(vector, dtype="<f4").tobytes())
                    for text, vector in vectors.items()
                ],
            )


def _subject(kind: SubjectKind[S]) -> Callable[[str], S]:
    return lambda row: kind.from_row(json.loads(row))


def _only(found: sqlite3.Cursor) -> Any:
    return found.fetchone()[0]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8")).digest()
