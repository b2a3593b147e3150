"""``openai:MODEL``: any server that speaks the OpenAI protocol (hosted, vLLM, Ollama...)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import ClassVar

from beholder.backends.base import Image, Request, Surprisal
from beholder.backends.calls import CallFailed
from beholder.backends.context_window import told_room
from beholder.backends.money import Usage
from beholder.backends.openai_batch import BatchService, OpenAIBatches
from beholder.backends.openai_http import HOSTED, KEY
from beholder.backends.openai_probe import Refused
from beholder.backends.openai_wire import (
    Completion,
    Dialect,
    read_completion,
    read_usage,
    to_body,
)
from beholder.backends.prompt_logprobs import (
    PromptToken,
    fields,
    perplexities,
    read_logprobs,
    tells_none,
)
from beholder.backends.served import Served
from beholder.errors import ConfigError, ItemError


class OpenAI(Served):
    """A model behind an OpenAI-compatible address; options as in ``Served``."""

    KIND: ClassVar = "openai"
    HOME: ClassVar = HOSTED
    KEY: ClassVar = KEY
    _told_room: int | None = None
    _looked_for_room = False

    def _first_dialect(self) -> Dialect:
        return Dialect(model=self.model, top_logprobs=20)

    def _path(self) -> str:
        return "/chat/completions"

    def _written(self, request: Request, dialect: Dialect) -> dict[str, object]:
        return to_body(self.model, request, dialect)

    def _read(self, data: object) -> Completion:
        return read_completion(data)

    def _usage(self, data: object) -> Usage | None:
        return read_usage(data)

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
