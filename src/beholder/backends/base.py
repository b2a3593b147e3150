"""The base class of backends, which connect to models. They know messages and answers only."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeAlias

import msgspec

from beholder.backends.money import (
    NO_TOKENS,
    Account,
    Price,
    SampleSeries,
    Usage,
)
from beholder.errors import ConfigError

MOST_OF_PICTURE = 4000
"""Tokens of one picture at most, if no price table says otherwise; for what must be paid."""

# Tokens of a frame with its time, and of a second of sound.
_FRAME, _SOUND = (
    258 + 7,
    32,
)

REFUSAL = "refusal"
"""The finish reason of an answer that consists of the model's refusal."""

JsonObject: TypeAlias = Mapping[str, Any]
"""A JSON object, such as a response."""
JsonDict: TypeAlias = dict[str, Any]
"""A JSON object that is written, such as the body of a request."""
FirstTokens: TypeAlias = tuple[tuple[str, float], ...]
"""The likeliest first tokens of an answer, with their log-probabilities."""
Role: TypeAlias = Literal["system", "user", "assistant"]
Structure: TypeAlias = Literal[
    "schema", "tag", "object", "guided", "tool", "text"
]
"""Ways to enforce a JSON schema: as ``response_format`` of the kind ``json_schema``,
``structural_tag`` (with little white space) or ``json_object``, as ``guided_json``, by a forced
tool call, or by the words of the prompt alone."""


class FilmPart(NamedTuple):
    """The part of a film that is shown: start and end in seconds, and frames per second."""

    start: float
    end: float
    fps: float


@dataclass(frozen=True, slots=True)
class Image:
    """An encoded picture or film, as it is sent.

    Attributes:
        data: The bytes of the file.
        media_type: For example ``image/jpeg``.
        clip: Part of a film that is shown; None of a picture.
        digest: SHA-256 of bytes and part, for keys.
    """

    data: bytes = field(repr=False)
    media_type: str
    clip: FilmPart | None = None
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        # Two clips of one film are two images, although their bytes are the same.
        part = repr(tuple(self.clip)).encode() if self.clip else b""
        object.__setattr__(
            self, "digest", hashlib.sha256(self.data + part).hexdigest()
        )

    def tokens(self, picture: int) -> int:
        """Return the most prompt tokens: ``picture``, or those of a film as Google counts them."""
        if not self.clip:
            return picture
        start, end, fps = self.clip
        return math.ceil((end - start) * fps) * _FRAME + math.ceil(
            (end - start) * _SOUND
        )


@dataclass(frozen=True, slots=True)
class Message:
    """One turn: texts and pictures in order."""

    role: Role
    parts: tuple[str | Image, ...]

    @property
    def text(self) -> str:
        """The text parts, joined."""
        return "".join([part for part in self.parts if isinstance(part, str)])

    @property
    def images(self) -> tuple[Image, ...]:
        """The pictures, in order."""
        return tuple([part for part in self.parts if isinstance(part, Image)])


@dataclass(frozen=True, slots=True)
class Sampling:
    """Settings for sampling an answer.

    Attributes:
        temperature: 0 takes the likeliest token.
        max_tokens: Answer tokens at most (room to think is added where a model thinks).
        n: Independent answers to draw.
        seed: Sent where the server takes one; the replicate index is added to it.
        top_logprobs: Likeliest first tokens to report with their log-probabilities; 0 for none.
    """

    temperature: float = 0.0
    max_tokens: int = 2048
    n: int = 1
    seed: int = 0
    top_logprobs: int = 0


@dataclass(frozen=True, slots=True)
class Request:
    """One question to a model.

    Attributes:
        messages: The conversation.
        sampling: Settings for sampling.
        schema: JSON schema that the answer must follow, or None for free text.
        replicate: Index of the judge or repeat; equal questions of different replicates are
            different questions.
        drawing: The question whose samples these are, where one call may not draw them all. It
            affects when money is held, not the answer.
    """

    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    schema: JsonObject | None = None
    replicate: int = 0
    drawing: SampleSeries | None = None

    @property
    def images(self) -> tuple[Image, ...]:
        """All pictures of the conversation."""
        return tuple(
            [p for m in self.messages for p in m.parts if isinstance(p, Image)]
        )

    @property
    def digest(self) -> str:
        """Return the SHA-256 of all that the model sees and of the sampling; pictures by bytes."""
        messages = [
            [
                m.role,
                [
                    p if isinstance(p, str) else {"image": p.digest}
                    for p in m.parts
                ],
            ]
            for m in self.messages
        ]
        # All fields count, so that a new field of `Sampling` cannot be forgotten here.
        sampling = {
            name: getattr(self.sampling, name) for name in Sampling.__slots__
        }
        whole = [messages, sampling, self.schema, self.replicate]
        return hashlib.sha256(
            json.dumps(whole, sort_keys=True).encode("utf-8")
        ).hexdigest()

    def estimated_tokens(self, picture: int = 1500) -> int:
        """Return an upper estimate of the prompt tokens: one per 3 bytes of text.

        Args:
            picture: Tokens for each picture.
        """
        n_bytes = sum(len(m.text.encode("utf-8")) + 12 for m in self.messages)
        if self.schema is not None:
            n_bytes += len(json.dumps(self.schema))
        return n_bytes // 3 + sum(
            image.tokens(picture) for image in self.images
        )

    def most_usage(
        self, thinking: int = 0, picture: int | None = None
    ) -> Usage:
        """Return the most tokens that one call can take.

        Args:
            thinking: Tokens of room to think.
            picture: Tokens of one picture at most; None takes ``MOST_OF_PICTURE``.
        """
        answer = self.sampling.n * (self.sampling.max_tokens + thinking)
        prompt = self.estimated_tokens(
            MOST_OF_PICTURE if picture is None else picture
        )
        return Usage(prompt=prompt, completion=answer)


@dataclass(frozen=True, slots=True)
class Sample:
    """One drawn answer.

    Attributes:
        text: Words of the model, without its reasoning where the server keeps that apart.
        finish: ``stop``, ``length``, ``content_filter``, ``refusal`` or what else the server said.
        first: Log-probabilities of the likeliest first tokens, likeliest first; None if not
            reported.

    Raises:
        ValueError: A text or a log-probability is not valid.
    """

    text: str
    finish: str
    first: FirstTokens | None = None

    def __post_init__(self) -> None:
        _check_text("text", self.text)
        _check_text("reason to finish", self.finish)
        for token, logprob in self.first or ():
            if type(token) is not str or not token.isascii():
                _check_text("token", token)
            # Rounding may take a probability of 1 slightly beyond.
            plain = type(logprob) is float and -1e300 < logprob <= 0.1
            if not plain and (not _is_number(logprob) or logprob > 0.1):
                raise ValueError(
                    f"expected a log-probability, got {_short(logprob)}"
                )


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one request.

    Attributes:
        samples: The drawn answers; broken ones cannot be made.
        model: The model as the server names it.
        fingerprint: The server's configuration, if reported.
        usage: Tokens.
        seconds: From sending to the last byte, waits and retries not counted.
        price_factor: Share of the list price that was charged (0.5 in batch mode).
    """

    samples: tuple[Sample, ...]
    model: str
    fingerprint: str | None = None
    usage: Usage = NO_TOKENS
    seconds: float = 0.0
    price_factor: float = 1.0

    def __post_init__(self) -> None:
        _check_text("name of the model", self.model)
        if self.fingerprint is not None:
            _check_text("fingerprint", self.fingerprint)
        if not _is_number(self.seconds) or not _is_number(self.price_factor):
            raise ValueError(
                "expected numbers for seconds and price_factor, got"
                f" {_short((self.seconds, self.price_factor))}"
            )

    @property
    def text(self) -> str:
        """The first sample's text."""
        return self.samples[0].text

    def to_json(self) -> str:
        """Return the answer as one line of JSON."""
        fields = msgspec.to_builtins(self) | {
            "seconds": round(self.seconds, 4)
        }
        return json.dumps(fields, ensure_ascii=False, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Answer:
        """Return the answer that ``to_json`` wrote.

        Raises:
            ValueError: It wrote no such text.
        """
        try:
            return msgspec.json.decode(text, type=cls)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise ValueError(f"not a kept answer: {error}") from error


def _check_text(what: str, value: object) -> None:
    if not isinstance(value, str):
        raise ValueError(f"the {what} {_short(value)} is not a text")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as error:  # half of a pair of surrogates
        raise ValueError(
            f"the {what} is not Unicode text ({error.reason})"
        ) from error


def _is_number(value: object) -> bool:
    """Return whether a value is a finite number.

    ``math.isfinite`` raises OverflowError for integers that are too large for a float.
    """
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and abs(value) < 1e300
    )


def _short(value: object) -> str:
    try:
        return repr(value)[:60]
    except (
        RecursionError,
        ValueError,
    ):
        # Nested too deep; a number of too many digits.
        return f"of the type {type(value).__name__}"


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The capabilities of a served model.

    Attributes:
        model: The model as the server names it; with revision if there is one.
        top_logprobs: The most first-token log-probabilities that it reports; 0 for none.
        structure: Way to obtain JSON answers; None until it is asked.
        images: Whether it takes pictures; None until it is asked.
        thinking: Tokens added to each limit, for a model that thinks before it answers.
        copies: Whether drawn answers are copies of one; None until it is asked.
    """

    model: str
    top_logprobs: int = 0
    structure: Structure | None = None
    images: bool | None = None
    thinking: int = 0
    copies: bool | None = None


@dataclass(frozen=True, slots=True)
class Surprisal:
    """The surprisal of a text.

    Attributes:
        nll: Total negative log-likelihood of the text's tokens, in nats.
        n_tokens: Tokens of the text alone.
        n_characters: Characters of the text.
    """

    nll: float
    n_tokens: int
    n_characters: int


@dataclass(frozen=True, slots=True)
class TextSet:
    """Texts that follow one prompt.

    Attributes:
        texts: The texts.
        prompt: Question before the texts.
        images: Pictures shown with it.
    """

    texts: tuple[str, ...]
    prompt: str
    images: tuple[Image, ...] = ()


class ServerFacts(Protocol):
    """A store of facts that a backend found out about a server, shared by processes."""

    def get_fact(self, name: str) -> str | None:
        """Return the text stored under a name, or None."""

    def put_fact(self, name: str, text: str) -> None:
        """Store a text under a name, replacing an earlier one."""

    def doubt_fact(self, name: str) -> None:
        """Mark a fact as doubtful: new runs determine it again, this run keeps it."""

    def facts(self, prefix: str) -> dict[str, str]:
        """Return all texts whose names begin with a prefix, by name."""

    def claim(self, name: str) -> bool:
        """Claim a name for some seconds; return False while another process has it.

        Claiming again what is claimed already makes it last longer.
        """

    def release(self, name: str) -> None:
        """Give up a claim."""


class FactsInMemory:
    """Facts about servers in memory."""

    def __init__(self) -> None:
        self._facts: dict[str, str] = {}

    def get_fact(self, name: str) -> str | None:
        """The text kept under a name, or None."""
        return self._facts.get(name)

    def put_fact(self, name: str, text: str) -> None:
        """Keep a text under a name, replacing what was there."""
        self._facts[name] = text

    def doubt_fact(self, name: str) -> None:
        """Do nothing: no other process reads these facts."""

    def facts(self, prefix: str) -> dict[str, str]:
        """All texts whose names begin in one way, by name."""
        return {
            name: text
            for name, text in self._facts.items()
            if name.startswith(prefix)
        }

    def claim(self, name: str) -> bool:
        """Return True: no other process shares these facts."""
        return True

    def release(self, name: str) -> None:
        """There is nothing to give up."""


def options_digest(options: JsonObject) -> str:
    """Return a short digest of options that change answers; empty if there are no options."""
    if not options:
        return ""
    text = json.dumps(options, sort_keys=True, default=str)
    return "+" + hashlib.sha256(text.encode("utf-8")).hexdigest()[:8]


class Backend(ABC):
    """A way to reach a model.

    Attributes:
        name: Name given by the user, with the address when it is not the default one; never a
            key. Part of every answer's key.
        variant: Mark of further options that change answers, or nothing; part of the key, too.
        account: Account that pays for calls; the asker sets it.
        takes_films: Whether it can be shown films, beside pictures.
        pays_each_call: Whether ``chat`` itself pays each of its calls, those that failed and those
            that only found something out, too. Else whoever asks pays for each answer.
    """

    name: str
    variant: str = ""
    account: Account = Account()
    takes_films: bool = False
    pays_each_call: ClassVar[bool] = False

    @abstractmethod
    async def capabilities(
        self, *, schema: bool = False, images: bool = False
    ) -> Capabilities:
        """Return what the model can do; determined once and remembered.

        Args:
            schema: Find out how it gives JSON.
            images: Find out whether it takes pictures.
        """

    def remembered(self) -> Capabilities | None:
        """Return the capabilities that an earlier call determined; None if unknown. Never asks."""
        return None

    @abstractmethod
    async def chat(self, request: Request) -> Answer:
        """Return the answer to a request; waiting, retrying and limiting happen inside.

        The answer has at least one sample. Where it has fewer than ``Sampling.n``, the caller keeps
        it and asks for the rest.

        Raises:
            TransientError: It failed now and may work later.
            BudgetError: It could pass what may be spent, so it was not made.
            ItemError: This request can never be answered (too long, refused).
            ConfigError: No request can (wrong key, unknown model).
        """

    async def surprisal(
        self,
        texts: Sequence[str],
        *,
        prompt: str,
        images: tuple[Image, ...] = (),
    ) -> list[Surprisal]:
        """Return the surprisal of each text after the prompt and pictures.

        Raises:
            ConfigError: This backend cannot measure it; the message names those that can.
        """
        raise ConfigError(
            f"{self.name} does not return the probabilities of a given text; use hf:NAME (in this"
            " process) or a vLLM server (openai:NAME with its --base-url)"
        )

    async def draws_copies(self) -> bool:
        """Return whether answers drawn at a temperature are identical; tested once."""
        return False

    def price(self) -> Price | None:
        """Return the price of tokens, or None if unknown."""
        return None

    def estimate_tokens(self, request: Request, picture: int = 1500) -> int:
        """Return an upper estimate of a request's prompt tokens, as this server counts them.

        Args:
            request: The request.
            picture: Tokens for each picture.
        """
        return request.estimated_tokens(picture)

    def is_under_way(self, task: asyncio.Task[Any]) -> bool:
        """Return whether ``chat``, called in a task, has sent a request that will be charged."""
        return True


class DescribedBackend(Backend):
    """Base of backends that know what their model can do without asking it.

    Attributes:
        able: Capabilities of the model.
    """

    able: Capabilities

    async def capabilities(
        self, *, schema: bool = False, images: bool = False
    ) -> Capabilities:
        """Return ``able``."""
        return self.able
