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
from beholder.backends.openai_wire import Dialect, to_body
from beholder.errors import ConfigError, ItemError

Post: TypeAlias = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]


async def perplexities(
    model: str, post: Post, texts: Sequence[str], prompt: str, images: tuple[Image, ...]
) -> list[Surprisal]:
    """Surprisal of each text as the continuation of the prompt.

    Raises:
        ConfigError: The server does not tell ``prompt_logprobs``.
    """
    question = Message("user", (*images, prompt))
    n_before = len(await _logprobs(model, post, (question,)))

    async def one(text: str) -> Surprisal:
        if not text:
            raise ItemError("an empty text has no perplexity")
        answer = Message("assistant", (text,))
        logprobs = (await _logprobs(model, post, (question, answer)))[n_before:]
        if not logprobs or any(value is None for value in logprobs):
            raise ItemError(f"{model} told no log-probabilities for the text's tokens")
        nll = -sum(value for value in logprobs if value is not None)
        return Surprisal(nll, len(logprobs), len(text))

    return list(await asyncio.gather(*(one(text) for text in texts)))


async def _logprobs(model: str, post: Post, messages: tuple[Message, ...]) -> list[float | None]:
    """Log-probability of each prompt token; None for the first, which nothing precedes."""
    body = to_body(model, Request(messages, Sampling(max_tokens=1)), Dialect(model=model))
    continues = messages[-1].role == "assistant"
    body |= {
        "prompt_logprobs": 0,  # 0 others: only the token that stands there
        "add_generation_prompt": not continues,
        "continue_final_message": continues,
    }
    data = await post(body)
    rows = data.get("prompt_logprobs")
    if not isinstance(rows, list):
        raise ConfigError(
            f"the server of {model} does not tell prompt_logprobs, which perplexity needs; use a"
            " vLLM server, or hf:NAME in this process"
        )
    return [None if row is None else next(iter(row.values()))["logprob"] for row in rows]
