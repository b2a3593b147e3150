"""A model behind an address: what its server can do, what is asked, and what is paid for it.

``openai``, ``anthropic`` and ``gemini`` say how their servers write questions and answers.
"""

from __future__ import annotations

import asyncio
import json
import math
import re
import time
from abc import abstractmethod
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext
from dataclasses import asdict, fields, replace
from difflib import get_close_matches
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
from beholder.errors import (
    ConfigError,
    ItemError,
    ModelChangedError,
    TransientError,
)

T = TypeVar("T")

_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]*")

_BREAKS_DOWN = (500, 501)
_BROKE_FOR_GOOD = 3
"""Times in a row that a server breaks down at a question about what it can do, until that counts
as a no: some answer so to what they do not know."""


class Served(Backend):
    """A model behind an address.

    Args:
        model: Name that the server knows it by.
        base_url: Address of the server; None for the vendor's own.
        key_env: Environment variable that holds the key. It is read when the first call is made
            and goes nowhere but into the request. None takes the vendor's for its own
            address; any other address gets a key only from a variable that is named here.
        extra: Further fields of every request body, such as
            ``{"chat_template_kwargs": {"enable_thinking": False}}``; None leaves a field out that
            would be sent (``{"seed": None}`` for vLLM on a CPU, which dies of seeds).
        context: Tokens that fit; a longer prompt is refused before it is sent. For servers that
            cut long prompts without a word.
        prices: A price table of your own (see ``prices.json``).
        facts: Where to remember what the server can do, and open batches.
        batch: Collect requests and send them as batches: half the price, within a day.
        batch_quiet: Seconds without a new request after which a batch is sent.
        batch_poll: Seconds between looks at a batch.
        limits: Fields of ``Limits``: concurrency, timeout, rates...

    Raises:
        ConfigError: An option is none, or ``key_env`` no name of a variable.
    """

    pays_each_call: ClassVar[bool] = True
    KIND: ClassVar[str]
    WIRE: ClassVar[Wire]

    @abstractmethod
    def _batch_service(self) -> BatchService:
        """The calls that send and find batches."""

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
        if key_env is not None and not _is_variable(key_env):
            raise ConfigError(  # what it is stays unsaid: it may be the key
                f"{self.KIND}:{model}: key_env is the name of an environment variable, in capitals,"
                f" such as {self.WIRE.home[1]}; the key itself stands nowhere but in that variable"
            )
        _check_model(self.KIND, model)
        _check_extra(f"{self.KIND}:{model}", extra)
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
            raise ConfigError(_no_option(self.name, min(unknown)))
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
        self._told_of_picture = 0
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
            ).opened()
        )

    async def capabilities(
        self, *, schema: bool = False, images: bool = False
    ) -> Dialect:
        """What the server can do; asked once, then remembered."""
        return await self._known(schema, images)

    async def draws_copies(self) -> bool:
        """See ``Backend.draws_copies``; asked once, then remembered."""
        await self.capabilities()
        return bool((await self._known(copies=True)).copies)

    async def _known(
        self, schema: bool = False, images: bool = False, copies: bool = False
    ) -> Dialect:
        known = self._dialect
        if known is not None and _complete(known, schema, images, copies):
            return known
        async with await self._probing.get():
            return await once(
                self._facts,
                self._fact_name,
                lambda: self.remembered(schema, images, copies),
                lambda: self._find_out(schema, images, copies),
            )

    async def _find_out_model(self) -> Dialect:
        """Which model is served. If it has no known price, a limit of costs ends the run here."""
        first = replace(self.WIRE.first, model=self.model)
        try:
            found = await probe_model(first, self._ask_now)
        except NotThere as error:
            raise NotThere(
                f"{error}{await self._http.instead(self.model)}"
            ) from error
        priced = price_of(found.model, self._prices) or self.price()
        async with self.account.budget.reserve(
            0.0 if priced else None, self.name
        ):
            return found

    async def _find_out(
        self, schema: bool, images: bool, copies: bool
    ) -> Dialect:
        known = self._dialect or await self._find_out_model()
        if schema and known.structure is None:
            known = await probe_structure(known, self._ask_now, self.WIRE.ways)
        if images and known.images is None:
            known = replace(
                known, images=await probe_images(known, self._ask_now)
            )
        if copies and known.copies is None:
            known = await probe_drawing(known, self._ask_now)
        return self._remember(known)

    async def chat(self, request: Request) -> Answer:
        """Ask once; see ``Backend.chat``."""
        dialect = await self.capabilities(
            schema=request.schema is not None, images=bool(request.images)
        )
        self._check(request, dialect)
        start = time.monotonic()
        whole = dialect.many or await self._is_noted(request, dialect)
        asked = request if whole else _one_of(request)
        found, usage = await self._ask(asked, dialect)
        n = asked.sampling.n
        if (
            len(found.samples) < n
        ):  # some servers give one answer whatever is asked for
            self._remember(replace(self._dialect or dialect, many=False))
        served = found.model or dialect.model
        if served != dialect.model:
            self.account.note(self._cost(usage, self._factor))
            self._facts.doubt_fact(
                self._fact_name
            )  # a new run finds out who answers now
            raise ModelChangedError(
                f"{self.name} now answers as {served!r}, and it was {dialect.model!r} when this run"
                " began; begin a new run, or name a fixed snapshot of the model"
            )
        return Answer(
            samples=found.samples[:n],
            model=served,
            fingerprint=found.fingerprint,
            usage=usage,
            seconds=time.monotonic() - start,
            price_factor=self._factor,
        )

    def price(self) -> Price | None:
        """List price of the served model; models on your own server are in no table."""
        served = self._dialect.model if self._dialect else self.model
        return price_of(served, self._prices) or price_of(
            self.model, self._prices
        )

    def is_under_way(self, task: asyncio.Task[Any]) -> bool:
        """See ``Backend.is_under_way``; a batch continues at the server and is found again."""
        return self._caller.is_under_way(task)

    async def _is_noted(self, request: Request, dialect: Dialect) -> bool:
        """Whether a request was sent in a batch, before it was known what the server draws."""
        if not self.batch:
            return False
        queue = await self._batches.get()
        return queue.knows(self._body(request, dialect), request.replicate)

    async def _ask(
        self, request: Request, dialect: Dialect
    ) -> tuple[Completion, Usage]:
        """The answers to a request, which are paid for, and what they took."""

        def pay(_: object, used: Usage) -> None:
            self.account.budget.pay(self._cost(used, self._factor))

        try:
            if not self.batch:
                return await self._post(
                    request, dialect, self.WIRE.read, pay, {}
                )
            most = self._most(request, dialect)
            cost = self._cost(most, self._factor)
            async with self.account.budget.reserve(
                cost, self.name, request.drawing, is_recovered=True
            ):
                body = self._body(request, dialect)
                queue = await self._batches.get()
                try:
                    found, told = await queue.ask(body, request.replicate)
                except CallFailed as failure:
                    if failure.charged:
                        self.account.lose(
                            self._cost(failure.usage or most, self._factor)
                        )
                    raise TransientError(
                        f"{self.name}: {failure}"
                    ) from failure
                self._note_pictures(request, told)
                pay(found, told or most)
            return found, told or most
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
        """An answer that says what the server can do, and is not kept."""

        def pay(found: Completion, used: Usage) -> None:
            price = (
                price_of(found.model or self.model, self._prices)
                or self.price()
            )
            self.account.lose(None if price is None else price.cost(used))

        found, _ = await self._post(
            request, dialect, self.WIRE.read, pay, {}, known=False
        )
        return found

    async def _post(
        self,
        request: Request,
        dialect: Dialect,
        read: Callable[[object], T],
        pay: Callable[[T, Usage], None],
        further: JsonObject,
        *,
        known: bool = True,
    ) -> tuple[T, Usage]:
        """What is read in a response, and its tokens. Tries that failed are paid for here.

        Args:
            request: What to ask.
            dialect: What the server understands.
            read: Reads the response, or raises ``CallFailed``.
            pay: Pays for it, while what it could cost is still held: no other call gets it before.
            further: Fields of the body beyond those of a chat.
            known: Whether the model is known, and so its price must be if there is a limit.
        """
        body = self._marked(self._body(request, dialect, further))
        most = self._most(request, dialect)
        sent = False
        n_broke = 0

        async def attempt() -> tuple[T, Usage]:
            nonlocal sent, n_broke
            sent = True
            try:
                data = await self._http.post(self._path(), body)
            except CallFailed as failure:
                n_broke = n_broke + 1 if failure.status in _BREAKS_DOWN else 0
                if not known and n_broke == min(
                    _BROKE_FOR_GOOD, self._caller.limits.attempts
                ):
                    raise Refused(str(failure), broke=True) from failure
                raise
            found, told = self._with_usage(read, data)
            self._note_pictures(request, told)
            pay(found, told or most)
            return found, told or most

        @asynccontextmanager
        async def hold() -> AsyncIterator[None]:
            cost = self._cost(most)
            held = self.account.budget.reserve(
                cost, self.name, request.drawing if known else PROBE
            )
            async with held if known or cost is not None else nullcontext():
                try:
                    yield
                except CallFailed as failure:
                    if failure.charged:
                        self.account.lose(self._cost(failure.usage or most))
                    raise
                except asyncio.CancelledError:
                    if sent:
                        self.account.lose(self._cost(most))
                    raise

        tokens = request.estimated_tokens() if request.images else most.prompt
        return await self._caller.call(attempt, tokens, hold)

    def _path(self) -> str:
        return self.WIRE.path.format(self.model)

    def _marked(self, body: JsonDict) -> JsonDict:
        """The body with marks of what the server shall cache, which change no answer."""
        return body

    def _most(self, request: Request, dialect: Dialect) -> Usage:
        """The most tokens of a call: pictures take as many as listed, or as any took so far."""
        price = self.price()
        listed = (
            MOST_OF_PICTURE
            if price is None or price.image is None
            else price.image
        )
        return request.most_usage(
            dialect.thinking, max(listed, self._told_of_picture)
        )

    def _note_pictures(self, request: Request, told: Usage | None) -> None:
        if (
            told is not None
            and request.images
            and not any(i.clip for i in request.images)
        ):
            each = math.ceil(told.prompt / len(request.images))
            self._told_of_picture = max(self._told_of_picture, each)

    def _body(
        self,
        request: Request,
        dialect: Dialect,
        further: JsonObject = MappingProxyType({}),
    ) -> JsonDict:
        whole = {**self._written(request, dialect), **further}
        left_out = {
            name for name, value in self.extra.items() if value is None
        }
        return {
            name: value
            for name, value in whole.items()
            if name not in left_out
        }

    def _written(self, request: Request, dialect: Dialect) -> JsonDict:
        return {**self.WIRE.write(self.model, request, dialect), **self.extra}

    @property
    def _factor(self) -> float:
        return PRICE_FACTOR if self.batch else 1.0

    def _cost(self, usage: Usage, factor: float = 1.0) -> float | None:
        price = self.price()
        return None if price is None else price.cost(usage, factor)

    async def _room(self) -> int | None:
        """Tokens that fit, if known."""
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
        self, read: Callable[[object], T], data: object
    ) -> tuple[T, Usage | None]:
        """What is read in a response, and its tokens; an error has them, too."""
        told = self.WIRE.usage(data)
        try:
            return read(data), told
        except CallFailed as failure:
            raise CallFailed(
                str(failure), charged=True, usage=told
            ) from failure

    def _read_both(self, data: object) -> tuple[Completion, Usage | None]:
        return self._with_usage(self.WIRE.read, data)

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
        """What any run found out, if it covers the question."""
        text = self._facts.get_fact(self._fact_name)
        kept = None if text is None else Dialect.from_json(text)
        self._dialect = self._dialect if kept is None else kept
        known = self._dialect
        found = known is not None and _complete(known, schema, images, copies)
        return known if found else None


_OF_THE_QUESTION = frozenset(
    (
        "model",
        "messages",
        "contents",
        "system",
        "systemInstruction",
        "system_instruction",
        "stream",
    )
)
"""Fields of a body that the question decides: in ``extra`` they would ask something else."""


def _check_model(kind: str, model: object) -> None:
    """Refuse the name of a model that would lead to another address of its server."""
    if (
        not isinstance(model, str)
        or not model.strip()
        or not model.isprintable()
        or not {"?", "#"}.isdisjoint(model)
        or not {".", ".."}.isdisjoint(model.split("/"))
    ):
        raise ConfigError(
            f"{kind}: {model!r} is no name of a model; expected such as gpt-4.1"
        )


def _check_extra(name: str, extra: object) -> None:
    if extra is None:
        return
    if not isinstance(extra, Mapping) or not all(
        isinstance(field, str) for field in extra
    ):
        raise ConfigError(
            f"{name}: extra={extra!r}: expected a dict of fields"
        )
    for field in extra:
        if field in _OF_THE_QUESTION:
            raise ConfigError(
                f"{name}: extra={{{field!r}: ...}} would replace a part of the question; leave it"
                " out (roles and words of prompts are options of the judge)"
            )
    try:
        json.dumps(extra, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(
            f"{name}: extra={extra!r} is not JSON: {error}"
        ) from error


def _no_option(name: str, unknown: str) -> str:
    known = [
        *signature(Served.__init__).parameters,
        *(each.name for each in fields(Limits)),
    ]
    known = [
        each
        for each in known
        if each not in ("self", "model", "limits", "facts")
    ]
    close = get_close_matches(unknown, known, n=1)
    hint = f"did you mean {close[0]!r}? " if close else ""
    return f"{name} has no option {unknown!r}; {hint}There are: {', '.join(known)}"


def _is_variable(name: object) -> bool:
    return isinstance(name, str) and _VARIABLE.fullmatch(name) is not None


async def _make_lock() -> AsyncGenerator[asyncio.Lock, None]:
    yield asyncio.Lock()


def _tokens(request: Request) -> int:
    return request.estimated_tokens() + request.sampling.max_tokens


def _complete(
    dialect: Dialect, schema: bool, images: bool, copies: bool
) -> bool:
    asked = (
        (schema, dialect.structure),
        (images, dialect.images),
        (copies, dialect.copies),
    )
    return all(found is not None for wanted, found in asked if wanted)


def _one_of(request: Request) -> Request:
    """The request for the first of several samples; the others are asked for later."""
    n_after = request.sampling.n - 1
    drawing = request.drawing and replace(request.drawing, n_after=n_after)
    return replace(
        request, sampling=replace(request.sampling, n=1), drawing=drawing
    )
