"""The tables of a run in one SQLite file, which one process writes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any

from beholder.errors import RunError
from beholder.run.codec import (
    FAILURE_COLUMNS,
    Encoded,
    StoredAsker,
    SubjectRow,
)
from beholder.run.store_file import FILE_NAME


class SqliteTables:
    """Tables of a run in one file.

    Args:
        folder: The run directory.
        connection: To its file.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self._folder = folder
        self._db = connection

    @property
    def place(self) -> str:
        """Location of the file, for messages."""
        return str(self._folder / FILE_NAME)

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

    def digests(self, kind: str) -> Iterator[bytes]:
        """Digests of the present subjects of a kind, in order; others may be added meanwhile."""
        rows = self._db.execute(
            "SELECT digest FROM subjects WHERE kind = ? AND position < ? ORDER BY position",
            (kind, self.n_subjects(kind)),
        )
        return (digest for (digest,) in rows)

    def add_subjects(self, kind: str, subjects: Iterable[SubjectRow]) -> None:
        """Append subjects.

        Raises:
            RunError: Two have one id.
        """
        # One statement each: the error must name the id that occurs twice.
        for position, name, digest, row, source in subjects:
            values = (kind, position, name, digest, row, source)
            try:
                self._db.execute(
                    "INSERT INTO subjects VALUES (?, ?, ?, ?, ?, ?)", values
                )
            except sqlite3.IntegrityError:
                raise RunError(
                    f"two of the data are called {name!r}; ids must differ"
                ) from None

    def renew_subject(self, kind: str, position: int, row: str) -> None:
        """Replace the row of a subject."""
        self._db.execute(
            "UPDATE subjects SET row = ? WHERE kind = ? AND position = ?",
            (row, kind, position),
        )

    def n_subjects(self, kind: str) -> int:
        """Return the number of subjects of a kind."""
        cursor = self._db.execute(
            "SELECT count(*) FROM subjects WHERE kind = ?", (kind,)
        )
        return int(cursor.fetchone()[0])

    def subjects(
        self, kind: str, positions: Sequence[int] | None = None
    ) -> Iterator[tuple[int, str]]:
        """Yield positions and rows of all subjects of a kind, or of some."""
        query = "SELECT position, row FROM subjects WHERE kind = ?"
        if positions is None:
            return self._db.execute(f"{query} ORDER BY position", (kind,))
        position_query = f"{query} AND position = ?"
        # Some positions of a large run: look-ups by key are faster than a scan.
        return chain.from_iterable(
            self._db.execute(position_query, (kind, position)).fetchall()
            for position in positions
        )

    def sources(self, kind: str, n: int) -> list[bytes]:
        """Return the source keys of the first ``n`` subjects of a kind."""
        rows = self._db.execute(
            "SELECT source FROM subjects WHERE kind = ? AND position < ? ORDER BY position",
            (kind, n),
        )
        return [source for (source,) in rows]

    # Askers

    def askers(self) -> list[StoredAsker]:
        """The askers, in the order in which they were added."""
        rows = self._db.execute(
            "SELECT name, kind, config, signature FROM askers ORDER BY rowid"
        )
        return [
            StoredAsker(name, kind, json.loads(config), signature)
            for name, kind, config, signature in rows
        ]

    def add_asker(self, asker: StoredAsker) -> None:
        """Add an asker."""
        # Fields may be paths or other objects, which are stored as their text.
        config = json.dumps(asker.config, ensure_ascii=False, default=str)
        row = (asker.name, asker.kind, config, asker.signature)
        self._db.execute("INSERT INTO askers VALUES (?, ?, ?, ?)", row)

    def forget(self, asker: str) -> None:
        """Remove an asker with its outcomes."""
        with self.transaction():
            for table, column in (
                ("scores", "asker"),
                ("failures", "asker"),
                ("askers", "name"),
            ):
                self._db.execute(
                    f"DELETE FROM {table} WHERE {column} = ?",  # noqa: S608
                    (asker,),
                )  # the names are ours

    # Inputs and states

    def input(self, key: str) -> tuple[int, str] | None:
        """Return number and hash of an input's subjects; None for a new input."""
        row = self._db.execute(
            "SELECT n, data FROM inputs WHERE input = ?", (key,)
        ).fetchone()
        return None if row is None else (int(row[0]), str(row[1]))

    def add_input(self, key: str, n: int, data: str) -> None:
        """Store the number and hash of an input's subjects."""
        self._db.execute(
            "INSERT OR REPLACE INTO inputs VALUES (?, ?, ?)", (key, n, data)
        )

    def state(self, asker: str, data: str) -> bytes | None:
        """Return the encoded state of an asker (signature) for data (hash); None without one."""
        row = self._db.execute(
            "SELECT knowledge FROM prepared WHERE asker = ? AND data = ?",
            (asker, data),
        ).fetchone()
        return None if row is None else row[0]

    def add_state(self, asker: str, data: str, state: bytes) -> None:
        """Store the encoded state of an asker."""
        self._db.execute(
            "INSERT OR REPLACE INTO prepared VALUES (?, ?, ?)",
            (asker, data, state),
        )

    # Outcomes

    def write_outcomes(self, outcomes: Encoded) -> None:
        """Write outcomes of subjects, all or none; they replace earlier outcomes."""
        with self.transaction():
            # An asker has one outcome per subject; a new one replaces the old.
            for table, new_rows in (
                ("failures", outcomes.scores),
                ("scores", outcomes.failures),
            ):
                self._db.executemany(
                    f"DELETE FROM {table} WHERE asker = ? AND position = ?",  # noqa: S608  # the names are ours
                    [row[:2] for row in new_rows],
                )
            self._db.executemany(
                "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?, ?, ?)",
                outcomes.scores,
            )
            self._db.executemany(
                "INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?, ?)",
                outcomes.failures,
            )

    def keep_only(self, asker: str, positions: Iterable[int]) -> None:
        """Remove the outcomes of an asker at all other positions."""
        kept_positions = set(positions)
        with self.transaction():
            for table in ("scores", "failures"):
                rows = self._db.execute(
                    f"SELECT position FROM {table} WHERE asker = ?",  # noqa: S608  # the names are ours
                    (asker,),
                ).fetchall()
                self._db.executemany(
                    f"DELETE FROM {table} WHERE asker = ? AND position = ?",  # noqa: S608  # likewise
                    [
                        (asker, position)
                        for (position,) in rows
                        if position not in kept_positions
                    ],
                )

    def finished(self, asker: str, n: int) -> Iterator[int]:
        """Yield positions below ``n`` with a complete score or a permanent failure."""
        return (
            position
            for (position,) in self._query_finished(asker, "position", n)
        )

    def n_finished(self, asker: str, n: int) -> int:
        """Return the number of finished positions below ``n``."""
        return sum(
            count for (count,) in self._query_finished(asker, "count(*)", n)
        )

    def _query_finished(
        self, asker: str, selection: str, n: int
    ) -> Iterator[tuple[int]]:
        """Query finished positions below ``n``; reads indices, no outcome is touched."""
        # A partial index has the few open rows, so "all but the open" reads no outcome.
        for table, open_column in (
            ("scores", "unfinished"),
            ("failures", "transient"),
        ):
            # The names of tables and columns are ours.
            source_clause = (
                f"FROM {table} WHERE asker = :asker AND position < :n"
            )
            finished_clause = f"position NOT IN (SELECT position {source_clause} AND {open_column})"
            yield from self._db.execute(
                f"SELECT {selection} {source_clause} AND {finished_clause}",
                {"asker": asker, "n": n},
            )

    def scores(
        self, asker: str, columns: Sequence[str], n: int, at: int | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Position and some of ``SCORE_COLUMNS``, below ``n`` or at one position."""
        return self._rows("scores", columns, asker, n, at)

    def failures(
        self, asker: str, n: int, at: int | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """Position and ``FAILURE_COLUMNS``, below ``n`` or at one position."""
        return self._rows("failures", FAILURE_COLUMNS, asker, n, at)

    def _rows(
        self,
        table: str,
        columns: Sequence[str],
        asker: str,
        n: int,
        at: int | None,
    ) -> Iterator[tuple[Any, ...]]:
        operator, limit = ("<", n) if at is None else ("=", at)
        return self._db.execute(
            f"SELECT position, {', '.join(columns)} FROM {table}"  # noqa: S608  # the names are ours
            f" WHERE asker = ? AND position {operator} ? ORDER BY position",
            (asker, limit),
        )

    def signatures(self, asker: str) -> list[str]:
        """The distinct signatures of an asker's scores, in order."""
        rows = self._db.execute(
            "SELECT DISTINCT signature FROM scores WHERE asker = ? ORDER BY signature",
            (asker,),
        )
        return [signature for (signature,) in rows]

    # Vectors

    def vectors(
        self, identity: str, digests: Sequence[bytes]
    ) -> Iterator[tuple[bytes, bytes]]:
        """Vectors that are kept, by digest of their text."""
        query = "SELECT digest, vector FROM vectors WHERE identity = ? AND digest = ?"
        return chain.from_iterable(
            self._db.execute(query, (identity, digest)).fetchall()
            for digest in digests
        )

    def put_vectors(
        self, identity: str, vectors: Iterable[tuple[bytes, bytes]]
    ) -> None:
        """Keep vectors."""
        with self.transaction():
            self._db.executemany(
                "INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)",
                [(identity, digest, vector) for digest, vector in vectors],
            )
