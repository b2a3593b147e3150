"""``openai:MODEL``: any server that speaks the OpenAI protocol (hosted, vLLM, Ollama...)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, ClassVar, TypeAlias

from beholder.backends.base import Image, Message, Request, Sampling, Surprisal
from beholder.backends.batch_queue import (
    GONE,
    MOST_RESULT_BYTES,
    BatchService,
    read_lines,
)
from beholder.backends.calls import CallFailed, Refused
from beholder.backends.money import Usage
from beholder.backends.openai_http import HOSTED, KEY, NotThere
from beholder.backends.openai_probe import Wire
from beholder.backends.openai_wire import Dialect, read_completion, read_usage, to_body
from beholder.backends.served import Served
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


class OpenAIBatches(BatchService):
    """The batch calls over HTTP."""

    def line(self, request_id: str, body: Mapping[str, object]) -> bytes:
        """A request as a line of a batch."""
        row = {"custom_id": request_id, "method": "POST", "url": "/v1/chat/completions"}
        return json.dumps({**row, "body": body}).encode("utf-8") + b"\n"

    async def start(self, lines: Sequence[bytes], digest: str) -> str:
        """Upload requests and start a batch that carries a digest; gives its id."""
        file = await self.call(
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

        return str(await self.call(make))

    async def find(self, digest: str, ids: Collection[str], poll: float) -> str | None:
        """Id of the batch that carries a digest, or None."""
        found: str | None = await self.call(lambda: self._find(digest))
        return found

    async def status(self, batch: str) -> tuple[str, list[str]]:
        """Status of a batch, and the ids of its result files."""
        try:
            found = await self.call(lambda: self._read("status", "GET", f"/batches/{batch}"))
        except NotThere:
            return GONE, []
        files = [found.get("output_file_id"), found.get("error_file_id")]
        return found["status"], [file for file in files if isinstance(file, str) and file]

    async def rows(self, file: str) -> tuple[list[Any], int]:
        """The values of a result file's lines, and how many lines could not be read."""
        body: bytes = await self.call(
            lambda: self.http.request("GET", f"/files/{file}/content", most=MOST_RESULT_BYTES)
        )
        return read_lines(self.http, body)

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
        found = await self.http.read(method, path, **parts)
        if not isinstance(found, dict) or not isinstance(found.get(field), kind):
            raise CallFailed(f"the server's answer to {path} has no {field}")
        return found


PromptToken: TypeAlias = tuple[str, float]
"""A token of a prompt: its number in the vocabulary, and its log-probability."""

Ask: TypeAlias = Callable[[Request, Dialect], Awaitable[list[PromptToken | None]]]
"""Asks for the tokens of a prompt, with retries; the first is None, as nothing precedes it."""


async def perplexities(
    model: str, ask: Ask, texts: Sequence[str], prompt: str, images: tuple[Image, ...]
) -> list[Surprisal]:
    """Surprisal of each text as the continuation of the prompt.

    Raises:
        ConfigError: The server does not return ``prompt_logprobs``.
    """
    question = Message("user", (*images, prompt))
    dialect = Dialect(model=model)
    before = await ask(Request((question,), Sampling(max_tokens=1)), dialect)

    async def one(text: str) -> Surprisal:
        if not text:
            raise ItemError("an empty text has no perplexity")
        answer = Message("assistant", (text,))
        told = await ask(Request((question, answer), Sampling(max_tokens=1)), dialect)
        # The last token before the text is compared by its number, the others are the same prompt.
        if [row and row[0] for row in told[: len(before)]] != [row and row[0] for row in before]:
            raise merged_tokens(model, text)
        rows = told[len(before) :]
        if not rows or None in rows:
            raise ItemError(f"{model} returned no log-probabilities for the text's tokens")
        nll = -sum(row[1] for row in rows if row is not None)
        return Surprisal(nll, len(rows), len(text))

    return list(await asyncio.gather(*(one(text) for text in texts)))


def fields(request: Request) -> dict[str, object]:
    """What a body has beyond that of a chat."""
    continues = request.messages[-1].role == "assistant"
    return {
        "prompt_logprobs": 0,  # 0 others: only the token itself
        "add_generation_prompt": not continues,
        "continue_final_message": continues,
    }


def merged_tokens(name: str, text: str) -> ItemError:
    """The failure of a text whose tokens cannot be separated from the prompt."""
    return ItemError(
        f"{name} makes one token of the end of the prompt and the beginning of the text"
        f" {text[:20]!r}, so the text has no tokens of its own; texts that begin with blanks or"
        " line breaks do that: take them off, or use hf:NAME, which reads the text apart"
    )


def tells_none(model: object) -> ConfigError:
    """The error of a server that does not return the probabilities of a prompt's tokens."""
    return ConfigError(
        f"the server of {model} does not return prompt_logprobs, which perplexity needs; use a vLLM"
        " server, or hf:NAME in this process"
    )


def read_logprobs(data: object) -> list[PromptToken | None]:
    """The tokens of a prompt in a response; None for the first, as nothing precedes.

    Raises:
        ConfigError: The server returns none.
        CallFailed: Its answer cannot be read.
    """
    if not isinstance(data, dict):
        raise CallFailed("the server's answer is not a JSON object")
    rows = data.get("prompt_logprobs")
    if not isinstance(rows, list):
        raise tells_none(data.get("model"))
    return [None if row is None else _token(row) for row in rows]


def _token(row: object) -> PromptToken:
    try:
        token, told = next(iter(row.items()))  # type: ignore[attr-defined]  # is caught
        value = told["logprob"]
        if isinstance(value, float | int) and not isinstance(value, bool) and -1e300 < value < 0.1:
            return str(token), value
    except (AttributeError, StopIteration, LookupError, TypeError):
        pass
    raise CallFailed(f"the server's prompt_logprobs cannot be read: {str(row)[:60]}")


_ROOM = ("max_model_len", "context_length", "max_context_length", "context_window")
"""What servers call the room of a model in their list of models."""


def told_room(models: Any, model: str) -> int | None:
    """Tokens that fit, from a server's list of models (vLLM, SGLang and others report it).

    Args:
        models: What the server answers when it is asked for its models.
        model: Name of the model; another's room is taken where it is not in the list.
    """
    try:
        rows = models["data"]
        row = next((r for r in rows if r["id"] == model), rows[0])
        return next((int(row[name]) for name in _ROOM if row.get(name)), None)
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError):
        return None
