"""Requests per second of a judge against bare loops of httpx and httpx2 at the same concurrency.

A local server in a process of its own answers after 20 ms. Printed: the ratios of the rates (1.0
would be no cost at all; median of rounds; the judge sends by httpx2, whose pool is the quicker one
where many calls run at once), CPU time per request of the judge, and peak memory at
1,000 and at 20,000 requests. Run: ``python benchmarks/judge_throughput.py``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import resource
import socket
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import httpx2

from beholder import judges
from beholder.aio import map_bounded
from beholder.judges.operations import Presence, Question, Rewrite

DELAY = 0.02
TEXT = "A tall man in a red coat holds a cup near the river. " * 10


def serve(port: int) -> None:
    """The server's process."""
    import uvicorn

    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": "4"},
        "finish_reason": "stop",
    }
    tokens = [{"token": str(d), "logprob": -1.0 - d} for d in range(20)]
    choice["logprobs"] = {
        "content": [{"token": "4", "logprob": -0.1, "top_logprobs": tokens}]
    }
    usage = {"prompt_tokens": 200, "completion_tokens": 1}
    body = json.dumps(
        {"id": "x", "model": "m", "choices": [choice], "usage": usage}
    ).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        while (await receive()).get("more_body"):
            pass
        await asyncio.sleep(DELAY)
        await send(
            {"type": "http.response.start", "status": 200, "headers": headers}
        )
        await send({"type": "http.response.body", "body": body})

    uvicorn.run(
        app, port=port, log_level="critical", lifespan="off", ws="none"
    )


async def bare(library: Any, url: str, n: int, concurrency: int) -> float:
    """Requests per second of httpx or httpx2 alone, with a body like the judge's."""
    body = {
        "model": "m",
        "messages": [
            {
                "role": "user",
                "content": TEXT + " A question of the usual length." * 20,
            }
        ],
        "max_tokens": 1,
        "temperature": 0.0,
        "logprobs": True,
        "top_logprobs": 20,
    }
    limits = library.Limits(max_connections=concurrency)
    async with library.AsyncClient(limits=limits, timeout=60) as client:

        async def send_request(i: int) -> None:
            response = await client.post(
                f"{url}/chat/completions", json=body | {"seed": i}
            )
            response.json()["choices"][0]["message"]["content"]

        start = time.perf_counter()
        async for _ in map_bounded(send_request, range(n), concurrency):
            pass
        return n / (time.perf_counter() - start)


async def judged(
    url: str, numbers: Iterable[int], concurrency: int, folder: Path
) -> float:
    """Requests per second of a judge that keeps its answers in a run and in a cache."""
    own_file = judges.AnswerFile(folder / "run.sqlite")
    shared_file = judges.AnswerFile(folder / "cache.sqlite")
    judge = judges.judge(
        "openai:m",
        base_url=url,
        concurrency=concurrency,
        answers=judges.Answers(own_file, shared_file),
    )
    await judge.ask(Rewrite("warm up"))

    async def ask_judge(i: int) -> None:
        await judge.ask(Presence([Question("entity", f"thing {i}")], TEXT))

    n = 0
    start = time.perf_counter()
    async for _ in map_bounded(ask_judge, numbers, 2 * concurrency):
        n += 1
    seconds = time.perf_counter() - start
    own_file.close()
    shared_file.close()
    return n / seconds


def cpu() -> float:
    """CPU seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def peak() -> float:
    """Peak memory of this process in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=1500)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--most", type=int, default=20000, help="requests of the memory test"
    )
    parser.add_argument(
        "--concurrency", type=int, nargs="*", default=[8, 16, 32]
    )
    args = parser.parse_args()
    with socket.socket() as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        port = free_socket.getsockname()[1]
    server = multiprocessing.get_context("spawn").Process(
        target=serve, args=(port,), daemon=True
    )
    server.start()
    url = f"http://127.0.0.1:{port}/v1"
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    print(
        f"answers after {DELAY * 1000:.0f} ms; Python {sys.version.split()[0]}"
    )
    for concurrency in args.concurrency:
        ratios: dict[str, list[float]] = {"httpx": [], "httpx2": []}
        costs = []
        for _ in range(
            args.rounds
        ):  # side by side, so that a busy machine slows both
            plain = {
                library.__name__: asyncio.run(
                    bare(library, url, args.requests, concurrency)
                )
                for library in (httpx, httpx2)
            }
            with tempfile.TemporaryDirectory() as folder:
                before = cpu()
                own_rate = asyncio.run(
                    judged(
                        url, range(args.requests), concurrency, Path(folder)
                    )
                )
                costs.append((cpu() - before) / args.requests)
            for name, rate in plain.items():
                ratios[name].append(own_rate / rate)
        ratio_text = ", ".join(
            f"judge / {name} = {median(values):.2f} ({min(values):.2f} to {max(values):.2f})"
            for name, values in ratios.items()
        )
        print(
            f"concurrency {concurrency}: {ratio_text}, CPU {1000 * median(costs):.2f} ms a request"
        )
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(judged(url, range(1000), 16, Path(folder)))
        at_1000 = peak()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(judged(url, range(args.most), 16, Path(folder)))
    print(
        f"peak memory: {at_1000:.0f} MB after 1,000, {peak():.0f} MB after {args.most:,} requests"
    )
    server.terminate()
    server.join()


if __name__ == "__main__":
    main()
