"""``openai:MODEL``: any server that speaks the OpenAI protocol (hosted, vLLM, Ollama...)."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from beholder.backends.base import (
    Answer,
    Backend,
    FactsInMemory,
    Image,
    Request,
    Sample,
    ServerFacts,
    Surprisal,
    options_digest,
)
from beholder.backends.calls import Caller, CallFailed, Limits
from beholder.backends.context_window import SAYS_TOO_LONG, too_long
from beholder.backends.money import Price, Usage, load_prices, price_of
from beholder.backends.openai_batch import PRICE_FACTOR, OpenAIBatches, batch_queue
from beholder.backends.openai_http import HOSTED, Connection, public_address
from beholder.backends.openai_probe import (
    Refused,
    probe_images,
    probe_model,
    probe_structure,
)
from beholder.backends.openai_wire import Dialect, read_samples, read_usage, to_body
from beholder.backends.per_loop import PerLoop
from beholder.backends.prompt_logprobs import perplexities
from beholder.errors import ConfigError, ItemError, ModelChangedError

_ROOM = ("max_model_len", "context_length", "max_context_length", "context_window")
"""What servers call the room of a model in their list of models."""


class OpenAI(Backend):
    """A model behind an OpenAI-compatible address.

    Args:
        model: Name that the server knows it by.
        base_url: Address up to ``/v1``; None for OpenAI's own.
        key_env: Environment variable that holds the key. It is read when the first call is made
            and goes nowhere but into the request; servers without keys need none.
        extra: Further fields of every request body, such as
            ``{"chat_template_kwargs": {"enable_thinking": False}}``.
        context: Tokens that fit; a longer prompt is refused before it is sent. For servers that
            cut long prompts without a word.
        prices: A price table of your own (see ``prices.json``).
        facts: Where to remember what the server can do, and open batches.
        batch: Collect requests and send them as batches: half the price, within a day.
        batch_quiet: Seconds without a new request after which a batch is sent.
        batch_poll: Seconds between looks at a batch.
        limits: Fields of ``Limits``: concurrency, timeout, rates...
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        key_env: str = "OPENAI_API_KEY",
        extra: Mapping[str, Any] | None = None,
        context: int | None = None,
        prices: str | None = None,
        facts: ServerFacts | None = None,
        batch: bool = False,
        batch_quiet: float = 5.0,
        batch_poll: float = 30.0,
        **limits: Any,
    ) -> None:
        self.model = model
        self.extra = dict(extra or {})
        self.variant = options_digest(self.extra)
        self.context = context
        self.name = f"openai:{model}"
        if base_url is not None:
            self.name += f"@{public_address(base_url)}"
        try:
            bounds = Limits(**limits)
        except TypeError as error:
            raise ConfigError(f"{self.name}: {error}") from error
        self._http = Connection(self.name, base_url or HOSTED, key_env, bounds.timeout + 5)
        self._caller = Caller(bounds, self.name)
        self._facts = facts or FactsInMemory()
        self._prices = load_prices(None if prices is None else Path(prices))
        self._dialect: Dialect | None = None
        self._told_room: int | None = None
        self._looked_for_room = False
        self._probing = PerLoop(_make_lock)
        self.batch = batch
        service = OpenAIBatches(self._http, self._caller.call)
        self._batches = PerLoop(
            lambda: batch_queue(service, self._facts, self.name, batch_quiet, batch_poll)
        )

    async def capabilities(self, *, schema: bool = False, images: bool = False) -> Dialect:
        """What the server can do; asked once, then remembered."""
        known = self._dialect
        if known is not None and _complete(known, schema, images):
            return known
        async with await self._probing.get():
            known = self._dialect or self._remembered()
            if known is None:
                known = await probe_model(self.model, self._post)
            if schema and known.structure is None:
                structure = await probe_structure(self.model, known, self._post)
                known = replace(known, structure=structure)
            if images and known.images is None:
                known = replace(known, images=await probe_images(self.model, known, self._post))
            self._facts.put_fact(self._fact_name, json.dumps(asdict(known)))
            self._dialect = known
        return known

    async def chat(self, request: Request) -> Answer:
        """Ask once; see ``Backend.chat``."""
        dialect = await self.capabilities(
            schema=request.schema is not None, images=bool(request.images)
        )
        self._check(request, dialect)
        start = time.monotonic()
        samples: tuple[Sample, ...] = ()
        usage = Usage()
        while len(samples) < request.sampling.n:  # some servers give one answer whatever n says
            rest = request.sampling.n - len(samples)
            shifted = replace(request, replicate=request.replicate + 1000 * len(samples))
            data = await self._ask(to_body(self.model, shifted, dialect, rest), request)
            samples += read_samples(data)[:rest]
            usage = _sum(usage, read_usage(data))
        served = data.get("model") or dialect.model
        if served != dialect.model:
            raise ModelChangedError(
                f"{self.name} now answers as {served!r}, and it was {dialect.model!r} when this run"
                " began; begin a new run, or name a fixed snapshot of the model"
            )
        return Answer(
            samples=samples,
            model=served,
            fingerprint=data.get("system_fingerprint"),
            usage=usage,
            seconds=time.monotonic() - start,
            price_factor=PRICE_FACTOR if self.batch else 1.0,
        )

    async def surprisal(
        self, texts: Sequence[str], *, prompt: str, images: tuple[Image, ...] = ()
    ) -> list[Surprisal]:
        """Exact perplexities where the server tells ``prompt_logprobs`` (vLLM)."""
        try:
            return await perplexities(self.model, self._post, texts, prompt, images)
        except Refused as refusal:
            raise ItemError(f"{self.name} refused the request: {refusal}") from refusal

    def price(self) -> Price | None:
        """List price of the served model; models on a server of one's own are in no table."""
        served = self._dialect.model if self._dialect else self.model
        return price_of(served, self._prices) or price_of(self.model, self._prices)

    async def _ask(self, body: dict[str, Any], request: Request) -> dict[str, Any]:
        try:
            if self.batch:
                return await (await self._batches.get()).ask({**body, **self.extra})
            return await self._post(body, tokens=request.estimated_tokens())
        except Refused as refusal:
            if SAYS_TOO_LONG.search(str(refusal)):
                tokens = f"about {_tokens(request)}"
                room = await self._room()
                raise too_long(self.name, tokens, room, str(refusal)) from refusal
            raise ItemError(f"{self.name} refused the request: {refusal}") from refusal

    async def _room(self) -> int | None:
        """Tokens that fit, where the server's list of models tells (vLLM, SGLang and others do)."""
        if self.context is None and not self._looked_for_room:
            self._looked_for_room = True
            try:
                rows = (await self._http.read("GET", "/models"))["data"]
                row = next((r for r in rows if r["id"] == self.model), rows[0])
                self._told_room = next((int(row[name]) for name in _ROOM if row.get(name)), None)
            except (CallFailed, Refused, ConfigError, LookupError, TypeError, ValueError):
                self._told_room = None  # no such list: only the message is poorer
        return self.context or self._told_room

    def _check(self, request: Request, dialect: Dialect) -> None:
        if request.images and not dialect.images:
            raise ConfigError(
                f"{self.name} does not take pictures; choose a judge that can see, or a metric that"
                " needs no picture"
            )
        if self.context is not None and _tokens(request) > self.context:
            raise too_long(self.name, f"about {_tokens(request)}", self.context)

    async def _post(self, body: dict[str, Any], tokens: int = 0) -> dict[str, Any]:
        full = {**body, **self.extra}

        async def attempt() -> dict[str, Any]:
            data: dict[str, Any] = await self._http.post("/chat/completions", full)
            read_samples(data)  # an answer without a choice is a failed call, to be tried again
            return data

        return await self._caller.call(attempt, tokens)

    @property
    def _fact_name(self) -> str:
        return f"dialect of {self.name}{self.variant}"

    def _remembered(self) -> Dialect | None:
        text = self._facts.get_fact(self._fact_name)
        return None if text is None else Dialect(**json.loads(text))


async def _make_lock() -> AsyncGenerator[asyncio.Lock, None]:
    yield asyncio.Lock()


def _tokens(request: Request) -> int:
    return request.estimated_tokens() + request.sampling.max_tokens


def _complete(dialect: Dialect, schema: bool, images: bool) -> bool:
    return not (schema and dialect.structure is None) and not (images and dialect.images is None)


def _sum(a: Usage, b: Usage) -> Usage:
    return Usage(
        a.prompt + b.prompt, a.cached + b.cached, a.completion + b.completion, a.image + b.image
    )
