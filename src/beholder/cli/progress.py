"""Progress of a run on a terminal; silent anywhere else."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)


class TerminalProgress:
    """A bar with counts of scored, failed and reused and the rate; a ``run.session.Progress``.

    Attributes:
        scored_now: Scored by this start of the run.
        failed_now: Failed in this start of the run.
        reused: Finished by an earlier start.
    """

    def __init__(self) -> None:
        self.scored_now = 0
        self.failed_now = 0
        self.reused = 0
        self._began = time.monotonic()
        self._bar = Progress(
            SpinnerColumn(),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[counts]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            disable=not sys.stderr.isatty(),
        )

    def __enter__(self) -> TerminalProgress:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def start(self, total: int, reused: int) -> None:
        """See ``run.session.Progress``."""
        self.reused = reused
        self._began = time.monotonic()
        self._task = self._bar.add_task("", total=total, completed=reused, counts=self._counts())

    def advance(self, n_scored: int, n_failed: int) -> None:
        """See ``run.session.Progress``."""
        self.scored_now += n_scored
        self.failed_now += n_failed
        self._bar.update(self._task, advance=n_scored + n_failed, counts=self._counts())

    @property
    def seconds(self) -> float:
        """Since the run started."""
        return time.monotonic() - self._began

    def _counts(self) -> str:
        done = self.scored_now + self.failed_now
        rate = done / self.seconds if done and self.seconds > 0 else 0.0
        return f"{self.failed_now} failed, {self.reused} reused, {rate:.1f}/s"
