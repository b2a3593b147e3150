"""The database of studies, SQLite or PostgreSQL: tables, connections and shared writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from beholder.errors import ItemError, RunError
from beholder.optional import require
from beholder.postgres import TABLES_LOCK, Address, engine
from beholder.sqlite_file import keep_private

if TYPE_CHECKING:
    from sqlalchemy import Engine, MetaData

T = TypeVar("T")

FILE_NAME = "study.sqlite"
_WAIT_MS = 30_000


def sql() -> Any:
    """SQLAlchemy, which is part of the extra ``web``."""
    return require("sqlalchemy", extra="web", purpose="a study")


def tables() -> MetaData:
    """The tables of studies, units, annotators, assignments and acts; acts are only added."""
    sa = sql()
    meta: MetaData = sa.MetaData()
    study = ("study", sa.String(64))
    who = ("annotator", sa.String(200))
    sa.Table(
        "beholder_studies",
        meta,
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("task", sa.String(32), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("settings", sa.Text, nullable=False),
        sa.Column("secret", sa.String(64), nullable=False),
        sa.Column("token", sa.String(64), nullable=False, unique=True),
    )
    sa.Table(
        "beholder_units",
        meta,
        sa.Column(*study, primary_key=True),
        sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )
    sa.Table(
        "beholder_annotators",
        meta,
        sa.Column(*study, primary_key=True),
        sa.Column(*who, primary_key=True),
        sa.Column("place", sa.Integer, nullable=False),
        sa.Column("token", sa.String(64), nullable=False, unique=True),
    )
    sa.Table(
        "beholder_assignments",
        meta,
        sa.Column(*study, primary_key=True),
        sa.Column(*who, primary_key=True),
        sa.Column("place", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("unit", sa.Integer, nullable=False),
    )
    sa.Table(
        "beholder_acts",
        meta,
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column(*study, nullable=False),
        sa.Column(*who, nullable=False),
        sa.Column("unit", sa.Integer, nullable=False),
        sa.Column("client", sa.String(64), nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("part", sa.String(64)),
        sa.Column("value", sa.Text),
        sa.Column("saved_at", sa.DateTime, nullable=False, server_default=sa.func.now()),
        sa.UniqueConstraint("study", "annotator", "client", "number"),
        sa.Index("beholder_acts_of_unit", "study", "annotator", "unit", "id"),
    )
    return meta


def engine_of(folder: Path, database: str | None) -> Engine:
    """The database of a study; missing tables are created.

    Args:
        folder: The study's folder, which has the SQLite file if no database is named.
        database: ``postgresql://USER@HOST/NAME``; the password may come from ``PGPASSWORD``.

    Raises:
        ConfigError: The URL is of another kind.
        RunError: The database cannot be reached or used.
        MissingExtraError: A package is not installed.
    """
    sa = sql()
    made: Engine
    if database is None:
        where = str(folder / FILE_NAME)
        try:
            keep_private(folder / FILE_NAME)  # it has everybody's links
        except OSError as error:
            raise RunError(f"{where} cannot be used: {error.strerror or error}") from error
        made = sa.create_engine(f"sqlite:///{where}", connect_args={"timeout": _WAIT_MS / 1000})
        sa.event.listen(made, "connect", _settle_sqlite)
    else:
        address = Address.read(database)
        where = str(address)
        # Tested before each use, so that a restart of the server loses no act.
        made = engine(address, pool_size=20, max_overflow=10, pool_pre_ping=True)
    try:
        with made.begin() as db:
            if database is not None:
                db.execute(sa.text(TABLES_LOCK))
            tables().create_all(db)
    except sa.exc.SQLAlchemyError as error:
        made.dispose()
        raise RunError(
            f"{where} cannot be used: {getattr(error, 'orig', None) or error}; check that it runs,"
            " and its name and password"
        ) from error
    return made


def _settle_sqlite(connection: Any, _: Any) -> None:
    """Readers do not wait for the writer, and a committed write is on disk."""
    cursor = connection.cursor()
    for setting in ("journal_mode=WAL", "synchronous=FULL", f"busy_timeout={_WAIT_MS}"):
        cursor.execute(f"PRAGMA {setting}")
    cursor.close()


@dataclass(eq=False)
class _Ticket(Generic[T]):
    """Work that waits for its turn, and its result."""

    work: Callable[[Any], T]
    found: T | None = None
    error: Exception | None = None
    done: bool = False


class SharedCommits(Generic[T]):
    """Writes of many threads to SQLite, which allows one writer: one transaction for all waiting.

    On a slow disk each thread waits for the current write and for its own.

    Args:
        begin: Opens a transaction, which is committed unless an error leaves it.
        of_all: Error of a database that accepts no writes now.
    """

    def __init__(self, begin: Callable[[], Any], of_all: type[Exception]) -> None:
        self._begin = begin
        self._of_all = of_all
        self._waiting: list[_Ticket[T]] = []
        self._list, self._turn = Lock(), Lock()

    def do(self, work: Callable[[Any], T]) -> T:
        """The result of work, once it is on disk.

        Args:
            work: Takes the connection. It refuses with an ItemError, having written nothing.

        Raises:
            ItemError: The work refused.
            Exception: The transaction was not written.
        """
        ticket = _Ticket(work)
        with self._list:
            self._waiting.append(ticket)
        with self._turn:
            if not ticket.done:  # else an earlier thread wrote it
                with self._list:
                    batch, self._waiting = self._waiting, []
                self._write(batch)
        if ticket.error is not None:
            raise ticket.error
        return ticket.found  # type: ignore[return-value]

    def _write(self, batch: list[_Ticket[T]]) -> None:
        try:
            with self._begin() as db:
                for ticket in batch:
                    try:
                        ticket.found = ticket.work(db)
                    except ItemError as error:
                        ticket.error = error
        except Exception as error:
            if len(batch) > 1 and not isinstance(error, self._of_all):
                for ticket in batch:  # nothing was written: find the work that fails
                    ticket.error = None
                    self._write([ticket])
            else:
                for ticket in batch:  # raised to each thread whose work was lost
                    ticket.error = error
        finally:
            for ticket in batch:
                ticket.done = True
