"""Surprisal of a given text through a vLLM server's ``prompt_logprobs``.

The text is sent as the beginning of the model's own answer. The server then returns the
log-probability of every prompt token; those of the text are the last ones. How many tokens stand
before them is learned by sending the prompt alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

from beholder.backends.base import Image, Message, Request, Sampling, Surprisal
from beholder.backends.calls import CallFailed
from beholder.backends.openai_wire import Dialect
from beholder.errors import ConfigError, ItemError

PromptToken: TypeAlias = tuple[str, float]
"""A token of a prompt: its number in the vocabulary, and its log-probability."""

Ask: TypeAlias = Callable[[Request, Dialect], Awaitable[list[PromptToken | None]]]
"""Asks for the tokens of a prompt, with retries; the first is None, as nothing precedes it."""


async def perplexities(
    model: str, ask: Ask, texts: Sequence[str], prompt: str, images: tuple[Image, ...]
) -> list[Surprisal]:
    """Surprisal of each text as the continuation of the prompt.

    Raises:
        ConfigError: The server does not return ``prompt_logprobs``.
    """
    question = Message("user", (*images, prompt))
    dialect = Dialect(model=model)
    before = await ask(Request((question,), Sampling(max_tokens=1)), dialect)

    async def one(text: str) -> Surprisal:
        if not text:
            raise ItemError("an empty text has no perplexity")
        answer = Message("assistant", (text,))
        told = await ask(Request((question, answer), Sampling(max_tokens=1)), dialect)
        # The last token before the text is compared by its number, the others are the same prompt.
        if [row and row[0] for row in told[: len(before)]] != [row and row[0] for row in before]:
            raise merged_tokens(model, text)
        rows = told[len(before) :]
        if not rows or None in rows:
            raise ItemError(f"{model} returned no log-probabilities for the text's tokens")
        nll = -sum(row[1] for row in rows if row is not None)
        return Surprisal(nll, len(rows), len(text))

    return list(await asyncio.gather(*(one(text) for text in texts)))


def fields(request: Request) -> dict[str, object]:
    """What a body has beyond that of a chat."""
    continues = request.messages[-1].role == "assistant"
    return {
        "prompt_logprobs": 0,  # 0 others: only the token itself
        "add_generation_prompt": not continues,
        "continue_final_message": continues,
    }


def merged_tokens(name: str, text: str) -> ItemError:
    """The failure of a text whose tokens cannot be separated from the prompt."""
    return ItemError(
        f"{name} makes one token of the end of the prompt and the beginning of the text"
        f" {text[:20]!r}, so the text has no tokens of its own; texts that begin with blanks or"
        " line breaks do that: take them off, or use hf:NAME, which reads the text apart"
    )


def tells_none(model: object) -> ConfigError:
    """The error of a server that does not return the probabilities of a prompt's tokens."""
    return ConfigError(
        f"the server of {model} does not return prompt_logprobs, which perplexity needs; use a vLLM"
        " server, or hf:NAME in this process"
    )


def read_logprobs(data: object) -> list[PromptToken | None]:
    """The tokens of a prompt in a response; None for the first, as nothing precedes.

    Raises:
        ConfigError: The server returns none.
        CallFailed: Its answer cannot be read.
    """
    if not isinstance(data, dict):
        raise CallFailed("the server's answer is not a JSON object")
    rows = data.get("prompt_logprobs")
    if not isinstance(rows, list):
        raise tells_none(data.get("model"))
    return [None if row is None else _token(row) for row in rows]


def _token(row: object) -> PromptToken:
    try:
        token, told = next(iter(row.items()))  # type: ignore[attr-defined]  # is caught
        value = told["logprob"]
        if isinstance(value, float | int) and not isinstance(value, bool) and -1e300 < value < 0.1:
            return str(token), value
    except (AttributeError, StopIteration, LookupError, TypeError):
        pass
    raise CallFailed(f"the server's prompt_logprobs cannot be read: {str(row)[:60]}")
