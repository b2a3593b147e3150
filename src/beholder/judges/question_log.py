"""Which questions a piece of work put to models, with their exact words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from beholder.backends import Message

_noted: ContextVar[dict[str, Sequence[Message]] | None] = ContextVar("questions", default=None)


@contextmanager
def noted_questions() -> Iterator[dict[str, Sequence[Message]]]:
    """Collect the messages of every question that is put within, also by tasks begun there.

    Yields:
        The messages by the key of the answer; filled while the work goes on.
    """
    questions: dict[str, Sequence[Message]] = {}
    token = _noted.set(questions)
    try:
        yield questions
    finally:
        _noted.reset(token)


def note_question(key: str, messages: Sequence[Message]) -> None:
    """Note a question for whoever collects them."""
    noted = _noted.get()
    if noted is not None:
        noted[key] = messages


def question_rows(questions: dict[str, Sequence[Message]]) -> list[dict[str, Any]]:
    """Questions as JSON values, in an order that does not hang on which was answered first.

    Each has ``key`` and ``messages``: pairs of a role and its text, pictures by their digest. Most
    of their words are the same, so together they compress to little more than one of them.
    """
    return [
        {
            "key": key,
            "messages": [
                [
                    message.role,
                    "".join(
                        part if isinstance(part, str) else f"[picture {part.digest[:16]}]\n"
                        for part in message.parts
                    ),
                ]
                for message in questions[key]
            ],
        }
        for key in sorted(questions)
    ]
