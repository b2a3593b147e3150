"""How fast a study saves: annotators who each save once a second, at one server, and what is kept.

    PYTHONPATH=tests python -m benchmarks.annotate [--annotators 50] [--seconds 60] [--postgres]

The server is ``beholder annotate serve`` in a process of its own, with SQLite or with a PostgreSQL
server that is made for this. Times are what a browser waits for: from the first byte sent to the
answer that says saved. At the end all acts are counted in the database.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np

from beholder.kinds.annotation.assignment import AnnotationDesign
from beholder.kinds.annotation.pages import PAGE_KEY
from beholder.kinds.annotation.study import AnnotationStudy
from beholder.kinds.annotation.tasks import task_named
from beholder.records import Item
from beholder.web.guard import HEADER
from servers.postgres import programs, running

N_TEXTS = 100
PORT = 8931


class Browser:
    """As little of one as can be, so that its own work is not in the times: one connection."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._cookies: dict[str, str] = {}

    async def __aenter__(self) -> Browser:
        self._in, self._out = await asyncio.open_connection(
            "127.0.0.1", self._port
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        self._out.close()

    async def ask(
        self, line: str, body: str = "", marks: tuple[str, str] = ("", "")
    ) -> str:
        """The body of an answer that must be 200; marks are those of the session and the page."""
        cookies = "; ".join(
            f"{name}={value}" for name, value in self._cookies.items()
        )
        head = [
            line + " HTTP/1.1",
            f"host: 127.0.0.1:{self._port}",
            f"cookie: {cookies}",
        ]
        if body:
            headers = zip(
                ("content-length", HEADER, PAGE_KEY),
                (len(body), *marks),
                strict=True,
            )
            head += [f"{name}: {value}" for name, value in headers]
        self._out.write("\r\n".join([*head, "", body]).encode())
        came = (await self._in.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        assert " 200 " in came[0], came[0]
        fields = [field.partition(": ") for field in came[1:]]
        for name, _, value in fields:
            if name == "set-cookie":
                cookie, _, attributes = value.partition("=")
                self._cookies[cookie] = attributes.partition(";")[0]
        length = next(
            int(value) for name, _, value in fields if name == "content-length"
        )
        return (await self._in.readexactly(length)).decode()


def _marks(page: str) -> tuple[str, str]:
    csrf, key = (
        page.split(f'data-{name}="')[1].split('"')[0]
        for name in ("csrf", "key")
    )
    return csrf, key


async def annotate(
    token: str,
    seconds: int,
    share: float,
    all_in: asyncio.Barrier,
    waited: list[float],
) -> None:
    """One annotator: a save each second, each at a moment of his own."""
    async with Browser(PORT) as browser:
        await browser.ask(f"GET /?token={token}")
        marks = [
            _marks(await browser.ask(f"GET /units/{place}"))
            for place in range(1, min(seconds, N_TEXTS) + 1)
        ]
        await all_in.wait()
        begin = time.perf_counter() + share - 1
        for number in range(1, seconds + 1):
            await asyncio.sleep(max(0.0, begin + number - time.perf_counter()))
            rating = 1 + (number * 7) % 10
            act = {
                "client": "bench",
                "number": number,
                "part": "rating",
                "value": rating,
            }
            at = (number - 1) % N_TEXTS
            line = f"POST /units/{1 + at}/acts"
            sent = time.perf_counter()
            answer = await browser.ask(line, json.dumps(act), marks[at])
            waited.append(time.perf_counter() - sent)
            assert json.loads(answer)["last"] == number


async def measure(tokens: list[str], seconds: int) -> list[float]:
    """Run all annotators at once; return the seconds that each save took."""
    waited: list[float] = []
    n = len(tokens)
    all_in = asyncio.Barrier(n)
    await asyncio.gather(
        *(
            annotate(t, seconds, place / n, all_in, waited)
            for place, t in enumerate(tokens)
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
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = (
            Path(stack.enter_context(tempfile.TemporaryDirectory())) / "study"
        )
        database = None
        if options.postgres:
            server_programs = programs()
            if server_programs is None:
                raise SystemExit(
                    "there is no PostgreSQL server here (apt-get install postgresql)"
                )
            server_of_data = stack.enter_context(running(server_programs))
            database = server_of_data.new_url()
            os.environ["PGPASSWORD"] = server_of_data.password
        task = task_named("ratings")
        texts = [
            Item(str(n), f"A text about picture {n}.") for n in range(N_TEXTS)
        ]
        names = tuple(f"person {n}" for n in range(options.annotators))
        study = AnnotationStudy.make(
            folder,
            task,
            task.units(texts),
            AnnotationDesign(names),
            database=database,
        )
        command = [
            sys.executable,
            "-m",
            "beholder",
            "annotate",
            "serve",
            str(folder),
        ]
        server = subprocess.Popen(
            [*command, "--port", str(PORT)], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            server.stdout.readline()
            tokens = list(study.annotators().values())
            before = cpu_seconds(server.pid)
            waited = asyncio.run(measure(tokens, options.seconds))
            busy = (cpu_seconds(server.pid) - before) / len(waited) * 1000
        finally:
            server.kill()
            server.communicate()
        n_kept = sum(study.last(name, "bench") for name in names)
        study.close()
    where = "PostgreSQL" if options.postgres else "SQLite"
    ms = np.quantile(np.array(waited) * 1000, [0.5, 0.95, 0.99, 1.0])
    print(
        f"{where}: {len(waited):,} saves by {options.annotators} annotators in {options.seconds} s;"
        f" kept {n_kept:,}; processor of the server {busy:.1f} ms a save (links and pages in it);"
        f" ms until saved: median {ms[0]:.1f}, p95 {ms[1]:.1f}, p99 {ms[2]:.1f}, max {ms[3]:.1f}"
    )
    if n_kept != len(waited):
        raise SystemExit(f"{len(waited) - n_kept} saves were lost")


if __name__ == "__main__":
    main()
