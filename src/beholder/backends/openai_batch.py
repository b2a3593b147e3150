"""OpenAI's batch mode: many requests in one upload, answered within a day at half the price.

What was uploaded is noted before anything is waited for, so that a killed run finds its batches
again and pays for nothing twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any, Protocol

from beholder.backends.base import ServerFacts
from beholder.backends.openai_http import Connection
from beholder.backends.openai_probe import Refused
from beholder.errors import TransientError

MOST_REQUESTS = 50_000
MOST_BYTES = 150_000_000
PRICE_FACTOR = 0.5


class BatchService(Protocol):
    """The calls to the server, each with retries inside."""

    async def start(self, lines: bytes) -> str:
        """Upload requests and start a batch; gives its id."""

    async def status(self, batch: str) -> tuple[str, list[str]]:
        """Status of a batch, and the ids of its result files."""

    async def content(self, file: str) -> str:
        """The lines of a result file."""


class BatchQueue:
    """Collects requests, sends them as batches, and hands out the answers.

    Args:
        service: The calls to the server.
        facts: Where open batches are remembered.
        name: Whose batches.
        quiet: Seconds without a new request after which a batch is sent.
        poll: Seconds between looks at a batch.
    """

    def __init__(
        self, service: BatchService, facts: ServerFacts, name: str, *, quiet: float, poll: float
    ) -> None:
        self._service = service
        self._facts = facts
        self._fact_name = f"open batches of {name}"
        self._quiet = quiet
        self._poll = poll
        self._bodies: dict[str, dict[str, Any]] = {}
        self._waiting: dict[str, asyncio.Future[dict[str, Any]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._open: dict[str, list[str]] = json.loads(facts.get_fact(self._fact_name) or "{}")
        for batch in self._open:
            self._spawn(self._follow(batch))

    async def ask(self, body: dict[str, Any]) -> dict[str, Any]:
        """The response to one body.

        Raises:
            TransientError: The batch expired or failed; the next start sends the request again.
            Refused: The server will not answer this request.
        """
        text = json.dumps(body, sort_keys=True)
        request_id = hashlib.sha256(text.encode("utf-8")).hexdigest()
        if request_id not in self._waiting:
            self._waiting[request_id] = asyncio.get_running_loop().create_future()
            if not any(request_id in ids for ids in self._open.values()):
                self._bodies[request_id] = body
                self._schedule()
        return await asyncio.shield(self._waiting[request_id])

    def stop(self) -> None:
        """Stop following batches; they go on at the server and are found again later."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks:
            task.cancel()

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        quiet = 0.0 if len(self._bodies) >= MOST_REQUESTS else self._quiet
        loop = asyncio.get_running_loop()
        self._timer = loop.call_later(quiet, lambda: self._spawn(self._send()))

    def _spawn(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _send(self) -> None:
        lines: list[bytes] = []
        ids: list[str] = []
        n_bytes = 0
        for request_id, body in self._bodies.items():
            row = {
                "custom_id": request_id,
                "method": "POST",
                "url": "/v1/chat/completions",
                "body": body,
            }
            line = json.dumps(row).encode("utf-8") + b"\n"
            if ids and (len(ids) == MOST_REQUESTS or n_bytes + len(line) > MOST_BYTES):
                break
            lines.append(line)
            ids.append(request_id)
            n_bytes += len(line)
        if not ids:
            return
        for request_id in ids:
            del self._bodies[request_id]
        try:
            batch = await self._service.start(b"".join(lines))
        except Exception as error:  # whatever it is, those who wait must hear of it
            self._fail(ids, error)
            return
        self._open[batch] = ids
        self._remember()
        if self._bodies:
            self._spawn(self._send())
        await self._follow(batch)

    async def _follow(self, batch: str) -> None:
        ids = self._open[batch]
        try:
            while True:
                status, files = await self._service.status(batch)
                if status in ("completed", "failed", "expired", "cancelled"):
                    break
                await asyncio.sleep(self._poll)
            for file in files:
                for line in (await self._service.content(file)).splitlines():
                    self._deliver(json.loads(line))
        except Exception as error:  # the batch stays open: the next start looks at it again
            self._fail(ids, error)
            return
        del self._open[batch]
        self._remember()
        self._fail(ids, TransientError(f"batch {batch} ended as {status} without this answer"))

    def _deliver(self, row: dict[str, Any]) -> None:
        future = self._future(row["custom_id"])
        response = row.get("response") or {}
        if response.get("status_code") == 200:
            future.set_result(response["body"])
            return
        reason = json.dumps(row.get("error") or response.get("body"))[:300]
        if response.get("status_code") in (400, 413, 422):
            future.set_exception(Refused(reason))
        else:
            future.set_exception(TransientError(f"failed in its batch: {reason}"))
        future.exception()  # seen, in case nobody of this start asks for it

    def _future(self, request_id: str) -> asyncio.Future[dict[str, Any]]:
        """The future of a request, which may be asked for only later (after a restart)."""
        if request_id not in self._waiting or self._waiting[request_id].done():
            self._waiting[request_id] = asyncio.get_running_loop().create_future()
        return self._waiting[request_id]

    def _fail(self, ids: list[str], error: Exception) -> None:
        for request_id in ids:
            future = self._waiting.get(request_id)
            if future is not None and not future.done():
                future.set_exception(error)
                future.exception()

    def _remember(self) -> None:
        self._facts.put_fact(self._fact_name, json.dumps(self._open))


class OpenAIBatches:
    """The batch calls over HTTP.

    Args:
        http: The address.
        call: Makes a call with retries.
    """

    def __init__(
        self,
        http: Connection,
        call: Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]],
    ) -> None:
        self._http = http
        self._call = call

    async def start(self, lines: bytes) -> str:
        """Upload requests and start a batch; gives its id."""
        file = await self._call(
            lambda: self._http.read(
                "POST",
                "/files",
                files={"file": ("requests.jsonl", lines)},
                data={"purpose": "batch"},
            )
        )
        batch = await self._call(
            lambda: self._http.post(
                "/batches",
                {
                    "input_file_id": file["id"],
                    "endpoint": "/v1/chat/completions",
                    "completion_window": "24h",
                },
            )
        )
        return str(batch["id"])

    async def status(self, batch: str) -> tuple[str, list[str]]:
        """Status of a batch, and the ids of its result files."""
        found = await self._call(lambda: self._http.read("GET", f"/batches/{batch}"))
        files = [found.get("output_file_id"), found.get("error_file_id")]
        return str(found["status"]), [file for file in files if file]

    async def content(self, file: str) -> str:
        """The lines of a result file."""
        found = await self._call(lambda: self._http.request("GET", f"/files/{file}/content"))
        return str(found.text)


async def batch_queue(
    service: BatchService, facts: ServerFacts, name: str, quiet: float, poll: float
) -> AsyncGenerator[BatchQueue, None]:
    """A queue for one event loop (see ``PerLoop``)."""
    queue = BatchQueue(service, facts, name, quiet=quiet, poll=poll)
    try:
        yield queue
    finally:
        queue.stop()
