"""Probes of a server: a few questions that determine once what it understands."""

from __future__ import annotations

import base64
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeAlias

from beholder.backends.base import (
    Image,
    JsonDict,
    Message,
    Request,
    Sampling,
    Structure,
)
from beholder.backends.calls import Forbidden, Refused
from beholder.backends.openai_wire import WAYS, Completion, Dialect
from beholder.errors import ConfigError, TransientError

Ask: TypeAlias = Callable[[Request, Dialect], Awaitable[Completion]]
"""Asks once, with retries; raises ``Refused`` when the server will not take the request."""


THINKING_TOKENS = 8192
"""Room for thinking on top of each limit, for models that think before they answer."""

# It is not guessed: a server that ignores the schema is found out.
_FIELD, _NUMBER = "k7", 417
_SCHEMA: JsonDict = {
    "type": "object",
    "properties": {
        _FIELD: {
            "type": "array",
            "items": {"type": "integer", "enum": [_NUMBER]},
            "minItems": 2,
            "maxItems": 2,
        },
        "note": {"type": "string", "maxLength": 8},
    },
    "required": [_FIELD, "note"],
    "additionalProperties": False,
}
SQUARES = tuple(
    Image(base64.b64decode(data), "image/png")
    for data in (
        # A red and a blue square of 64 x 64 pixels.
        "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAX0lEQVR4nO3PQQ0AIBDAMMC/50MEj4ZkVbDt"
        "WX87OuBVA1oDWgNaA1oDWgNaA1oDWgNaA1oDWgNaA1oDWgNaA1oDWgNaA1oDWgNaA1oDWgNaA1oDWgNaA1oD"
        "WgNaA9oFUoUBf3Xr7AgAAAAASUVORK5CYII=",
        "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAIAAAAlC+aJAAAAYElEQVR4nO3PQQ0AIBDAsAP/nkEEj4ZkVbCt"
        "mTM/2zrgVQNaA1oDWgNaA1oDWgNaA1oDWgNaA1oDWgNaA1oDWgNaA1oDWgNaA1oDWgNaA1oDWgNaA1oDWgNa"
        "A1oDWgPaBVCHAX/y3CvgAAAAAElFTkSuQmCC",
    )
)

# Whether system messages and how many log-probabilities are tried, one after the other, when a
# complaint names nothing: servers word the refusal of log-probabilities in many ways, and some
# chat templates break at a system message.
_LESS = ((True, 5), (True, 0), (False, 20), (False, 0))


async def probe_model(first: Dialect, ask: Ask) -> Dialect:
    """Return the dialect with the served model's name and the parameters that it accepts.

    Args:
        first: Dialect to begin with, with the features to try.
        ask: Asks once.

    Raises:
        ConfigError: The server takes no plain question in any form we know.
        TransientError: It breaks down at every form.
    """
    dialect, completion = await _plain_question(first, ask)
    # A model that thinks first shows it by thoughts, by their tag in the text, or by running out of
    # tokens before its answer. Its first token is one of a thought, so it gives no grades.
    sample = completion.samples[0]
    is_cut = not sample.text.strip() and sample.finish == "length"
    thinks = completion.thought or "think>" in sample.text or is_cut
    top_logprobs = (
        0 if thinks or sample.first is None else dialect.top_logprobs
    )
    room = THINKING_TOKENS if thinks else 0
    return replace(
        dialect,
        model=completion.model or first.model,
        top_logprobs=top_logprobs,
        thinking=room,
    )


async def _plain_question(
    dialect: Dialect, ask: Ask
) -> tuple[Dialect, Completion]:
    """Return the answer to a plain question, in the fullest form that the server accepts."""
    messages = (
        Message("system", ("You answer briefly.",)),
        Message("user", ("Reply with the single word: ready",)),
    )
    # Hardly warm, but not cold: only drawn answers are asked for with a seed.
    request = Request(
        messages, Sampling(temperature=0.01, max_tokens=16, top_logprobs=20)
    )
    # Some parameters are refused by name; the others are left out step by step until it answers.
    reductions = list(_LESS) if dialect.top_logprobs else []
    while True:
        try:
            return dialect, await ask(request, dialect)
        except Forbidden:
            if not dialect.top_logprobs:
                raise
            # Some models keep them to themselves.
            dialect = replace(dialect, top_logprobs=0)
        except Refused as refusal:
            simpler = _without(dialect, str(refusal).lower())
            if simpler is None and not reductions:
                context = f"to a plain question to {dialect.model}: {refusal}"
                if refusal.broke:
                    raise TransientError(
                        f"the server breaks down {context}"
                    ) from refusal
                raise ConfigError(f"the server says no {context}") from refusal
            if simpler is None:
                system, top = reductions.pop(0)
                simpler = replace(
                    dialect, system=dialect.system and system, top_logprobs=top
                )
            dialect = simpler


def _without(dialect: Dialect, complaint: str) -> Dialect | None:
    """Return the dialect without what a complaint names; None if it names nothing known."""
    if (
        "max_completion_tokens" in complaint
        and dialect.token_field == "max_tokens"  # noqa: S105
    ):
        return replace(dialect, token_field="max_completion_tokens")  # noqa: S106
    if "temperature" in complaint and dialect.temperature:
        return replace(dialect, temperature=False)
    templates = "alternate" in complaint or (
        "system" in complaint and "role" in complaint
    )
    if templates and dialect.system:
        return replace(dialect, system=False)
    if "seed" in complaint and dialect.seed:
        return replace(dialect, seed=False)
    return None


async def probe_drawing(dialect: Dialect, ask: Ask) -> Dialect:
    """Return the dialect with ``many`` and ``copies`` filled in.

    ``many``: several answers come at once; ``copies``: drawn answers are identical.

    Without log-probabilities, grades are means of drawn answers; copies are no more than
    the one answer, and paid once.
    """
    question = Message(
        "user",
        ("Write any word and any number of five digits, nothing else.",),
    )
    request = Request(
        (question,), Sampling(temperature=1.0, max_tokens=16, n=3)
    )
    try:
        texts = [
            sample.text for sample in (await ask(request, dialect)).samples
        ]
    except Refused:
        texts = []
    # Replicates far apart, so that no seed of these questions is that of a later one.
    many = len(texts) >= 3
    for i in range(len(texts), 3):
        single_request = replace(
            request,
            sampling=replace(request.sampling, n=1),
            replicate=1000 * i,
        )
        texts.append((await ask(single_request, dialect)).samples[0].text)
    return replace(dialect, many=many, copies=len(set(texts)) == 1)


async def probe_structure(
    dialect: Dialect, ask: Ask, ways: tuple[tuple[Structure, bool], ...] = WAYS
) -> Dialect:
    """Return the dialect with the way in which answers can be held to a JSON schema.

    Args:
        dialect: Dialect known so far.
        ask: Asks once.
        ways: The ways to try, each with or without bounds of lengths.

    Raises:
        TransientError: The server breaks down at a plain question, too.
    """
    question = Message("user", ("Give the JSON object.",))
    request = Request((question,), Sampling(max_tokens=64), schema=_SCHEMA)
    # The strictest way comes first. A server may accept a field and ignore it, so the answer must
    # follow the schema; if nothing works, the prompt alone says the form.
    broke = refused = False
    for structure, bounds in ways:
        if not bounds and not refused and (structure, True) in ways:
            continue  # the bounds were no trouble
        refused = False
        candidate = replace(dialect, structure=structure, bounds=bounds)
        try:
            completion = await ask(request, candidate)
        except Refused as refusal:
            refused, broke = True, broke or refusal.broke
            continue
        if structure == "schema" and await _bounds_blanks(
            dialect, completion, request, ask
        ):
            return replace(candidate, structure="tag")
        if _keeps_to_schema(completion):
            return candidate
    if broke:
        await _must_work(dialect, ask)
    return replace(dialect, structure="text")


def _keeps_to_schema(completion: Completion) -> bool:
    try:
        answer = json.loads(completion.samples[0].text)
    except (ValueError, RecursionError):
        return False
    numbers = answer.get(_FIELD) if isinstance(answer, dict) else None
    return isinstance(numbers, list) and set(map(str, numbers)) == {
        str(_NUMBER)
    }


async def _bounds_blanks(
    dialect: Dialect, completion: Completion, request: Request, ask: Ask
) -> bool:
    """Return whether the server accepts a schema with bounded white space.

    Small models lose themselves in blanks. vLLM's schemas let in any number, if the server was not
    started otherwise, so that some of them end no answer; its structural tags let in one.

    Args:
        dialect: Dialect known so far.
        completion: The server's response to the unchanged schema.
        request: The request that it answers.
        ask: Asks it.
    """
    if not (completion.fingerprint or "").startswith("vllm"):
        return False
    try:
        return _keeps_to_schema(
            await ask(request, replace(dialect, structure="tag"))
        )
    except Refused:  # an older version
        return False


async def probe_images(dialect: Dialect, ask: Ask) -> bool:
    """Return whether pictures reach the model (``beholder doctor`` tests whether it sees them).

    Some servers take a picture and drop it: two pictures then get one answer, and the prompt is
    no longer than without.

    Raises:
        TransientError: The server breaks down at a plain question, too.
    """
    words = "Which colour is this? Answer with one word."
    sampling = Sampling(max_tokens=16)
    try:
        red, blue = [
            await ask(
                Request((Message("user", (square, words)),), sampling), dialect
            )
            for square in SQUARES
        ]
    except Refused as refusal:
        if refusal.broke:
            await _must_work(dialect, ask)
        return False
    if red.samples[0].text != blue.samples[0].text:
        return True
    blind = await ask(Request((Message("user", (words,)),), sampling), dialect)
    # Equal answers prove nothing: the pictures count if they make the prompt longer.
    tokens = (red.prompt_tokens, blind.prompt_tokens)
    return None not in tokens and tokens[0] != tokens[1]


async def _must_work(dialect: Dialect, ask: Ask) -> None:
    """Raise TransientError if the server fails at a plain question, too."""
    request = Request(
        (Message("user", ("Reply with: ready",)),), Sampling(max_tokens=16)
    )
    try:
        await ask(request, dialect)
    except Refused as refusal:
        raise TransientError(
            f"the server breaks down at everything: {refusal}"
        ) from refusal
