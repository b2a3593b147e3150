"""Connections to SQLite files that say what they wait for."""

from __future__ import annotations

import logging
import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")

SILENT_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds of waiting for another process, without a word and in all."""

_LOGGER = logging.getLogger("beholder.waiting")


class PatientConnection(sqlite3.Connection):
    """A connection that waits for a file that another process has locked, and logs that it does.

    SQLite itself waits in silence.

    Attributes:
        cursors: Class of the cursors that ``execute`` returns.
    """

    cursors: type[sqlite3.Cursor] = sqlite3.Cursor
    _gave_up = False

    def execute(self, *arguments: Any) -> sqlite3.Cursor:
        """Execute a statement; wait if the file is locked."""
        try:
            return self.cursor(self.cursors).execute(*arguments)
        except sqlite3.OperationalError as error:
            return self._retry(
                error, lambda: self.cursor(self.cursors).execute(*arguments)
            )

    def executemany(self, *arguments: Any) -> sqlite3.Cursor:
        """Execute a statement for each row of parameters; wait if the file is locked."""
        try:
            return self.cursor(self.cursors).executemany(*arguments)
        except sqlite3.OperationalError as error:
            return self._retry(
                error,
                lambda: self.cursor(self.cursors).executemany(*arguments),
            )

    def executescript(self, script: str, /) -> sqlite3.Cursor:
        """Execute an idempotent script, which is run again if the file was locked."""
        try:
            return super().executescript(script)
        except sqlite3.OperationalError as error:
            return self._retry(
                error,
                lambda: super(PatientConnection, self).executescript(script),
            )

    def _retry(
        self, error: sqlite3.OperationalError, work: Callable[[], T]
    ) -> T:
        if (
            error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY
            or self._gave_up
        ):
            raise error
        # The first, short wait is over in silence; now the user learns what the command waits for.
        name = super().execute("PRAGMA database_list").fetchone()[2]
        _LOGGER.warning(
            "%s is locked by another process; waiting for it, and giving up in %.0f s",
            name,
            LONGEST_WAIT - SILENT_WAIT,
        )
        self._wait_for(LONGEST_WAIT - SILENT_WAIT)
        try:
            outcome = work()
        except sqlite3.OperationalError:
            # Statements that clean up after this must not wait once more.
            self._gave_up = True
            self._wait_for(0)
            raise
        self._wait_for(SILENT_WAIT)
        return outcome

    def _wait_for(self, seconds: float) -> None:
        super().execute(f"PRAGMA busy_timeout = {round(1000 * seconds)}")


def connect(
    database: Path | str,
    factory: type[PatientConnection] = PatientConnection,
    **options: Any,
) -> sqlite3.Connection:
    """Open a file.

    Args:
        database: The file, or its address.
        factory: Class of the connection.
        options: Further options of ``sqlite3.connect``.
    """
    return sqlite3.connect(
        database, timeout=SILENT_WAIT, factory=factory, **options
    )


def create_private(path: Path) -> None:
    """Make a file that its owner alone reads, in a folder of that kind; what is there stays.

    SQLite gives the files beside it the same rights.

    Raises:
        OSError: It cannot be made.
    """
    if path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
