"""Parsing of a model's answer: tolerant of wrapping, strict about content.

Reasoning is cut off first and never read. A JSON value may be wrapped in a code fence or a
sentence, but there must be exactly one; its content must be a value that was offered.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from itertools import pairwise
from typing import Any

from beholder.base.visible import cut_text

# Some chat templates open the thought themselves: only its end is in the answer.
_THINKING = re.compile(
    r"\A(?:\s*<think>)?(?:(?!<think>).)*?</think>", re.DOTALL
)
_CODE_FENCE = re.compile(r"```(?:json)?[ \t]*\n?(.*?)```", re.DOTALL)

NOTHING = frozenset(("", "none", "null"))
"""Words, in lower case, by which judges say that there is nothing to copy."""


class BadAnswer(Exception):
    """An answer cannot be used; the message goes to the judge."""


def without_thinking(text: str) -> str:
    """The answer without the reasoning before it.

    Raises:
        BadAnswer: The reasoning never ended.
    """
    answer = _THINKING.sub("", text, count=1).strip()
    if answer.startswith("<think>"):
        raise BadAnswer("the answer holds reasoning only")
    return answer


def read_text(text: str) -> str:
    """A free-text answer.

    Raises:
        BadAnswer: It is empty.
    """
    answer = without_thinking(text)
    if not answer:
        raise BadAnswer("the answer is empty")
    return answer


def read_json(text: str) -> Any:
    """The one JSON value of an answer.

    Raises:
        BadAnswer: There is none, or more than one.
    """
    answer = read_text(text)
    fenced = _CODE_FENCE.findall(answer)
    if len(fenced) > 1:
        raise BadAnswer(
            "the answer holds several code blocks; give one JSON object only"
        )
    for candidate in (answer, *fenced, *_outermost(answer)):
        value = _value(candidate.strip())
        if isinstance(value, dict | list):
            return value
    raise BadAnswer("the answer is not JSON; give one JSON object only")


def _outermost(answer: str) -> list[str]:
    starts = [
        place for place in (answer.find("{"), answer.find("[")) if place >= 0
    ]
    if not starts:
        return []
    start = min(starts)
    end = answer.rfind("}" if answer[start] == "{" else "]")
    return [answer[start : end + 1]] if end > start else []


def _value(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        pass
    try:  # single quotes, True, a trailing comma: Python's way to write the same value
        return None if _lacks_comma(text) else ast.literal_eval(text)
    except (
        ValueError,
        SyntaxError,
        RecursionError,
        MemoryError,
        TypeError,
        tokenize.TokenError,
    ):
        return None


def _lacks_comma(text: str) -> bool:
    """Return whether two JSON strings follow without a comma, which Python would join.

    Raises:
        SyntaxError: It has no tokens of Python.
        TokenError: It ends within a bracket or a text.
    """
    tokens = tokenize.generate_tokens(io.StringIO(text, newline=None).readline)
    kinds = [
        token.type
        for token in tokens
        if token.type not in (tokenize.NL, tokenize.COMMENT)
    ]
    return (tokenize.STRING, tokenize.STRING) in pairwise(kinds)


def short(value: Any) -> str:
    """A value as messages show it: in at most 60 characters."""
    return cut_text(repr(value), 60, "...")
