"""Wire formats of servers, and OpenAI's: requests to JSON bodies, JSON bodies to answers."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import msgspec

from beholder.backends.base import (
    REFUSAL,
    Answer,
    Capabilities,
    FirstTokens,
    Image,
    JsonDict,
    JsonObject,
    Message,
    Request,
    Sample,
    Structure,
)
from beholder.backends.calls import CallFailed
from beholder.backends.money import Usage
from beholder.backends.openai_http import Connection

TOOL = "answer"


WireMessage: TypeAlias = JsonDict
"""One turn of a chat, as the protocol writes it: its role and its content."""


@dataclass(frozen=True, slots=True)
class Dialect(Capabilities):
    """The parameters and forms that a server understands.

    Attributes:
        token_field: The name of the limit on answer tokens.
        temperature: Whether a temperature may be sent.
        seed: Whether a seed may be sent.
        system: Whether the chat template knows a system message.
        many: Whether several answers come when several are asked for.
        bounds: Whether a schema may bound the length of its lists and texts.
    """

    token_field: str = "max_tokens"  # noqa: S105  # the name of a field
    temperature: bool = True
    seed: bool = True
    system: bool = True
    many: bool = True
    bounds: bool = True

    def shortcomings(self) -> list[tuple[str, str]]:
        """Return (feature, replacement) for each feature that is missing on the server."""
        # Each row: whether it is lacking, its name for users, and the replacement.
        ways = {
            "object": "response_format json_object holds answers to a schema",
            "guided": "guided_json holds answers to a schema",
            "tool": "a forced tool call holds answers to a schema",
            "text": "the prompt alone says the form of the answer; more answers need a repair",
        }
        shortcomings = [
            (
                not self.system,
                "system message",
                "joined to the user's message",
            ),
            (not self.temperature, "temperature", "left out: the model's own"),
            (
                not self.seed,
                "seed",
                "left out: drawn answers cannot be drawn again",
            ),
            (not self.many, "several answers at once", "asked one by one"),
            (
                bool(self.copies),
                "drawing",
                "answers at a temperature are copies: one is asked for",
            ),
            (
                self.structure in ways,
                "json_schema",
                ways.get(self.structure or "", ""),
            ),
            (
                not self.bounds,
                "bounds in schemas",
                "left out: lists may be of any length",
            ),
            (
                self.thinking > 0,
                "answers at once",
                f"it thinks first: {self.thinking:,} tokens of room, grades by drawn answers",
            ),
        ]
        return [
            (name, instead) for lacks, name, instead in shortcomings if lacks
        ]

    @classmethod
    def from_json(cls, text: str) -> Dialect | None:
        """Return the dialect of its stored JSON; None if the text is not valid."""
        try:
            dialect = msgspec.json.decode(text, type=cls)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            return None
        return dialect if dialect.model else None


def to_body(model: str, request: Request, dialect: Dialect) -> JsonDict:
    """Return the JSON body of a chat completion.

    Args:
        model: The model to ask for.
        request: Request to send.
        dialect: Dialect that the server understands.
    """
    # Only fields that the server is known to accept are sent: many refuse a body with others.
    sampling = request.sampling
    messages: Sequence[Message] = request.messages
    if not dialect.system:
        messages = _without_system(messages)
    body: JsonDict = {
        "model": model,
        "messages": [to_message(message) for message in messages],
        dialect.token_field: sampling.max_tokens + dialect.thinking,
    }
    if dialect.temperature:
        body["temperature"] = sampling.temperature
    # The likeliest token is drawn with no seed.
    if dialect.seed and sampling.temperature:
        body["seed"] = sampling.seed + request.replicate
    if sampling.n > 1:
        body["n"] = sampling.n
    top = min(sampling.top_logprobs, dialect.top_logprobs)
    if top:
        body["logprobs"] = True
        body["top_logprobs"] = top
    if request.schema is not None:
        _add_schema(body, request.schema, dialect)
    return body


def _add_schema(body: JsonDict, schema: JsonObject, dialect: Dialect) -> None:
    """Add the schema of the answer to a body; the prompt describes its shape in words, too."""
    # One field per way; `Dialect.structure` says which the server follows (openai_probe).
    sent_schema = dict(schema) if dialect.bounds else without_bounds(schema)
    if dialect.structure == "schema":
        schema_format = {"name": TOOL, "strict": True, "schema": sent_schema}
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": schema_format,
        }
    elif dialect.structure == "tag":
        schema_format = {
            "type": "json_schema",
            "json_schema": sent_schema,
            "max_whitespace_cnt": 1,
        }
        body["response_format"] = {
            "type": "structural_tag",
            "format": schema_format,
        }
    elif dialect.structure == "object":
        body["response_format"] = {
            "type": "json_object",
            "schema": sent_schema,
        }
    elif dialect.structure == "guided":
        body["guided_json"] = sent_schema
    elif dialect.structure == "tool":
        function = {
            "name": TOOL,
            "description": "Give the answer.",
            "parameters": sent_schema,
        }
        body["tools"] = [{"type": "function", "function": function}]
        body["tool_choice"] = {"type": "function", "function": {"name": TOOL}}


def without_bounds(schema: JsonObject) -> JsonDict:
    """Return the schema with lists and texts of any length."""
    unbounded = {
        k: v
        for k, v in schema.items()
        if k not in ("minItems", "maxItems", "maxLength")
    }
    if "properties" in unbounded:
        fields = unbounded["properties"].items()
        unbounded["properties"] = {
            name: without_bounds(field) for name, field in fields
        }
    if "items" in unbounded:
        unbounded["items"] = without_bounds(unbounded["items"])
    if "anyOf" in unbounded:
        unbounded["anyOf"] = [
            without_bounds(schema) for schema in unbounded["anyOf"]
        ]
    return unbounded


def _without_system(messages: Sequence[Message]) -> list[Message]:
    """Return the messages with the system's as the user's.

    Consecutive turns of one role are joined: many chat templates insist on alternating roles.
    """
    merged: list[Message] = []
    for message in messages:
        role = "user" if message.role == "system" else message.role
        before: tuple[str | Image, ...] = ()
        if merged and merged[-1].role == role:
            before = merged.pop().parts
        merged.append(Message(role, (*before, *message.parts)))
    return merged


def to_message(message: Message) -> WireMessage:
    """Return one turn as the protocol writes it."""
    texts = [part for part in message.parts if isinstance(part, str)]
    if len(texts) == len(message.parts):
        return {"role": message.role, "content": "\n\n".join(texts)}
    content = [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {
            "type": "image_url",
            "image_url": {"url": data_url(part), "detail": "high"},
        }
        for part in message.parts
    ]
    return {"role": message.role, "content": content}


def data_url(image: Image) -> str:
    """Return a picture as a data URL."""
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}"


@dataclass(frozen=True, slots=True)
class Completion:
    """A response body that was read.

    Attributes:
        samples: The answers in it, at least one.
        model: The model as the server names it, where it does.
        fingerprint: The server's configuration, if reported.
        thought: Whether it says that the model thought before it answered.
        prompt_tokens: Tokens of the prompt, if reported.
    """

    samples: tuple[Sample, ...]
    model: str | None
    fingerprint: str | None
    thought: bool = False
    prompt_tokens: int | None = None


@contextmanager
def require_form(form: str) -> Iterator[None]:
    """Raise CallFailed in place of an error that a body of another form causes."""
    try:
        yield
    except (
        LookupError,
        TypeError,
        AttributeError,
        ValueError,
        RecursionError,
    ) as error:
        raise CallFailed(
            f"the server's answer is not {form}: {error}"
        ) from error


def read_completion(data: object) -> Completion:
    """Return the checked answers of a response body.

    Raises:
        CallFailed: The body is not a chat completion, or contains no answer.
    """
    if not isinstance(data, dict):
        raise CallFailed("the server's answer is not a JSON object")
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        raise CallFailed("the server's answer contains no choices")
    with require_form("a chat completion"):
        samples = tuple(_read_choice(choice) for choice in choices)
        model = data.get("model") or None
        # ``Answer`` refuses a model name that is not a text.
        name = Answer((), model or "").model or None
        usage = read_usage(data)
        has_thoughts = any(map(_has_thoughts, choices)) or _counts_thoughts(
            data
        )
        n_prompt = None if usage is None else usage.prompt
        return Completion(
            samples, name, _read_fingerprint(data), has_thoughts, n_prompt
        )


def _read_fingerprint(data: JsonObject) -> str | None:
    """Return the fingerprint; None if it is missing or not valid."""
    fingerprint = data.get("system_fingerprint")
    try:
        return (
            None
            if fingerprint is None
            else Answer((), "", fingerprint).fingerprint
        )
    except ValueError:
        return None


def _read_choice(choice: JsonObject) -> Sample:
    message = choice["message"]
    # With a forced tool call, the answer is the arguments of the call.
    calls = message.get("tool_calls") or []
    text = (
        calls[0]["function"]["arguments"]
        if calls
        else _text(message.get("content"))
    )
    refusal = message.get("refusal")
    if not text and isinstance(refusal, str) and refusal:
        return Sample(refusal, REFUSAL)
    finish = choice.get("finish_reason")
    # A tool call that was forced is a complete answer, whatever the server calls its end.
    if finish in (None, "", "tool_calls", "function_call"):
        finish = "stop"
    return Sample(
        "" if text is None else text,
        finish,
        _read_first(choice.get("logprobs")),
    )


def _text(content: Any) -> Any:
    """Return the text of a message; some models give a list of parts, thoughts among them."""
    if not isinstance(content, list):
        return content
    return "".join(
        part["text"]
        for part in content
        if part["type"] in ("text", "output_text")
    )


def _has_thoughts(choice: JsonObject) -> bool:
    """Return whether the message has thoughts beside the answer, under any known name."""
    message = choice["message"]
    parts = message.get("content")
    kinds = [part["type"] for part in parts] if isinstance(parts, list) else []
    reasoning = message.get("reasoning") or message.get("reasoning_content")
    return bool(reasoning) or "thinking" in kinds


def _counts_thoughts(data: Any) -> bool:
    """Return whether tokens of thoughts are counted; the thoughts may be withheld."""
    usage = data.get("usage")
    details = (
        usage.get("completion_tokens_details")
        if isinstance(usage, dict)
        else None
    )
    return isinstance(details, dict) and bool(details.get("reasoning_tokens"))


def _read_first(
    logprobs: JsonObject | None,
) -> FirstTokens | None:
    content = (logprobs or {}).get("content")
    if not content:
        return None
    top = content[0].get("top_logprobs") or []
    return (
        tuple(
            (t["token"], t["logprob"])
            for t in top
            if t["logprob"] != -math.inf
        )
        or None
    )


def read_usage(data: object) -> Usage | None:
    """Return the tokens of a response, or None if they are missing or not valid."""
    usage = data.get("usage") if isinstance(data, dict) else None
    if not isinstance(usage, dict) or not usage.get("prompt_tokens"):
        return None
    details = usage.get("prompt_tokens_details")
    parts = details if isinstance(details, dict) else {}
    try:
        tokens = Usage(
            prompt=usage["prompt_tokens"],
            cached=parts.get("cached_tokens") or 0,
            completion=usage.get("completion_tokens"),  # type: ignore[arg-type]  # is checked
            image=parts.get("image_tokens") or 0,
        )
        total = usage.get("total_tokens")
        if _counts_thoughts(data) and type(total) is int:
            # Some gateways leave the thoughts, which are charged, out of the answer's tokens.
            tokens = replace(
                tokens,
                completion=max(tokens.completion, total - tokens.prompt),
            )
    except ValueError:
        return None
    return tokens if tokens.cached <= tokens.prompt else None


WAYS: tuple[tuple[Structure, bool], ...] = (
    ("schema", True),
    ("schema", False),
    ("object", True),
    ("guided", True),
    ("tool", True),
)
"""Ways to hold answers to a schema, each with or without bounds of lengths."""


@dataclass(frozen=True)
class Wire:
    """The form in which a kind of server is asked.

    Attributes:
        home: The vendor's own address, and the variable of its key.
        path: Path for requests, with the name of the model in place of ``{}``.
        first: Dialect that is assumed before the first request.
        write: Makes the body of a question to a model.
        parse: Returns the answers in a response; raises ``CallFailed`` if there are none.
        usage: The tokens of a response, or None if they are missing or make no sense.
        ways: In which it may hold answers to a schema, each with or without bounds of lengths.
        connection: Connection to the server.
    """

    home: tuple[str, str]
    path: str
    first: Dialect
    write: Callable[[str, Request, Dialect], JsonDict]
    parse: Callable[[object], Completion]
    usage: Callable[[object], Usage | None]
    ways: tuple[tuple[Structure, bool], ...] = WAYS
    connection: type[Connection] = Connection
