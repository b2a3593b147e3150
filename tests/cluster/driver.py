"""A run on a cluster, in a process of its own that prints a line for each finished block.

Ray writes to the same stream, so our lines begin with a word of their own.

python driver.py ADDRESS DATA OUT BLOCK METRIC...
"""

from __future__ import annotations

import sys

from beholder.ray import RayEngine, engine, score
from beholder.run.session import Quiet


def _tell(*numbers: int) -> None:
    sys.stdout.write(f"done {' '.join(map(str, numbers))}\n")
    sys.stdout.flush()


class Telling(Quiet):
    """Prints how many jobs are reused, then the scores and failures of each block."""

    def start(self, total: int, reused: int) -> None:
        _tell(total, reused)

    def advance(self, n_scored: int, n_failed: int) -> None:
        _tell(n_scored, n_failed)


if __name__ == "__main__":
    address, data, out, block, *metrics = sys.argv[1:]
    engine.BLOCK = int(block)
    score(
        data, metrics, engine=RayEngine(address), out=out, progress=Telling()
    ).report()
