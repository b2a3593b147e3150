"""``openai:MODEL``: any server that speaks the OpenAI protocol (hosted, vLLM, Ollama...)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar

from beholder.backends.base import Image, Request, Surprisal
from beholder.backends.batch_queue import (
    GONE,
    MOST_BYTES,
    MOST_RESULT_BYTES,
    BatchService,
    Call,
    read_lines,
)
from beholder.backends.calls import CallFailed
from beholder.backends.context_window import told_room
from beholder.backends.money import Usage
from beholder.backends.openai_http import HOSTED, KEY, Connection, NotThere
from beholder.backends.openai_probe import Refused
from beholder.backends.openai_wire import Dialect, read_completion, read_usage, to_body
from beholder.backends.prompt_logprobs import (
    PromptToken,
    fields,
    perplexities,
    read_logprobs,
    tells_none,
)
from beholder.backends.served import Served
from beholder.backends.wire import Wire
from beholder.errors import ConfigError, ItemError

MARK = "beholder_digest"
"""Name of the digest among what a batch carries."""

_MOST_PAGES = 20
"""Pages of the server's list in which a batch of ours is looked for, the newest first."""


class OpenAI(Served):
    """A model behind an OpenAI-compatible address; options as in ``Served``."""

    KIND: ClassVar = "openai"
    WIRE: ClassVar = Wire(
        (HOSTED, KEY), "/chat/completions", Dialect("", 20), to_body, read_completion, read_usage
    )
    _told_room: int | None = None
    _looked_for_room = False

    def _batch_service(self) -> BatchService:
        return OpenAIBatches(self._http, self._caller.call)

    async def surprisal(
        self, texts: Sequence[str], *, prompt: str, images: tuple[Image, ...] = ()
    ) -> list[Surprisal]:
        """Exact perplexities, if the server returns ``prompt_logprobs`` (vLLM)."""

        async def ask(request: Request, dialect: Dialect) -> list[PromptToken | None]:
            def pay(_: object, used: Usage) -> None:
                self.account.lose(self._cost(used))  # a surprisal is kept without its cost

            found, _ = await self._post(request, dialect, read_logprobs, pay, fields(request))
            return found

        try:
            return await perplexities(self.model, ask, texts, prompt, images)
        except Refused as refusal:
            if "prompt_logprobs" in str(refusal):  # it knows no such field, whatever the text
                raise tells_none(self.model) from refusal
            raise ItemError(f"{self.name} refused the request: {refusal}") from refusal

    async def _room(self) -> int | None:
        """Tokens that fit, if the server's list of models has it (vLLM, SGLang and others)."""
        if self.context is None and not self._looked_for_room:
            self._looked_for_room = True
            # Without such a list, only the message is poorer.
            with suppress(CallFailed, Refused, ConfigError):
                self._told_room = told_room(await self._http.read("GET", "/models"), self.model)
        return self.context or self._told_room


class OpenAIBatches:
    """The batch calls over HTTP.

    Args:
        http: The address.
        call: Makes a call with retries.
    """

    most_bytes = MOST_BYTES

    def __init__(self, http: Connection, call: Call) -> None:
        self._http = http
        self._call = call

    def line(self, request_id: str, body: Mapping[str, object]) -> bytes:
        """A request as a line of a batch."""
        row = {"custom_id": request_id, "method": "POST", "url": "/v1/chat/completions"}
        return json.dumps({**row, "body": body}).encode("utf-8") + b"\n"

    async def start(self, lines: Sequence[bytes], digest: str) -> str:
        """Upload requests and start a batch that carries a digest; gives its id."""
        file = await self._call(
            lambda: self._read(
                "id",
                "POST",
                "/files",
                files={"file": ("requests.jsonl", b"".join(lines))},
                data={"purpose": "batch"},
            )
        )
        body = {
            "input_file_id": file["id"],
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {MARK: digest},
        }
        tried = False

        async def make() -> str:
            nonlocal tried
            # A try whose answer was lost may have made the batch: look before making a second one.
            made = await self._find(digest) if tried else None
            tried = True
            if made is None:
                content = json.dumps(body).encode("utf-8")
                headers = {"content-type": "application/json"}
                told = await self._read("id", "POST", "/batches", content=content, headers=headers)
                made = str(told["id"])
            return made

        return str(await self._call(make))

    async def find(self, digest: str, ids: Collection[str], poll: float) -> str | None:
        """Id of the batch that carries a digest, or None."""
        found: str | None = await self._call(lambda: self._find(digest))
        return found

    async def status(self, batch: str) -> tuple[str, list[str]]:
        """Status of a batch, and the ids of its result files."""
        try:
            found = await self._call(lambda: self._read("status", "GET", f"/batches/{batch}"))
        except NotThere:
            return GONE, []
        files = [found.get("output_file_id"), found.get("error_file_id")]
        return found["status"], [file for file in files if isinstance(file, str) and file]

    async def rows(self, file: str) -> tuple[list[Any], int]:
        """The values of a result file's lines, and how many lines could not be read."""
        body: bytes = await self._call(
            lambda: self._http.request("GET", f"/files/{file}/content", most=MOST_RESULT_BYTES)
        )
        return read_lines(self._http, body)

    async def _find(self, digest: str) -> str | None:
        after = ""
        for _ in range(_MOST_PAGES):
            try:
                page = await self._read("data", "GET", f"/batches?limit=100{after}", kind=list)
            except NotThere:  # the server keeps no list
                return None
            for row in page["data"]:
                if not isinstance(row, dict) or not isinstance(row.get("id"), str):
                    raise CallFailed("the server's list of batches cannot be read")
                marks = row.get("metadata")
                if isinstance(marks, dict) and marks.get(MARK) == digest:
                    return str(row["id"])
            if not page.get("has_more") or not page["data"]:
                return None
            after = f"&after={page['data'][-1]['id']}"
        return None

    async def _read(
        self, field: str, method: str, path: str, *, kind: type = str, **parts: Any
    ) -> Mapping[str, Any]:
        """A JSON object in which a field is what it must be."""
        found = await self._http.read(method, path, **parts)
        if not isinstance(found, dict) or not isinstance(found.get(field), kind):
            raise CallFailed(f"the server's answer to {path} has no {field}")
        return found
