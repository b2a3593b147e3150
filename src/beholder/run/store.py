"""The store of one run: items, scores, failures and vectors in one SQLite file (WAL).

Everything is written as it arrives, so a killed run loses only what was in flight. One process
writes (``Store.open``, which locks the run directory); any number may read (``Store.read``).
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock, Timeout

from beholder.data import to_row
from beholder.embed.base import FloatArray
from beholder.errors import RunError
from beholder.records import Item, ItemFailure, ItemScore, Unit
from beholder.run import codec

FORMAT = 1
FILE_NAME = "store.sqlite"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS items (
    position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, digest BLOB NOT NULL, row TEXT NOT NULL,
    source BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS metrics (
    name TEXT PRIMARY KEY, config TEXT NOT NULL, signature TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS scores (
    metric TEXT NOT NULL, position INTEGER NOT NULL, signature TEXT NOT NULL,
    numbers TEXT NOT NULL, units BLOB NOT NULL, detail BLOB NOT NULL,
    PRIMARY KEY (metric, position));
CREATE TABLE IF NOT EXISTS failures (
    metric TEXT NOT NULL, position INTEGER NOT NULL,
    error TEXT NOT NULL, message TEXT NOT NULL, transient INTEGER NOT NULL,
    PRIMARY KEY (metric, position));
CREATE TABLE IF NOT EXISTS vectors (
    identity TEXT NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL,
    PRIMARY KEY (identity, digest)) WITHOUT ROWID;
"""


@dataclass(frozen=True)
class StoredMetric:
    """A metric as a run keeps it: canonical name, resolved fields, signature."""

    name: str
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
        with locked(folder):
            connection = _connect(folder, f"file:{_quoted(folder)}?mode=rwc")
            try:
                connection.executescript(_SCHEMA)
                connection.execute(f"PRAGMA user_version = {FORMAT}")
                yield cls(folder, connection)
            finally:
                connection.close()

    @classmethod
    @contextmanager
    def read(cls, folder: Path) -> Iterator[Store]:
        """Open for reading.

        Raises:
            RunError: There is no run in that folder.
        """
        if not (folder / FILE_NAME).is_file():
            raise RunError(f"{folder} is not a run directory: it has no {FILE_NAME}")
        connection = _connect(folder, f"file:{_quoted(folder)}?mode=rw")
        try:
            connection.execute("PRAGMA query_only = ON")
            yield cls(folder, connection)
        finally:
            connection.close()

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

    # Items

    def sync_items(self, items: Iterable[Item]) -> tuple[int, str]:
        """Take in the items of a data set, or check that they are the ones that are here.

        A run may grow (``--limit`` raised) or be asked for its first items; no item may change.

        Returns:
            The number of items given, and the hash of the data set.

        Raises:
            RunError: An item differs from the one the run holds at its place.
        """
        total = hashlib.sha256()
        n_items = 0
        with self.transaction():
            stored = self._db.execute("SELECT digest FROM items ORDER BY position").fetchall()
            for position, item in enumerate(items):
                row = json.dumps(to_row(item), ensure_ascii=False, allow_nan=False)
                digest = hashlib.sha256(row.encode("utf-8")).digest()
                total.update(digest)
                n_items = position + 1
                if position >= len(stored):
                    self._db.execute(
                        "INSERT INTO items VALUES (?, ?, ?, ?, ?)",
                        (position, item.id, digest, row, _source(item)),
                    )
                elif stored[position][0] != digest:
                    raise RunError(
                        f"{self.folder} holds a run over other data (item {item.id!r} differs);"
                        " choose another run directory with -o"
                    )
        return n_items, total.hexdigest()

    def n_items(self) -> int:
        """How many items the run holds."""
        return int(self._db.execute("SELECT count(*) FROM items").fetchone()[0])

    def items(self, positions: Sequence[int] | None = None) -> Iterator[tuple[int, Item]]:
        """Items with their positions, in order; all of them, or those asked for."""
        if positions is None:
            rows = self._db.execute("SELECT position, row FROM items ORDER BY position")
            for position, row in rows:
                yield position, _item(row)
            return
        for position in positions:
            found = self._db.execute("SELECT row FROM items WHERE position = ?", (position,))
            yield position, _item(found.fetchone()[0])

    def sources(self, n_items: int) -> list[bytes]:
        """A key per item of what it describes: equal for texts about the same picture or video."""
        rows = self._db.execute(
            "SELECT source FROM items WHERE position < ? ORDER BY position", (n_items,)
        )
        return [source for (source,) in rows]

    # Metrics

    def add_metric(self, name: str, config: Mapping[str, Any], signature: str) -> None:
        """Note a metric of the run.

        Raises:
            RunError: The run holds scores of that metric that were made in another way.
        """
        known = self._db.execute("SELECT signature FROM metrics WHERE name = ?", (name,)).fetchone()
        if known is None:
            row = (name, json.dumps(config, ensure_ascii=False), signature)
            self._db.execute("INSERT INTO metrics VALUES (?, ?, ?)", row)
        elif known[0] != signature:
            raise RunError(
                f"{self.folder} holds scores of {name} made as {known[0]!r}, now it would be"
                f" {signature!r}; choose another run directory with -o"
            )

    def metrics(self) -> list[StoredMetric]:
        """The metrics of the run, in the order they were added."""
        rows = self._db.execute("SELECT name, config, signature FROM metrics ORDER BY rowid")
        return [
            StoredMetric(name, json.loads(config), signature) for name, config, signature in rows
        ]

    # Outcomes

    def pending(self, metric: str, n_items: int) -> list[int]:
        """Positions below ``n_items`` that have neither a score nor a failure that will stay."""
        rows = self._db.execute(
            """SELECT position FROM items WHERE position < ?
               AND position NOT IN (SELECT position FROM scores WHERE metric = ?)
               AND position NOT IN (
                   SELECT position FROM failures WHERE metric = ? AND NOT transient)
               ORDER BY position""",
            (n_items, metric, metric),
        )
        return [position for (position,) in rows]

    def put(self, metric: str, position: int, outcome: ItemScore | ItemFailure) -> None:
        """Write what became of one item; durable when this returns."""
        if isinstance(outcome, ItemFailure):
            self._db.execute(
                "INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?, ?)",
                (metric, position, outcome.error, outcome.message, outcome.transient),
            )
            return
        numbers = json.dumps(dict(outcome.values), allow_nan=False)
        units = codec.encode_units(outcome.units)
        detail = codec.encode_detail(outcome.detail)
        with self.transaction():
            self._db.execute(
                "DELETE FROM failures WHERE metric = ? AND position = ?", (metric, position)
            )
            self._db.execute(
                "INSERT OR REPLACE INTO scores VALUES (?, ?, ?, ?, ?, ?)",
                (metric, position, outcome.signature, numbers, units, detail),
            )

    def values(
        self, metric: str, n_items: int | None = None
    ) -> Iterator[tuple[int, dict[str, float]]]:
        """Scores by name per scored item, in order, without units or detail."""
        rows = self._db.execute(
            "SELECT position, numbers FROM scores"
            " WHERE metric = ? AND position < ? ORDER BY position",
            (metric, self.n_items() if n_items is None else n_items),
        )
        for position, numbers in rows:
            yield position, json.loads(numbers)

    def units(self, metric: str) -> Iterator[tuple[int, tuple[Unit, ...]]]:
        """Units per scored item, in order."""
        rows = self._db.execute(
            "SELECT position, units FROM scores WHERE metric = ? ORDER BY position", (metric,)
        )
        for position, units in rows:
            yield position, codec.decode_units(units)

    def details(self, metric: str, n_items: int) -> Iterator[tuple[int, dict[str, Any]]]:
        """Detail per scored item below ``n_items``, in order."""
        rows = self._db.execute(
            "SELECT position, detail FROM scores"
            " WHERE metric = ? AND position < ? ORDER BY position",
            (metric, n_items),
        )
        for position, detail in rows:
            yield position, codec.decode_detail(detail)

    def score(self, metric: str, position: int) -> ItemScore | ItemFailure | None:
        """All that is known of one item under a metric; None while it is not finished."""
        row = self._db.execute(
            "SELECT numbers, units, signature, detail FROM scores"
            " WHERE metric = ? AND position = ?",
            (metric, position),
        ).fetchone()
        if row is not None:
            return ItemScore(
                values=json.loads(row[0]),
                units=codec.decode_units(row[1]),
                signature=row[2],
                detail=codec.decode_detail(row[3]),
            )
        return dict(self._failures(metric, "AND position = ?", position)).get(position)

    def failures(self, metric: str) -> Iterator[tuple[int, ItemFailure]]:
        """Failures of a metric, in order of items."""
        return self._failures(metric, "ORDER BY position")

    def _failures(
        self, metric: str, clause: str, *arguments: int
    ) -> Iterator[tuple[int, ItemFailure]]:
        rows = self._db.execute(
            f"SELECT position, error, message, transient FROM failures WHERE metric = ? {clause}",  # noqa: S608  # the clause is ours
            (metric, *arguments),
        )
        for position, error, message, transient in rows:
            yield position, ItemFailure(error, message, bool(transient))

    def signatures(self, metric: str) -> list[str]:
        """The distinct signatures of a metric's scores; more than one means that a tool changed."""
        rows = self._db.execute(
            "SELECT DISTINCT signature FROM scores WHERE metric = ? ORDER BY signature", (metric,)
        )
        return [signature for (signature,) in rows]

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


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run directory, made if need be, for this process alone.

    Raises:
        RunError: Another process writes there.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / ".lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise RunError(
            f"{folder} is being written by another beholder process; wait for it, or choose"
            " another run directory with -o"
        ) from None
    try:
        yield
    finally:
        lock.release()


def _connect(folder: Path, uri: str) -> sqlite3.Connection:
    path = folder / FILE_NAME
    try:
        # One thread at a time uses it, but in a notebook not always the one that opened it.
        connection = sqlite3.connect(
            uri, uri=True, isolation_level=None, timeout=30, check_same_thread=False
        )
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
    except sqlite3.DatabaseError as error:
        raise RunError(f"{path} cannot be opened as a store: {error}") from error
    if version not in (0, FORMAT):
        connection.close()
        raise RunError(
            f"{path} has store format {version}, this beholder reads {FORMAT}; use the version that"
            " made it"
        )
    return connection


def _quoted(folder: Path) -> str:
    return (folder / FILE_NAME).resolve().as_uri().removeprefix("file:")


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8")).digest()


def _source(item: Item) -> bytes:
    source = item.images or ((item.video,) if item.video else item.references) or (item.id,)
    return hashlib.sha256(json.dumps(source).encode("utf-8")).digest()[:8]


def _item(row: str) -> Item:
    fields = json.loads(row)
    for name in ("references", "images"):
        fields[name] = tuple(fields.get(name, ()))
    return Item(**fields)
