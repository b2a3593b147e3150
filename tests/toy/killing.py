"""The command line with the toy judges, in a process that is killed before any write it makes.

Moments are counted in writes, not in seconds: SQL statements, files opened for writing, renamed and
removed. Between two writes all moments leave the same behind, and the thousandth write is the same
one on every machine, however busy it is.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

KILL_AT, COUNT = "BEHOLDER_TEST_KILL_AT", "BEHOLDER_TEST_COUNT"
_CONNECT = sqlite3.connect


class Killer:
    """Counts what this process does to files and databases; ends it before one of these things."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.n = 0

    def hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        """An audit hook."""
        if event == "open":
            _, mode, flags = arguments
            if flags & (os.O_WRONLY | os.O_RDWR) or set(mode or "") & set(
                "wax+"
            ):
                self._count()
        elif event in ("os.rename", "os.remove", "os.mkdir", "os.truncate"):
            self._count()

    def connect(self, *arguments: Any, **options: Any) -> sqlite3.Connection:
        """In place of ``sqlite3.connect``."""
        connection: sqlite3.Connection = _CONNECT(*arguments, **options)
        connection.set_trace_callback(lambda statement: self._count())
        return connection

    def _count(self) -> None:
        self.n += 1
        if self.n == self.at:
            os.kill(os.getpid(), signal.SIGKILL)


def command(*arguments: str, kill_at: int = 0, folder: Path) -> int:
    """Run ``beholder ARGUMENTS`` with the toy judges in a process of its own.

    Args:
        arguments: What follows ``beholder`` on the command line.
        kill_at: Which of the writes SIGKILL comes before; 0 for none.
        folder: Where it runs.

    Returns:
        How many writes a run made that came to its end; 0 for one that was killed.
    """
    tests = str(Path(__file__).parents[1])
    counted = folder / "writes.txt"
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([tests, *sys.path]),
        "BEHOLDER_CACHE": "off",
        KILL_AT: str(kill_at),
        COUNT: str(counted),
    }
    counted.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, __file__, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode == -signal.SIGKILL:
        return 0
    assert done.returncode == 0, done.stderr
    return int(counted.read_text("utf-8"))


def _resample_little() -> None:
    """20 resamples for every interval, before anything has imported the function."""
    from beholder.stats import bootstrap

    whole = bootstrap.cluster_bootstrap

    def few(*arguments: Any, n_resamples: int = 20, **options: Any) -> Any:
        return whole(*arguments, n_resamples=min(n_resamples, 20), **options)

    bootstrap.cluster_bootstrap = few


def _main() -> None:
    _resample_little()
    from beholder.backends import BACKENDS
    from beholder.cli.main import main
    from toy.bothways import Reader
    from toy.judge import Storyteller
    from toy.reviewer import Reviewer

    BACKENDS.register("story")(Storyteller)
    BACKENDS.register("reader")(Reader)
    BACKENDS.register("reviewer")(Reviewer)
    killer = Killer(int(os.environ[KILL_AT]))
    sys.addaudithook(killer.hear)
    sqlite3.connect = killer.connect  # type: ignore[assignment]
    try:
        main()
    finally:
        Path(os.environ[COUNT]).write_text(str(killer.n), "utf-8")


if __name__ == "__main__":
    _main()
