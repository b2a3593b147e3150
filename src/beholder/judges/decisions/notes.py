"""The distributions of a decision model, collected for whoever stores an outcome."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from contextvars import ContextVar

from beholder.backends.decisions import (
    ChoiceQuestion,
    Decision,
    DecisionQuestion,
    ScoreQuestion,
)
from beholder.judges.answers import noting

_noted: ContextVar[list[dict[str, object]] | None] = ContextVar(
    "decisions", default=None
)


def noted_decisions() -> AbstractContextManager[list[dict[str, object]]]:
    """Collect each question with its distribution, also of tasks begun within.

    Returns:
        Gives rows of JSON values, filled during the work: ``operation``, ``question``,
        ``probabilities``, and ``options`` of a choice, ``levels`` of a score, ``mass`` if the
        server reports that less than all lay on the outcomes, or ``reason`` if there is no
        answer.
    """
    return noting(_noted, [])


def note_decisions(
    operation: str,
    questions: Sequence[DecisionQuestion],
    decisions: Sequence[Decision],
) -> None:
    """Note the decisions of an operation for whoever collects them."""
    rows = _noted.get()
    if rows is None:
        return
    for question, decision in zip(questions, decisions, strict=True):
        row: dict[str, object] = {
            "operation": operation,
            "question": question.instructions,
            "probabilities": list(decision.probabilities),
        }
        if isinstance(question, ChoiceQuestion):
            row["options"] = [name for name, _ in question.options]
        if isinstance(question, ScoreQuestion):
            row["levels"] = list(question.levels)
        if decision.mass < 1:
            row["mass"] = decision.mass
        if decision.reason:
            row["reason"] = decision.reason
        rows.append(row)


def sorted_decisions(
    rows: list[dict[str, object]],
) -> list[dict[str, object]]:
    """Return the rows in an order that does not depend on which was answered first."""
    return sorted(rows, key=lambda row: (str(row["operation"]), str(row)))
