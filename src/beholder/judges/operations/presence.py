"""Is a unit of one text in the other text?"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from beholder.backends import Message
from beholder.judges.grades import Grade, mean_grade
from beholder.judges.operations.base import PanelOperation, Respondent
from beholder.judges.templates import Template

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
        place: Where the unit, its subject and its object begin in the source text, for judges that
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
    costly: str = "4"  # present, but not so surely that no other name need be tried

    async def put(self, model: Respondent) -> list[Grade]:
        """See ``ModelOperation.put``."""

        async def one(question: Question) -> Grade:
            return await model.grade(
                render(model.template, question, self.target),
                LOWEST,
                HIGHEST,
                typical="5",
                costly=self.costly,
            )

        return list(await asyncio.gather(*map(one, self.questions)))

    def merge(self, answers: Sequence[list[Grade]]) -> list[Grade]:
        """Mean grade of the judges."""
        return [mean_grade(grades) for grades in zip(*answers, strict=True)]

    def ratings(self, answers: Sequence[list[Grade]]) -> Iterable[tuple[object, Sequence[float]]]:
        """The grades of each unit."""
        for question, grades in zip(self.questions, zip(*answers, strict=True), strict=True):
            yield (question, self.target), [grade.value for grade in grades]


def render(template: Template, question: Question, target: str) -> tuple[Message, ...]:
    """The prompt of one question: the text first, then what differs between questions."""
    texts = {
        "target": target,
        "text": question.text,
        "subject": question.subject,
        "object": question.object,
    }
    return template.render(texts, parts={"question": question.kind})
