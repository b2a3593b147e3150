"""Operations that look for the units of one text in another, and for contradictions of them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from beholder.backends import Message
from beholder.judges.grades import Grade, mean_grade
from beholder.judges.operations.base import (
    PanelOperation,
    Ratings,
    Respondent,
    votes_by_item,
)
from beholder.judges.operations.quotes import locate, quoted
from beholder.judges.reading import NOTHING
from beholder.judges.shapes import integer, string, words
from beholder.judges.templates import Template
from beholder.records import Span

QuestionKind: TypeAlias = Literal["entity", "attribute", "relation"]

LOWEST, HIGHEST = 1, 5


@dataclass(frozen=True, slots=True)
class Question:
    """Is this unit of one text in the other text, too?

    Attributes:
        kind: ``entity``, ``attribute`` or ``relation``.
        text: The entity's identifier, the attribute, or the relation's words.
        subject: Identifier of the entity that has the attribute, or of the relation's first end.
        object: Identifier of the relation's other end.
        place: Offsets of the unit, its subject and its object in the source text, for judges that
            read the source; -1 if nothing is written, empty if not known.
    """

    kind: QuestionKind
    text: str
    subject: str = ""
    object: str = ""
    place: tuple[int, ...] = ()


@dataclass(frozen=True)
class Presence(PanelOperation[list[Grade]], name="presence"):
    """Grade from 1 to 5 of whether each unit is in the target text.

    What the grades mean is the judge's scale; ``Judge.presence_threshold`` is the grade from which
    a unit is there.

    A model is asked one question per unit. All prompts about one text begin alike and are sent one
    after the other, so that servers can reuse what they computed.

    Attributes:
        questions: The units.
        target: The text in which they are looked for.
        source: The text they come from, for judges that read both (the built-in one); a model is
            not shown it.
        costly: The grade that leads whoever asks to the most further questions, for estimates.
    """

    questions: Sequence[Question]
    target: str
    source: str | None = None
    costly: str = (
        "4"  # present, but not so surely that no other name need be tried
    )

    async def ask_model(self, model: Respondent) -> list[Grade]:
        """Ask for the grade of each unit in a request of its own."""

        async def grade_question(question: Question) -> Grade:
            return await model.grade(
                render(model.template, question, self.target),
                LOWEST,
                HIGHEST,
                typical="5",
                costly=self.costly,
            )

        # One request a unit: a grade from the distribution of the first token
        # needs an answer that begins with the digit.
        return list(await asyncio.gather(*map(grade_question, self.questions)))

    def merge(self, answers: Sequence[list[Grade]]) -> list[Grade]:
        """Mean grade of the judges."""
        return [mean_grade(grades) for grades in zip(*answers, strict=True)]

    def ratings(self, answers: Sequence[list[Grade]]) -> Ratings:
        """The grades of each unit."""
        for question, grades in votes_by_item(self.questions, answers):
            yield (question, self.target), [grade.value for grade in grades]


def render(
    template: Template, question: Question, target: str
) -> tuple[Message, ...]:
    """The prompt of one question: the text first, then what differs between questions."""
    texts = {
        "target": target,
        "text": question.text,
        "subject": question.subject,
        "object": question.object,
    }
    return template.render(texts, parts={"question": question.kind})


_WORDS_AT_MOST = 16
"""A contradiction is some words long, not a paragraph."""

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

    async def ask_model(self, model: Respondent) -> list[Span | None]:
        """Ask for the words that contradict each unit; no request is sent without units."""
        rows = await model.rows(
            ("statement", [stated(question) for question in self.questions]),
            {"instead": (words(8 * _WORDS_AT_MOST, None, self._place), None)},
            texts={"target": self.target},
        )
        return [row.get("instead") for row in rows]

    def _place(self, value: Any, name: str) -> Span | None:
        """Find the copied words in the target, ignoring blanks and case."""
        if value is None or (
            isinstance(value, str) and value.strip(_AROUND).lower() in NOTHING
        ):
            return None  # every way to say nothing
        copied_words = string().read(value, name).strip(_AROUND).split()
        # A long passage is no contradiction of one unit but the whole
        # sentence, which would mark too much.
        if len(copied_words) > _WORDS_AT_MOST:
            return None
        pattern = (
            r"(?<!\w)" + r"\s+".join(map(re.escape, copied_words)) + r"(?!\w)"
        )
        copied = re.search(pattern, self.target, re.IGNORECASE)
        return None if copied is None else copied.span()

    def merge(self, answers: Sequence[list[Span | None]]) -> list[Span | None]:
        """The first place that is named where more than half name one."""
        return [
            next(places)
            if 2 * sum(p is not None for p in spans) > len(spans)
            else None
            for spans in zip(*answers, strict=True)
            for places in [(p for p in spans if p is not None)]
        ]

    def ratings(self, answers: Sequence[list[Span | None]]) -> Ratings:
        """Yield per unit whether each judge reports a contradiction (1 or 0)."""
        for question, spans in votes_by_item(self.questions, answers):
            yield (
                (question, self.target),
                [float(place is not None) for place in spans],
            )


def stated(question: Question) -> str:
    """A unit as a statement."""
    if question.kind == "entity":
        return question.text
    if question.kind == "attribute":
        return f"{question.subject}: {question.text}"
    return f"{question.subject} {question.text} {question.object}"


@dataclass(frozen=True)
class PresenceList(Presence, name="presence_list"):
    """``Presence`` with all units in one question, each answered by a grade and a quote.

    The quote of a unit that is mentioned shows where; that of one that is not shows what the text
    says instead, if it does. A grade above the lowest without words of the text is the lowest.
    Grades are whole numbers: no probabilities are read.
    """

    async def ask_model(self, model: Respondent) -> list[Grade]:
        """Grade all units in one request; no request is sent if there are no units.

        Raises:
            ItemError: The judge left out a unit, also when it was asked again.
        """
        rows = await model.rows(
            ("unit", [stated(question) for question in self.questions]),
            {
                "grade": (integer(LOWEST, HIGHEST), 1),
                "quote": (words(200, None), None),
            },
            texts={"target": self.target},
            tokens=64,
            whole=True,
        )
        return [self._grade(row) for row in rows]

    def _grade(self, row: Mapping[str, Any]) -> Grade:
        where = locate(quoted(row), self.target)
        value = row["grade"] if where else LOWEST
        there = " ... ".join(
            " ".join(self.target[slice(*span)].split()) for span in where
        )
        return Grade(
            value=float(value),
            probabilities=tuple(
                float(value == g) for g in range(LOWEST, HIGHEST + 1)
            ),
            mass=1.0,
            read="samples",
            contradiction=there if value == LOWEST else "",
            where=where,
        )
