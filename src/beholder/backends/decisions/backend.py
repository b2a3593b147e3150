"""``decisions:MODEL`` and ``systemone:MODEL``: decision models behind an address."""

from __future__ import annotations

import io
import json
import math
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, NoReturn, get_args

import msgspec
from PIL import Image as Pixels

from beholder.backends.base import (
    Answer,
    Image,
    JsonDict,
    Request,
    Sample,
    options_digest,
)
from beholder.backends.batch_queue import BatchService
from beholder.backends.calls import Refused
from beholder.backends.decisions.connection import (
    OpenAIConnection,
    SystemOneConnection,
    TooMuch,
    unwrap,
)
from beholder.backends.decisions.forms import (
    FORMS,
    PictureForm,
    Shape,
    read_usage,
)
from beholder.backends.decisions.questions import (
    ChoiceQuestion,
    DecidingBackend,
    Decision,
    DecisionCall,
    PredicateQuestion,
    QuestionLimits,
    decode_decisions,
    encode_decisions,
)
from beholder.backends.decisions.servers import server_at
from beholder.backends.money import Price, Usage, load_prices, price_of
from beholder.backends.openai_http import (
    HOSTED,
    KEY,
    Connection,
    NotThere,
)
from beholder.backends.openai_probe import SQUARES
from beholder.backends.openai_wire import Completion, Dialect, Wire
from beholder.backends.served import Served
from beholder.base.ranges import check_number
from beholder.errors import ConfigError, ItemError
from beholder.media.image import encode_jpeg
from beholder.media.pixels import fit

_OVERHEAD, _PART_OVERHEAD = 300, 8
"""Tokens that a server adds to each call, and to each question and outcome; TypeSafe adds 261 and
8 (second hand)."""

_MOVED = "/v1/decisions"
"""Where Google's server is asked that does not know the path of the form."""

_SQUARE_QUESTION = PredicateQuestion("The picture is red.")
_TEXT_CALL = DecisionCall(
    {
        "description": "A cat sleeps on a red sofa beside a window. " * 25
        + "It is a quiet afternoon."
    },
    tuple(
        PredicateQuestion(f"There is a {thing}.")
        for thing in (
            *("cat", "sofa", "window", "dog", "lamp", "table", "bird"),
            *("chair", "carpet", "plant", "mouse", "shelf"),
        )
    ),
)
"""Many short questions about a longer text: the usage of the answer shows whether the server
counts the text once or for each question, before a call that could cost much."""

_SURELY_MORE = 1.5
"""Times the estimate that a text which counts once does not reach; one that counts for each of a
dozen questions has three times as many tokens."""


@dataclass(frozen=True, slots=True)
class _Counting:
    """Way in which a server counts tokens.

    Attributes:
        sums_state: Whether the state counts for each question and not once a call.
        ratio: Tokens that it counted, to those that were estimated; at least 1.
    """

    sums_state: bool = False
    ratio: float = 1.0


_ASSET_SIDES = (280, 1568)
"""Least and greatest side in pixels of a picture that is an asset; the server does not scale."""


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
        _check_options(
            f"{self.KIND}:{model}",
            {"shape": shape, "pictures": pictures, "path": path},
            {
                "max_questions": max_questions,
                "max_options": max_options,
                "max_levels": max_levels,
                "context": context,
                "max_images": max_images,
            },
        )
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
        self._question_path = path or server.path or FORMS[self.shape].path
        has_version = (base_url or "").rstrip("/").endswith(("/v1", "/v1beta"))
        if self._question_path == FORMS["gemini"].path and has_version:
            self._question_path = "/decisions"
        # Found out by the first answers, and kept beside the facts.
        self._counting = _Counting()
        self._counts_once = server.counts_once
        self._blanks_nulls = False
        super().__init__(
            model,
            base_url=base_url,
            key_env=key_env,
            facts=facts,
            context=self.limits.window,
            **options,
        )
        self.variant += f"+{self.shape}"
        # A path or a way to send pictures that is named may lead to other
        # answers than the server's usual one.
        named_options = {"path": path, "pictures": pictures}
        self.variant += options_digest(
            {n: v for n, v in named_options.items() if v}
        )

    def _path(self) -> str:
        return self._question_path.format(self.model)

    def _batch_service(self) -> BatchService:
        raise ConfigError(
            f"{self.KIND}:{self.model}: no server of decision models is known"
            " to take batches; leave batch out"
        )

    def _price_of(self, model: str) -> Price | None:
        """Return the price of decisions, which is not that of a chat with the same model."""
        default_prices = load_prices()
        # Who writes a table of their own need not know how ours names routes.
        own_prices = {
            name: price
            for name, price in self._prices.items()
            if default_prices.get(name) is not price
        }
        for prices in (own_prices, self._prices):
            for name in (f"decisions/{model}", model):
                price = price_of(name, prices)
                if price is not None:
                    return price
        return None

    async def _post(
        self, *arguments: Any, **options: Any
    ) -> tuple[Any, Usage]:
        path = self._question_path
        try:
            return await super()._post(*arguments, **options)
        except NotThere:
            # Google's server has moved from one version of the path to the other.
            if path != FORMS["gemini"].path:
                raise
            self._question_path = _MOVED
            return await super()._post(*arguments, **options)

    async def _probe(self, first: Dialect) -> Dialect:
        request = _TEXT_CALL.to_request()
        try:
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
                call, dialect, replicate
            )
        except TooMuch as refusal:
            # The size that passes is not remembered: how an item's questions
            # are split must not depend on the items before it.
            if n_questions == 1:
                raise ItemError(
                    f"{self.name} refused one question, the fewest that can be"
                    f" asked: {refusal}. Nothing is cut: shorten the text,"
                    " lower max_options, or use a judge that takes more"
                ) from refusal
        except Refused as refusal:
            raise ItemError(
                f"{self.name} refused the request: {refusal}"
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
        self, call: DecisionCall, dialect: Dialect, replicate: int
    ) -> tuple[Completion, Usage]:
        """Return the decisions of one call; some servers need a text for each description."""

        def pay(_: object, used: Usage) -> None:
            self.account.budget.pay(self._cost(used))

        async def ask(sent: DecisionCall) -> tuple[Completion, Usage]:
            request = sent.to_request(replicate)
            return await self._post(
                request, dialect, self._reader(request), pay, {}
            )

        blank_call = blank_descriptions(call)
        if (
            self.shape != "systemone"
            or self._blanks_nulls
            or blank_call == call
        ):
            return await ask(blank_call)
        try:
            return await ask(call)
        except TooMuch:
            raise
        except Refused as refusal:
            try:
                completion, usage = await ask(blank_call)
            except Refused:
                raise refusal from None
            self._blanks_nulls = True
            return completion, usage

    def estimate_tokens(self, request: Request, picture: int = 1500) -> int:
        """Return an upper estimate, with what the server adds and how it counts the state."""
        call = DecisionCall.from_request(request)
        n_parts = sum(1 + question.n_outcomes for question in call.questions)
        tokens = request.estimated_tokens(picture) + _OVERHEAD
        tokens += _PART_OVERHEAD * n_parts
        if self._counting.sums_state:
            state = replace(call, questions=()).to_request()
            further = state.estimated_tokens(picture) + _OVERHEAD
            tokens += (len(call.questions) - 1) * further
        return math.ceil(tokens * self._counting.ratio)

    def _max_usage(self, request: Request, dialect: Dialect) -> Usage:
        picture = self._most_of_picture(self.price())
        return Usage(prompt=self.estimate_tokens(request, picture))

    def _note_pictures(self, request: Request, usage: Usage | None) -> None:
        """Do nothing: what a call counts is noted by ``_note_usage``."""

    def _note_usage(self, request: Request, usage: Usage) -> None:
        """Remember how the server counts, so that no later call costs more than is reserved."""
        picture = self._most_of_picture(self.price())
        ratio = usage.prompt / self.estimate_tokens(request, picture)
        if ratio > _SURELY_MORE and not self._counting.sums_state:
            self._put_counting(replace(self._counting, sums_state=True))
            ratio = usage.prompt / self.estimate_tokens(request, picture)
        # Whatever that does not explain is tokens shorter than estimated.
        if ratio > 1:
            ratio *= self._counting.ratio
            self._put_counting(replace(self._counting, ratio=ratio))

    def _put_counting(self, counting: _Counting) -> None:
        if counting != self._counting:
            self._counting = counting
            text = json.dumps(asdict(counting))
            self._facts.put_fact(self._counting_name, text)

    @property
    def _counting_name(self) -> str:
        return f"counting of {self.name}{self.variant}"

    def remembered(
        self, schema: bool = False, images: bool = False, copies: bool = False
    ) -> Dialect | None:
        """Return the dialect that an earlier run stored, and remember how the server counts."""
        text = self._facts.get_fact(self._counting_name)
        if text is not None:
            self._counting = msgspec.json.decode(text, type=_Counting)
        return super().remembered(schema, images, copies)

    def _reader(self, request: Request) -> Callable[[object], Completion]:
        call = DecisionCall.from_request(request)

        def parse(data: object) -> Completion:
            data = unwrap(data)
            decisions = FORMS[self.shape].read(call, data)
            usage = read_usage(data)
            if usage is not None:
                self._note_usage(request, usage)
            elif not self._counts_once:
                # Without a report the most is assumed.
                self._put_counting(replace(self._counting, sums_state=True))
            model = data.get("model")
            return Completion(
                samples=(Sample(encode_decisions(decisions), "stop"),),
                model=model if isinstance(model, str) and model else None,
                fingerprint=None,
            )

        return parse

    def _write_body(self, request: Request, dialect: Dialect) -> JsonDict:
        call = DecisionCall.from_request(request)
        if len(call.images) > self._max_images:
            raise ItemError(
                f"{self.name} takes at most {self._max_images} pictures in one"
                f" call, got {len(call.images)}; raise max_images if the"
                " server takes more"
            )
        if self._pictures == "assets":
            images = tuple(fit_sides(i, *_ASSET_SIDES) for i in call.images)
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


def _usage_of(data: object) -> Usage | None:
    return read_usage(unwrap(data)) if isinstance(data, dict) else None


def blank_descriptions(call: DecisionCall) -> DecisionCall:
    """Return a call in which an option without a description has an empty one."""
    questions = tuple(
        msgspec.structs.replace(
            question,
            options=tuple(
                (name, about or "") for name, about in question.options
            ),
        )
        if isinstance(question, ChoiceQuestion)
        else question
        for question in call.questions
    )
    return replace(call, questions=questions)


def _check_options(
    name: str,
    choices: Mapping[str, object],
    numbers: Mapping[str, object],
) -> None:
    """Raise ConfigError for an option of another value than it takes; None is not given."""
    for option, value in numbers.items():
        # A choice has at least two options.
        least = 2 if option == "max_options" else 1
        if value is not None:
            check_number(f"{name}: {option}", value, least, whole=True)
    for option, type_ in (("shape", Shape), ("pictures", PictureForm)):
        value, known = choices[option], get_args(type_)
        if value is not None and value not in known:
            raise ConfigError(
                f"{name}: {option}={value!r}: expected {', '.join(known)}"
            )
    path = choices["path"]
    if path is not None and not re.fullmatch(r"/[!-~]+", str(path)):
        raise ConfigError(
            f"{name}: path={path!r}: expected a path such as '/v1/decisions'"
        )


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


Decisions.WIRE = _wire((HOSTED, KEY), OpenAIConnection)
SystemOne.WIRE = _wire(
    ("https://api.typesafe.ai/v1", "TYPESAFE_API_KEY"), SystemOneConnection
)
