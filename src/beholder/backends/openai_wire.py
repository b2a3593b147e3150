"""The OpenAI chat protocol: requests into JSON bodies, JSON bodies into answers. Pure."""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from beholder.backends.base import (
    Capabilities,
    Image,
    Message,
    Request,
    Sample,
    in_words,
)
from beholder.backends.calls import CallFailed
from beholder.backends.money import Usage

TOOL = "answer"


@dataclass(frozen=True, slots=True)
class Dialect(Capabilities):
    """What a server understands, beyond what every backend tells.

    Attributes:
        token_field: The name of the limit on answer tokens.
        temperature: Whether a temperature may be sent.
        seed: Whether a seed may be sent.
        system: Whether the chat template knows a system message.
    """

    token_field: str = "max_tokens"  # noqa: S105  # the name of a field
    temperature: bool = True
    seed: bool = True
    system: bool = True


def to_body(model: str, request: Request, dialect: Dialect, n: int | None = None) -> dict[str, Any]:
    """The JSON body of a chat completion.

    Args:
        model: The model to ask for.
        request: What to ask.
        dialect: What the server understands.
        n: Answers to draw, if not ``request.sampling.n``.
    """
    sampling = request.sampling
    messages = [to_message(m) for m in request.messages]
    if not dialect.system:
        messages = _merged([{**m, "role": _plain_role(m["role"])} for m in messages])
    body: dict[str, Any] = {
        "model": model,
        "messages": messages,
        dialect.token_field: sampling.max_tokens + dialect.thinking,
    }
    if dialect.temperature:
        body["temperature"] = sampling.temperature
    if dialect.seed:
        body["seed"] = sampling.seed + request.replicate
    n_samples = sampling.n if n is None else n
    if n_samples > 1:
        body["n"] = n_samples
    top = min(sampling.top_logprobs, dialect.top_logprobs)
    if top:
        body["logprobs"] = True
        body["top_logprobs"] = top
    if request.schema is not None:
        _add_schema(body, request.schema, dialect)
    return body


def _add_schema(body: dict[str, Any], schema: Mapping[str, Any], dialect: Dialect) -> None:
    if dialect.structure == "schema":
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": TOOL, "strict": True, "schema": dict(schema)},
        }
    elif dialect.structure == "tool":
        function = {"name": TOOL, "description": "Give the answer.", "parameters": dict(schema)}
        body["tools"] = [{"type": "function", "function": function}]
        body["tool_choice"] = {"type": "function", "function": {"name": TOOL}}
    else:
        body["messages"].append({"role": "user", "content": in_words(schema)})
        body["messages"] = _merged(body["messages"])


def _merged(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Consecutive turns of one role joined: many chat templates insist on taking turns."""
    merged: list[dict[str, Any]] = []
    for message in messages:
        if merged and merged[-1]["role"] == message["role"]:
            parts = _parts(merged[-1]["content"]) + _parts(message["content"])
            merged[-1] = {"role": message["role"], "content": _simplest(parts)}
        else:
            merged.append(message)
    return merged


def _plain_role(role: str) -> str:
    return "user" if role == "system" else role


def _parts(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _simplest(parts: list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    if all(part["type"] == "text" for part in parts):
        return "\n\n".join(part["text"] for part in parts)
    return parts


def to_message(message: Message) -> dict[str, Any]:
    """One turn as the protocol writes it."""
    parts = [
        {"type": "text", "text": part}
        if isinstance(part, str)
        else {"type": "image_url", "image_url": {"url": data_url(part), "detail": "high"}}
        for part in message.parts
    ]
    return {"role": message.role, "content": _simplest(parts)}


def data_url(image: Image) -> str:
    """A picture as a data URL."""
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}"


def read_samples(data: object) -> tuple[Sample, ...]:
    """The answers in a response body.

    Raises:
        CallFailed: The body is not a chat completion, or holds no answer.
    """
    if not isinstance(data, dict):
        raise CallFailed("the server's answer is not a JSON object")
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        raise CallFailed("the server's answer holds no choices")
    try:
        return tuple(_read_choice(choice) for choice in choices)
    except (KeyError, TypeError, AttributeError, IndexError, ValueError) as error:
        raise CallFailed(f"the server's answer is not a chat completion: {error!r}") from error


def _read_choice(choice: dict[str, Any]) -> Sample:
    message = choice["message"]
    calls = message.get("tool_calls") or []
    text = calls[0]["function"]["arguments"] if calls else message.get("content")
    finish = choice.get("finish_reason") or "stop"
    return Sample(
        text=text or "",
        finish="stop" if finish in ("tool_calls", "function_call") else finish,
        first=_read_first(choice.get("logprobs")),
    )


def _read_first(logprobs: dict[str, Any] | None) -> tuple[tuple[str, float], ...] | None:
    content = (logprobs or {}).get("content")
    if not content:
        return None
    top = content[0].get("top_logprobs") or []
    pairs = ((str(t["token"]), float(t["logprob"])) for t in top)
    return tuple(pair for pair in pairs if math.isfinite(pair[1])) or None


def read_usage(data: Mapping[str, Any]) -> Usage:
    """The tokens of a response; 0 for what the server does not count."""
    usage = data.get("usage") or {}
    details = usage.get("prompt_tokens_details") or {}
    return Usage(
        prompt=int(usage.get("prompt_tokens") or 0),
        cached=int(details.get("cached_tokens") or 0),
        completion=int(usage.get("completion_tokens") or 0),
        image=int(details.get("image_tokens") or 0),
    )
