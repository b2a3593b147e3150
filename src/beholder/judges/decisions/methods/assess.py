"""Descriptions graded by levels, and texts ranked by pairs in both orders."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

from beholder.backends.decisions import ChoiceQuestion, ScoreQuestion
from beholder.judges.decisions.decider import Decider
from beholder.judges.decisions.methods.base import (
    Method,
    described_levels,
    language_state,
    mean_level,
    word_question,
)
from beholder.judges.grades import Grade
from beholder.judges.operations import (
    Assess,
    AssessInContext,
    Assessment,
    GradeDescription,
    Rank,
)
from beholder.judges.operations.assess import HIGHEST, LOWEST, evidence
from beholder.judges.operations.place import format_context


async def ask_grade(decider: Decider, operation: GradeDescription) -> Grade:
    """Return the expected grade, 0..9, with the distribution of the ten levels."""
    section = evidence(operation.images, operation.references)
    levels = described_levels(decider, range(LOWEST, HIGHEST + 1))
    [probabilities] = await decider.decide_all(
        _state(operation),
        [ScoreQuestion(word_question(decider, section), levels)],
        images=operation.images,
    )
    return Grade(
        value=LOWEST + mean_level(probabilities),
        probabilities=probabilities,
        mass=1.0,
        read="decisions",
    )


async def ask_assessment(decider: Decider, operation: Assess) -> Assessment:
    """Return the expected number of each aspect; there is no reason."""
    section = evidence(operation.images, operation.references)
    numbers = range(operation.low, operation.high + 1)
    levels = described_levels(decider, numbers)
    evidence_text = word_question(decider, section)
    questions = [
        ScoreQuestion(
            f"{word_question(decider, aspect)} {evidence_text}", levels
        )
        for aspect in operation.aspects
    ]
    answers = await decider.decide_all(
        _state(operation), questions, images=operation.images
    )
    grades: dict[str, float] = {
        aspect: operation.low + mean_level(probabilities)
        for aspect, probabilities in zip(
            operation.aspects, answers, strict=True
        )
    }
    return Assessment(grades, reason="")


def _state(operation: GradeDescription | Assess) -> dict[str, str]:
    state = {"description": operation.candidate}
    for number, reference in enumerate(operation.references, 1):
        state[f"reference {number}"] = reference
    if isinstance(operation, AssessInContext):
        state["context"] = format_context(operation.context or {})
    return state


async def ask_ranks(decider: Decider, operation: Rank) -> list[int]:
    """Return the rank of each text, 1 = best, by its mean probability of winning a pair.

    Each pair is asked in both orders, as models prefer a seat. Equal texts keep their order.
    """
    n = len(operation.texts)
    names = [f"text {number}" for number in range(1, n + 1)]
    state = dict(zip(names, operation.texts, strict=True))
    section = "fit" if operation.images else "quality"
    pairs = list(permutations(range(n), 2))
    questions = [
        ChoiceQuestion(
            word_question(
                decider, section, {"first": names[a], "second": names[b]}
            ),
            (("first", names[a]), ("second", names[b])),
        )
        for a, b in pairs
    ]
    answers = await decider.decide_all(
        {**state, **language_state(operation.language)},
        questions,
        images=operation.images,
    )
    wins = [0.0] * n
    for (a, b), (first, second) in zip(pairs, answers, strict=True):
        wins[a] += first
        wins[b] += second
    order = sorted(range(n), key=lambda text: (-wins[text], text))
    return [order.index(text) + 1 for text in range(n)]


METHODS: Mapping[type, Method] = {
    GradeDescription: ask_grade,
    Assess: ask_assessment,
    AssessInContext: ask_assessment,
    Rank: ask_ranks,
}
