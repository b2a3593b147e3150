"""Progress of a command in a log: a plain line every 30 seconds; silent on a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from beholder.backends import Usage

LINE_INTERVAL = 30.0
"""Seconds between two lines in a log; a shorter command writes none."""


class LogProgress:
    """Counts and rates; a ``run.session.Progress``. Writes lines on stderr if it is no terminal.

    Use as a context manager: lines are written inside it, every ``LINE_INTERVAL`` seconds, also
    while nothing is finished, so that a reader of the log sees that the command is alive.

    Args:
        clock: Returns seconds.
        wait: Waits some seconds; returns True if the lines shall stop. None waits for the end of
            the block.
        work: What the command does before a run begins, or all the time without a run.

    Attributes:
        scored_now: Scored by this start of the run.
        failed_now: Failed in this start of the run.
        reused: Finished by an earlier start.
        n_answered: Answers that judges gave in this start.
        n_recalled: Answers that came from the cache in this start.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], bool] | None = None,
        *,
        work: str = "reading the input",
    ) -> None:
        self.work = work
        self.scored_now = 0
        self.failed_now = 0
        self.reused = 0
        self.n_answered = 0
        self.n_recalled = 0
        self._clock = clock
        self._began = clock()
        self._total: int | None = None
        # A suite counts on over several runs, and each has a rate of its own.
        self._done_before = 0
        self._failed_before = 0
        self._ended = threading.Event()
        self._wait = wait or self._ended.wait
        self._writer: threading.Thread | None = None

    def __enter__(self) -> Self:
        if not sys.stderr.isatty():
            self._writer = threading.Thread(
                target=self.write_lines, daemon=True
            )
            self._writer.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        if self._writer is not None:
            self._writer.join()

    def write_lines(self) -> None:
        """Write a line on stderr every ``LINE_INTERVAL`` seconds until the end."""
        while not self._wait(LINE_INTERVAL):
            sys.stderr.write(f"{self.line}\n")

    def start(self, total: int, reused: int) -> None:
        """Count from here: a run begins."""
        self.reused = reused
        self._done_before = self.scored_now + self.failed_now
        self._failed_before = self.failed_now
        # The clock starts again: reading the data before is not part of the rate.
        self._began = self._clock()
        self._total = total

    def advance(self, n_scored: int, n_failed: int) -> None:
        """Count subjects that were finished."""
        self.scored_now += n_scored
        self.failed_now += n_failed

    def answered(self, usage: Usage) -> None:
        """Count an answer of a judge."""
        self.n_answered += 1

    def recalled(self) -> None:
        """Count an answer that came from the cache."""
        self.n_recalled += 1

    @property
    def line(self) -> str:
        """Return what is done, failed and reused, the rate and the time left, for a log."""
        if self._total is None:
            return f"progress: {self.work} for {_duration(self.seconds)}"
        n_failed = self.failed_now - self._failed_before
        counts = (
            f"progress: {self.reused + self._done_now:,} of {self._total:,} done,"
            f" {n_failed:,} failed, {self.reused:,} reused"
        )
        # Subjects that need many answers finish late, and answers show the work before.
        n_answers = self.n_answered + self.n_recalled
        answers = f", judge answers: {n_answers:,}" if n_answers else ""
        # One look at the rate: the run may begin again between two.
        rate = self._rate
        n_left = self._total - self.reused - self._done_now
        return f"{counts}, {_rate_in_words(rate)}, {_time_left(n_left, rate)}{answers}"

    @property
    def seconds(self) -> float:
        """Since the run started."""
        return self._clock() - self._began

    @property
    def _done_now(self) -> int:
        """Number of subjects that this run has finished."""
        return self.scored_now + self.failed_now - self._done_before

    @property
    def _rate(self) -> float:
        """Finished subjects per second; 0 before the first."""
        return self._done_now / self.seconds if self.seconds > 0 else 0.0


def _rate_in_words(per_second: float) -> str:
    """Return a rate in words; by the minute if it is slow, where a second would have 0.0."""
    if 0 < per_second < 1:
        return f"{60 * per_second:.1f}/min"
    return f"{per_second:.1f}/s"


def _time_left(n_left: int, rate: float) -> str:
    """Return in words how long ``n_left`` subjects take at a rate per second."""
    if n_left <= 0:
        return "all done; the results are being written"
    return (
        f"about {_duration(n_left / rate)} left"
        if rate
        else "time left unknown"
    )


def _duration(seconds: float) -> str:
    """Return a duration in the largest unit that fits, such as ``45 s`` or ``3 h 5 min``."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60} h {minutes % 60} min"
