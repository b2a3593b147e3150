"""Closed questions that a decision model answers by probabilities, and how they are kept.

One call asks many questions about one state. It travels as a ``Request``: the last message holds
the pictures and the state (a JSON object of named texts), ``schema`` holds the questions. The
answer is one sample whose text is a JSON list with the decision of each question, in their order.
So money, stored answers, retries and dry runs are those of every other request.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import msgspec

from beholder.backends.base import Backend, Image, Message, Request, Sampling
from beholder.errors import ConfigError

SUM_TOLERANCE = 0.05
"""Servers round probabilities to two decimals, so that their sum is not exactly 1."""

LEAST_MASS = 0.05
"""Share of the probability that must lie on the outcomes for an answer to be taken from it: below,
the model was about to say something else, a blank perhaps, and what is left is noise."""


class PredicateQuestion(msgspec.Struct, frozen=True, tag="predicate"):
    """A statement that holds or not; its decision has one probability, that it holds.

    Attributes:
        instructions: The statement.
    """

    instructions: str

    @property
    def n_outcomes(self) -> int:
        """The number of probabilities in its decision."""
        return 1


class ChoiceQuestion(msgspec.Struct, frozen=True, tag="choice"):
    """One of several options; its decision has a probability for each, in their order.

    Attributes:
        instructions: The question.
        options: Pairs of a name, unique and read by the model, and a description or None.
    """

    instructions: str
    options: tuple[tuple[str, str | None], ...]

    @property
    def n_outcomes(self) -> int:
        """The number of probabilities in its decision."""
        return len(self.options)


class ScoreQuestion(msgspec.Struct, frozen=True, tag="score"):
    """A level on a scale; its decision has a probability for each, from the lowest.

    Attributes:
        instructions: What is scored.
        levels: The levels in words, from the lowest.
    """

    instructions: str
    levels: tuple[str, ...]

    @property
    def n_outcomes(self) -> int:
        """The number of probabilities in its decision."""
        return len(self.levels)


DecisionQuestion: TypeAlias = (
    PredicateQuestion | ChoiceQuestion | ScoreQuestion
)


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to one question.

    Attributes:
        probabilities: See the question; empty if there is no answer.
        mass: Share of the model's probability that lay on the outcomes, where a server reports it.
        reason: Why there is no answer (``refused``, ``no answer``...); empty if there is one.
    """

    probabilities: tuple[float, ...] = ()
    mass: float = 1.0
    reason: str = ""


@dataclass(frozen=True, slots=True)
class QuestionLimits:
    """Limits of one call, by which a judge splits its questions.

    Attributes:
        max_questions: Questions of one call.
        max_options: Options of one choice.
        max_levels: Levels of one score.
        window: Tokens of state and questions together.
    """

    max_questions: int = 64
    max_options: int = 26
    max_levels: int = 10
    window: int = 32_000


class DecidingBackend(Backend):
    """Base of backends that answer the requests of decision calls.

    Attributes:
        limits: How much one call may ask.
    """

    limits: QuestionLimits


@dataclass(frozen=True, slots=True)
class DecisionCall:
    """Content of one call to a decision model.

    Attributes:
        state: The texts that the questions are about, by a name that the questions may use.
        questions: The questions.
        images: The pictures, in order, which come before the texts.
        note: What holds for all questions (the task, whom to trust); or empty.
    """

    state: Mapping[str, str]
    questions: tuple[DecisionQuestion, ...]
    images: tuple[Image, ...] = ()
    note: str = ""

    def to_request(self, replicate: int = 0) -> Request:
        """Return the call as a request, which can be priced, stored and sent."""
        state = json.dumps(dict(self.state), ensure_ascii=False)
        messages = [Message("user", (*self.images, state))]
        if self.note:
            messages.insert(0, Message("system", (self.note,)))
        questions = msgspec.to_builtins(self.questions)
        return Request(
            messages=tuple(messages),
            sampling=Sampling(max_tokens=0),
            schema={"questions": questions},
            replicate=replicate,
        )

    @classmethod
    def from_request(cls, request: Request) -> DecisionCall:
        """Return the call that ``to_request`` made a request of.

        Raises:
            ConfigError: It is another request.
        """
        *notes, last = request.messages
        rows = (request.schema or {}).get("questions")
        if rows is None:
            raise ConfigError(
                "a decision model answers closed questions alone; ask it through"
                " a judge, such as judge='decisions:MODEL'"
            )
        questions = msgspec.convert(rows, tuple[DecisionQuestion, ...])
        return cls(
            state=json.loads(last.text),
            questions=questions,
            images=last.images,
            note="".join(message.text for message in notes),
        )


def encode_decisions(decisions: Sequence[Decision]) -> str:
    """Return decisions as the text of an answer."""
    return msgspec.json.encode(decisions).decode()


def decode_decisions(text: str) -> tuple[Decision, ...]:
    """Return the decisions that ``encode_decisions`` wrote.

    Raises:
        ValueError: It wrote no such text.
    """
    try:
        return msgspec.json.decode(text, type=tuple[Decision, ...])
    except msgspec.MsgspecError as error:
        raise ValueError(f"not a list of decisions: {error}") from error


def normalize_probabilities(
    question: DecisionQuestion, values: Sequence[Any]
) -> Decision:
    """Return the decision of the numbers that a server reports for a question.

    Numbers that sum to 1 within ``SUM_TOLERANCE`` are divided by their sum; all others make an
    answer that cannot be used, with its reason.
    """
    if len(values) != question.n_outcomes:
        return Decision(
            reason=f"{len(values)} probabilities for {question.n_outcomes}"
            " outcomes"
        )
    valid = all(
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and 0 <= value <= 1
        for value in values
    )
    if not valid:
        return Decision(reason="a probability is not a number from 0 to 1")
    if isinstance(question, PredicateQuestion):
        return Decision((float(values[0]),))
    total = math.fsum(values)
    if abs(total - 1) > SUM_TOLERANCE:
        return Decision(reason=f"the probabilities sum to {total:.3g}")
    return Decision(tuple(value / total for value in values))
