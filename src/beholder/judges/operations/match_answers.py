"""Do answers to open questions mean the same as the right ones?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, NamedTuple

from beholder.errors import ItemError
from beholder.judges.operations.base import PanelOperation, Respondent
from beholder.judges.operations.numbered import (
    Row,
    answer_limit,
    ask_rows,
    language_note,
    majority,
    rows_of,
)
from beholder.judges.shapes import Shape, boolean, integer

HIGHEST_GRADE = 5


class AnswerMatch(NamedTuple):
    """Whether an answer means the same as the right one, and how well it matches, 0..5."""

    same: bool
    grade: float


class GivenAnswer(NamedTuple):
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

    answers: Sequence[GivenAnswer]
    language: str | None = None

    async def put(self, model: Respondent) -> list[AnswerMatch]:
        """See ``ModelOperation.put``; no request is sent if there are no answers.

        Raises:
            ItemError: The model left out an answer twice.
        """
        columns: dict[str, Shape[Any]] = {"same": boolean(), "grade": integer(0, HIGHEST_GRADE)}

        async def ask(rows: list[Row]) -> dict[int, Mapping[str, Any]]:
            return await model.json(
                model.render(
                    {"item": rows},
                    {"language": self.language or ""},
                    parts=language_note(self.language),
                ),
                rows_of("rows", rows, columns),
                max_tokens=answer_limit(rows),
                typical={"rows": [{"id": i, "same": True, "grade": 5} for i, _ in rows]},
            )

        lines = ("Question", "Right answer", "Given answer")
        shown = [
            "\n".join(
                f"{name}: {' '.join(said.split())}" for name, said in zip(lines, one, strict=True)
            )
            for one in self.answers
        ]
        found = await ask_rows(shown, ask) if shown else {}
        if len(found) < len(shown):
            raise ItemError(
                f"{model.asker.backend.name} compared {len(found)} of {len(shown)} answers, also"
                " when asked again"
            )
        return [AnswerMatch(**found[i]) for i in range(len(shown))]

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
