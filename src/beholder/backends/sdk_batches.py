"""Batches of the vendors that are asked by their SDKs, as ``BatchQueue`` wants them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from beholder.backends.calls import CallFailed
from beholder.backends.openai_batch import GONE, MOST_BYTES, Call, read_lines
from beholder.backends.openai_http import NotThere
from beholder.backends.sdk import SDKConnection
from beholder.errors import TransientError

_MESSAGES = "/v1/messages/batches"
_STATES = {
    "ended": "completed",
    "canceling": "cancelling",
    "BATCH_STATE_PENDING": "validating",
    "BATCH_STATE_RUNNING": "in_progress",
    "BATCH_STATE_SUCCEEDED": "completed",
    "BATCH_STATE_FAILED": "failed",
    "BATCH_STATE_CANCELLED": "cancelled",
    "BATCH_STATE_EXPIRED": "expired",
}
_MOST_PAGES = 20
_MOST_LOST = 3
"""Batches whose ids were lost and which the server does not have, until sending is given up."""


class _SDKBatches:
    """What both have in common.

    Args:
        http: The address.
        call: Makes a call with retries.
    """

    def __init__(self, http: SDKConnection, call: Call) -> None:
        self._http = http
        self._call = call

    async def _read(self, ask: Callable[[Any], Awaitable[object]], field: str) -> dict[str, Any]:
        """A JSON object in which a field is there."""
        found = self._http.parse(await self._http.sent(ask))
        if not isinstance(found, dict) or not found.get(field):
            raise CallFailed(f"the server's answer about batches has no {field}", charged=True)
        return found


class MessageBatches(_SDKBatches):
    """Anthropic's Message Batches.

    They carry no digest, so one is found by its requests, which are named by their digests.
    """

    most_bytes = MOST_BYTES
    _n_lost = 0

    def line(self, request_id: str, body: Mapping[str, object]) -> bytes:
        """A request as it stands in a batch."""
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


class GeminiBatches(_SDKBatches):
    """Google's batches, with their requests inline; the digest is the name that people see.

    Args:
        http: The address.
        call: Makes a call with retries.
        model: Which model is asked.
    """

    most_bytes = 15_000_000

    def __init__(self, http: SDKConnection, call: Call, model: str) -> None:
        super().__init__(http, call)
        self._model = model

    def line(self, request_id: str, body: Mapping[str, object]) -> bytes:
        """A request as it stands in a batch."""
        row = {"request": body, "metadata": {"key": request_id}}
        return json.dumps(row).encode("utf-8") + b"\n"

    async def start(self, lines: Sequence[bytes], digest: str) -> str:
        """Start a batch that carries a digest; gives its id."""
        requests = {"requests": [json.loads(line) for line in lines]}
        body = {"batch": {"inputConfig": {"requests": requests}}}
        config = {"display_name": digest, "http_options": {"extra_body": body}}
        tried = False

        async def make() -> str:
            nonlocal tried
            made = await self._find(digest) if tried else None
            tried = True
            if made is None:
                src = [{"contents": "-"}]  # in place of which ``extra_body`` stands
                create = self._read(
                    lambda sdk: sdk.aio.batches.create(model=self._model, src=src, config=config),
                    "name",
                )
                made = str((await create)["name"])
            return made

        return str(await self._call(make))

    async def find(self, digest: str, ids: Collection[str], poll: float) -> str | None:
        """Id of the batch that carries a digest, or None."""
        found: str | None = await self._call(lambda: self._find(digest))
        return found

    async def status(self, batch: str) -> tuple[str, list[str]]:
        """Status of a batch, and where its results are."""
        try:
            found = await self._get(batch)
        except NotThere:
            return GONE, []
        state = str(found["metadata"].get("state"))
        return _STATES.get(state, state), [batch]

    async def rows(self, file: str) -> tuple[list[Any], int]:
        """The results of a batch in OpenAI's form, and how many could not be read."""
        found = await self._get(file)
        output = found["metadata"].get("output") or found.get("response") or {}
        try:
            told = (output.get("inlinedResponses") or {}).get("inlinedResponses") or []
            rows = [row for row in map(_gemini_row, told) if row is not None]
        except (AttributeError, TypeError) as error:
            raise TransientError(f"the results of {file} cannot be read: {error}") from error
        return rows, len(told) - len(rows)

    async def _get(self, batch: str) -> dict[str, Any]:
        async def read() -> dict[str, Any]:
            found = await self._read(lambda sdk: sdk.aio.batches.get(name=batch), "metadata")
            if not isinstance(found["metadata"], dict):
                raise CallFailed(f"what the server says of {batch} cannot be read")
            return found

        got: dict[str, Any] = await self._call(read)
        return got

    async def _find(self, digest: str) -> str | None:
        token = ""
        for _ in range(_MOST_PAGES):
            config = {"page_size": 100, "page_token": token or None}
            listing = partial(_listed, config=config)
            page = self._http.parse(await self._http.sent(listing))
            try:
                for row in page.get("operations") or []:
                    if row["metadata"].get("displayName") == digest:
                        return str(row["name"])
                token = page.get("nextPageToken")
            except (TypeError, KeyError, AttributeError) as error:
                raise CallFailed("the server's list of batches cannot be read") from error
            if not token:
                break
        return None


async def _listed(sdk: Any, config: Mapping[str, object]) -> object:
    return await sdk.aio.batches.list(config=config)


def _gemini_row(row: Any) -> dict[str, Any] | None:
    key = (row.get("metadata") or {}).get("key") if isinstance(row, dict) else None
    if not isinstance(key, str):
        return None
    error = row.get("error")
    if error is None:
        return {"custom_id": key, "response": {"status_code": 200, "body": row.get("response")}}
    code = error.get("code") if isinstance(error, dict) else None
    status = 400 if code in (3, 400) else 500  # 3 is INVALID_ARGUMENT among remote calls
    return {"custom_id": key, "response": {"status_code": status, "body": error}}
