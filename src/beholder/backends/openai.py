"""``openai:MODEL``: any server that speaks the OpenAI protocol (hosted, vLLM, Ollama...)."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, ClassVar, TypeAlias

from beholder.backends.base import (
    Image,
    JsonDict,
    JsonObject,
    Message,
    Request,
    Sampling,
    Surprisal,
)
from beholder.backends.batch_files import FileBatches
from beholder.backends.batch_queue import BatchService
from beholder.backends.calls import CallFailed, Refused
from beholder.backends.money import Usage
from beholder.backends.openai_http import HOSTED, KEY
from beholder.backends.openai_wire import (
    Dialect,
    Wire,
    read_completion,
    read_usage,
    to_body,
)
from beholder.backends.served import Served
from beholder.errors import ConfigError, ItemError

MARK = "beholder_digest"
"""Name of the digest among what a batch carries."""


class OpenAI(Served):
    """A model behind an OpenAI-compatible address; options as in ``Served``."""

    KIND: ClassVar = "openai"
    WIRE: ClassVar = Wire(
        (HOSTED, KEY),
        "/chat/completions",
        Dialect("", 20),
        to_body,
        read_completion,
        read_usage,
    )
    _told_room: int | None = None
    _looked_for_room = False

    def _batch_service(self) -> BatchService:
        return OpenAIBatches(self._http, self._caller.call)

    async def surprisal(
        self,
        texts: Sequence[str],
        *,
        prompt: str,
        images: tuple[Image, ...] = (),
    ) -> list[Surprisal]:
        """Exact perplexities, if the server returns ``prompt_logprobs`` (vLLM)."""

        async def ask(
            request: Request, dialect: Dialect
        ) -> list[PromptToken | None]:
            def pay(_: object, used: Usage) -> None:
                self.account.lose(
                    self._cost(used)
                )  # a surprisal is kept without its cost

            found, _ = await self._post(
                request, dialect, read_logprobs, pay, fields(request)
            )
            return found

        try:
            return await perplexities(self.model, ask, texts, prompt, images)
        except Refused as refusal:
            if "prompt_logprobs" in str(
                refusal
            ):  # it knows no such field, whatever the text
                raise tells_none(self.model) from refusal
            raise ItemError(
                f"{self.name} refused the request: {refusal}"
            ) from refusal

    async def _room(self) -> int | None:
        """Tokens that fit, if the server's list of models has it (vLLM, SGLang and others)."""
        if self.context is None and not self._looked_for_room:
            self._looked_for_room = True
            # Without such a list, only the message is poorer.
            with suppress(CallFailed, Refused, ConfigError):
                self._told_room = told_room(
                    await self._http.read("GET", "/models"), self.model
                )
        return self.context or self._told_room


class OpenAIBatches(FileBatches):
    """The batch calls over HTTP."""

    def line(self, request_id: str, body: JsonObject) -> bytes:
        """A request as a line of a batch."""
        row = {
            "custom_id": request_id,
            "method": "POST",
            "url": "/v1/chat/completions",
        }
        return json.dumps({**row, "body": body}).encode("utf-8") + b"\n"

    async def upload(self, content: bytes) -> str:
        """Upload requests; the id of the file."""
        files = {"file": ("requests.jsonl", content)}
        told = await self.read(
            "id", "POST", "/files", files=files, data={"purpose": "batch"}
        )
        return str(told["id"])

    async def make(self, file: str, digest: str) -> str:
        """Start a batch that carries a digest; its id."""
        body = {
            "input_file_id": file,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {MARK: digest},
        }
        told = await self.read("id", "POST", "/batches", json=body)
        return str(told["id"])

    async def page(self, after: str) -> tuple[list[tuple[Any, object]], str]:
        """Ids and digests of batches, and where the next page begins, if there is one."""
        page = await self.read(
            "data", "GET", f"/batches?limit=100{after}", kind=list
        )
        rows = [row if isinstance(row, dict) else {} for row in page["data"]]
        marks = [row.get("metadata") for row in rows]
        found = [
            (row.get("id"), mark.get(MARK) if isinstance(mark, dict) else None)
            for row, mark in zip(rows, marks, strict=True)
        ]
        more = page.get("has_more") and found
        return found, f"&after={found[-1][0]}" if more else ""

    async def look(self, batch: str) -> tuple[str, list[object]]:
        """Status of a batch, and the ids of its result files."""
        found = await self.read("status", "GET", f"/batches/{batch}")
        return found["status"], [
            found.get("output_file_id"),
            found.get("error_file_id"),
        ]

    def place(self, file: str) -> str:
        """Where a result file is read."""
        return f"/files/{file}/content"


PromptToken: TypeAlias = tuple[str, float]
"""A token of a prompt: its number in the vocabulary, and its log-probability."""

Ask: TypeAlias = Callable[
    [Request, Dialect], Awaitable[list[PromptToken | None]]
]
"""Asks for the tokens of a prompt, with retries; the first is None, as nothing precedes it."""


async def perplexities(
    model: str,
    ask: Ask,
    texts: Sequence[str],
    prompt: str,
    images: tuple[Image, ...],
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
        told = await ask(
            Request((question, answer), Sampling(max_tokens=1)), dialect
        )
        # The last token before the text is compared by its number, the others are the same prompt.
        if [row and row[0] for row in told[: len(before)]] != [
            row and row[0] for row in before
        ]:
            raise merged_tokens(model, text)
        rows = told[len(before) :]
        if not rows or None in rows:
            raise ItemError(
                f"{model} returned no log-probabilities for the text's tokens"
            )
        nll = -sum(row[1] for row in rows if row is not None)
        return Surprisal(nll, len(rows), len(text))

    return list(await asyncio.gather(*(one(text) for text in texts)))


def fields(request: Request) -> JsonDict:
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
        if (
            isinstance(value, float | int)
            and not isinstance(value, bool)
            and -1e300 < value < 0.1
        ):
            return str(token), value
    except (AttributeError, StopIteration, LookupError, TypeError):
        pass
    raise CallFailed(
        f"the server's prompt_logprobs cannot be read: {str(row)[:60]}"
    )


_ROOM = (
    "max_model_len",
    "context_length",
    "max_context_length",
    "context_window",
)
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
