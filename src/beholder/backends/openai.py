"""``openai:MODEL``: any server that speaks the OpenAI protocol (hosted, vLLM, Ollama...)."""

from __future__ import annotations

import asyncio
import email.utils
import json
import os
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import openai

from beholder.backends.base import (
    Answer,
    Backend,
    Image,
    NoteBook,
    Notes,
    Perplexity,
    Request,
    Sample,
    Usage,
    mark,
)
from beholder.backends.calls import Caller, CallFailed, Limits
from beholder.backends.loops import PerLoop
from beholder.backends.money import Price, load_prices, price_of
from beholder.backends.openai_batch import PRICE_FACTOR, OpenAIBatches, batch_queue
from beholder.backends.openai_probe import (
    Refused,
    probe_images,
    probe_model,
    probe_structure,
)
from beholder.backends.openai_wire import Dialect, read_samples, read_usage, to_body
from beholder.backends.prompt_logprobs import perplexities
from beholder.errors import ConfigError, ItemError, ModelChangedError, RunError

_HOSTED = "https://api.openai.com/v1"


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
        notes: Where to remember what the server can do, and open batches.
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
        notes: Notes | None = None,
        batch: bool = False,
        batch_quiet: float = 5.0,
        batch_poll: float = 30.0,
        **limits: Any,
    ) -> None:
        self.model = model
        self.base_url = (base_url or _HOSTED).rstrip("/")
        self.key_env = key_env
        self.extra = dict(extra or {})
        self.variant = mark(self.extra)
        self.context = context
        self.name = f"openai:{model}" if base_url is None else f"openai:{model}@{self._address()}"
        try:
            self._caller = Caller(Limits(**limits), self.name)
        except TypeError as error:
            raise ConfigError(f"{self.name}: {error}") from error
        self._notes = notes or NoteBook()
        self._prices = load_prices(None if prices is None else Path(prices))
        self._dialect: Dialect | None = None
        self._clients = PerLoop(self._make_client)
        self._probing = PerLoop(_make_lock)
        self.batch = batch
        service = OpenAIBatches(self._clients.get, self._called)
        self._batches = PerLoop(
            lambda: batch_queue(service, self._notes, self.name, batch_quiet, batch_poll)
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
            self._notes.put_note(self._note, json.dumps(asdict(known)))
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

    async def perplexity(
        self, texts: Sequence[str], *, prompt: str, images: tuple[Image, ...] = ()
    ) -> list[Perplexity]:
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
            words = str(refusal).lower()
            if "context" in words or "too long" in words or "maximum" in words:
                raise ItemError(f"{self.name}: the prompt does not fit: {refusal}") from refusal
            raise ItemError(f"{self.name} refused the request: {refusal}") from refusal

    def _check(self, request: Request, dialect: Dialect) -> None:
        if request.images and not dialect.images:
            raise ConfigError(
                f"{self.name} does not take pictures; choose a judge that can see, or a metric that"
                " needs no picture"
            )
        tokens = request.estimated_tokens() + request.sampling.max_tokens
        if self.context is not None and tokens > self.context:
            raise ItemError(
                f"the prompt has about {tokens} tokens and {self.name} takes {self.context}"
                " (option context); it is not cut, shorten the text or use a judge with more room"
            )

    async def _post(self, body: dict[str, Any], tokens: int = 0) -> dict[str, Any]:
        full = {**body, **self.extra}

        async def attempt() -> dict[str, Any]:
            data = await self._send(full)
            read_samples(data)  # an answer without a choice is a failed call, to be tried again
            return data

        return await self._caller.call(attempt, tokens)

    async def _send(self, body: dict[str, Any]) -> dict[str, Any]:
        client = await self._clients.get()
        with self._translated():
            # cast_to=object: the plain JSON. Building the SDK's records would double the work.
            return await client.post("/chat/completions", body=body, cast_to=object)  # type: ignore[no-any-return]

    async def _called(self, call: Callable[[], Awaitable[Any]]) -> Any:
        async def attempt() -> Any:
            with self._translated():
                return await call()

        return await self._caller.call(attempt)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Errors of the SDK as ours."""
        try:
            yield
        except openai.APITimeoutError as error:
            raise CallFailed("the server took too long", strain=True) from error
        except openai.APIConnectionError as error:
            cause = self._redacted(str(error.__cause__ or error))
            if self._dialect is None and type(error.__cause__).__name__ == "ConnectError":
                raise ConfigError(
                    f"{self.name} cannot be reached ({cause}); is the server running, and is"
                    f" {self._address()} its address?"
                ) from None
            raise CallFailed(f"no connection ({cause})") from None
        except openai.APIStatusError as error:
            raise self._failure(error) from None
        except (openai.APIError, ValueError) as error:
            raise CallFailed(f"the server's answer is broken ({type(error).__name__})") from None

    def _failure(self, error: Any) -> Exception:
        """What an HTTP error means."""
        status, reason = error.status_code, self._redacted(error.message)
        if status == 402 or (status == 429 and "insufficient_quota" in reason):
            return RunError(f"{self.name}: the account has no quota left: {reason}")
        if status in (401, 403):
            return ConfigError(f"{self.name} refused the key in {self.key_env}: {reason}")
        if status == 404:
            return ConfigError(f"{self.name} is not there: {reason}")
        if status in (408, 409, 425, 429) or status >= 500:
            wait = retry_after(error.response.headers)
            return CallFailed(
                f"HTTP {status}: {reason}", strain=status in (408, 429), retry_after=wait
            )
        return Refused(reason)

    def _redacted(self, text: str) -> str:
        key = os.environ.get(self.key_env)
        return (text.replace(key, "[key]") if key else text)[:500]

    def _address(self) -> str:
        """The base address without any user name or password in it."""
        parts = urlsplit(self.base_url)
        return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))

    @property
    def _note(self) -> str:
        return f"dialect of {self.name}{self.variant}"

    def _remembered(self) -> Dialect | None:
        text = self._notes.get_note(self._note)
        return None if text is None else Dialect(**json.loads(text))

    async def _make_client(self) -> AsyncGenerator[Any, None]:
        key = os.environ.get(self.key_env)
        if not key and self.base_url == _HOSTED:
            raise ConfigError(
                f"{self.name} needs a key: set the environment variable {self.key_env}"
            )
        client = openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=self.base_url,
            max_retries=0,  # calls.py retries, and knows why
            timeout=self._caller.limits.timeout + 5,
        )
        try:
            yield client
        finally:
            await client.close()


async def _make_lock() -> AsyncGenerator[asyncio.Lock, None]:
    yield asyncio.Lock()


def _complete(dialect: Dialect, schema: bool, images: bool) -> bool:
    return not (schema and dialect.structure is None) and not (images and dialect.images is None)


def _sum(a: Usage, b: Usage) -> Usage:
    return Usage(
        a.prompt + b.prompt, a.cached + b.cached, a.completion + b.completion, a.image + b.image
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: a number, or a date."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
