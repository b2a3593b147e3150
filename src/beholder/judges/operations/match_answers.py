"""The comparison of given answers with the right ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from beholder.judges.operations.base import (
    PanelOperation,
    Ratings,
    Respondent,
    majority,
    votes_by_item,
)
from beholder.judges.shapes import boolean, integer

HIGHEST_GRADE = 5


class AnswerMatch(NamedTuple):
    """Verdict if an answer means the same as the right one, and a grade of the match, 0..5."""

    same: bool
    grade: float


class OpenAnswer(NamedTuple):
    """A question with its right answer and the one that was given."""

    question: str
    right: str
    answer: str


@dataclass(frozen=True)
class MatchAnswers(PanelOperation[list[AnswerMatch]], name="match_answers"):
    """Does each given answer mean the same as the right one? Answered with a grade.

    Attributes:
        answers: The answers with their questions.
        language: Language of the answers, stated in the prompt; None if unknown.
    """

    answers: Sequence[OpenAnswer]
    language: str | None = None

    async def ask_model(self, model: Respondent) -> list[AnswerMatch]:
        """Compare all answers in one request; no request is sent if there are no answers.

        Raises:
            ItemError: The model left out an answer twice.
        """
        one_line_answers = [
            [" ".join(part.split()) for part in answer]
            for answer in self.answers
        ]
        blocks = [
            f"Question: {question}\nRight answer: {right}\nGiven answer: {answer}"
            for question, right, answer in one_line_answers
        ]
        rows = await model.rows(
            ("item", blocks),
            {
                "same": (boolean(), True),
                "grade": (integer(0, HIGHEST_GRADE), HIGHEST_GRADE),
            },
            language=self.language,
            whole=True,
        )
        return [AnswerMatch(**row) for row in rows]

    def merge(self, answers: Sequence[list[AnswerMatch]]) -> list[AnswerMatch]:
        """Merge by majority, a tie is not the same; grades are averaged."""
        return [
            AnswerMatch(
                majority([vote.same for vote in row], False),
                fmean(v.grade for v in row),
            )
            for row in zip(*answers, strict=True)
        ]

    def ratings(self, answers: Sequence[list[AnswerMatch]]) -> Ratings:
        """The grades of each answer."""
        for answer, votes in votes_by_item(self.answers, answers):
            yield list(answer), [vote.grade for vote in votes]
