"""Operations that write criteria and questions, from pictures or from a trusted text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeVar

from beholder.backends import Image, Request
from beholder.errors import ItemError
from beholder.judges.operations.answer import AnswerQuestions
from beholder.judges.operations.base import (
    ModelOperation,
    Respondent,
    language_note,
)
from beholder.judges.reading import BadAnswer
from beholder.judges.shapes import Shape, array, obj, only, string

T = TypeVar("T")

_WRONG_OPTIONS = 3
_TOKENS = 96
"""The most tokens of a written item."""


@dataclass(frozen=True, slots=True)
class WrittenCriterion:
    """A criterion and what it is about, in a word."""

    text: str
    dimension: str


@dataclass(frozen=True, slots=True)
class WrittenQuestion:
    """A multiple-choice question with its right answer and the wrong options."""

    question: str
    answer: str
    wrong: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _FromSource(ModelOperation[list[T]]):
    """Base: at most ``n`` items from pictures or a text.

    Raises:
        ItemError: Both are given, or neither is.
    """

    images: Sequence[Image] = ()
    text: str = ""
    n: int = 10
    language: str | None = None

    _field: ClassVar[str]

    def __post_init__(self) -> None:
        super().__post_init__()
        if bool(self.images) == bool(self.text.strip()):
            raise ItemError(
                f"{self.name} needs pictures or a text, and not both"
            )

    async def _written(
        self,
        model: Respondent,
        shape: Shape[T],
        task: str,
        **typical_row: object,
    ) -> list[T]:
        first = next(iter(typical_row))
        messages = model.render(
            {"text": self.text},
            {"n": str(self.n), "language": self.language or ""},
            parts={
                "source_note": "picture" if self.images else "text",
                "task": task,
                **language_note(self.language),
            },
            images=self.images,
        )
        digest = Request(messages).digest[:6]  # other sources have other items
        return await model.json(
            messages,
            only(
                self._field, array(shape, _distinct, at_most=self.n), bare=True
            ),
            max_tokens=128 + _TOKENS * self.n,
            typical={
                self._field: [
                    typical_row | {first: f"{typical_row[first]} {digest}{i}"}
                    for i in range(self.n)
                ]
            },
            fewest={self._field: []},
        )


@dataclass(frozen=True, kw_only=True)
class WriteCriteria(_FromSource[WrittenCriterion], name="write_criteria"):
    """Statements of a good description, which can be checked one by one.

    Attributes:
        images: The pictures, if these are the source.
        text: The text, if this is.
        n: Criteria at most.
        language: Language to write in; None if unknown.
        kind: ``facts`` of any sort, ``events`` (one action or motion each), or ``objects`` (one
            thing with one property each).
    """

    kind: Literal["facts", "events", "objects"] = "facts"
    _field: ClassVar[str] = "criteria"

    async def ask_model(self, model: Respondent) -> list[WrittenCriterion]:
        """Ask for criteria of the text or picture."""
        row = obj(WrittenCriterion, text=string(), dimension=string())
        text = "The dog runs after the ball."
        return await self._written(
            model, row, self.kind, text=text, dimension="action"
        )


@dataclass(frozen=True, kw_only=True)
class WriteQuestions(_FromSource[WrittenQuestion], name="write_questions"):
    """Multiple-choice questions that a good description answers.

    Attributes:
        images: The pictures, if these are the source.
        text: The text, if this is.
        n: Questions at most.
        language: Language to write in; None if unknown.
    """

    _field: ClassVar[str] = "questions"

    async def ask_model(self, model: Respondent) -> list[WrittenQuestion]:
        """Ask for questions with a right answer and wrong options."""
        wrong = array(
            string(), tuple, at_least=_WRONG_OPTIONS, at_most=_WRONG_OPTIONS
        )
        row = obj(_question, question=string(), answer=string(), wrong=wrong)
        question = "What does the dog run after?"
        wrong_options = ["a cat", "a stick", "a car"]
        return await self._written(
            model,
            row,
            "questions",
            question=question,
            answer="a ball",
            wrong=wrong_options,
        )


@dataclass(frozen=True)
class AnswerFromPictures(AnswerQuestions, name="answer_from_pictures"):
    """The answers to questions that pictures give; there is no quote.

    Attributes:
        questions: The questions.
        text: Not used.
        language: Language of the questions; None if unknown.
        images: The pictures.
    """

    text: str = ""
    images: Sequence[Image] = ()


def _distinct(values: Iterator[T]) -> list[T]:
    return list(dict.fromkeys(values))


def _question(
    question: str, answer: str, wrong: tuple[str, ...]
) -> WrittenQuestion:
    answer, *wrong_options = (
        " ".join(option.split()) for option in (answer, *wrong)
    )
    wrong = tuple(wrong_options)
    if len({option.casefold() for option in (answer, *wrong)}) <= len(wrong):
        raise BadAnswer(f"the options of {question!r} must all differ")
    return WrittenQuestion(question, answer, wrong)
