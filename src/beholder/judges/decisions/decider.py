"""Asking a decision model: splits questions into calls and asks once more for what is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import msgspec

from beholder.backends import Image
from beholder.backends.decisions import (
    ChoiceQuestion,
    Decision,
    DecisionCall,
    DecisionQuestion,
    PredicateQuestion,
    QuestionLimits,
    ScoreQuestion,
    decode_decisions,
    encode_decisions,
)
from beholder.errors import ConfigError, ItemError
from beholder.judges.asking import Prompt, Questioner
from beholder.judges.decisions.notes import note_decisions
from beholder.judges.templates import Template

T = TypeVar("T")

_ROOM = 0.95
"""Share of a window that is filled: tokens are estimated."""


@dataclass(frozen=True)
class Decider:
    """A decision model that is asked one operation.

    Attributes:
        asker: Who asks it.
        limits: How much one call may ask.
        operation: Name of the operation.
        template: The wording of its questions.
        letter_template: The wording around a question that a chat model is asked.
        orders: How often each choice is asked, in how many orders of its options: 1 or 2.
    """

    asker: Questioner
    limits: QuestionLimits
    operation: str
    template: Template
    letter_template: Template
    orders: int = 1

    async def decide(
        self,
        state: Mapping[str, str],
        questions: Sequence[DecisionQuestion],
        *,
        images: Sequence[Image] = (),
    ) -> list[Decision]:
        """Return a decision for each question, in their order.

        Questions without a usable answer are asked once more, alone; what is missing then has a
        reason.

        Args:
            state: The texts that are judged, by the name that the questions use.
            questions: The questions; none: no request is sent.
            images: Pictures, shown before the texts.

        Raises:
            ConfigError: A question has more options or levels than the server takes.
        """
        call = DecisionCall(state, tuple(questions), tuple(images))
        decisions = await self._ask_in_chunks(call)
        missing = [i for i, d in enumerate(decisions) if d.reason]
        if missing:
            again = replace(
                call, questions=tuple(questions[i] for i in missing)
            )
            answers = await self._ask_in_chunks(again)
            for i, decision in zip(missing, answers, strict=True):
                decisions[i] = decision
        note_decisions(self.operation, questions, decisions)
        return decisions

    async def decide_all(
        self,
        state: Mapping[str, str],
        questions: Sequence[DecisionQuestion],
        *,
        images: Sequence[Image] = (),
    ) -> list[tuple[float, ...]]:
        """Return the probabilities of each question's outcomes; arguments as of ``decide``.

        Raises:
            ItemError: A question has no usable answer, also when asked again.
        """
        decisions = await self.decide(state, questions, images=images)
        for place, decision in enumerate(decisions):
            if decision.reason:
                raise ItemError(
                    f"{self.asker.backend.name} gave no usable answer to"
                    f" question {place + 1} of {len(questions)} of"
                    f" {self.operation}: {decision.reason}"
                )
        return [decision.probabilities for decision in decisions]

    async def _ask_in_chunks(self, call: DecisionCall) -> list[Decision]:
        for question in call.questions:
            self._check(question)
        chunks = split_questions(call, self.limits, self._with_both_orders)
        answers = await asyncio.gather(
            *(self._ask(replace(call, questions=chunk)) for chunk in chunks)
        )
        return [decision for answer in answers for decision in answer]

    async def _ask(self, call: DecisionCall) -> Sequence[Decision]:
        """Return the decisions of one call, with each choice in as many orders as wanted."""
        n_questions = len(call.questions)
        decisions = await self._ask_server(self._with_both_orders(call))
        further = iter(decisions[n_questions:])
        return [
            _mean(decision, next(further))
            if isinstance(question, ChoiceQuestion) and self.orders == 2
            else decision
            for question, decision in zip(
                call.questions, decisions[:n_questions], strict=True
            )
        ]

    def _with_both_orders(self, call: DecisionCall) -> DecisionCall:
        """Return a call that asks each choice in as many orders of its options as wanted."""
        reversed_choices = [
            replace_options(question, question.options[::-1])
            for question in call.questions
            if isinstance(question, ChoiceQuestion) and self.orders == 2
        ]
        return replace(call, questions=(*call.questions, *reversed_choices))

    async def _ask_server(self, call: DecisionCall) -> Sequence[Decision]:
        """Return the decisions of one call, which is one request."""
        request = call.to_request()
        return await self.asker.ask(
            Prompt(
                operation=self.operation,
                template=self.template,
                messages=request.messages,
                sampling=request.sampling,
                parse=lambda answer: decode_decisions(answer.text),
                typical=likely_answer(call.questions),
                schema=request.schema,
            )
        )

    def _check(self, question: DecisionQuestion) -> None:
        most = self.limits.max_levels
        if isinstance(question, ChoiceQuestion):
            most = self.limits.max_options
        if question.n_outcomes > most:
            raise ConfigError(
                f"{self.asker.backend.name} takes at most {most} outcomes of a"
                f" question, and {self.operation} has"
                f" {question.n_outcomes}; raise max_options or max_levels if"
                " the server takes more, or choose another judge"
            )


def split_questions(
    call: DecisionCall,
    limits: QuestionLimits,
    expand: Callable[[DecisionCall], DecisionCall] = lambda call: call,
) -> list[tuple[DecisionQuestion, ...]]:
    """Return the questions of a call in as few chunks as the limits allow, of equal size.

    Chunks are of unequal size where questions are, so that equal ones would not fit.

    Args:
        call: The call with all questions.
        limits: How much one call may ask.
        expand: Returns a call with all questions that are sent for its own.
    """
    empty = DecisionCall({}, ())
    state = replace(call, questions=()).to_request().estimated_tokens()
    # A state without room gets one question a call: the backend refuses it,
    # with its length.
    room = limits.window * _ROOM - state
    sizes = []
    for question in call.questions:
        sent = expand(replace(empty, questions=(question,)))
        tokens = sent.to_request().estimated_tokens()
        sizes.append((len(sent.questions), tokens))

    def fits(start: int, end: int) -> bool:
        chunk = sizes[start:end]
        return (
            sum(number for number, _ in chunk) <= limits.max_questions
            and sum(tokens for _, tokens in chunk) <= room
        )

    starts = [0]
    for end in range(1, len(sizes) + 1):
        if end - starts[-1] > 1 and not fits(starts[-1], end):
            starts.append(end - 1)
    even = split_evenly(call.questions, len(starts) if sizes else 0)
    place = 0
    for chunk in even:
        place += len(chunk)
        if len(chunk) > 1 and not fits(place - len(chunk), place):
            ends = [*starts[1:], len(sizes)]
            return [
                call.questions[start:end]
                for start, end in zip(starts, ends, strict=True)
            ]
    return even


def split_evenly(values: Sequence[T], n_chunks: int) -> list[tuple[T, ...]]:
    """Return the values in consecutive chunks whose sizes differ by one at most."""
    size, larger = divmod(len(values), max(1, n_chunks))
    chunks = []
    start = 0
    for place in range(n_chunks):
        end = start + size + (place < larger)
        chunks.append(tuple(values[start:end]))
        start = end
    return chunks


def replace_options(
    question: ChoiceQuestion, options: tuple[tuple[str, str | None], ...]
) -> ChoiceQuestion:
    """Return a choice with other options."""
    return msgspec.structs.replace(question, options=options)


def likely_answer(questions: Sequence[DecisionQuestion]) -> str:
    """Return an answer as it could be, for estimates: the first outcome of each is likely."""
    decisions = []
    for question in questions:
        n_others = question.n_outcomes - 1
        others = (0.1 / n_others,) * n_others if n_others else ()
        first = (
            0.9 if n_others or isinstance(question, PredicateQuestion) else 1.0
        )
        likely = (first, *others)
        is_score = isinstance(question, ScoreQuestion)
        decisions.append(Decision(likely[::-1] if is_score else likely))
    return encode_decisions(decisions)


def _mean(decision: Decision, swapped: Decision) -> Decision:
    """Return the mean of a choice's distributions in both orders of its options."""
    if decision.reason or swapped.reason:
        return decision if decision.reason else swapped
    pairs = zip(
        decision.probabilities, swapped.probabilities[::-1], strict=True
    )
    mean = tuple((p + q) / 2 for p, q in pairs)
    return Decision(mean, min(decision.mass, swapped.mass))
