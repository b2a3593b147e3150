"""Finding out what an OpenAI-compatible server understands, once, with a few tiny questions."""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

from beholder.backends.base import Image, Message, Request, Sampling, Structure
from beholder.backends.openai_wire import Completion, Dialect
from beholder.errors import ConfigError, TransientError

Ask: TypeAlias = Callable[[Request, Dialect], Awaitable[Completion]]
"""Asks once, with retries; raises ``Refused`` when the server will not take the request."""


class Refused(Exception):
    """The server refused a request for what it asks (HTTP 400, 413 or 422)."""


THINKING_TOKENS = 8192
"""Room for thinking on top of each limit, for models that think before they answer."""

_SCHEMA = {
    "type": "object",
    "properties": {"ready": {"type": "boolean"}},
    "required": ["ready"],
    "additionalProperties": False,
}
# A red square of 64 x 64 pixels.
_SQUARE = Image(
    base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAATElEQVR42u3PQQ0AAAgEoNP+nTWCbzdoQE1+"
        "6wgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgIHBZShQF/CY4YrwAAAABJ"
        "RU5ErkJggg=="
    ),
    "image/png",
)


async def probe_model(model: str, ask: Ask) -> Dialect:
    """Name of the served model, parameters it takes, and whether it tells log-probabilities.

    Raises:
        ConfigError: The server takes no plain question in any form we know.
    """
    messages = (
        Message("system", ("You answer briefly.",)),
        Message("user", ("Reply with the single word: ready",)),
    )
    request = Request(messages, Sampling(max_tokens=16, top_logprobs=20))
    dialect = Dialect(model=model, top_logprobs=20)
    while True:
        try:
            found = await ask(request, dialect)
            break
        except Refused as refusal:
            dialect = _without(dialect, str(refusal))
    sample = found.samples[0]
    thinks = sample.text.lstrip().startswith("<think>") or (
        not sample.text.strip() and sample.finish == "length"
    )
    told = 0 if thinks or sample.first is None else dialect.top_logprobs
    room = THINKING_TOKENS if thinks else 0
    return replace(dialect, model=found.model or model, top_logprobs=told, thinking=room)


def _without(dialect: Dialect, complaint: str) -> Dialect:
    """The dialect without what the server complains of."""
    words = complaint.lower()
    if "max_completion_tokens" in words and dialect.token_field == "max_tokens":  # noqa: S105
        return replace(dialect, token_field="max_completion_tokens")  # noqa: S106
    if "temperature" in words and dialect.temperature:
        return replace(dialect, temperature=False)
    if "system" in words and "role" in words and dialect.system:
        return replace(dialect, system=False)
    if "seed" in words and dialect.seed:
        return replace(dialect, seed=False)
    if dialect.top_logprobs:  # servers word this one in many ways: try fewer, then none
        return replace(dialect, top_logprobs=5 if dialect.top_logprobs > 5 else 0)
    raise ConfigError(f"the server refuses a plain question to {dialect.model}: {complaint}")


async def probe_structure(dialect: Dialect, ask: Ask) -> Structure:
    """How the model can be made to answer in JSON: by schema, by a tool call, or by words alone."""
    question = Message("user", ('Give the JSON object whose field "ready" is true.',))
    request = Request((question,), Sampling(max_tokens=64), schema=_SCHEMA)
    candidates: tuple[Structure, ...] = ("schema", "tool")
    for structure in candidates:
        try:
            found = await ask(request, replace(dialect, structure=structure))
            answer = json.loads(found.samples[0].text)
        except (Refused, ValueError, RecursionError):
            continue
        if isinstance(answer, dict) and isinstance(answer.get("ready"), bool):
            return structure
    return "text"


async def probe_images(dialect: Dialect, ask: Ask) -> bool:
    """Whether the server takes a picture (``beholder doctor`` asks whether the model sees it)."""
    question = Message("user", (_SQUARE, "Which colour is this? Answer with one word."))
    try:
        await ask(Request((question,), Sampling(max_tokens=16)), dialect)
    except Refused:
        return False
    except TransientError as error:  # some servers answer 500 to a picture they cannot read
        if "image" in str(error).lower() or "vision" in str(error).lower():
            return False
        raise
    return True
