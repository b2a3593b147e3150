"""``anthropic:MODEL``: Anthropic's Messages API."""

from __future__ import annotations

import asyncio
import base64
import copy
import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

from beholder.backends.base import (
    REFUSAL,
    Answer,
    Image,
    JsonDict,
    JsonObject,
    Request,
    Sample,
)
from beholder.backends.batch_queue import GONE, BatchService
from beholder.backends.calls import CallFailed
from beholder.backends.money import Usage
from beholder.backends.openai_http import Connection, NotThere
from beholder.backends.openai_wire import (
    TOOL,
    Completion,
    Dialect,
    Wire,
    require_form,
    without_bounds,
)
from beholder.backends.served import Served
from beholder.errors import TransientError

_VERSION = "2023-06-01"
_FINISH = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": REFUSAL,
}
_SEEN_AT_MOST = 10_000
_PICTURE = 1_000
"""Tokens that a picture takes at least, if it is not tiny."""


class AnthropicConnection(Connection):
    """An address that speaks Anthropic's form."""

    def _key_headers(self, key: str) -> dict[str, str]:
        headers = {"anthropic-version": _VERSION}
        return {**headers, "x-api-key": key} if key else headers

    async def suggest_models(self, model: str) -> str:
        """Return nothing: the vendor lists its models in its documentation."""
        return ""


class Anthropic(Served):
    """A model behind Anthropic's address, or one that speaks its form; options as in ``Served``."""

    KIND: ClassVar = "anthropic"
    WIRE: ClassVar[Wire]

    @cached_property
    def _sent_beginnings(self) -> dict[str, None]:
        """Return the digests of the beginnings that were sent, the oldest first."""
        return {}

    def _mark_cacheable(self, body: JsonDict) -> JsonDict:
        """Return the body, with its beginning marked for the cache if it was sent before.

        Writing to the cache costs more than not caching, so a beginning that is sent once is not
        marked.
        """
        # A beginning below the vendor's minimum is never cached, so a mark would be useless. Token
        # counts are estimates: 4 characters a token, and at least ``_PICTURE`` a picture.
        price = self.price()
        least = (
            1024
            if price is None or price.cache_minimum is None
            else price.cache_minimum
        )
        shared = _shared_blocks(body)
        hasher = hashlib.sha256()
        n_tokens = 0
        for block in shared:
            text = json.dumps(block)
            hasher.update(text.encode())
            n_tokens += (
                _PICTURE if block["type"] == "image" else len(text) // 4
            )
        key = hasher.hexdigest()
        earlier_keys = self._sent_beginnings
        if n_tokens < least or key not in earlier_keys:
            earlier_keys[key] = None
            if len(earlier_keys) > _SEEN_AT_MOST:
                del earlier_keys[next(iter(earlier_keys))]
            return body
        marked_body = copy.deepcopy(body)
        _shared_blocks(marked_body)[-1]["cache_control"] = {
            "type": "ephemeral"
        }
        return marked_body

    def _max_usage(self, request: Request, dialect: Dialect) -> Usage:
        usage = super()._max_usage(request, dialect)
        return replace(usage, written=usage.prompt)

    def _batch_service(self) -> BatchService:
        return MessageBatches(self._http, self._caller.call)


def to_body(model: str, request: Request, dialect: Dialect) -> JsonDict:
    """Return the JSON body of a message; arguments as for ``openai_wire.to_body``."""
    # System messages have a field of their own. There is no seed and no number of answers. A schema
    # is enforced by the output format, or by a tool that the model must call.
    turns = [m for m in request.messages if m.role != "system"]
    system = [_block(m.text) for m in request.messages if m.role == "system"]
    body: JsonDict = {
        "model": model,
        "max_tokens": request.sampling.max_tokens + dialect.thinking,
        "messages": [
            {"role": m.role, "content": [_block(p) for p in m.parts]}
            for m in turns
        ],
    }
    if system:
        body["system"] = system
    if dialect.temperature:
        body["temperature"] = request.sampling.temperature
    if request.schema is not None:
        schema = without_bounds(request.schema)
        if dialect.structure == "schema":
            body["output_config"] = {
                "format": {"type": "json_schema", "schema": schema}
            }
        elif dialect.structure == "tool":
            about = "Give the answer."
            tool = {
                "name": TOOL,
                "description": about,
                "input_schema": schema,
                "strict": True,
            }
            body["tools"] = [tool]
            choice = {
                "type": "tool",
                "name": TOOL,
                "disable_parallel_tool_use": True,
            }
            body["tool_choice"] = choice
    return body


def _block(part: str | Image) -> JsonDict:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    data = base64.b64encode(part.data).decode("ascii")
    source = {"type": "base64", "media_type": part.media_type, "data": data}
    return {"type": "image", "source": source}


def _shared_blocks(body: JsonObject) -> list[JsonDict]:
    """Return the blocks that many questions share: system text and the first pictures."""
    blocks = list(body.get("system", ()))
    for block in body["messages"][0]["content"]:
        if block["type"] != "image":
            break
        blocks.append(block)
    return blocks


def read_message(data: object) -> Completion:
    """Return the checked answer of a response body.

    Raises:
        CallFailed: The body is not a message, or its answer is broken.
    """
    if not isinstance(data, dict) or not isinstance(data.get("content"), list):
        is_openai_form = isinstance(data, dict) and "choices" in data
        hint = (
            "; it speaks OpenAI's form, so name it openai:MODEL"
            if is_openai_form
            else ""
        )
        raise CallFailed(f"the server's answer is not a message{hint}")
    # A refusal, a forced tool call and a text are three forms of an answer; any other end is an
    # error, because grades must not come from half an answer.
    stop = data.get("stop_reason")
    with require_form("a message"):
        blocks = [
            block
            for block in data["content"]
            if block["type"] in ("text", "tool_use")
        ]
        tools = [block for block in blocks if block["type"] == "tool_use"]
        model = Answer((), data.get("model") or "").model or None
        if stop == "refusal":
            details = data.get("stop_details") or {}
            reasons = [
                str(details[n])
                for n in ("category", "explanation")
                if details.get(n)
            ]
            sample = Sample(": ".join(reasons) or "no reason given", REFUSAL)
        elif stop == "tool_use" and [tool["name"] for tool in tools] == [TOOL]:
            arguments = tools[0]["input"]
            sample = Sample(
                arguments
                if isinstance(arguments, str)
                else json.dumps(arguments),
                "stop",
            )
        elif tools or stop not in _FINISH:
            raise CallFailed(
                f"the answer ended by {str(stop)[:60]!r}, which was not asked for"
            )
        else:
            sample = Sample(
                "".join(block["text"] for block in blocks), _FINISH[stop]
            )
        token_details = (data.get("usage") or {}).get(
            "output_tokens_details"
        ) or {}
        has_thoughts = any(
            "thinking" in block["type"] for block in data["content"]
        )
        has_thoughts = has_thoughts or bool(
            token_details.get("thinking_tokens")
        )
    usage = read_usage(data)
    return Completion(
        (sample,),
        model,
        None,
        has_thoughts,
        None if usage is None else usage.prompt,
    )


def read_usage(data: object) -> Usage | None:
    """Return the tokens of a response, or None if they are missing or not valid."""
    usage = data.get("usage") if isinstance(data, dict) else None
    if not isinstance(usage, dict):
        return None
    cached = usage.get("cache_read_input_tokens") or 0
    written = usage.get("cache_creation_input_tokens") or 0
    try:
        parts = Usage(
            prompt=usage.get("input_tokens"),  # type: ignore[arg-type]
            cached=cached,
            completion=usage.get("output_tokens"),  # type: ignore[arg-type]
            written=written,
        )
        total = replace(
            parts, prompt=parts.prompt + parts.cached + parts.written
        )
    except ValueError:
        return None
    return total if total.prompt else None


Anthropic.WIRE = Wire(
    ("https://api.anthropic.com", "ANTHROPIC_API_KEY"),
    "/v1/messages",
    Dialect("", seed=False, many=False),
    to_body,
    read_message,
    read_usage,
    (("schema", False), ("tool", False)),
    AnthropicConnection,
)


_MESSAGES = "/v1/messages/batches"
_STATES = {"ended": "completed", "canceling": "cancelling"}
_MOST_LOST = 3
"""Batches whose ids were lost and which the server does not have, until sending is given up."""


@dataclass(eq=False)
class MessageBatches(BatchService):
    """The batch calls.

    A batch carries no digest, so it is found by its requests, which are named by their digests.
    """

    _n_lost = 0

    def line(self, request_id: str, body: JsonObject) -> bytes:
        """Return a request as a line of a batch."""
        return (
            json.dumps({"custom_id": request_id, "params": body}).encode(
                "utf-8"
            )
            + b"\n"
        )

    async def start(self, lines: Sequence[bytes], digest: str) -> str | None:
        """Start a batch; return its id, or None if it may exist and its id was lost."""
        requests = [json.loads(line) for line in lines]
        body = {"requests": requests}
        is_sent = False

        # A retry after a lost response could start, and pay for, the batch a second time.
        async def start_once() -> str | None:
            nonlocal is_sent
            if is_sent:
                return None
            is_sent = True
            try:
                posted = await self.read_object(
                    "id", "POST", _MESSAGES, json=body
                )
                return str(posted["id"])
            except CallFailed as failure:
                is_sent = failure.charged
                raise

        batch: str | None = await self.call(start_once)
        self._n_lost += batch is None
        if self._n_lost > _MOST_LOST:
            raise TransientError(
                f"{self.http.name}: the ids of {self._n_lost} batches were lost"
            )
        return batch

    async def find(
        self, digest: str, ids: Collection[str], poll: float
    ) -> str | None:
        """Return the id of the batch with these requests, or None; wait until that is known."""
        # The list does not say which requests a batch has. Batches of another size cannot be ours;
        # of the others, the first result is compared, once the batch has ended. While any is still
        # open, absence is not proven: look again later.
        decided: set[str] = set()
        while True:
            page = await self.call(self._list)
            n_open = 0
            for row in page["data"]:
                if row["id"] in decided or sum(
                    row["request_counts"].values()
                ) != len(ids):
                    continue
                if row["processing_status"] != "ended":
                    n_open += 1
                    continue
                decided.add(row["id"])
                rows, _ = await self.rows(row["id"])
                valid_rows = [each for each in rows if each is not None]
                if valid_rows and valid_rows[0]["custom_id"] in ids:
                    return str(row["id"])
            if not n_open:
                return None
            await asyncio.sleep(poll)

    async def status(self, batch: str) -> tuple[str, list[str]]:
        """Return the status of a batch, and where its results are."""
        path = f"{_MESSAGES}/{batch}"
        try:
            response = await self.call(
                lambda: self.read_object("processing_status", "GET", path)
            )
        except NotThere:
            return GONE, []
        state = str(response["processing_status"])
        return _STATES.get(state, state), [batch] if state == "ended" else []

    def place(self, file: str) -> str:
        """Return the path of the results of a batch."""
        return f"{_MESSAGES}/{file}/results"

    async def _list(self) -> JsonDict:
        page = await self.read_object(
            "data", "GET", f"{_MESSAGES}?limit=1000", kind=list
        )
        try:
            for row in page["data"]:
                (
                    str(row["id"]),
                    str(row["processing_status"]),
                    sum(row["request_counts"].values()),
                )
        except (TypeError, KeyError, AttributeError) as error:
            raise CallFailed(
                "the server's list of batches cannot be read"
            ) from error
        return page

    def row(self, row: Any) -> Any:
        """Return a row of the results in OpenAI's form."""
        result = row.get("result") if isinstance(row, dict) else None
        if not isinstance(result, dict) or not isinstance(
            row.get("custom_id"), str
        ):
            return None
        if result.get("type") == "succeeded":
            response = {"status_code": 200, "body": result.get("message")}
        else:
            error = result.get("error") or result.get("type")
            is_refused = any(
                name in str(error)
                for name in ("invalid_request", "request_too_large")
            )
            response = {
                "status_code": 400 if is_refused else 500,
                "body": error,
            }
        return {"custom_id": row["custom_id"], "response": response}
