"""Progress of a run on a terminal; silent anywhere else."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable

from rich import progress
from rich.console import Console

from beholder.backends import Usage

RATE_WINDOW = 30.0
"""Seconds over which the bar takes tokens by the second: a model may load for minutes first."""


class TerminalProgress:
    """A bar with counts of scored, failed and reused and the rates; a ``run.session.Progress``.

    Args:
        clock: Returns seconds.

    Attributes:
        scored_now: Scored by this start of the run.
        failed_now: Failed in this start of the run.
        reused: Finished by an earlier start.
        tokens: Tokens that judges have read and written in this start.
        n_recalled: Answers that came from the cache in this start.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.scored_now = 0
        self.failed_now = 0
        self.reused = 0
        self.tokens = Usage()
        self.n_answered = 0
        self.n_recalled = 0
        self._clock = clock
        self._began = clock()
        self._earlier = deque([(self._began, self.tokens)])
        self._bar = progress.Progress(
            progress.SpinnerColumn(),
            progress.BarColumn(),
            progress.MofNCompleteColumn(),
            progress.TextColumn("{task.fields[counts]}"),
            progress.TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            # In a log file every redraw would be a line.
            disable=not sys.stderr.isatty(),
        )

    def __enter__(self) -> TerminalProgress:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def start(self, total: int, reused: int) -> None:
        """Show the bar of a run that begins."""
        self.reused = reused
        # The clock starts again: reading the data before is not part of the rate.
        self._began = self._clock()
        self._earlier = deque([(self._began, self.tokens)])
        self._task = self._bar.add_task(
            "", total=total, completed=reused, counts=self._counts()
        )

    def advance(self, n_scored: int, n_failed: int) -> None:
        """Count subjects that were finished."""
        self.scored_now += n_scored
        self.failed_now += n_failed
        self._bar.update(
            self._task, advance=n_scored + n_failed, counts=self._counts()
        )

    def answered(self, usage: Usage) -> None:
        """Count an answer of a judge and its tokens."""
        self.n_answered += 1
        self.tokens += usage
        self._earlier.append((self._clock(), self.tokens))
        self._bar.update(self._task, counts=self._counts())

    def recalled(self) -> None:
        """Count an answer that came from the cache."""
        self.n_recalled += 1

    @property
    def seconds(self) -> float:
        """Since the run started."""
        return self._clock() - self._began

    @property
    def tokens_in_words(self) -> str:
        """Tokens of this start, and how many a second; empty if no judge answered."""
        if self.tokens == Usage():
            return ""
        read_rate, write_rate = self._rates(Usage(), self.seconds)
        return (
            f"judges read {self.tokens.prompt:,} tokens ({read_rate}) and wrote"
            f" {self.tokens.completion:,} ({write_rate})"
        )

    @property
    def recalled_in_words(self) -> str:
        """Answers of this start that came from the cache; empty if none did."""
        if not self.n_recalled:
            return ""
        share = f"{self.n_recalled:,} of {self.n_answered + self.n_recalled:,} answers"
        share_text = (
            share if self.n_answered else f"all answers ({self.n_recalled:,})"
        )
        return f"{share_text} of judges came from the cache"

    def _counts(self) -> str:
        done = self.scored_now + self.failed_now
        rate = done / self.seconds if done and self.seconds > 0 else 0.0
        text = f"{self.failed_now} failed, {self.reused} reused, {rate:.1f}/s"
        if self.tokens == Usage():
            return text
        # A window, because a model may load for minutes before its first token.
        while (
            len(self._earlier) > 1
            and self._earlier[1][0] <= self._clock() - RATE_WINDOW
        ):
            self._earlier.popleft()
        read_rate, write_rate = self._rates(
            self._earlier[0][1], min(RATE_WINDOW, self.seconds)
        )
        return f"{text}, tokens: {read_rate} read, {write_rate} written"

    def _rates(self, before: Usage, seconds: float) -> tuple[str, str]:
        """Tokens read and written in the last seconds, each by the second."""
        n_read = self.tokens.prompt - before.prompt
        n_written = self.tokens.completion - before.completion
        return _by_second(n_read, seconds), _by_second(n_written, seconds)


def _by_second(n: int, seconds: float) -> str:
    return f"{n / seconds if seconds > 0 else 0.0:,.0f}/s"
