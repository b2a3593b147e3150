"""Do answers to open questions mean the same as the right ones?"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from beholder.judges.operations.base import PanelOperation, Respondent
from beholder.judges.operations.numbered import majority, put_rows
from beholder.judges.shapes import boolean, integer

HIGHEST_GRADE = 5


class AnswerMatch(NamedTuple):
    """Whether an answer means the same as the right one, and how well it matches, 0..5."""

    same: bool
    grade: float


class OpenAnswer(NamedTuple):
    """A question with its right answer and the one that was given."""

    question: str
    right: str
    given: str


@dataclass(frozen=True)
class MatchAnswers(PanelOperation[list[AnswerMatch]], name="match_answers"):
    """Whether each given answer means the same as the right one, with a grade.

    Attributes:
        answers: The answers with their questions.
        language: Language of the answers, stated in the prompt; None if unknown.
    """

    answers: Sequence[OpenAnswer]
    language: str | None = None

    async def put(self, model: Respondent) -> list[AnswerMatch]:
        """See ``ModelOperation.put``; no request is sent if there are no answers.

        Raises:
            ItemError: The model left out an answer twice.
        """
        told = [[" ".join(said.split()) for said in one] for one in self.answers]
        shown = [
            f"Question: {question}\nRight answer: {right}\nGiven answer: {given}"
            for question, right, given in told
        ]
        found = await put_rows(
            model,
            ("item", shown),
            {"same": (boolean(), True), "grade": (integer(0, HIGHEST_GRADE), HIGHEST_GRADE)},
            language=self.language,
            whole=True,
        )
        return [AnswerMatch(**found[i]) for i in range(len(self.answers))]

    def merge(self, answers: Sequence[list[AnswerMatch]]) -> list[AnswerMatch]:
        """What most judges say, a tie is not the same; the mean of the grades."""
        return [
            AnswerMatch(majority([vote.same for vote in row], False), fmean(v.grade for v in row))
            for row in zip(*answers, strict=True)
        ]

    def ratings(
        self, answers: Sequence[list[AnswerMatch]]
    ) -> Iterable[tuple[object, Sequence[float]]]:
        """The grades of each answer."""
        for one, votes in zip(self.answers, zip(*answers, strict=True), strict=True):
            yield list(one), [vote.grade for vote in votes]
