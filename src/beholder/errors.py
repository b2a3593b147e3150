"""The one tree of errors that beholder raises on purpose.

    BeholderError
    ├── ConfigError            a name, parameter or option is wrong
    │   └── UnknownNameError   nothing is registered under that name
    ├── DataError              a file or a row of it cannot be used
    ├── MissingExtraError      a package is needed that is not installed
    ├── RunError               a run cannot continue: its directory is busy, or contains another run
    │   ├── BudgetError        the next call would pass the limit on cost
    │   ├── OutputError        a file or folder cannot be written
    │   └── ModelChangedError  the server now serves another model than the run began with
    └── ItemError              one item cannot be scored; becomes an ItemFailure
        └── TransientError     the same, but trying again may help

Catch ``BeholderError`` to catch them all. Messages name the value, the place and the next step.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any


class BeholderError(Exception):
    """Root of every error that beholder raises on purpose."""


class ConfigError(BeholderError, ValueError):
    """A name, parameter or option is wrong; nothing was computed."""


class UnknownNameError(ConfigError):
    """No metric, judge, embedder or splitter is registered under the given name."""


class DataError(BeholderError, ValueError):
    """A file, or a row of it, cannot be used.

    Attributes:
        path: The file as the user named it.
        line: 1-based line (JSONL), record (CSV) or row (Parquet), or None for the whole file.
        field: The field that is wrong, or None.
        reason: Expected and actual value.
    """

    def __init__(
        self,
        path: str,
        reason: str,
        *,
        line: int | None = None,
        field: str | None = None,
    ) -> None:
        self.path = path
        self.line = line
        self.field = field
        self.reason = reason
        place = path if line is None else f"{path}:{line}"
        super().__init__(
            ": ".join(part for part in (place, field, reason) if part)
        )

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default pickling of exceptions.
        rebuild = partial(DataError, line=self.line, field=self.field)
        return rebuild, (self.path, self.reason)


class MissingExtraError(BeholderError, ImportError):
    """An optional package is needed that is not installed; the message has the install line."""


class RunError(BeholderError):
    """A run cannot continue: its directory is in use or has another run, or a limit is reached."""


class BudgetError(RunError):
    """The next call would pass the limit on cost; the run can be resumed with a higher one."""


class OutputError(RunError):
    """A file or folder cannot be written.

    Attributes:
        path: The file or folder that was to be written.
        reason: What is wrong, with the path.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(f"{reason}; choose another place")
        self.path, self.reason = path, reason

    def __reduce__(self) -> tuple[object, ...]:
        return OutputError, (self.path, self.reason)


class ModelChangedError(RunError):
    """The server now serves another model than the run began with."""


class ItemError(BeholderError):
    """One item cannot be scored, for a reason that will not change; becomes an ItemFailure.

    Attributes:
        detail: Partial results (each judge's failed vote); JSON values, kept with the
            failure.
    """

    def __init__(
        self, message: str, *, detail: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.detail: Mapping[str, Any] = detail or {}


class BadRowError(ItemError):
    """A field of a row is malformed; a run refuses such data before it asks anything."""


class TransientError(ItemError):
    """One item could not be scored now; the next start of the same run tries it again."""
