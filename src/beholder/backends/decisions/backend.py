"""``decisions:MODEL`` and ``systemone:MODEL``: decision models behind an address."""

from __future__ import annotations

import io
import json
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ClassVar, NoReturn

from PIL import Image as Pixels

from beholder.backends.base import Answer, Image, JsonDict, Request, Sample
from beholder.backends.batch_queue import BatchService
from beholder.backends.calls import CallFailed, Refused, too_long
from beholder.backends.decisions.forms import (
    FORMS,
    PictureForm,
    Shape,
    read_usage,
)
from beholder.backends.decisions.questions import (
    DecidingBackend,
    Decision,
    DecisionCall,
    Predicate,
    QuestionLimits,
    decode_decisions,
    encode_decisions,
)
from beholder.backends.decisions.servers import server_at
from beholder.backends.money import Price, Usage, price_of
from beholder.backends.openai_http import HOSTED, KEY, Connection, NotThere
from beholder.backends.openai_probe import SQUARES
from beholder.backends.openai_wire import Completion, Dialect, Wire
from beholder.backends.served import Served
from beholder.errors import ConfigError, ItemError, RunError
from beholder.media.image import encode_jpeg
from beholder.media.pixels import fit

_SAYS_TOO_MUCH = re.compile(
    r"too (many|long|large|big)|at most|maximum|max_tokens|exceed|limit"
    r"|longer than|context",
    re.IGNORECASE,
)
"""Finds in a server's refusal that fewer questions could pass."""

_OVERHEAD = 300
"""Tokens that a server adds to each call; TypeSafe adds 261 (second hand)."""

_SQUARE_QUESTION = Predicate("The picture is red.")
_TEXT_CALL = DecisionCall(
    {"description": "A cat sleeps on a sofa."},
    (Predicate("The description says that there is a cat."),),
)

_DAILY_QUOTA, _NO_ROOM = 3036, 3040
"""Cloudflare's codes: no quota left today, and no room at the moment."""


class DecisionConnection(Connection):
    """An address of a server of decision models."""

    KIND: ClassVar[str]

    def _key_headers(self, key: str) -> dict[str, str]:
        server = server_at(self.base_url, self.KIND)
        if server.key_header == "authorization":
            headers = super()._key_headers(key)
        else:
            headers = {server.key_header: key} if key else {}
        return headers | dict(server.headers)

    def _failure(
        self, status: int, headers: Mapping[str, str], body: bytes
    ) -> Exception:
        codes = _error_codes(body)
        if _DAILY_QUOTA in codes:
            return RunError(f"{self.name}: the day's quota is used up")
        if _NO_ROOM in codes:
            return CallFailed("the server has no room", strain=True)
        return super()._failure(status, headers, body)

    async def suggest_models(self, model: str) -> str:
        """Return nothing: vendors list their models in their documentation."""
        return ""


class _OpenAIConnection(DecisionConnection):
    KIND = "decisions"


class _SystemOneConnection(DecisionConnection):
    KIND = "systemone"


class Decisions(Served, DecidingBackend):
    """A decision model behind an address; further options as in ``Served``.

    The form of requests, the limits and how pictures are sent follow from a known address; each
    is an option, since servers change them, and an address does not show its form.

    Args:
        model: Name that the server knows it by.
        shape: ``openai``, ``systemone`` or ``gemini``.
        path: Where questions go below the base address.
        max_questions: Questions of one call.
        max_options: Options of one choice.
        max_levels: Levels of one score.
        context: Tokens of one call.
        pictures: Where pictures go: ``parts``, ``assets``, ``images``, ``array``, or ``none``.
        max_images: Pictures of one call.
        base_url: Address of the server; None for the vendor's own.
        key_env: Environment variable that holds the key; see ``Served``.
        options: As of ``Served``.
    """

    KIND: ClassVar[str] = "decisions"
    WIRE: ClassVar[Wire]

    def __init__(
        self,
        model: str,
        *,
        shape: Shape | None = None,
        path: str | None = None,
        max_questions: int | None = None,
        max_options: int | None = None,
        max_levels: int | None = None,
        context: int | None = None,
        pictures: PictureForm | None = None,
        max_images: int | None = None,
        base_url: str | None = None,
        key_env: str | None = None,
        facts: Any = None,
        **options: Any,
    ) -> None:
        server = server_at(base_url or self.WIRE.home[0], self.KIND)
        limits = server.limits
        self.limits = QuestionLimits(
            max_questions=max_questions or limits.max_questions,
            max_options=max_options or limits.max_options,
            max_levels=max_levels or limits.max_levels,
            window=context or limits.window,
        )
        self.shape: Shape = shape or server.shape
        self._pictures = pictures or server.pictures
        self._max_images = max_images or server.max_images
        self._sides = server.sides
        self._question_path = path or server.path or FORMS[self.shape].path
        # Of what a call was charged, to what was estimated: some servers count
        # the state once for each question.
        self._usage_ratio = 1.0
        super().__init__(
            model,
            base_url=base_url,
            key_env=key_env,
            facts=facts,
            context=self.limits.window,
            **options,
        )
        self.variant += f"+{self.shape}"

    def _path(self) -> str:
        return self._question_path.format(self.model)

    def _batch_service(self) -> BatchService:
        raise ConfigError(
            f"{self.KIND}:{self.model}: no server of decision models is known"
            " to take batches; leave batch out"
        )

    def price(self) -> Price | None:
        """Return the price of decisions, which is not that of a chat with the same model."""
        names = [self._dialect.model] if self._dialect else []
        for name in (*names, self.model):
            price = price_of(f"decisions/{name}", self._prices)
            if price is not None:
                return price
        return super().price()

    async def _probe(self, first: Dialect) -> Dialect:
        request = _TEXT_CALL.to_request()
        try:
            completion = await self._ask_now(request, first)
        except NotThere:
            # Google's server has moved from one version of the path to the other.
            if self.shape != "gemini" or "v1beta" not in self._question_path:
                raise
            self._question_path = "/v1/decisions"
            completion = await self._ask_now(request, first)
        except Refused as refusal:
            raise ConfigError(
                f"{self.name} takes no questions in the form {self.shape!r}:"
                f" {refusal}; name another with shape='openai', 'systemone' or"
                " 'gemini'"
            ) from refusal
        return replace(first, model=completion.model or self.model)

    async def _probe_images(self, dialect: Dialect) -> bool:
        """Return whether a red square is red rather than a blue one."""
        if self._pictures == "none":
            return False
        red, blue = [
            DecisionCall({}, (_SQUARE_QUESTION,), (square,)).to_request()
            for square in SQUARES
        ]
        try:
            answers = [
                await self._ask_now(request, dialect)
                for request in (red, blue)
            ]
        except Refused:
            return False
        [of_red], [of_blue] = [
            decode_decisions(answer.samples[0].text) for answer in answers
        ]
        if of_red.reason or of_blue.reason:
            return False
        return of_red.probabilities > of_blue.probabilities

    async def chat(self, request: Request) -> Answer:
        """Return the decisions of all questions of a call, paid for from the account.

        A call that the server finds too large is halved, down to one question.
        """
        dialect = await self.capabilities(images=bool(request.images))
        self._check(request, dialect)
        start = time.monotonic()
        call = DecisionCall.from_request(request)
        decisions, usage, served = await self._decide(
            call, dialect, request.replicate
        )
        self._check_served(served, dialect, usage)
        return Answer(
            samples=(Sample(encode_decisions(decisions), "stop"),),
            model=served,
            usage=usage,
            seconds=time.monotonic() - start,
        )

    async def _decide(
        self, call: DecisionCall, dialect: Dialect, replicate: int
    ) -> tuple[list[Decision], Usage, str]:
        """Return decisions, tokens and the model that answered."""
        n_questions = len(call.questions)
        try:
            completion, usage = await self._ask_server(
                call.to_request(replicate), dialect
            )
        except Refused as refusal:
            if not _SAYS_TOO_MUCH.search(str(refusal)):
                raise ItemError(
                    f"{self.name} refused the request: {refusal}"
                ) from refusal
            if n_questions == 1:
                tokens = call.to_request().estimated_tokens()
                raise too_long(
                    self.name, f"about {tokens}", None, str(refusal)
                ) from refusal
        else:
            decisions = decode_decisions(completion.samples[0].text)
            return list(decisions), usage, completion.model or dialect.model
        half = (n_questions + 1) // 2
        first, second = [
            await self._decide(
                replace(call, questions=questions), dialect, replicate
            )
            for questions in (call.questions[:half], call.questions[half:])
        ]
        return first[0] + second[0], first[1] + second[1], second[2]

    async def _ask_server(
        self, request: Request, dialect: Dialect
    ) -> tuple[Completion, Usage]:
        def pay(_: object, used: Usage) -> None:
            self.account.budget.pay(self._cost(used))

        return await self._post(
            request, dialect, self._reader(request), pay, {}
        )

    def _max_usage(self, request: Request, dialect: Dialect) -> Usage:
        usage = super()._max_usage(request, dialect)
        prompt = int((usage.prompt + _OVERHEAD) * self._usage_ratio)
        return Usage(prompt=prompt)

    def _reader(self, request: Request) -> Callable[[object], Completion]:
        call = DecisionCall.from_request(request)

        def parse_response(data: object) -> Completion:
            data = _unwrap(data)
            decisions = FORMS[self.shape].read(call, data)
            usage = read_usage(data)
            if usage is not None:
                estimate = request.estimated_tokens() + _OVERHEAD
                self._usage_ratio = max(
                    self._usage_ratio, usage.prompt / estimate
                )
            model = data.get("model")
            return Completion(
                samples=(Sample(encode_decisions(decisions), "stop"),),
                model=model if isinstance(model, str) and model else None,
                fingerprint=None,
            )

        return parse_response

    def _write_body(self, request: Request, dialect: Dialect) -> JsonDict:
        call = DecisionCall.from_request(request)
        if len(call.images) > self._max_images:
            raise ItemError(
                f"{self.name} takes at most {self._max_images} pictures in one"
                f" call, got {len(call.images)}; raise max_images if the"
                " server takes more"
            )
        if self._sides is not None:
            images = tuple(fit_sides(i, *self._sides) for i in call.images)
            call = replace(call, images=images)
        body = FORMS[self.shape].write(self.model, call, self._pictures)
        return {**body, **self.extra}


class SystemOne(Decisions):
    """A decision model that speaks TypeSafe's form; options as in ``Decisions``."""

    KIND: ClassVar[str] = "systemone"
    WIRE: ClassVar[Wire]


def fit_sides(image: Image, least: int, most: int) -> Image:
    """Return a picture whose sides are between two numbers of pixels, as PNG or JPEG.

    A larger one is scaled down, shape kept; a smaller one gets a white margin.
    """
    with Pixels.open(io.BytesIO(image.data)) as file:
        pixels = fit(file.convert("RGB"), most)
    size = (max(least, pixels.width), max(least, pixels.height))
    is_sendable = image.media_type in ("image/png", "image/jpeg")
    if is_sendable and size == pixels.size == _size(image):
        return image
    canvas = Pixels.new("RGB", size, "white")
    canvas.paste(pixels, (0, 0))
    return Image(encode_jpeg(canvas), "image/jpeg")


def _size(image: Image) -> tuple[int, int]:
    with Pixels.open(io.BytesIO(image.data)) as file:
        return file.size


def _error_codes(body: bytes) -> set[object]:
    """Return the codes in the envelope ``{"errors": [{"code": ...}]}``."""
    try:
        errors = json.loads(body)["errors"]
        return {error["code"] for error in errors}
    except (ValueError, LookupError, TypeError, RecursionError):
        return set()


def _unwrap(data: object) -> JsonDict:
    """Return the response out of the envelope that some servers put around it."""
    if not isinstance(data, dict):
        raise CallFailed("the server's answer is not a JSON object")
    for name in ("result", "response"):
        content = data.get(name)
        if "answers" not in data and isinstance(content, dict):
            return content
    return data


def _usage_of(data: object) -> Usage | None:
    return read_usage(_unwrap(data))


def _unused(*_: Any) -> NoReturn:
    raise AssertionError("decisions are written and read by their form")


def _wire(home: tuple[str, str], connection: type[Connection]) -> Wire:
    return Wire(
        home=home,
        path="",
        first=Dialect("", structure="schema", many=False),
        write=_unused,
        parse=_unused,
        usage=_usage_of,
        connection=connection,
    )


Decisions.WIRE = _wire((HOSTED, KEY), _OpenAIConnection)
SystemOne.WIRE = _wire(
    ("https://api.typesafe.ai/v1", "TYPESAFE_API_KEY"), _SystemOneConnection
)
