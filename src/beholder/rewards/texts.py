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
    if not isinstance(messages, Sequence) or isinstance(messages, bytes):
        raise _odd(messages)
    for message in reversed(messages):
        if not isinstance(message, Mapping) or "content" not in message:
            raise _odd(message)
        if message.get("role", "assistant") == "assistant":
            content = "" if message["content"] is None else message["content"]
            if isinstance(content, str):
                return content
            if not isinstance(content, Sequence) or isinstance(content, bytes):
                raise _odd(message)
            return "".join(map(_part, content))
    return ""


def _part(part: object) -> str:
    """The text of a part of a message; of another kind than text (a picture) it has none."""
    text = part.get("text", "") if isinstance(part, Mapping) else None
    if not isinstance(text, str):
        raise _odd(part)
    return text


def _odd(found: object) -> ConfigError:
    return ConfigError(
        f"a completion holds {repr(found)[:200]}: expected a text, or messages with role and"
        " content (a text, or parts with a text)"
    )


def _text_of(number: int, completion: Completion) -> str:
    try:
        return text_of(completion)
    except ConfigError as error:
        raise ConfigError(f"completion {number + 1}: {error}") from None


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
            candidate=_text_of(number, completion),
            references=texts_of(reference, "references"),
            images=texts_of(pictures, "images"),
        )
        for number, (completion, reference, pictures) in enumerate(
            zip(completions, references, images, strict=True)
        )
    ]
