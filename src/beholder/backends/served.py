"""Models behind an address: the server's capabilities, the requests, and their costs.

``openai``, ``anthropic`` and ``gemini`` say how their servers write questions and answers.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import asdict, fields, replace
from inspect import signature
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, TypeVar

from beholder.aio import PerLoop
from beholder.backends.base import (
    MOST_OF_PICTURE,
    Answer,
    Backend,
    FactsInMemory,
    JsonDict,
    JsonObject,
    Request,
    ServerFacts,
    options_digest,
)
from beholder.backends.batch_queue import (
    PRICE_FACTOR,
    BatchQueue,
    BatchService,
)
from beholder.backends.calls import (
    SAYS_TOO_LONG,
    Caller,
    CallFailed,
    Limits,
    Refused,
    once,
    too_long,
)
from beholder.backends.money import PROBE, Price, Usage, load_prices, price_of
from beholder.backends.openai_http import NotThere, public_address
from beholder.backends.openai_probe import (
    probe_drawing,
    probe_images,
    probe_model,
    probe_structure,
)
from beholder.backends.openai_wire import Completion, Dialect, Wire
from beholder.backends.served_options import (
    check_extra,
    check_model,
    is_variable,
    no_option,
)
from beholder.errors import (
    ConfigError,
    ItemError,
    ModelChangedError,
    TransientError,
)

T = TypeVar("T")


_BREAKS_DOWN = (500, 501)
_BROKE_FOR_GOOD = 3
"""Times in a row that a server breaks down at a question about what it can do, until that counts
as a no: some answer so to what they do not know."""


class Served(Backend):
    """A model behind an address.

    Args:
        model: Name that the server knows it by.
        base_url: Address of the server; None for the vendor's own.
        key_env: Environment variable with the key. It is read when the first call is made
            and goes nowhere but into the request. None takes the vendor's for its own
            address; any other address gets a key only from a variable that is named here.
        extra: Further fields of every request body, such as
            ``{"chat_template_kwargs": {"enable_thinking": False}}``; None leaves a field out that
            would be sent (``{"seed": None}`` for vLLM on a CPU, which dies of seeds).
        context: Tokens that fit; a longer prompt is refused before it is sent. For servers that
            cut long prompts without a word.
        prices: A price table of your own (see ``prices.json``).
        facts: Store for the server's capabilities and open batches.
        batch: Collect requests and send them as batches: half the price, within a day.
        batch_quiet: Seconds without a new request after which a batch is sent.
        batch_poll: Seconds between looks at a batch.
        limits: Fields of ``Limits``: concurrency, timeout, rates...

    Raises:
        ConfigError: An option is not valid, or ``key_env`` is not the name of a variable.
    """

    pays_each_call: ClassVar[bool] = True
    KIND: ClassVar[str]
    WIRE: ClassVar[Wire]

    @abstractmethod
    def _batch_service(self) -> BatchService:
        """Return the calls that send and find batches."""

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        key_env: str | None = None,
        extra: JsonObject | None = None,
        context: int | None = None,
        prices: str | None = None,
        facts: ServerFacts | None = None,
        batch: bool = False,
        batch_quiet: float = 5.0,
        batch_poll: float = 30.0,
        **limits: Any,
    ) -> None:
        # Options are checked before anything is sent, and no message repeats what may be a key.
        if key_env is not None and not is_variable(key_env):
            raise ConfigError(  # what it is stays unsaid: it may be the key
                f"{self.KIND}:{model}: key_env is the name of an environment variable, in capitals,"
                f" such as {self.WIRE.home[1]}; put the key itself into that variable only"
            )
        check_model(self.KIND, model)
        check_extra(f"{self.KIND}:{model}", extra)
        self.model = model
        self._path()  # refuses a name that leads elsewhere
        self.extra = dict(extra or {})
        self.variant = options_digest(self.extra)
        self.context = context
        self.name = f"{self.KIND}:{model}"
        if base_url is not None:
            self.name += f"@{public_address(base_url)}"
        unknown = limits.keys() - {each.name for each in fields(Limits)}
        if unknown:
            parameters = signature(Served.__init__).parameters
            raise ConfigError(no_option(self.name, min(unknown), parameters))
        bounds = Limits(**limits)
        home = self.WIRE.home
        self._http = self.WIRE.connection(
            self.name,
            base_url or home[0],
            key_env,
            bounds.timeout + 5,
            home=home,
        )
        self._caller = Caller(bounds, self.name)
        self._facts = facts or FactsInMemory()
        self._prices = load_prices(None if prices is None else Path(prices))
        self._dialect: Dialect | None = None
        self._picture_tokens = 0
        self._probing = PerLoop(_make_lock)
        self.batch = batch
        if batch:
            self._batch_service()  # refuses if there are none
        times = (batch_quiet, batch_poll)
        self._batches = PerLoop(
            lambda: BatchQueue(
                self._batch_service(),
                self._facts,
                self.name,
                self._read_both,
                *times,
            ).open_for_loop()
        )

    async def capabilities(
        self, *, schema: bool = False, images: bool = False
    ) -> Dialect:
        """Return what the server can do; asked once, then remembered."""
        return await self._find_capabilities(schema, images)

    async def draws_copies(self) -> bool:
        """Return whether drawn answers are identical; asked once, then remembered."""
        await self.capabilities()
        return bool((await self._find_capabilities(copies=True)).copies)

    async def _find_capabilities(
        self, schema: bool = False, images: bool = False, copies: bool = False
    ) -> Dialect:
        dialect = self._dialect
        if dialect is not None and _is_complete(
            dialect, schema, images, copies
        ):
            return dialect
        async with await self._probing.get():
            return await once(
                self._facts,
                self._fact_name,
                lambda: self.remembered(schema, images, copies),
                lambda: self._find_out(schema, images, copies),
            )

    async def _find_out_model(self) -> Dialect:
        """Return the dialect of the served model.

        Raises:
            ConfigError: There is a limit on cost, and the model has no known price.
        """
        first = replace(self.WIRE.first, model=self.model)
        try:
            dialect = await self._probe(first)
        except NotThere as error:
            raise NotThere(
                f"{error}{await self._http.suggest_models(self.model)}"
            ) from error
        price = self._price_of(dialect.model) or self.price()
        async with self.account.budget.reserve(
            0.0 if price else None, self.name
        ):
            return dialect

    async def _find_out(
        self, schema: bool, images: bool, copies: bool
    ) -> Dialect:
        dialect = self._dialect or await self._find_out_model()
        if schema and dialect.structure is None:
            dialect = await probe_structure(
                dialect, self._ask_now, self.WIRE.ways
            )
        if images and dialect.images is None:
            dialect = replace(
                dialect, images=await self._probe_images(dialect)
            )
        if copies and dialect.copies is None:
            dialect = await probe_drawing(dialect, self._ask_now)
        return self._remember(dialect)

    async def _probe(self, first: Dialect) -> Dialect:
        """Return the dialect with the served model's name."""
        return await probe_model(first, self._ask_now)

    async def _probe_images(self, dialect: Dialect) -> bool:
        """Return whether the model distinguishes pictures."""
        return await probe_images(dialect, self._ask_now)

    async def chat(self, request: Request) -> Answer:
        """Return the server's answer, paid for from the account."""
        dialect = await self.capabilities(
            schema=request.schema is not None, images=bool(request.images)
        )
        self._check(request, dialect)
        # A server that draws one answer a call is asked for the first here; the caller asks for the
        # rest. A batch that was sent before this was known still has all of them.
        start = time.monotonic()
        draws_all = dialect.many or await self._is_in_batch(request, dialect)
        question = request if draws_all else _first_sample_request(request)
        completion, usage = await self._ask(question, dialect)
        n = question.sampling.n
        # Some servers give one answer, however many are asked for.
        if len(completion.samples) < n:
            self._remember(replace(self._dialect or dialect, many=False))
        served = completion.model or dialect.model
        self._check_served(served, dialect, usage)
        return Answer(
            samples=completion.samples[:n],
            model=served,
            fingerprint=completion.fingerprint,
            usage=usage,
            seconds=time.monotonic() - start,
            price_factor=self._factor,
        )

    def _check_served(
        self, served: str, dialect: Dialect, usage: Usage
    ) -> None:
        """Refuse an alias that moved to another model: it would mix two judges in one run."""
        if served == dialect.model:
            return
        self.account.note(self._cost(usage, self._factor))
        # A new run must determine the model again.
        self._facts.doubt_fact(self._fact_name)
        raise ModelChangedError(
            f"{self.name} now answers as {served!r}, and it was {dialect.model!r} when this run"
            " began; begin a new run, or name a fixed snapshot of the model"
        )

    def price(self) -> Price | None:
        """Return the list price of the served model; None for models on your own server."""
        served = self._dialect.model if self._dialect else self.model
        return self._price_of(served) or self._price_of(self.model)

    def _price_of(self, model: str) -> Price | None:
        return price_of(model, self._prices)

    def is_under_way(self, task: asyncio.Task[Any]) -> bool:
        """Return whether a request was sent; a batch continues at the server and is found again."""
        return self._caller.is_under_way(task)

    async def _is_in_batch(self, request: Request, dialect: Dialect) -> bool:
        """Return whether a request was sent in a batch before the server's drawing was known."""
        if not self.batch:
            return False
        queue = await self._batches.get()
        return queue.knows(self._body(request, dialect), request.replicate)

    async def _ask(
        self, request: Request, dialect: Dialect
    ) -> tuple[Completion, Usage]:
        """Return the answers to a request, which are paid for, and their tokens."""

        def pay(_: object, used: Usage) -> None:
            self.account.budget.pay(self._cost(used, self._factor))

        try:
            # A batch's cost is reserved until its answer arrives. The reserve is not in the
            # ledger, as the next start finds the answer at the server.
            if not self.batch:
                return await self._post(
                    request, dialect, self._reader(request), pay, {}
                )
            max_usage = self._max_usage(request, dialect)
            cost = self._cost(max_usage, self._factor)
            async with self.account.budget.reserve(
                cost, self.name, request.drawing, is_recovered=True
            ):
                body = self._body(request, dialect)
                queue = await self._batches.get()
                try:
                    completion, usage = await queue.ask(
                        body, request.replicate
                    )
                except CallFailed as failure:
                    if failure.charged:
                        self.account.lose(
                            self._cost(
                                failure.usage or max_usage, self._factor
                            )
                        )
                    raise TransientError(
                        f"{self.name}: {failure}"
                    ) from failure
                self._note_pictures(request, usage)
                pay(completion, usage or max_usage)
            return completion, usage or max_usage
        except Refused as refusal:
            if SAYS_TOO_LONG.search(str(refusal)):
                tokens = f"about {_tokens(request)}"
                room = await self._room()
                raise too_long(
                    self.name, tokens, room, str(refusal)
                ) from refusal
            raise ItemError(
                f"{self.name} refused the request: {refusal}"
            ) from refusal

    async def _ask_now(self, request: Request, dialect: Dialect) -> Completion:
        """Return the answer to a probe; it is paid for and not stored."""

        def pay(completion: Completion, used: Usage) -> None:
            price = (
                self._price_of(completion.model or self.model) or self.price()
            )
            self.account.lose(None if price is None else price.cost(used))

        completion, _ = await self._post(
            request,
            dialect,
            self._reader(request),
            pay,
            {},
            is_model_known=False,
        )
        return completion

    async def _post(
        self,
        request: Request,
        dialect: Dialect,
        parse: Callable[[object], T],
        pay: Callable[[T, Usage], None],
        further: JsonObject,
        *,
        is_model_known: bool = True,
    ) -> tuple[T, Usage]:
        """Return the parsed response and its tokens. Tries that failed are paid for here.

        Args:
            request: Request to send.
            dialect: Dialect that the server understands.
            parse: Reads the response, or raises ``CallFailed``.
            pay: Pays for it, while what it could cost is still held: no other call gets it before.
            further: Fields of the body beyond those of a chat.
            is_model_known: False for a question that finds out the model: its price may be
                unknown, even if there is a limit on cost.
        """
        body = self._mark_cacheable(self._body(request, dialect, further))
        max_usage = self._max_usage(request, dialect)
        # `attempt` is one try, `hold` the money around it: what a try can cost is reserved
        # before it and released after it. A try that failed or was cancelled after it was sent
        # may be charged, so its most is paid.
        is_sent = False
        n_broke = 0

        async def attempt() -> tuple[T, Usage]:
            nonlocal is_sent, n_broke
            is_sent = True
            try:
                data = await self._http.post(self._path(), body)
            except CallFailed as failure:
                n_broke = n_broke + 1 if failure.status in _BREAKS_DOWN else 0
                # Some servers break down at a parameter they do not know: while probing, that is a
                # refusal. In a run it is a failure that may pass.
                if not is_model_known and n_broke == min(
                    _BROKE_FOR_GOOD, self._caller.limits.attempts
                ):
                    raise Refused(str(failure), broke=True) from failure
                raise
            content, usage = self._with_usage(parse, data)
            self._note_pictures(request, usage)
            pay(content, usage or max_usage)
            return content, usage or max_usage

        @asynccontextmanager
        async def hold() -> AsyncIterator[None]:
            cost = self._cost(max_usage)
            reservation = self.account.budget.reserve(
                cost, self.name, request.drawing if is_model_known else PROBE
            )
            async with (
                reservation
                if is_model_known or cost is not None
                else nullcontext()
            ):
                try:
                    yield
                except CallFailed as failure:
                    if failure.charged:
                        self.account.lose(
                            self._cost(failure.usage or max_usage)
                        )
                    raise
                except asyncio.CancelledError:
                    if is_sent:
                        self.account.lose(self._cost(max_usage))
                    raise

        tokens = (
            request.estimated_tokens() if request.images else max_usage.prompt
        )
        return await self._caller.call(attempt, tokens, hold)

    def _path(self) -> str:
        return self.WIRE.path.format(self.model)

    def _reader(self, request: Request) -> Callable[[object], Completion]:
        """Return what reads the response to a request."""
        return self.WIRE.parse

    def _mark_cacheable(self, body: JsonDict) -> JsonDict:
        """Return the body with cache marks, which change no answer; here without."""
        return body

    def _max_usage(self, request: Request, dialect: Dialect) -> Usage:
        """Return the most tokens of a call; pictures count as listed, or as the largest so far."""
        return request.most_usage(
            dialect.thinking, self._most_of_picture(self.price())
        )

    def _most_of_picture(self, price: Price | None) -> int:
        listed = (
            MOST_OF_PICTURE
            if price is None or price.image is None
            else price.image
        )
        return max(listed, self._picture_tokens)

    def _note_pictures(self, request: Request, usage: Usage | None) -> None:
        if (
            usage is not None
            and request.images
            and not any(i.clip for i in request.images)
        ):
            each = math.ceil(usage.prompt / len(request.images))
            self._picture_tokens = max(self._picture_tokens, each)

    def _body(
        self,
        request: Request,
        dialect: Dialect,
        further: JsonObject = MappingProxyType({}),
    ) -> JsonDict:
        body = {**self._write_body(request, dialect), **further}
        left_out = {
            name for name, value in self.extra.items() if value is None
        }
        return {
            name: value for name, value in body.items() if name not in left_out
        }

    def _write_body(self, request: Request, dialect: Dialect) -> JsonDict:
        return {**self.WIRE.write(self.model, request, dialect), **self.extra}

    @property
    def _factor(self) -> float:
        return PRICE_FACTOR if self.batch else 1.0

    def _cost(self, usage: Usage, factor: float = 1.0) -> float | None:
        price = self.price()
        return None if price is None else price.cost(usage, factor)

    async def _room(self) -> int | None:
        """Return the tokens that fit, if known."""
        return self.context

    def _check(self, request: Request, dialect: Dialect) -> None:
        if not dialect.images and request.images:
            raise ConfigError(
                f"{self.name} does not take pictures; choose a judge that can see, or a metric that"
                " needs no picture"
            )
        if self.context is not None and _tokens(request) > self.context:
            raise too_long(
                self.name, f"about {_tokens(request)}", self.context
            )

    def _with_usage(
        self, parse: Callable[[object], T], data: object
    ) -> tuple[T, Usage | None]:
        """Return the parsed response and its tokens; an error carries them, too."""
        usage = self.WIRE.usage(data)
        try:
            return parse(data), usage
        except CallFailed as failure:
            raise CallFailed(
                str(failure), charged=True, usage=usage
            ) from failure

    def _read_both(self, data: object) -> tuple[Completion, Usage | None]:
        return self._with_usage(self.WIRE.parse, data)

    @property
    def _fact_name(self) -> str:
        return f"dialect of {self.name}{self.variant}"

    def _remember(self, dialect: Dialect) -> Dialect:
        self._facts.put_fact(self._fact_name, json.dumps(asdict(dialect)))
        self._dialect = dialect
        return dialect

    def remembered(
        self, schema: bool = False, images: bool = False, copies: bool = False
    ) -> Dialect | None:
        """Return the dialect that an earlier run stored, if it covers the question; else None."""
        # Another process may have learned more since this one looked.
        text = self._facts.get_fact(self._fact_name)
        stored_dialect = None if text is None else Dialect.from_json(text)
        self._dialect = (
            self._dialect if stored_dialect is None else stored_dialect
        )
        dialect = self._dialect
        is_complete = dialect is not None and _is_complete(
            dialect, schema, images, copies
        )
        return dialect if is_complete else None


async def _make_lock() -> AsyncGenerator[asyncio.Lock, None]:
    yield asyncio.Lock()


def _tokens(request: Request) -> int:
    return request.estimated_tokens() + request.sampling.max_tokens


def _is_complete(
    dialect: Dialect, schema: bool, images: bool, copies: bool
) -> bool:
    requirements = (
        (schema, dialect.structure),
        (images, dialect.images),
        (copies, dialect.copies),
    )
    return all(
        capability is not None
        for is_needed, capability in requirements
        if is_needed
    )


def _first_sample_request(request: Request) -> Request:
    """Return the request for the first of several samples; the others are asked for later."""
    n_after = request.sampling.n - 1
    drawing = request.drawing and replace(request.drawing, n_after=n_after)
    return replace(
        request, sampling=replace(request.sampling, n=1), drawing=drawing
    )
