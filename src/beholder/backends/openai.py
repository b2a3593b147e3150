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
    _listed_room: int | None = None
    _has_asked_for_room = False

    def _batch_service(self) -> BatchService:
        return OpenAIBatches(self._http, self._caller.call)

    async def surprisal(
        self,
        texts: Sequence[str],
        *,
        prompt: str,
        images: tuple[Image, ...] = (),
    ) -> list[Surprisal]:
        """Return exact surprisals, if the server returns ``prompt_logprobs`` (vLLM)."""

        async def ask(
            request: Request, dialect: Dialect
        ) -> list[PromptToken | None]:
            def pay(_: object, used: Usage) -> None:
                # A surprisal is stored without its cost.
                self.account.lose(self._cost(used))

            tokens, _ = await self._post(
                request, dialect, read_logprobs, pay, fields(request)
            )
            return tokens

        try:
            return await perplexities(self.model, ask, texts, prompt, images)
        except Refused as refusal:
            # The server does not know the field, so no text would work.
            if "prompt_logprobs" in str(refusal):
                raise missing_logprobs_error(self.model) from refusal
            raise ItemError(
                f"{self.name} refused the request: {refusal}"
            ) from refusal

    async def _room(self) -> int | None:
        """Return the tokens that fit, if the server's list of models has it (vLLM, SGLang...)."""
        if self.context is None and not self._has_asked_for_room:
            self._has_asked_for_room = True
            # Without such a list, only the message is poorer.
            with suppress(CallFailed, Refused, ConfigError):
                self._listed_room = read_room(
                    await self._http.read_json("GET", "/models"), self.model
                )
        return self.context or self._listed_room


class OpenAIBatches(FileBatches):
    """The batch calls over HTTP."""

    def line(self, request_id: str, body: JsonObject) -> bytes:
        """Return a request as a line of a batch."""
        row = {
            "custom_id": request_id,
            "method": "POST",
            "url": "/v1/chat/completions",
        }
        return json.dumps({**row, "body": body}).encode("utf-8") + b"\n"

    async def upload(self, content: bytes) -> str:
        """Upload requests; return the id of the file."""
        files = {"file": ("requests.jsonl", content)}
        response = await self.read_object(
            "id", "POST", "/files", files=files, data={"purpose": "batch"}
        )
        return str(response["id"])

    async def make(self, file: str, digest: str) -> str:
        """Start a batch that carries a digest; return its id."""
        body = {
            "input_file_id": file,
            "endpoint": "/v1/chat/completions",
            "completion_window": "24h",
            "metadata": {MARK: digest},
        }
        response = await self.read_object("id", "POST", "/batches", json=body)
        return str(response["id"])

    async def page(self, after: str) -> tuple[list[tuple[Any, object]], str]:
        """Return ids and digests of batches, and where the next page begins (empty at the end)."""
        page = await self.read_object(
            "data", "GET", f"/batches?limit=100{after}", kind=list
        )
        rows = [row if isinstance(row, dict) else {} for row in page["data"]]
        marks = [row.get("metadata") for row in rows]
        batches = [
            (row.get("id"), mark.get(MARK) if isinstance(mark, dict) else None)
            for row, mark in zip(rows, marks, strict=True)
        ]
        has_more = page.get("has_more") and batches
        return batches, f"&after={batches[-1][0]}" if has_more else ""

    async def look(self, batch: str) -> tuple[str, list[object]]:
        """Return the status of a batch, and the ids of its result files."""
        response = await self.read_object("status", "GET", f"/batches/{batch}")
        return response["status"], [
            response.get("output_file_id"),
            response.get("error_file_id"),
        ]

    def place(self, file: str) -> str:
        """Return the path of a result file."""
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
    """Return the surprisal of each text as the continuation of the prompt.

    Raises:
        ConfigError: The server does not return ``prompt_logprobs``.
    """
    # The prompt is asked once alone: its length in tokens says where a text begins. Each text is
    # then asked behind the prompt, as the beginning of the model's turn.
    question = Message("user", (*images, prompt))
    dialect = Dialect(model=model)
    before = await ask(Request((question,), Sampling(max_tokens=1)), dialect)

    async def measure(text: str) -> Surprisal:
        if not text:
            raise ItemError("an empty text has no perplexity")
        answer = Message("assistant", (text,))
        tokens = await ask(
            Request((question, answer), Sampling(max_tokens=1)), dialect
        )
        # The last token before the text is compared by its number, the others are the same prompt.
        if [row and row[0] for row in tokens[: len(before)]] != [
            row and row[0] for row in before
        ]:
            raise merged_tokens_error(model, text)
        rows = tokens[len(before) :]
        if not rows or None in rows:
            raise ItemError(
                f"{model} returned no log-probabilities for the text's tokens"
            )
        nll = -sum(row[1] for row in rows if row is not None)
        return Surprisal(nll, len(rows), len(text))

    return list(await asyncio.gather(*(measure(text) for text in texts)))


def fields(request: Request) -> JsonDict:
    """Return the fields of a body beyond those of a chat."""
    continues = request.messages[-1].role == "assistant"
    return {
        "prompt_logprobs": 0,  # 0 others: only the token itself
        "add_generation_prompt": not continues,
        "continue_final_message": continues,
    }


def merged_tokens_error(name: str, text: str) -> ItemError:
    """Return the error of a text whose tokens cannot be separated from the prompt."""
    return ItemError(
        f"{name} makes one token of the end of the prompt and the beginning of the text"
        f" {text[:20]!r}, so the text has no tokens of its own; texts that begin with blanks or"
        " line breaks do that: take them off, or use hf:NAME, which reads the text apart"
    )


def missing_logprobs_error(model: object) -> ConfigError:
    """Return the error of a server that does not report probabilities of prompt tokens."""
    return ConfigError(
        f"the server of {model} does not return prompt_logprobs, which perplexity needs; use a vLLM"
        " server, or hf:NAME in this process"
    )


def read_logprobs(data: object) -> list[PromptToken | None]:
    """Return the tokens of a prompt in a response; None for the first, as nothing precedes.

    Raises:
        ConfigError: The server returns none.
        CallFailed: Its answer cannot be read.
    """
    if not isinstance(data, dict):
        raise CallFailed("the server's answer is not a JSON object")
    rows = data.get("prompt_logprobs")
    if not isinstance(rows, list):
        raise missing_logprobs_error(data.get("model"))
    return [None if row is None else _token(row) for row in rows]


def _token(row: object) -> PromptToken:
    try:
        token, token_fields = next(iter(row.items()))  # type: ignore[attr-defined]  # is caught
        value = token_fields["logprob"]
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
"""Names that servers give to the context length in their list of models."""


def read_room(models: Any, model: str) -> int | None:
    """Return the tokens that fit, from a server's list of models (vLLM, SGLang...), or None.

    Args:
        models: The server's list of its models.
        model: Name of the model; another's room is taken where it is not in the list.
    """
    try:
        rows = models["data"]
        row = next((r for r in rows if r["id"] == model), rows[0])
        return next((int(row[name]) for name in _ROOM if row.get(name)), None)
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError):
        return None
