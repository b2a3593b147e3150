"""What does a text say in the place of what it does not say?"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from beholder.judges.operations.base import PanelOperation, Respondent
from beholder.judges.operations.numbered import put_rows
from beholder.judges.operations.presence import Question
from beholder.judges.shapes import nullable, string
from beholder.records import Span

_WORDS_AT_MOST = 16
"""A contradiction is some words long, not a paragraph."""

_LONGEST = 8 * _WORDS_AT_MOST
"""Characters that a judge which is held to a schema may copy."""

_NOTHING = ("", "none", "null")
_AROUND = " \n\t.,;:\"'"


@dataclass(frozen=True)
class Contradict(PanelOperation[list[Span | None]], name="contradict"):
    """For each unit that a text does not state, where the text says otherwise, or None.

    A model copies the words of the text. Words that are not there are rejected, nor is a
    copy of more than 16 words: the unit is merely unstated.

    Attributes:
        questions: The units, as they were asked about.
        target: The text that does not state them.
    """

    questions: Sequence[Question]
    target: str

    async def put(self, model: Respondent) -> list[Span | None]:
        """See ``ModelOperation.put``; no request is sent if there are no units."""
        found = await put_rows(
            model,
            ("statement", [stated(question) for question in self.questions]),
            {"instead": (nullable("string", self._place, None, longest=_LONGEST), None)},
            texts={"target": self.target},
        )
        return [found[i]["instead"] if i in found else None for i in range(len(self.questions))]

    def _place(self, value: Any, name: str) -> Span | None:
        """Where the copied words stand, whatever the blanks and the case of letters."""
        if value is None or (isinstance(value, str) and value.strip(_AROUND).lower() in _NOTHING):
            return None  # every way to say nothing
        words = string().read(value, name).strip(_AROUND).split()
        if len(words) > _WORDS_AT_MOST:
            return None
        pattern = r"(?<!\w)" + r"\s+".join(map(re.escape, words)) + r"(?!\w)"
        copied = re.search(pattern, self.target, re.IGNORECASE)
        return None if copied is None else copied.span()

    def merge(self, answers: Sequence[list[Span | None]]) -> list[Span | None]:
        """The first place that is named where more than half name one."""
        return [
            next(places) if 2 * sum(p is not None for p in told) > len(told) else None
            for told in zip(*answers, strict=True)
            for places in [(p for p in told if p is not None)]
        ]

    def ratings(
        self, answers: Sequence[list[Span | None]]
    ) -> Iterable[tuple[object, Sequence[float]]]:
        """Whether each judge sees a contradiction, by unit."""
        for question, told in zip(self.questions, zip(*answers, strict=True), strict=True):
            yield (question, self.target), [float(place is not None) for place in told]


def stated(question: Question) -> str:
    """A unit as a statement."""
    if question.kind == "entity":
        return question.text
    if question.kind == "attribute":
        return f"{question.subject}: {question.text}"
    return f"{question.subject} {question.text} {question.object}"
