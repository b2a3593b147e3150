"""An OpenAI-compatible server in a thread: faults on demand, and it counts what is paid for."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import uvicorn

# Those that cost a test time are rarer.
TRANSPORT_FAULTS = ("429", "500", "reset", "truncated", "empty") * 5 + ("429-later", "hang")
Reply = Callable[[dict[str, Any]], dict[str, Any]]


def completion(
    content: str | None,
    *,
    model: str = "served-1",
    first: Mapping[str, float] | None = None,
    finish: str = "stop",
    **message: Any,
) -> dict[str, Any]:
    """A chat completion body."""
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": content, **message},
        "finish_reason": finish,
    }
    if first is not None:
        top = [{"token": token, "logprob": value} for token, value in first.items()]
        choice["logprobs"] = {"content": [{"token": content, "logprob": 0.0, "top_logprobs": top}]}
    return {
        "id": "x",
        "object": "chat.completion",
        "model": model,
        "system_fingerprint": "fp-1",
        "choices": [choice],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "prompt_tokens_details": {"cached_tokens": 20},
        },
    }


class Refusal(Exception):
    """Raised by a reply to answer with an HTTP error."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class FaultServer:
    """Plays a server.

    Attributes:
        paid: How often each request body got a whole, valid answer.
        bodies: Every request body that came.
        keys: Every authorization header that came.
    """

    def __init__(
        self,
        reply: Reply,
        *,
        fault_rate: float = 0.0,
        faults: tuple[str, ...] = TRANSPORT_FAULTS,
        delay: float = 0.0,
        hang: float = 3.0,
        most_in_a_row: int = 4,
        models: Mapping[str, Any] | None = None,
    ) -> None:
        self.reply = reply
        self.fault_rate = fault_rate
        self.faults = faults
        self.delay = delay
        self.hang = hang
        self.most_in_a_row = most_in_a_row
        self.models = models
        self.paid: Counter[str] = Counter()
        self.tries: Counter[str] = Counter()
        self.shown: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.in_flight = 0
        self.most_in_flight = 0
        self.url = ""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raw = b""
        while True:
            event = await receive()
            raw += event.get("body", b"")
            if not event.get("more_body"):
                break
        if scope["path"].endswith("/models"):
            known = self.models is not None
            await _send(send, 200 if known else 404, json.dumps(self.models or {}).encode())
            return
        self.keys |= {v.decode() for k, v in scope["headers"] if k == b"authorization"}
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self._answer(raw, send)
        finally:
            self.in_flight -= 1

    async def _answer(self, raw: bytes, send: Any) -> None:
        digest = hashlib.sha256(raw).hexdigest()
        body = json.loads(raw)
        self.bodies.append(body)
        self.tries[digest] += 1
        await asyncio.sleep(self.delay)
        fault = self._fault(digest)
        if fault is not None:
            self.shown[fault] += 1
            await self._fail(fault, body, send)
            return
        try:
            answer = self.reply(body)
        except Refusal as refusal:
            error = {"error": {"message": str(refusal), "code": None}}
            await _send(send, refusal.status, json.dumps(error).encode())
            return
        self.paid[digest] += 1
        await _send(send, 200, json.dumps(answer).encode())

    def _fault(self, digest: str) -> str | None:
        """Decided by the body and how often it came, so that every run sees the same faults."""
        if self.tries[digest] > self.most_in_a_row:
            return None
        rng = random.Random(f"{digest}{self.tries[digest]}")
        return rng.choice(self.faults) if rng.random() < self.fault_rate else None

    async def _fail(self, fault: str, body: dict[str, Any], send: Any) -> None:
        error = json.dumps({"error": {"message": f"planned {fault}"}}).encode()
        if fault == "429":
            await _send(send, 429, error)
        elif fault == "429-later":
            await _send(send, 429, error, (b"retry-after", b"0.05"))
        elif fault == "500":
            await _send(send, 500, error)
        elif fault == "hang":
            await asyncio.sleep(self.hang)
            await _send(send, 500, error)
        elif fault == "reset":
            headers = [(b"content-length", b"1000"), (b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b'{"id"', "more_body": True})
            raise ConnectionResetError("planned")
        elif fault == "truncated":
            whole = json.dumps(self.reply(body)).encode()
            await _send(send, 200, whole[: len(whole) // 2])
        elif fault == "empty":
            await _send(send, 200, json.dumps({"model": "served-1", "choices": []}).encode())
        else:
            raise AssertionError(fault)


async def _send(send: Any, status: int, body: bytes, *more: tuple[bytes, bytes]) -> None:
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        *more,
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Served(Protocol):
    """An ASGI application that wants to know its address."""

    url: str

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""


S = TypeVar("S", bound=Served)


@contextmanager
def serving(server: S) -> Iterator[S]:
    """Run the server on a free port."""
    config = uvicorn.Config(
        server, port=0, log_level="critical", lifespan="off", ws="none", access_log=False
    )
    runner = uvicorn.Server(config)
    thread = threading.Thread(target=runner.run, daemon=True)
    thread.start()
    while not runner.started:
        time.sleep(0.005)
    port = runner.servers[0].sockets[0].getsockname()[1]
    server.url = f"http://127.0.0.1:{port}/v1"
    try:
        yield server
    finally:
        runner.should_exit = True
        runner.force_exit = True
        thread.join(timeout=5)
