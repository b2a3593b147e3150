"""A model that takes texts apart at sentence ends and finds facts by their words."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

from beholder.backends import Request, Scripted
from beholder.judges import LLMJudge
from beholder.metrics import Tools
from toy.tools import OneJudge

_ROW = re.compile(r'<(\w+) id="(\d+)">(.*?)</\1>', re.DOTALL)
_TEXT = re.compile(r"<(text|reference)>\n(.*?)\n</\1>", re.DOTALL)
_END = re.compile(r"[.।。]\s*")


class FactModel:
    """Sentences are facts, those with a question mark are guesses; equal sentences match.

    Args:
        images: Whether it takes pictures; it then says that all about them is true.
        spoil: Changes the rows of an answer, given the operation and the replicate.

    Attributes:
        calls: Number of calls per operation.
        requests: All requests.
    """

    def __init__(
        self,
        *,
        images: bool = False,
        spoil: Callable[[str, int, list[Any]], list[Any]] | None = None,
    ) -> None:
        self.calls: Counter[str] = Counter()
        self._spoil = spoil
        self._backend = Scripted(self._answer, images=images)
        self.requests = self._backend.requests

    def tools(self) -> Tools:
        """Tools whose judge is this model."""
        return OneJudge(LLMJudge(self._backend))

    def prompts(self, operation: str) -> list[str]:
        """The prompts of an operation."""
        return [
            r.messages[-1].text
            for r in self.requests
            if _operation(r) == operation
        ]

    def _answer(self, request: Request) -> str:
        operation = _operation(request)
        self.calls[operation] += 1
        prompt = "\n".join(message.text for message in request.messages)
        rows: dict[str, list[tuple[int, str]]] = {
            "statement": [],
            "reference": [],
        }
        for name, number, text in _ROW.findall(prompt):
            rows[name].append((int(number), text))
        texts = dict(_TEXT.findall(prompt))
        rows_of_answer: list[Any]
        if operation == "statements":
            facts = [
                fact
                for part in _END.split(texts["text"])
                if (fact := part.strip())
            ]
            rows_of_answer = [
                {"text": f, "subject": None, "relevant": not f.endswith("?")}
                for f in facts
            ]
        elif operation == "matches":
            ids = {
                text: number for number, text in reversed(rows["reference"])
            }
            rows_of_answer = [
                {"id": i, "reference": ids.get(text)}
                for i, text in rows["statement"]
            ]
        else:
            reference = texts.get("reference", "")
            rows_of_answer = [
                {
                    "id": i,
                    "supported": text in reference or bool(request.images),
                }
                for i, text in rows["statement"]
            ]
        if self._spoil is not None:
            rows_of_answer = self._spoil(
                operation, request.replicate, rows_of_answer
            )
        return json.dumps({operation: rows_of_answer}, ensure_ascii=False)


def _operation(request: Request) -> str:
    assert request.schema is not None
    return str(next(iter(request.schema["properties"])))
