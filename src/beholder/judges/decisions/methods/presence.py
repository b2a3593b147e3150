"""Presence of units: one predicate for each unit, all units of a text in one call."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.backends.decisions import PredicateQuestion
from beholder.judges.decisions.decider import Decider
from beholder.judges.decisions.methods.base import Method, word_question
from beholder.judges.grades import Grade
from beholder.judges.operations import Presence
from beholder.judges.operations.presence import HIGHEST, LOWEST


async def ask_presence(decider: Decider, operation: Presence) -> list[Grade]:
    """Return a grade for each unit: 1 + 4p, where p is the probability that it is stated."""
    questions = [
        PredicateQuestion(
            word_question(
                decider,
                question.kind,
                {
                    "text": question.text,
                    "subject": question.subject,
                    "object": question.object,
                },
            )
        )
        for question in operation.questions
    ]
    answers = await decider.decide_all(
        {"description": operation.target}, questions
    )
    return [grade_from_probability(stated) for (stated,) in answers]


def grade_from_probability(stated: float) -> Grade:
    """Return a grade from 1 to 5 whose ends are "no" and "yes"."""
    value = LOWEST + (HIGHEST - LOWEST) * stated
    between = (0.0,) * (HIGHEST - LOWEST - 1)
    return Grade(
        value=value,
        probabilities=(1 - stated, *between, stated),
        mass=1.0,
        read="decisions",
    )


METHODS: Mapping[type, Method] = {Presence: ask_presence}
