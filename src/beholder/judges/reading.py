"""Reading what a judge said: tolerant of wrapping, strict about content.

Reasoning is cut off first and never read. A JSON value may be wrapped in a code fence or a
sentence, but there must be exactly one; its content must be a value that was offered.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

# Some chat templates open the thought themselves: only its end is in the answer.
_THINKING = re.compile(
    r"\A(?:\s*<think>)?(?:(?!<think>).)*?</think>", re.DOTALL
)
_CODE_FENCE = re.compile(r"```(?:json)?[ \t]*\n?(.*?)```", re.DOTALL)
_FENCE_START = re.compile(r"```(?:json)?", re.IGNORECASE)
_BRACE_OR_STRING = re.compile(
    r"""[{}]|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'""", re.DOTALL
)
_LIST_START = re.compile(r"\[\s*[\[{]")

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


def parse_facts(text: str) -> list[dict[str, object]]:
    """The facts in a recorded DCScore answer: one object each, with all its keys.

    Every list that the public script reads gives the same facts, down to a raw line break inside a
    text, which it deletes. What it loses is read, too: a list after some words, in an unmarked or
    upper-case code block, with nulls and remarks behind it, or inside an object; a single object;
    and of a list that was cut off, the objects that are whole.

    Args:
        text: What the judge said.

    Raises:
        BadAnswer: No list of objects can be found.
    """
    answer = without_thinking(text)
    bodies = [*_blocks(answer), answer]
    for body in bodies:
        for candidate in (body.strip(), _list_in(body)):
            read = (
                _value(candidate, strict=True),
                _value(candidate.replace("\n", "")),
            )
            if rows := next(filter(None, map(_fact_rows, read)), None):
                return rows
    for body in bodies:
        if rows := list(_whole_objects(body)):
            return rows
    if any(_value(body.strip()) == [] for body in bodies):
        return []
    raise BadAnswer("the answer holds no list of facts")


def _blocks(answer: str) -> list[str]:
    """The last block that is marked as JSON, or else the first block."""
    starts = [m.end() for m in _FENCE_START.finditer(answer)]
    marked = [
        start for start in starts if answer[:start].lower().endswith("json")
    ]
    return [
        answer[start:].partition("```")[0]
        for start in marked[-1:] or starts[:1]
    ]


def _list_in(text: str) -> str:
    begin = _LIST_START.search(text)
    return text[begin.start() : text.rfind("]") + 1] if begin else ""


def _fact_rows(value: Any) -> list[dict[str, object]]:
    """The objects of a list, of the one list in an object, or the object itself."""
    if isinstance(value, dict):
        lists = [inner for inner in value.values() if isinstance(inner, list)]
        value = (
            lists[0] if len(lists) == 1 and _fact_rows(lists[0]) else [value]
        )
    if isinstance(value, list) and all(isinstance(row, dict) for row in value):
        return value
    return []


def _whole_objects(text: str) -> Iterator[dict[str, object]]:
    """The objects of a list that was cut off, up to the first that is not whole."""
    text = text.replace(
        "\n", ""
    )  # the public script deletes raw line breaks, in texts too
    begin = _LIST_START.search(text)
    place = begin.end() - 1 if begin else -1
    while place >= 0:
        end = _object_end(text, place)
        value = _value(text[place:end])
        if not isinstance(value, dict):
            return
        yield value
        place = text.find("{", end)


def _object_end(text: str, start: int) -> int:
    """Where the object ends that begins here; here if it is not whole."""
    depth = 0
    for token in _BRACE_OR_STRING.finditer(text, start):
        depth += {"{": 1, "}": -1}.get(token[0], 0)
        if depth == 0:
            return token.end()
    return start


def _outermost(answer: str) -> list[str]:
    starts = [
        place for place in (answer.find("{"), answer.find("[")) if place >= 0
    ]
    if not starts:
        return []
    start = min(starts)
    end = answer.rfind("}" if answer[start] == "{" else "]")
    return [answer[start : end + 1]] if end > start else []


def _value(text: str, *, strict: bool = False) -> Any:
    try:
        return json.loads(text, strict=strict)
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
    """Whether two texts are adjacent: Python would join them.

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
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
