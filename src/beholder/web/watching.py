"""Runs that change while they are viewed: refreshed in a thread, computed once per state."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from beholder.web.items import RunView, Snapshot

T = TypeVar("T")


class SnapshotCache:
    """Values that are computed from snapshots of runs, once per state of these runs."""

    def __init__(self) -> None:
        self._entries: dict[object, tuple[list[Snapshot], Any]] = {}

    def get_or_make(
        self,
        what: str,
        views: Sequence[RunView],
        make: Callable[[], T],
    ) -> T:
        """Return a value for the present snapshots of runs, computed if they have changed.

        Args:
            what: Name of the value, among others of the same runs.
            views: The runs.
            make: Computes the value.
        """
        # Snapshots are compared by identity (`eq=False`), so a run that is read again counts as
        # changed. Only the value of the present state is kept.
        key = (what, *map(id, views))
        snapshots = [view.snapshot for view in views]
        entry = self._entries.get(key)
        if entry is None or entry[0] != snapshots:
            entry = snapshots, make()
            self._entries[key] = entry
        content: T = entry[1]
        return content


@dataclass
class Watcher:
    """Refreshes run views in a thread, for at most a tenth of the time.

    Attributes:
        views: The runs.
        pause: Seconds between two readings, at least.
    """

    views: Sequence[RunView]
    pause: float = 2.0
    _stop: threading.Event = field(default_factory=threading.Event)
    _thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread: it reads all runs, and then every change."""
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the thread before it reads the next run, and wait for it."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while True:
            # A large run takes seconds to read: waiting ten times as long leaves the processor
            # to the run itself and to the pages.
            started = time.monotonic()
            for view in self.views:
                if self._stop.is_set():
                    return
                view.try_refresh()
            if self._stop.wait(
                max(self.pause, 10 * (time.monotonic() - started))
            ):
                return
