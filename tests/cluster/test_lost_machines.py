"""A run loses one of three nodes and is killed; resumed, it equals an undisturbed run."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from beholder import score
from beholder.run.store import Store
from toy import captions

N = 3_000
BLOCK = 200
METRICS = ("vcs_short", "bleu", "cider")

MOST_MEMORY = 700 * 2**20
"""Bytes of any process of the run: twice the measured need."""

MOST_GROWTH = 24 * 2**20
"""Bytes by which the command may grow from its first block to its last."""


class Command:
    """A run in a process of its own, which prints its progress.

    Attributes:
        reused: Jobs that an earlier start had finished.
        peak: The most bytes that any worker held when a block was reported.
        own: Bytes that the process itself held at each report.
    """

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.peak = 0
        self.own: list[int] = []
        _, self.reused = self._line()

    def _line(self) -> tuple[int, int]:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            word, *numbers = line.split() or [""]
            if word == "done":
                first, second = map(int, numbers)
                return first, second
        raise AssertionError(f"the run ended with {self.process.wait()}")

    def wait_for(self, blocks: int) -> None:
        """Wait until so many more blocks are finished."""
        for _ in range(blocks):
            self._line()
            self.own.append(_bytes_of(Path(f"/proc/{self.process.pid}")))
            self.peak = max([self.peak, *map(_bytes_of, _actors())])


def _actors() -> list[Path]:
    commands = Path("/proc").glob("[0-9]*/cmdline")
    return [
        path.parent
        for path in commands
        if b"ray::Worker" in _read_proc_file(path)
    ]


def _bytes_of(folder: Path) -> int:
    pages = _read_proc_file(folder / "statm").split() or [b"0", b"0"]
    return int(pages[1]) * os.sysconf("SC_PAGE_SIZE")


def _read_proc_file(path: Path) -> bytes:
    """Return a file of ``/proc``; empty if the process has ended."""
    try:
        return path.read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


@contextmanager
def _command(address: str, data: Path, out: Path) -> Iterator[Command]:
    words = [
        sys.executable,
        str(Path(__file__).parent / "driver.py"),
        address,
        str(data),
        str(out),
    ]
    with subprocess.Popen(
        [*words, str(BLOCK), *METRICS], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Command(process)
        finally:
            process.kill()


def _parts(run: Path) -> set[Path]:
    return set((run / "outcomes").glob("part-*.parquet"))


def _jobs(parts: set[Path]) -> set[tuple[str, int]]:
    jobs = set()
    for part in parts:
        table = pq.read_table(part, columns=["asker", "position"]).to_pydict()
        jobs |= set(zip(table["asker"], table["position"], strict=True))
    return jobs


def test_a_lost_node_and_a_killed_command_change_nothing(
    tmp_path: Path, cluster: Any
) -> None:
    seed = random.SystemRandom().randrange(10**6)
    rng = random.Random(seed)
    sys.stdout.write(f"{seed=}\n")  # shown where the test fails
    data, run, local = (
        captions.write(tmp_path / "data.jsonl", N),
        tmp_path / "run",
        tmp_path / "me",
    )
    n_blocks = -(-N // BLOCK)
    lost, killed = sorted(rng.sample(range(2, n_blocks - 6), 2))

    with _command(cluster.address, data, run) as first:
        first.wait_for(lost)
        cluster.remove_node(
            rng.choice(sorted(cluster.worker_nodes, key=str)),
            allow_graceful=False,
        )
        first.wait_for(killed - lost)
        first.process.send_signal(signal.SIGKILL)
        first.process.wait()
    finished = _parts(run)
    assert killed <= len(finished) < n_blocks
    with Store.read(run) as store:
        assert sum(store.n_finished(metric, N) for metric in METRICS) == len(
            _jobs(finished)
        )

    with _command(cluster.address, data, run) as second:
        assert second.reused >= len(_jobs(finished))
        second.wait_for(
            (len(METRICS) * N - second.reused) // (len(METRICS) * BLOCK)
        )
        assert second.process.wait() == 0
    again = {part for part in _parts(run) if "-0002-" in part.name}
    assert not _jobs(again) & _jobs(finished), (
        "what was finished was done twice"
    )
    assert _jobs(_parts(run)) == {
        (metric, place) for metric in METRICS for place in range(N)
    }

    score(data, METRICS, out=local).report()
    for name in ("run.json", "scores.parquet", "units.parquet", "report.html"):
        assert (run / name).read_bytes() == (local / name).read_bytes(), name
    assert 0 < first.peak < MOST_MEMORY
    assert 0 < second.peak < MOST_MEMORY
    for command in (first, second):
        assert command.own[-1] - command.own[0] < MOST_GROWTH
