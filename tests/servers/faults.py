"""An OpenAI-compatible server in a thread: faults on demand, and it counts what is paid for."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import json
import random
import threading
from collections import Counter
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar
from unittest import mock

import uvicorn

from beholder.backends.openai_http import Connection
from toy import clock

# Those that cost a test time are rarer.
TRANSPORT_FAULTS = ("429", "500", "reset", "truncated", "empty") * 5 + (
    "429-later",
    "hang",
)
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
        top = [
            {"token": token, "logprob": value}
            for token, value in first.items()
        ]
        choice["logprobs"] = {
            "content": [
                {"token": content, "logprob": 0.0, "top_logprobs": top}
            ]
        }
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


def probe_answer(body: Mapping[str, Any]) -> dict[str, Any] | None:
    """Answer the probe for schemas as a server that keeps to them; None for other requests."""
    prompt = "".join(
        str(body.get(way, ""))
        for way in ("response_format", "tools", "guided_json")
    )
    return (
        completion('{"k7": [417, 417], "note": "-"}')
        if "'k7'" in prompt
        else None
    )


class Refusal(Exception):
    """Raised by a reply to answer with an HTTP error."""

    def __init__(
        self, status: int, message: str, code: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


async def body_of(receive: Any) -> bytes:
    """The whole body of a request."""
    raw = b""
    while True:
        event: Mapping[str, Any] = await receive()
        raw += bytes(event.get("body", b""))
        if not event.get("more_body"):
            return raw


class FaultServer:
    """Plays a server.

    Attributes:
        paid: How often each request body got a whole, valid answer.
        bodies: Every request body that came.
        keys: Every authorization header that came.
        hanging: Numbers of the requests that will get no answer (see ``run_beside``).
    """

    def __init__(
        self,
        reply: Reply,
        *,
        fault_rate: float = 0.0,
        faults: tuple[str, ...] = TRANSPORT_FAULTS,
        most_in_a_row: int = 4,
        models: Mapping[str, Any] | None = None,
    ) -> None:
        self.reply = reply
        self.fault_rate = fault_rate
        self.faults = faults
        self.most_in_a_row = most_in_a_row
        self.models = models
        self.paid: Counter[str] = Counter()
        self.tries: Counter[str] = Counter()
        self.shown: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.hanging: set[str] = set()
        self.in_flight = 0
        self.most_in_flight = 0
        self.url = ""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raw = await body_of(receive)
        if scope["path"].endswith("/models"):
            has_models = self.models is not None
            await _send(
                send,
                200 if has_models else 404,
                json.dumps(self.models or {}).encode(),
            )
            return
        self.keys |= {
            v.decode() for k, v in scope["headers"] if k == b"authorization"
        }
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await self._answer(raw, scope, receive, send)
        finally:
            self.in_flight -= 1

    async def before_answer(self) -> None:
        """Called when a request is noted and not yet answered; a test may hold it here."""

    async def _answer(
        self, raw: bytes, scope: Any, receive: Any, send: Any
    ) -> None:
        digest = hashlib.sha256(raw).hexdigest()
        body = json.loads(raw)
        self.bodies.append(body)
        self.tries[digest] += 1
        await self.before_answer()
        fault = self._fault(digest)
        if fault is not None:
            self.shown[fault] += 1
        if fault == "hang":
            self.hanging.add(dict(scope["headers"])[NUMBER.encode()].decode())
            await receive()  # until the client goes away
            return
        if fault is not None:
            await self._fail(fault, body, send)
            return
        try:
            answer = self.reply(body)
        except Refusal as refusal:
            error = {"error": {"message": str(refusal), "code": refusal.code}}
            await _send(send, refusal.status, json.dumps(error).encode())
            return
        self.paid[digest] += 1
        _count_pictures(raw, answer)
        await _send(send, 200, json.dumps(answer).encode())

    def _fault(self, digest: str) -> str | None:
        """Decided by the body and how often it came, so that every run sees the same faults."""
        if self.tries[digest] > self.most_in_a_row:
            return None
        rng = random.Random(f"{digest}{self.tries[digest]}")
        return (
            rng.choice(self.faults) if rng.random() < self.fault_rate else None
        )

    async def _fail(self, fault: str, body: dict[str, Any], send: Any) -> None:
        error = json.dumps({"error": {"message": f"planned {fault}"}}).encode()
        if fault == "429":
            await _send(send, 429, error)
        elif fault == "429-later":
            await _send(send, 429, error, (b"retry-after", b"0.05"))
        elif fault == "500":
            await _send(send, 500, error)
        elif fault == "reset":
            headers = [
                (b"content-length", b"1000"),
                (b"content-type", b"application/json"),
            ]
            await send(
                {
                    "type": "http.response.start",
                    "status": 200,
                    "headers": headers,
                }
            )
            await send(
                {
                    "type": "http.response.body",
                    "body": b'{"id"',
                    "more_body": True,
                }
            )
            raise ConnectionResetError("planned")
        elif fault == "truncated":
            whole = json.dumps(self.reply(body)).encode()
            await _send(send, 200, whole[: len(whole) // 2])
        elif fault == "empty":
            await _send(
                send,
                200,
                json.dumps({"model": "served-1", "choices": []}).encode(),
            )
        else:
            raise AssertionError(fault)


def _count_pictures(raw: bytes, answer: Any) -> None:
    """A server that sees pictures counts tokens for them."""
    usage = answer.get("usage") if isinstance(answer, dict) else None
    if isinstance(usage, dict) and isinstance(usage.get("prompt_tokens"), int):
        usage["prompt_tokens"] += 85 * raw.count(b'"image_url":{')


async def _send(
    send: Any, status: int, body: bytes, *more: tuple[bytes, bytes]
) -> None:
    await send_answer(
        send, status, body, [(b"content-type", b"application/json"), *more]
    )


async def send_answer(
    send: Any, status: int, body: bytes, headers: list[tuple[bytes, bytes]]
) -> None:
    """Send a whole answer."""
    length = (b"content-length", str(len(body)).encode())
    whole = headers if status == 204 else [*headers, length]
    await send(
        {"type": "http.response.start", "status": status, "headers": whole}
    )
    await send({"type": "http.response.body", "body": body})


class Served(Protocol):
    """An ASGI application that wants to know its address."""

    url: str
    hanging: set[str]

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""


S = TypeVar("S", bound=Served)
T = TypeVar("T")
NUMBER = "x-number"


class _Runner(uvicorn.Server):
    """Says when it listens, and ends at once.

    uvicorn asks ten times a second whether it should end, and then waits as long again: a fifth
    of a second for each of hundreds of servers.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listens = threading.Event()

    async def startup(self, sockets: Any = None) -> None:
        self.loop = asyncio.get_running_loop()
        self.ended = asyncio.Event()
        await super().startup(sockets)
        self.listens.set()

    async def main_loop(self) -> None:
        await self.on_tick(0)  # sets the headers of all answers
        await self.ended.wait()

    async def shutdown(self, sockets: Any = None) -> None:
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await asyncio.sleep(0)  # transports close in the loop's next step

    def stop(self) -> None:
        """End the server, from another thread."""
        self.loop.call_soon_threadsafe(self.ended.set)


@contextmanager
def serving(server: S) -> Iterator[S]:
    """Run the server on a free port."""
    config = uvicorn.Config(
        server,
        port=0,
        log_level="critical",
        lifespan="off",
        ws="none",
        access_log=False,
        date_header=False,  # a test may send its own
    )
    runner = _Runner(config)
    thread = threading.Thread(target=runner.run, daemon=True)
    thread.start()
    assert runner.listens.wait(timeout=60)
    port = runner.servers[0].sockets[0].getsockname()[1]
    server.url = f"http://127.0.0.1:{port}/v1"
    try:
        yield server
    finally:
        runner.stop()
        thread.join(timeout=5)


def run_beside(server: Served, work: Coroutine[Any, Any, T]) -> T:
    """``asyncio.run`` for a client of the server, in time that passes only while nothing happens.

    Pauses, rates and deadlines of the client are kept by a clock that stands still while a request
    is under way, and jumps while there is none or all of them hang. So a busy machine makes no
    request late.
    """
    send: Any = Connection.request
    numbers = itertools.count()
    under_way: set[str] = set()

    async def counted(
        self: Connection, method: str, path: str, **parts: Any
    ) -> bytes:
        number = str(next(numbers))
        under_way.add(number)
        parts["headers"] = {**parts.get("headers", {}), NUMBER: number}
        try:
            body: bytes = await send(self, method, path, **parts)
            return body
        finally:
            under_way.discard(number)

    with mock.patch.object(Connection, "request", counted):
        return clock.run_in_fake_time(
            work, lambda: under_way <= server.hanging
        )
