"""The database of studies, SQLite or PostgreSQL: tables, connections and shared writes."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from beholder.errors import ItemError, RunError
from beholder.optional import require
from beholder.postgres import TABLES_LOCK, Address, engine
from beholder.sqlite_file import keep_private

if TYPE_CHECKING:
    from sqlalchemy import Engine, MetaData

T = TypeVar("T")
_Job: TypeAlias = tuple[Callable[[Any], T], "Future[T]"]

FILE_NAME = "study.sqlite"
TASK_LENGTH = 32
"""Characters of the name of a task."""

_WAIT_MS = 30_000


def sql() -> Any:
    """SQLAlchemy, which is part of the extra ``web``."""
    return require("sqlalchemy", extra="web", purpose="a study")


def tables() -> MetaData:
    """The tables of studies, units, annotators, assignments and acts; acts are only added."""
    sa = sql()
    meta: MetaData = sa.MetaData()
    key, needed = {"primary_key": True}, {"nullable": False}

    def table(name: str, *columns: Any) -> None:
        sa.Table(f"beholder_{name}", meta, *columns)

    def text(name: str, length: int | None = None, **options: Any) -> Any:
        return sa.Column(name, sa.Text if length is None else sa.String(length), **options)

    def number(name: str, *, autoincrement: bool = False, **options: Any) -> Any:
        return sa.Column(name, sa.Integer, autoincrement=autoincrement, **options)

    table(
        "studies",
        text("id", 64, **key),
        text("task", TASK_LENGTH, **needed),
        text("digest", 64, **needed),
        text("settings", **needed),
        text("secret", 64, **needed),
        text("token", 64, **needed, unique=True),
    )
    table(
        "units",
        text("study", 64, **key),
        number("position", **key),
        text("id", **needed),
        text("body", **needed),
    )
    table(
        "annotators",
        text("study", 64, **key),
        text("annotator", 200, **key),
        number("place", **needed),
        text("token", 64, **needed, unique=True),
    )
    table(
        "participants",
        text("study", 64, **key),
        text("participant", 64, **key),
        text("annotator", 200, **needed),
        sa.UniqueConstraint("study", "annotator"),
    )
    table(
        "assignments",
        text("study", 64, **key),
        text("annotator", 200, **key),
        number("place", **key),
        number("unit", **needed),
    )
    table(
        "acts",
        number("id", **key, autoincrement=True),
        text("study", 64, **needed),
        text("annotator", 200, **needed),
        number("unit", **needed),
        text("client", 64, **needed),
        number("number", **needed),
        text("part", 64),
        text("value"),
        sa.Column("saved_at", sa.DateTime, **needed, server_default=sa.func.now()),
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
        self._waiting: list[_Job[T]] = []
        self._list, self._turn = Lock(), Lock()

    def do(self, work: Callable[[Any], T]) -> T:
        """The result of work, once it is on disk.

        Args:
            work: Takes the connection. It refuses with an ItemError, having written nothing.

        Raises:
            ItemError: The work refused.
            Exception: The transaction was not written.
        """
        result: Future[T] = Future()
        with self._list:
            self._waiting.append((work, result))
        with self._turn:
            if not result.done():  # else an earlier thread wrote it
                with self._list:
                    batch, self._waiting = self._waiting, []
                self._write(batch)
        return result.result()

    def _write(self, batch: list[_Job[T]]) -> None:
        found: list[Callable[[], None]] = []
        try:
            with self._begin() as db:
                for work, result in batch:
                    try:
                        found.append(partial(result.set_result, work(db)))
                    except ItemError as error:
                        found.append(partial(result.set_exception, error))
        except BaseException as error:
            whole = isinstance(error, self._of_all) or not isinstance(error, Exception)
            for job in batch:
                if whole or len(batch) == 1:
                    job[1].set_exception(error)
                else:  # nothing was written: find the work that fails
                    self._write([job])
        else:
            for settle in found:
                settle()
