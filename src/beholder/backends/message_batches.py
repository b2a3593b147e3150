"""Anthropic's Message Batches, as ``BatchQueue`` wants them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

from beholder.backends.batch_queue import GONE, MOST_BYTES, Call, read_lines
from beholder.backends.calls import CallFailed
from beholder.backends.openai_http import NotThere
from beholder.backends.sdk import SDKConnection
from beholder.errors import TransientError

_MESSAGES = "/v1/messages/batches"
_STATES = {"ended": "completed", "canceling": "cancelling"}
_MOST_LOST = 3
"""Batches whose ids were lost and which the server does not have, until sending is given up."""


class MessageBatches:
    """The batch calls by the SDK.

    A batch carries no digest, so it is found by its requests, which are named by their digests.

    Args:
        http: The address.
        call: Makes a call with retries.
    """

    most_bytes = MOST_BYTES
    _n_lost = 0

    def __init__(self, http: SDKConnection, call: Call) -> None:
        self._http = http
        self._call = call

    def line(self, request_id: str, body: Mapping[str, object]) -> bytes:
        """A request as a line of a batch."""
        return json.dumps({"custom_id": request_id, "params": body}).encode("utf-8") + b"\n"

    async def start(self, lines: Sequence[bytes], digest: str) -> str | None:
        """Start a batch; its id, or None if it may have been made and the id was lost."""
        body = {"requests": [json.loads(line) for line in lines]}
        sent = False

        async def make() -> str | None:
            nonlocal sent
            if sent:
                return None
            sent = True
            try:
                post = self._read(lambda sdk: sdk.post(_MESSAGES, cast_to=object, body=body), "id")
                return str((await post)["id"])
            except CallFailed as failure:
                sent = failure.charged
                raise

        batch: str | None = await self._call(make)
        self._n_lost += batch is None
        if self._n_lost > _MOST_LOST:
            raise TransientError(f"{self._http.name}: the ids of {self._n_lost} batches were lost")
        return batch

    async def find(self, digest: str, ids: Collection[str], poll: float) -> str | None:
        """Id of the batch that has these requests, or None; waits until it is known."""
        decided: set[str] = set()
        while True:
            page = await self._call(self._list)
            n_open = 0
            for row in page["data"]:
                if row["id"] in decided or sum(row["request_counts"].values()) != len(ids):
                    continue
                if row["processing_status"] != "ended":
                    n_open += 1
                    continue
                decided.add(row["id"])
                rows, _ = await self.rows(row["id"])
                if any(one["custom_id"] in ids for one in rows[:1]):
                    return str(row["id"])
            if not n_open:
                return None
            await asyncio.sleep(poll)

    async def status(self, batch: str) -> tuple[str, list[str]]:
        """Status of a batch, and where its results are."""
        path = f"{_MESSAGES}/{batch}"
        try:
            found = await self._call(
                lambda: self._read(lambda sdk: sdk.get(path, cast_to=object), "processing_status")
            )
        except NotThere:
            return GONE, []
        state = str(found["processing_status"])
        return _STATES.get(state, state), [batch] if state == "ended" else []

    async def rows(self, file: str) -> tuple[list[Any], int]:
        """The results of a batch in OpenAI's form, and how many lines could not be read."""
        path = f"{_MESSAGES}/{file}/results"
        try:
            body: bytes = await self._call(
                lambda: self._http.sent(lambda sdk: sdk.get(path, cast_to=object))
            )
        except NotThere:  # kept for some weeks
            return [], 0
        rows, n_unread = read_lines(self._http, body)
        found = [row for row in map(_message_row, rows) if row is not None]
        return found, n_unread + len(rows) - len(found)

    async def _list(self) -> dict[str, Any]:
        page = await self._read(
            lambda sdk: sdk.get(f"{_MESSAGES}?limit=1000", cast_to=object), "data"
        )
        try:
            for row in page["data"]:
                str(row["id"]), str(row["processing_status"]), sum(row["request_counts"].values())
        except (TypeError, KeyError, AttributeError) as error:
            raise CallFailed("the server's list of batches cannot be read") from error
        return page

    async def _read(self, ask: Callable[[Any], Awaitable[object]], field: str) -> dict[str, Any]:
        """A JSON object in which a field is there."""
        found = self._http.parse(await self._http.sent(ask))
        if not isinstance(found, dict) or not found.get(field):
            raise CallFailed(f"the server's answer about batches has no {field}", charged=True)
        return found


def _message_row(row: Any) -> dict[str, Any] | None:
    result = row.get("result") if isinstance(row, dict) else None
    if not isinstance(result, dict) or not isinstance(row.get("custom_id"), str):
        return None
    if result.get("type") == "succeeded":
        response = {"status_code": 200, "body": result.get("message")}
    else:
        error = result.get("error") or result.get("type")
        refused = any(name in str(error) for name in ("invalid_request", "request_too_large"))
        response = {"status_code": 400 if refused else 500, "body": error}
    return {"custom_id": row["custom_id"], "response": response}
