"""A decision model whose answers a function plants."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from beholder.backends import (
    BACKENDS,
    Answer,
    Request,
    Sample,
    Scripted,
)
from beholder.backends.decisions import (
    ChoiceQuestion,
    DecidingBackend,
    Decision,
    DecisionCall,
    DecisionQuestion,
    QuestionLimits,
    ScoreQuestion,
    encode_decisions,
)
from beholder.backends.money import Usage

Decide = Callable[[DecisionCall], Sequence[float | Decision]]


class PlantedDecisions(Scripted, DecidingBackend):
    """Answers each question by the probability of its first outcome, or by a decision."""

    def __init__(
        self,
        decide: Decide,
        limits: QuestionLimits | None = None,
        count_tokens: Callable[[DecisionCall], int] = lambda call: 1,
    ) -> None:
        def answer(request: Request) -> Answer:
            call = DecisionCall.from_request(request)
            decisions = [
                _spread(question, value)
                for question, value in zip(
                    call.questions, decide(call), strict=True
                )
            ]
            return Answer(
                (Sample(encode_decisions(decisions), "stop"),),
                "planted",
                usage=Usage(count_tokens(call)),
            )

        super().__init__(answer, model="planted")
        self.limits = limits or QuestionLimits()


def _spread(question: DecisionQuestion, value: float | Decision) -> Decision:
    if isinstance(value, Decision):
        return value
    if isinstance(question, ChoiceQuestion | ScoreQuestion):
        rest = (1 - value) / (question.n_outcomes - 1)
        return Decision((value, *[rest] * (question.n_outcomes - 1)))
    return Decision((value,))


class BelievesAllButDogs(PlantedDecisions):
    """``believes:MODEL``: 0.3 for a statement with a dog, 0.9 for all others; likes no dogs.

    Scores have their lowest level with certainty where the text has a dog, else with 0.1.
    """

    def __init__(self, model: str) -> None:
        super().__init__(
            lambda call: [_believe(call, q) for q in call.questions]
        )
        self.name = f"believes:{model}"


def _believe(call: DecisionCall, question: DecisionQuestion) -> float:
    if isinstance(question, ScoreQuestion):
        return 1.0 if "dog" in call.state["description"] else 0.1
    return 0.3 if "dog" in question.instructions else 0.9


if "believes" not in BACKENDS.names():
    BACKENDS.register("believes")(BelievesAllButDogs)
