"""Questions and criteria a minute through a server that answers at once.

A local server in a process of its own answers every question as soon as it has read it. Printed for
``qa`` and ``checklist``, with ten a call and with one: how many a minute a whole ``beholder.score``
puts to a judge, with store and summary. Run: ``python benchmarks/asked.py``.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import socket
import tempfile
import time
from pathlib import Path
from typing import Any

import beholder
from beholder import Item

_ITEM_ID = re.compile(r'<item id=\\"(\d+)\\">')
_WORDS = (
    "The red tram stops beside the old market hall, and two women get off. "
)


def serve(port: int) -> None:
    """The server's process: the first option or state, and a quote."""
    import uvicorn

    async def app(scope: Any, receive: Any, send: Any) -> None:
        raw = b""
        while True:
            event = await receive()
            raw += event.get("body", b"")
            if not event.get("more_body"):
                break
        text = raw.decode("utf-8")
        answer = {"choice": "A"} if "Questions:" in text else {"state": "met"}
        rows = [
            {"id": int(n), **answer, "quote": "red tram"}
            for n in _ITEM_ID.findall(text)
        ]
        answer_text = (
            json.dumps({"rows": rows})
            if rows
            else '{"k7": [417, 417], "note": "-"}'
        )
        choice = {
            "index": 0,
            "message": {"role": "assistant", "content": answer_text},
        }
        choice["finish_reason"] = "stop"
        usage = {
            "prompt_tokens": len(raw) // 4,
            "completion_tokens": len(answer_text) // 4,
        }
        body = json.dumps(
            {"id": "x", "model": "m", "choices": [choice], "usage": usage}
        ).encode()
        headers = [(b"content-type", b"application/json")]
        headers.append((b"content-length", str(len(body)).encode()))
        await send(
            {"type": "http.response.start", "status": 200, "headers": headers}
        )
        await send({"type": "http.response.body", "body": body})

    uvicorn.run(
        app, port=port, log_level="critical", lifespan="off", ws="none"
    )


def items(n: int, each: int) -> list[Item]:
    """Texts, each with as many questions and criteria."""
    options = ["a tram", "a bus", "a boat", "a lorry"]
    return [
        Item(
            str(i),
            f"{_WORDS * 5} Number {i}.",
            meta={
                "questions": [
                    {
                        "question": f"What stops in scene {i}, part {k}?",
                        "options": options,
                    }
                    | {"answer": "a tram"}
                    for k in range(each)
                ],
                "criteria": [
                    f"Part {k} of scene {i} shows a red tram."
                    for k in range(each)
                ],
            },
        )
        for i in range(n)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=200)
    parser.add_argument(
        "--each", type=int, default=20, help="questions and criteria of a text"
    )
    args = parser.parse_args()
    with socket.socket() as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        port = free_socket.getsockname()[1]
    server = multiprocessing.get_context("spawn").Process(
        target=serve, args=(port,), daemon=True
    )
    server.start()
    for _ in range(200):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                break
        time.sleep(0.05)
    data, n = items(args.texts, args.each), args.texts * args.each
    for name in ("qa", "checklist"):
        for at_once in (10, 1):
            with tempfile.TemporaryDirectory() as folder:
                start = time.perf_counter()
                run = beholder.score(
                    data,
                    metrics=[f"{name}(at_once={at_once})"],
                    judge="openai:m",
                    base_url=f"http://127.0.0.1:{port}/v1",
                    out=Path(folder) / "run",
                )
                seconds = time.perf_counter() - start
                (result,) = run.summary.values()
                assert (result.n_scored, result.values["unread"].mean) == (
                    args.texts,
                    0.0,
                )
            rate = 60 * n / seconds
            print(
                f"{name}, {at_once} a call: {n:,} in {seconds:.1f} s, {rate:,.0f} a minute"
            )
    server.terminate()


if __name__ == "__main__":
    main()
