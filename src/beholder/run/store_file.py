"""The file of a run's store: locked, opened to write or to read, in its format.

It is in WAL mode while it is written and one plain file when it is closed, so that a finished run
can be read from a disk that cannot be written.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Self, TypeVar

from filelock import FileLock, Timeout

from beholder.base.sqlite_file import PatientConnection, connect
from beholder.errors import RunError

T = TypeVar("T")

FORMAT = 2
FILE_NAME = "store.sqlite"
_LOCK = ".lock"
PARTS_NAME = "parts.json"
"""In the folder of a run whose outcomes are Parquet parts: states where these are."""
NO_RUN = (
    "{} is not a run directory, which has run.json and store.sqlite; commands such as"
    " `beholder score` write one"
)


_DAMAGE = (sqlite3.DatabaseError, UnicodeDecodeError)


class _Cursor(sqlite3.Cursor):
    """A cursor that marks its errors with their connection, as several stores may be open."""

    def execute(self, *arguments: Any) -> Self:
        return self._mark_errors(super().execute, *arguments)

    def executemany(self, *arguments: Any) -> Self:
        return self._mark_errors(super().executemany, *arguments)

    def fetchone(self) -> Any:
        return self._mark_errors(super().fetchone)

    def fetchall(self) -> list[Any]:
        return self._mark_errors(super().fetchall)

    def __next__(self) -> Any:
        return self._mark_errors(super().__next__)

    def _mark_errors(self, work: Callable[..., T], *arguments: Any) -> T:
        try:
            return work(*arguments)
        except _DAMAGE as error:
            error.connection = self.connection  # type: ignore[union-attr]
            raise


def _belongs_to(error: Exception, connection: sqlite3.Connection) -> bool:
    """Return whether an error within a block is one of this store.

    Work that is done while the store is open reads other files, which may not be UTF-8 either.
    """
    # Errors of sqlite3 without a mark arise outside of a cursor, as in a commit.
    unmarked = connection if isinstance(error, sqlite3.Error) else None
    return getattr(error, "connection", unmarked) is connection


class _StoreConnection(PatientConnection):
    cursors = _Cursor


@contextmanager
def to_write(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the store of a run directory to write, made if need be; the directory stays locked.

    Raises:
        RunError: Another process writes there, or the file is not a store of this version.
    """
    with locked(folder):
        connection = _connect(folder, "mode=rwc")
        try:
            _check_version(connection, folder)
            # In WAL mode others can read the run while it is written.
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.executescript(
                Path(__file__).with_name("store.sql").read_text("utf-8")
            )
            connection.execute(f"PRAGMA user_version = {FORMAT}")
            yield connection
        except _DAMAGE as error:
            if not _belongs_to(error, connection):
                raise
            raise _unusable_error(folder, error) from error
        finally:
            _close_whole(connection)


@contextmanager
def to_read(folder: Path) -> Iterator[sqlite3.Connection]:
    """Open the store of a run directory to read; works on a disk that cannot be written.

    Raises:
        RunError: There is no run in that folder, or one of another format.
    """
    if not (folder / FILE_NAME).is_file():
        raise RunError(NO_RUN.format(folder))
    connection = _connect_to_read(folder)
    try:
        version = _check_version(connection, folder)
        if version == 0:
            raise RunError(
                f"{folder} holds answers of judges but no outcomes; run the same command again"
                " to finish it"
            )
        connection.execute("PRAGMA query_only = ON")
        yield connection
    except _DAMAGE as error:
        if not _belongs_to(error, connection):
            raise
        raise _unusable_error(folder, error) from error
    finally:
        connection.close()


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a run directory, made if need be, for this process alone.

    If the work fails before anything was stored, folders that were made here are removed.

    Raises:
        RunError: Another process writes there.
    """
    new_folders = [
        path for path in (folder, *folder.parents) if not path.exists()
    ]
    lock = FileLock(folder / _LOCK)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Do not wait: the other process may work for days.
        lock.acquire(timeout=0)
    except Timeout:
        raise RunError(
            f"{folder} is being written by another beholder process; wait for it, or choose"
            " another run directory with -o"
        ) from None
    except OSError as error:
        raise RunError(
            f"{folder} cannot be a run directory: {error.strerror or error}; choose another with -o"
        ) from error
    try:
        yield
    except BaseException:
        lock.release()
        # A start that failed at once must not leave a folder that looks like a run.
        if new_folders and _is_blank(folder):
            for name in (_LOCK, FILE_NAME):
                (folder / name).unlink(missing_ok=True)
            for path in new_folders:
                if not any(path.iterdir()):
                    path.rmdir()
        raise
    finally:
        lock.release()


def _is_blank(folder: Path) -> bool:
    """Return whether a run directory contains at most facts about servers, which can be lost."""
    if not {path.name for path in folder.iterdir()} <= {_LOCK, FILE_NAME}:
        return False
    if not (folder / FILE_NAME).is_file():
        return True
    try:
        with closing(_connect(folder, "mode=ro")) as db:
            tables = db.execute(
                "SELECT name FROM sqlite_master WHERE type = 'table'"
            ).fetchall()
            outcome_tables = {name for (name,) in tables} - {"notes", "claims"}
            cursors = (
                db.execute(f'SELECT 1 FROM "{table}" LIMIT 1')  # noqa: S608
                for table in outcome_tables
            )
            return not any(cursor.fetchone() for cursor in cursors)
    except _DAMAGE:  # the error that led here is the one to report
        return False


def _connect(folder: Path, mode: str) -> sqlite3.Connection:
    try:
        # One thread at a time uses it, but in a notebook not always the one that opened it.
        return connect(
            f"{(folder / FILE_NAME).resolve().as_uri()}?{mode}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            factory=_StoreConnection,
        )
    except sqlite3.Error as error:
        raise _unusable_error(folder, error) from error


def _connect_to_read(folder: Path) -> sqlite3.Connection:
    """Open a connection that writes nothing, also where the folder cannot be written."""
    connection = _connect(folder, "mode=ro")
    try:
        connection.execute("PRAGMA user_version")
        return connection
    except sqlite3.DatabaseError as error:
        connection.close()
        if not isinstance(
            error, sqlite3.OperationalError
        ):  # not a matter of rights
            raise _unusable_error(folder, error) from error
        # Without its log the last outcomes are missing, and reading the log needs write
        # access.
        if (folder / f"{FILE_NAME}-wal").exists():
            raise RunError(
                f"{folder} holds a run that was killed, on a disk that cannot be written; copy the"
                " folder to where it can, and read it there"
            ) from error
    return _connect(
        folder, "mode=ro&immutable=1"
    )  # no one writes: it could not make its log


def _close_whole(connection: sqlite3.Connection) -> None:
    """Close the connection and leave one file that can be read anywhere."""
    with suppress(
        sqlite3.DatabaseError, UnicodeDecodeError
    ):  # someone reads it, or it is damaged
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connection.execute("PRAGMA journal_mode = DELETE")
    connection.close()


def _check_version(connection: sqlite3.Connection, folder: Path) -> int:
    try:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    except sqlite3.DatabaseError as error:
        raise _unusable_error(folder, error) from error
    if version not in (0, FORMAT):  # 0: nothing was written yet
        raise RunError(
            f"{folder / FILE_NAME} has store format {version}, expected {FORMAT}; use the version"
            " of beholder that made it"
        )
    return version


def _unusable_error(folder: Path, error: Exception) -> RunError:
    return RunError(f"{folder / FILE_NAME} cannot be used as a store: {error}")
