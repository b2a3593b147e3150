"""Progress of a run on a terminal; plain lines anywhere else."""

from __future__ import annotations

import sys
import time
from collections import deque
from collections.abc import Callable
from typing import Self

from rich import progress
from rich.console import Console

from beholder.backends import Usage
from beholder.terminal.log_progress import LogProgress

RATE_WINDOW = 30.0
"""Seconds over which the bar takes tokens by the second: a model may load for minutes first."""


class TerminalProgress(LogProgress):
    """A bar with counts of scored, failed and reused and the rates; lines if it is no terminal.

    Attributes:
        tokens: Tokens that judges have read and written in this start.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        wait: Callable[[float], bool] | None = None,
    ) -> None:
        super().__init__(clock, wait)
        self.tokens = Usage()
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

    def __enter__(self) -> Self:
        self._bar.start()
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._bar.stop()

    def start(self, total: int, reused: int) -> None:
        """Show the bar of a run that begins."""
        super().start(total, reused)
        self._earlier = deque([(self._began, self.tokens)])
        self._task = self._bar.add_task(
            "", total=total, completed=reused, counts=self._counts()
        )

    def advance(self, n_scored: int, n_failed: int) -> None:
        """Count subjects that were finished."""
        super().advance(n_scored, n_failed)
        self._bar.update(
            self._task, advance=n_scored + n_failed, counts=self._counts()
        )

    def answered(self, usage: Usage) -> None:
        """Count an answer of a judge and its tokens."""
        super().answered(usage)
        self.tokens += usage
        self._earlier.append((self._clock(), self.tokens))
        self._bar.update(self._task, counts=self._counts())

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
        text = f"{self.failed_now} failed, {self.reused} reused, {self._rate:.1f}/s"
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
