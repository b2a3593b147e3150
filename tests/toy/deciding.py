"""A decision model in this process that knows the right answer of every question."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from beholder.backends import Answer, Capabilities, Request, Sample, Usage
from beholder.backends.base import DescribedBackend
from beholder.backends.decisions import (
    DecidingBackend,
    Decision,
    DecisionCall,
    DecisionQuestion,
    QuestionLimits,
    encode_decisions,
)

Knowledge: TypeAlias = Callable[
    [DecisionQuestion, DecisionCall], Sequence[float] | str
]
"""Returns the probabilities of a question's outcomes, or the reason why there is no answer."""


class Knowing(DescribedBackend, DecidingBackend):
    """A decision model.

    Attributes:
        calls: All calls, in their order.
    """

    able = Capabilities("knowing-1", structure="schema", images=True)

    def __init__(
        self, knows: Knowledge, limits: QuestionLimits | None = None
    ) -> None:
        self.name = "decisions:knowing"
        self.limits = limits or QuestionLimits()
        self.calls: list[DecisionCall] = []
        self._knows = knows

    async def chat(self, request: Request) -> Answer:
        """Return the right answers."""
        call = DecisionCall.from_request(request)
        self.calls.append(call)
        decisions = []
        for question in call.questions:
            known = self._knows(question, call)
            decisions.append(
                Decision(reason=known)
                if isinstance(known, str)
                else Decision(tuple(known))
            )
        sample = Sample(encode_decisions(decisions), "stop")
        return Answer((sample,), "knowing-1", usage=Usage(10))
