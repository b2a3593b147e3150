"""Surprisal of a given text through a vLLM server's ``prompt_logprobs``.

The text is sent as the beginning of the model's own answer. The server then tells the
log-probability of every prompt token; those of the text are the last ones. How many tokens stand
before them is learned by sending the prompt alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeAlias

from beholder.backends.base import Image, Message, Request, Sampling, Surprisal
from beholder.backends.calls import CallFailed
from beholder.backends.openai_wire import Dialect
from beholder.errors import ConfigError, ItemError

Ask: TypeAlias = Callable[[Request, Dialect], Awaitable[list[float | None]]]
"""Asks for the log-probability of each prompt token, with retries."""


async def perplexities(
    model: str, ask: Ask, texts: Sequence[str], prompt: str, images: tuple[Image, ...]
) -> list[Surprisal]:
    """Surprisal of each text as the continuation of the prompt.

    Raises:
        ConfigError: The server does not tell ``prompt_logprobs``.
    """
    question = Message("user", (*images, prompt))
    dialect = Dialect(model=model)
    n_before = len(await ask(Request((question,), Sampling(max_tokens=1)), dialect))

    async def one(text: str) -> Surprisal:
        if not text:
            raise ItemError("an empty text has no perplexity")
        answer = Message("assistant", (text,))
        told = await ask(Request((question, answer), Sampling(max_tokens=1)), dialect)
        logprobs = told[n_before:]
        if not logprobs or any(value is None for value in logprobs):
            raise ItemError(f"{model} told no log-probabilities for the text's tokens")
        nll = -sum(value for value in logprobs if value is not None)
        return Surprisal(nll, len(logprobs), len(text))

    return list(await asyncio.gather(*(one(text) for text in texts)))


def fields(request: Request) -> dict[str, Any]:
    """What a body has beyond that of a chat."""
    continues = request.messages[-1].role == "assistant"
    return {
        "prompt_logprobs": 0,  # 0 others: only the token that stands there
        "add_generation_prompt": not continues,
        "continue_final_message": continues,
    }


def read_logprobs(data: object) -> list[float | None]:
    """Log-probability of each prompt token in a response; None for the first, as nothing precedes.

    Raises:
        ConfigError: The server tells none.
        CallFailed: What it tells cannot be read.
    """
    if not isinstance(data, dict):
        raise CallFailed("the server's answer is not a JSON object")
    rows = data.get("prompt_logprobs")
    if not isinstance(rows, list):
        raise ConfigError(
            f"the server of {data.get('model')} does not tell prompt_logprobs, which perplexity"
            " needs; use a vLLM server, or hf:NAME in this process"
        )
    return [None if row is None else _logprob(row) for row in rows]


def _logprob(row: object) -> float:
    try:
        value = next(iter(row.values()))["logprob"]  # type: ignore[attr-defined]  # is caught
        if isinstance(value, float | int) and not isinstance(value, bool) and -1e300 < value < 0.1:
            return value
    except (AttributeError, StopIteration, LookupError, TypeError):
        pass
    raise CallFailed(f"the server's prompt_logprobs cannot be read: {str(row)[:60]}")
