"""Batch mode: many requests at once, answered within a day at half the price.

A batch is noted before it is uploaded, by a digest that goes with it, and stays noted: the answers
are at the server, and a run that was killed at any moment finds them there again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import (
    AsyncGenerator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Sequence,
)
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeAlias, TypeVar

from beholder.backends.base import JsonDict, JsonObject, ServerFacts
from beholder.backends.calls import CallFailed, Refused
from beholder.backends.openai_http import Connection, NotThere
from beholder.errors import BeholderError, TransientError

T = TypeVar("T")
Call: TypeAlias = Callable[[Callable[[], Awaitable[Any]]], Awaitable[Any]]
"""Makes a call with retries."""

MOST_REQUESTS = 50_000
MOST_BYTES = 150_000_000
MOST_RESULT_BYTES = 1_000_000_000
PRICE_FACTOR = 0.5
GONE = "gone"
"""Status of a batch that the server does not know any more."""

_ENDED = ("completed", "failed", "expired", "cancelled", GONE)
_UNDER_WAY = ("validating", "in_progress", "finalizing", "cancelling")
_FAILED = "failed in its batch"


@dataclass(eq=False)
class BatchService(ABC):
    """The calls to the server, each with retries inside.

    Args:
        http: The address.
        call: Makes a call with retries.
    """

    most_bytes: ClassVar[int] = MOST_BYTES
    dropped: ClassVar[tuple[type[Exception], ...]] = (NotThere,)
    """Errors of a result file that the server has deleted."""

    http: Connection
    call: Call

    @abstractmethod
    def line(self, request_id: str, body: JsonObject) -> bytes:
        """Return a request as a line of a batch."""

    @abstractmethod
    async def start(self, lines: Sequence[bytes], digest: str) -> str | None:
        """Start a batch that carries a digest; return its id, or None if that was lost."""

    @abstractmethod
    async def find(
        self, digest: str, ids: Collection[str], poll: float
    ) -> str | None:
        """Return the id of the batch that carries a digest or these requests, or None."""

    @abstractmethod
    async def status(self, batch: str) -> tuple[str, list[str]]:
        """Return the status of a batch, and the ids of its result files."""

    @abstractmethod
    def place(self, file: str) -> str:
        """Return where a result file is read."""

    def row(self, row: Any) -> Any:
        """Return a row of a result file in OpenAI's form; anything else if it is broken."""
        return row

    async def rows(self, file: str) -> tuple[list[Any], int]:
        """Return the rows of a result file, and how many lines could not be read."""
        path = self.place(file)
        try:
            body: bytes = await self.call(
                lambda: self.http.request(
                    "GET", path, max_bytes=MOST_RESULT_BYTES
                )
            )
        except self.dropped:
            return [], 0
        rows: list[Any] = []
        n_unread = 0
        # A line ends at a line feed and nowhere else: texts may hold other separators.
        for line in body.split(b"\n"):
            if not line.strip():
                continue
            try:
                rows.append(self.row(self.http.parse(line)))
            except CallFailed:
                n_unread += 1
        return rows, n_unread

    async def read_object(
        self,
        field: str,
        method: str,
        path: str,
        *,
        kind: type = str,
        **parts: Any,
    ) -> JsonDict:
        """Return the JSON object of a response, in which ``field`` is a value of type ``kind``.

        Raises:
            CallFailed: The field is missing or has another type.
        """
        value = await self.http.read_json(method, path, **parts)
        if isinstance(value, dict) and isinstance(value.get(field), kind):
            return value
        raise CallFailed(
            f"the server's answer to {path} has no {field}", charged=True
        )


@dataclass(eq=False)
class BatchQueue(Generic[T]):
    """Collects requests, sends them as batches, and hands out the answers.

    Args:
        service: The calls to the server.
        facts: Store that notes batches: one fact each, so that parallel runs know each other's.
        name: Whose batches.
        parse: Reads the body of a response, or raises ``CallFailed``.
        quiet: Seconds without a new request after which a batch is sent.
        poll: Seconds between looks at a batch.
    """

    service: BatchService
    facts: ServerFacts
    name: str
    parse: Callable[[object], T]
    quiet: float
    poll: float

    def __post_init__(self) -> None:
        self._prefix = f"batch of {self.name}: "
        self._bodies: dict[str, JsonObject] = {}
        self._asked: dict[str, JsonObject] = {}
        self._waiting: dict[str, asyncio.Future[T]] = {}
        self._rows: dict[str, JsonDict] = {}  # arrived, and not asked for yet
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._records = {
            name.removeprefix(self._prefix): _BatchRecord.from_json(text)
            for name, text in self.facts.facts(self._prefix).items()
        }

    async def ask(self, body: JsonObject, replicate: int = 0) -> T:
        """Return the parsed response to one body.

        Args:
            body: Bytes that are sent.
            replicate: Index of the repeat: equal bodies of different repeats are sent apart, and
                those of one repeat once.

        Raises:
            TransientError: The batch expired or failed; the next start sends the request again.
            CallFailed: The answer, which is charged, cannot be read; the same holds.
            Refused: The server will not answer this request.
        """
        # Three cases: the answer has arrived already (its batch had other requests), the request is
        # in a batch that was sent, perhaps by a killed run, or it is new and joins the next batch.
        request_id = _request_id(body, replicate)
        if request_id not in self._waiting:
            self._waiting[request_id] = (
                asyncio.get_running_loop().create_future()
            )
            self._asked[request_id] = body
            digest = next(
                (
                    d
                    for d, record in self._records.items()
                    if request_id in record.ids
                ),
                None,
            )
            if request_id in self._rows:
                self._deliver(request_id, self._rows.pop(request_id))
            elif digest is None:
                self._bodies[request_id] = body
                self._schedule()
            else:
                self._work(digest, self._follow(digest))
        future = self._waiting[request_id]
        try:
            # One caller that is cancelled must not cancel the answer of others.
            return await asyncio.shield(future)
        finally:
            if future.done():
                self._waiting.pop(request_id, None)
                self._asked.pop(request_id, None)

    def knows(self, body: JsonObject, replicate: int) -> bool:
        """Return whether a body is in a batch that was sent."""
        request_id = _request_id(body, replicate)
        return any(
            request_id in record.ids for record in self._records.values()
        )

    async def open_for_loop(self) -> AsyncGenerator[BatchQueue[T], None]:
        """Yield the queue for one event loop, as ``PerLoop`` needs it; stop it at the end."""
        try:
            yield self
        finally:
            self.stop()

    def stop(self) -> None:
        """Stop following batches; they continue at the server and are found again later."""
        if self._timer is not None:
            self._timer.cancel()
        for task in self._tasks.values():
            task.cancel()

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        quiet = 0.0 if len(self._bodies) >= MOST_REQUESTS else self.quiet
        self._timer = asyncio.get_running_loop().call_later(quiet, self._send)

    def _work(self, digest: str, work: Coroutine[Any, Any, None]) -> None:
        """Run the work of a batch as a task; drop it if the batch has a running task."""
        if digest in self._tasks:
            work.close()
            return
        self._tasks[digest] = asyncio.ensure_future(work)
        self._tasks[digest].add_done_callback(
            lambda _: self._tasks.pop(digest, None)
        )

    def _send(self) -> None:
        # Servers limit both the requests and the bytes of a batch.
        while self._bodies:
            lines: list[bytes] = []
            ids: list[str] = []
            n_bytes = 0
            for request_id, body in self._bodies.items():
                line = self.service.line(request_id, body)
                is_full = n_bytes + len(line) > self.service.most_bytes
                if ids and (len(ids) == MOST_REQUESTS or is_full):
                    break
                lines.append(line)
                ids.append(request_id)
                n_bytes += len(line)
            for request_id in ids:
                del self._bodies[request_id]
            digest = hashlib.sha256(b"".join(lines)).hexdigest()
            self._work(digest, self._start(digest, lines, ids))

    async def _start(
        self, digest: str, lines: Sequence[bytes], ids: list[str]
    ) -> None:
        # Noted before the server hears of it: whenever we are killed, we know what to look for.
        self._note(digest, _BatchRecord(None, ids))
        try:
            batch = await self.service.start(lines, digest)
        except Exception as error:
            # Whatever it is, waiting callers must get an answer.
            self._fail(
                ids,
                error,
                f"the batch of {len(ids)} requests could not be sent",
            )
            return
        self._note(digest, _BatchRecord(batch, ids))
        await self._follow(digest)

    async def _follow(self, digest: str) -> None:
        # Find the batch, wait for its end, read its rows, then hand out answers. Requests without
        # an answer leave the record, so that the next start sends them again.
        record = self._records[digest]
        try:
            batch = record.batch or await self.service.find(
                digest, record.ids, self.poll
            )
            if batch is None:  # killed before the server had it
                self._drop(digest, set(record.ids))
                self._bodies |= {
                    i: self._asked[i] for i in record.ids if i in self._asked
                }
                self._schedule()
                return
            self._note(digest, _BatchRecord(batch, record.ids))
            status, files = await self._wait_for_end(batch)
            rows: dict[str, JsonDict] = {}
            n_broken = 0
            for file in files:
                file_rows, n_unread = await self.service.rows(file)
                n_broken += n_unread
                for row in file_rows:
                    name = (
                        row.get("custom_id") if isinstance(row, dict) else None
                    )
                    if isinstance(name, str) and name in record.ids:
                        rows.setdefault(name, row)
                    else:
                        n_broken += 1
        except Exception as error:
            # The batch stays recorded, so that the next start looks at it again.
            self._fail(
                record.ids,
                error,
                f"batch {record.batch or ''} could not be followed",
            )
            return
        missing = [
            request_id for request_id in record.ids if request_id not in rows
        ]
        self._drop(digest, set(missing))
        for request_id, row in rows.items():
            if request_id in self._waiting:
                self._deliver(request_id, row)
            else:
                self._rows[request_id] = row
        broken_lines = (
            f" ({n_broken} lines of its results belong to no request)"
            if n_broken
            else ""
        )
        self._fail(
            missing,
            None,
            f"batch {batch} ended as {status} without this answer{broken_lines}",
        )

    async def _wait_for_end(self, batch: str) -> tuple[str, list[str]]:
        """Wait for the end of a batch; return its last status and its result files."""
        while True:
            status, files = await self.service.status(batch)
            if status in _ENDED:
                return status, files
            if status not in _UNDER_WAY:
                raise TransientError(
                    f"batch {batch} has the status {status[:60]!r}, which is not known here;"
                    " start the same command again to look at it once more"
                )
            await asyncio.sleep(self.poll)

    def _deliver(self, request_id: str, row: JsonObject) -> None:
        response = row.get("response")
        fields = response if isinstance(response, dict) else {}
        status = fields.get("status_code")
        future = self._waiting[request_id]
        if future.done():
            return
        # A refusal is an answer about this request, and the same every time: it stays in the
        # record. Other failures may pass, so the request is removed and sent again later.
        failure: Exception
        try:
            if status == 200:
                future.set_result(self.parse(fields.get("body")))
                return
            reason = json.dumps(row.get("error") or fields.get("body"))[:300]
            is_refused = status in (400, 413, 422)
            failure = (
                Refused(reason)
                if is_refused
                else TransientError(f"{_FAILED}: {reason}")
            )
        except CallFailed as parse_error:
            failure = CallFailed(
                f"{_FAILED}: {parse_error}",
                charged=True,
                usage=parse_error.usage,
            )
        except RecursionError:
            failure = CallFailed(
                f"{_FAILED}: it is nested too deep", charged=status == 200
            )
        if not isinstance(failure, Refused):
            self._forget(request_id)
        future.set_exception(failure)
        future.exception()  # seen, in case whoever asked for it is gone

    def _forget(self, request_id: str) -> None:
        """Remove a request from its batches, so that it is sent again when it is next asked for."""
        for digest in [
            d
            for d, record in self._records.items()
            if request_id in record.ids
        ]:
            self._drop(digest, {request_id})

    def _fail(
        self, ids: Iterable[str], error: Exception | None, what: str
    ) -> None:
        if not isinstance(error, BeholderError):
            why = "" if error is None else f": {error or type(error).__name__}"
            error = TransientError(f"{what}{why}")
        for request_id in ids:
            future = self._waiting.get(request_id)
            if future is not None and not future.done():
                future.set_exception(error)
                future.exception()

    def _drop(self, digest: str, ids: set[str]) -> None:
        if ids:
            record = self._records[digest]
            self._note(
                digest,
                _BatchRecord(
                    record.batch, [i for i in record.ids if i not in ids]
                ),
            )

    def _note(self, digest: str, record: _BatchRecord) -> None:
        self._records[digest] = record
        self.facts.put_fact(self._prefix + digest, record.to_json())


def _request_id(body: JsonObject, replicate: int) -> str:
    """Return the id of a request: a digest of its body and, after the first, of the repeat."""
    repeat = f" {replicate}" if replicate else ""
    text = json.dumps(body, sort_keys=True) + repeat
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


class _BatchRecord:
    """The record of a batch among the server's facts.

    Attributes:
        batch: Its id at the server; None until the server reports it.
        ids: The requests in it that are or will be answered, in order.
    """

    def __init__(self, batch: str | None, ids: Iterable[str]) -> None:
        self.batch = batch
        self.ids = dict.fromkeys(ids)

    def to_json(self) -> str:
        """Return the record as JSON."""
        return json.dumps({"batch": self.batch, "ids": list(self.ids)})

    @classmethod
    def from_json(cls, text: str) -> _BatchRecord:
        """Return the stored record; an empty record if the text is not valid."""
        try:
            fields = json.loads(text)
            ids = [
                request_id
                for request_id in fields["ids"]
                if isinstance(request_id, str)
            ]
            return cls(
                fields["batch"] if isinstance(fields["batch"], str) else None,
                ids,
            )
        except (ValueError, TypeError, KeyError, RecursionError):
            return cls(None, ())
