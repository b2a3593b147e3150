"""How fast a study saves: annotators who each save once a second, at one server, and what is kept.

    PYTHONPATH=tests python -m benchmarks.annotate [--annotators 50] [--seconds 60] [--postgres]

The server is ``beholder annotate serve`` in a process of its own, with SQLite or with a PostgreSQL
server that is made for this. Times are what a browser waits for: from the first byte sent to the
answer that says saved. At the end all acts are counted in the database.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import httpx2 as httpx
import numpy as np

from beholder.annotate.dealing import AnnotationDesign
from beholder.annotate.study import AnnotationStudy
from beholder.annotate.tasks import TASKS
from beholder.records import Item
from beholder.web.guard import HEADER
from servers.postgres import programs, running

N_TEXTS = 100
PORT = 8931


async def annotate(base: str, token: str, seconds: int, begin: float, waited: list[float]) -> None:
    """One annotator: a save each second, each at a moment of his own."""
    async with httpx.AsyncClient(base_url=base, timeout=30) as client:
        await client.get("/", params={"token": token})
        page = (await client.get("/units/1")).text
        headers = {HEADER: page.split('data-csrf="')[1].split('"')[0]}
        for number in range(1, seconds + 1):
            await asyncio.sleep(max(0.0, begin + number - time.perf_counter()))
            rating = 1 + (number * 7) % 10
            act = {"client": "bench", "number": number, "part": "rating", "value": rating}
            place = 1 + (number - 1) % N_TEXTS
            sent = time.perf_counter()
            answer = await client.post(f"/units/{place}/acts", json=act, headers=headers)
            waited.append(time.perf_counter() - sent)
            answer.raise_for_status()
            assert answer.json()["last"] == number


async def measure(base: str, tokens: list[str], seconds: int) -> list[float]:
    """All annotators at once; gives the seconds that each save took."""
    waited: list[float] = []
    n = len(tokens)
    start = time.perf_counter() + 2
    await asyncio.gather(
        *(
            annotate(base, token, seconds, start + place / n, waited)
            for place, token in enumerate(tokens)
        )
    )
    return waited


def cpu_seconds(pid: int) -> float:
    """Processor time of a process so far (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Make a study, serve it, have it used, and count."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--annotators", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--postgres", action="store_true")
    asked = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "study"
        database = None
        if asked.postgres:
            found = programs()
            if found is None:
                raise SystemExit("there is no PostgreSQL server here (apt-get install postgresql)")
            server_of_data = stack.enter_context(running(found))
            database = server_of_data.new_url()
            os.environ["PGPASSWORD"] = server_of_data.password
        task = TASKS["ratings"]
        texts = [Item(str(n), f"A text about picture {n}.") for n in range(N_TEXTS)]
        names = tuple(f"person {n}" for n in range(asked.annotators))
        study = AnnotationStudy.make(
            folder, task, task.units(texts), AnnotationDesign(names), database=database
        )
        command = [sys.executable, "-m", "beholder", "annotate", "serve", str(folder)]
        server = subprocess.Popen(
            [*command, "--port", str(PORT)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            server.stdout.readline()
            tokens = list(study.annotators().values())
            before = cpu_seconds(server.pid)
            waited = asyncio.run(measure(f"http://127.0.0.1:{PORT}", tokens, asked.seconds))
            busy = (cpu_seconds(server.pid) - before) / len(waited) * 1000
        finally:
            server.kill()
            server.communicate()
        kept = sum(study.last(name, "bench") for name in names)
        study.close()
    where = "PostgreSQL" if asked.postgres else "SQLite"
    ms = np.quantile(np.array(waited) * 1000, [0.5, 0.95, 0.99, 1.0])
    print(
        f"{where}: {len(waited):,} saves by {asked.annotators} annotators in {asked.seconds} s;"
        f" kept {kept:,}; processor of the server {busy:.1f} ms a save (links and pages in it);"
        f" ms until saved: median {ms[0]:.1f}, p95 {ms[1]:.1f}, p99 {ms[2]:.1f}, max {ms[3]:.1f}"
    )
    if kept != len(waited):
        raise SystemExit(f"{len(waited) - kept} saves were lost")


if __name__ == "__main__":
    main()
