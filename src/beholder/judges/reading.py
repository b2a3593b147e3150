"""Reading what a judge said: tolerant of wrapping, strict about content.

Reasoning is cut off first and never read. A JSON value may be wrapped in a code fence or a
sentence, but there must be exactly one; what stands in it must be a value that was offered.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

_THINKING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
_CODE_FENCE = re.compile(r"```(?:json)?[ \t]*\n?(.*?)```", re.DOTALL)


class BadAnswer(Exception):
    """An answer cannot be used; the message tells the judge what was wrong."""


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
        raise BadAnswer("the answer holds several code blocks; give one JSON object only")
    for candidate in (answer, *fenced, *_outermost(answer)):
        value = _value(candidate.strip())
        if isinstance(value, dict | list):
            return value
    raise BadAnswer("the answer is not JSON; give one JSON object only")


def read_object(text: str) -> dict[str, Any]:
    """The one JSON object of an answer.

    Raises:
        BadAnswer: There is none, or more than one, or it is a list.
    """
    value = read_json(text)
    if not isinstance(value, dict):
        raise BadAnswer("the answer is a list; give one JSON object")
    return value


def _outermost(answer: str) -> list[str]:
    starts = [place for place in (answer.find("{"), answer.find("[")) if place >= 0]
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
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def get(row: Any, field: str) -> Any:
    """A field of an object.

    Raises:
        BadAnswer: It is no object, or lacks the field.
    """
    if not isinstance(row, dict):
        raise BadAnswer(f"expected an object with the field {field!r}, got {_short(row)}")
    if field not in row:
        raise BadAnswer(f"the field {field!r} is missing")
    return row[field]


def get_list(row: Any, field: str) -> list[Any]:
    """A field that is a list.

    Raises:
        BadAnswer: It is not.
    """
    value = get(row, field)
    if not isinstance(value, list):
        raise BadAnswer(f"{field!r} must be a list, got {_short(value)}")
    return value


def get_text(row: Any, field: str) -> str:
    """A field that is a text with something in it.

    Raises:
        BadAnswer: It is not.
    """
    value = get(row, field)
    if not isinstance(value, str) or not value.strip():
        raise BadAnswer(f"{field!r} must be a text, got {_short(value)}")
    return value.strip()


def get_flag(row: Any, field: str) -> bool:
    """A field that is true or false; 1, 0 and these words as texts say the same.

    Raises:
        BadAnswer: It is something else.
    """
    value = get(row, field)
    word = value.strip().lower() if isinstance(value, str) else value
    for truth, ways in ((True, (1, "1", "true")), (False, (0, "0", "false"))):
        if word in ways:
            return truth
    raise BadAnswer(f"{field!r} must be true or false, got {_short(value)}")


def get_integer(row: Any, field: str, low: int, high: int) -> int:
    """A field that is a whole number within bounds; its digits as a text say the same.

    Raises:
        BadAnswer: It is something else.
    """
    value = get(row, field)
    if isinstance(value, str) and re.fullmatch(r"\s*-?[0-9]{1,9}\s*", value):
        value = int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise BadAnswer(
            f"{field!r} must be a whole number from {low} to {high}, got {_short(value)}"
        )
    return value


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
