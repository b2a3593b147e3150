"""What a trainer hands over, as items: completions that are texts or chat messages, and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from beholder.data.given import texts_of
from beholder.errors import ConfigError
from beholder.records import Item

Completion: TypeAlias = str | Sequence[Mapping[str, Any]]
"""A text, or chat messages of which the last by the assistant is the text."""


def text_of(completion: Completion) -> str:
    """The text that a policy wrote, without its thinking; empty where the thinking never ended.

    Raises:
        ConfigError: It is neither a text nor chat messages.
    """
    return _answer(completion).strip()


def n_blank(completion: Completion) -> int:
    """Characters of white space between a policy's thinking and its text."""
    answer = _answer(completion)
    return len(answer) - len(answer.lstrip())


def _answer(completion: Completion) -> str:
    text = completion if isinstance(completion, str) else _said(completion)
    answer = text.rpartition("</think>")[2]
    return "" if answer.lstrip().startswith("<think>") else answer


def _said(messages: Sequence[Mapping[str, Any]]) -> str:
    for message in reversed(messages):
        if not isinstance(message, Mapping) or "content" not in message:
            raise ConfigError(
                f"a completion holds {message!r}: expected texts, or messages with role and content"
            )
        if message.get("role", "assistant") == "assistant":
            content = message["content"] or ""
            if isinstance(content, str):
                return content
            return "".join(part.get("text", "") for part in content)
    return ""


def items_of(
    completions: Sequence[Completion], references: Sequence[Any], images: Sequence[Any]
) -> list[Item]:
    """An item for each completion.

    Args:
        completions: What was written.
        references: For each a text, several, or None where it has none.
        images: For each a picture's path, several, or None.

    Raises:
        ConfigError: The columns are not as long as the completions, or hold something else.
    """
    for name, column in (("references", references), ("images", images)):
        if len(column) != len(completions):
            raise ConfigError(
                f"{len(completions)} completions have {len(column)} {name}: expected one entry each"
            )
    return [
        Item(
            id=str(number),
            candidate=text_of(completion),
            references=texts_of(reference, "references"),
            images=texts_of(pictures, "images"),
        )
        for number, (completion, reference, pictures) in enumerate(
            zip(completions, references, images, strict=True)
        )
    ]
