"""Any chat model as a decision model: the distribution over the labels of the outcomes.

The model is asked for one label. Its log-probabilities at that one position are read, as for
grades: nothing is drawn, and what the server does not list has probability 0. All questions about
a text share the beginning of their prompts, so that servers reuse what they computed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from string import ascii_uppercase, digits

from beholder.backends import Answer, Sampling
from beholder.backends.decisions import (
    ChoiceQuestion,
    Decision,
    DecisionCall,
    DecisionQuestion,
    PredicateQuestion,
    QuestionLimits,
    ScoreQuestion,
)
from beholder.errors import ConfigError
from beholder.judges.asking import Prompt
from beholder.judges.decisions.decider import Decider
from beholder.judges.grades import TOP_LOGPROBS, read_labels
from beholder.judges.reading import BadAnswer

LETTER_LIMITS = QuestionLimits(
    max_questions=1_000_000,
    max_options=TOP_LOGPROBS,  # an option that is not listed has no probability
    max_levels=len(digits),
    window=1_000_000_000,  # each question is a request of its own
)


class LetterDecider(Decider):
    """A chat model that is asked one operation by labels."""

    async def _ask(self, call: DecisionCall) -> Sequence[Decision]:
        able = await self.asker.backend.capabilities(images=bool(call.images))
        if not able.top_logprobs:
            raise ConfigError(
                f"{self.asker.backend.name} returns no log-probabilities, from"
                " which decisions are read; choose a server that does, such as"
                " vLLM or llama.cpp, or leave decide out"
            )
        return await super()._ask(call)

    async def _ask_server(self, call: DecisionCall) -> Sequence[Decision]:
        return await asyncio.gather(
            *(self._ask_label(call, question) for question in call.questions)
        )

    async def _ask_label(
        self, call: DecisionCall, question: DecisionQuestion
    ) -> Decision:
        labels, outcomes = label_outcomes(question)
        template = self.letter_template
        material = "\n\n".join(
            f"{name}:\n{text}" for name, text in call.state.items()
        )
        options = "\n".join(
            f"{label}) {outcome}"
            for label, outcome in zip(labels, outcomes, strict=True)
        )
        messages = template.render(
            {"material": material},
            {"question": question.instructions, "options": options},
            parts={"material_note": "material" if material else None},
            images=call.images,
        )

        def parse(answer: Answer) -> Decision:
            first = answer.samples[0].first
            if first is None:
                return Decision(reason="no log-probabilities came")
            try:
                probabilities, mass = read_labels(
                    first, labels, f"none of {', '.join(labels)} is likely"
                )
            except BadAnswer as error:
                return Decision(reason=str(error))
            if isinstance(question, PredicateQuestion):
                probabilities = probabilities[:1]
            return Decision(probabilities, mass)

        return await self.asker.ask(
            Prompt(
                operation=self.operation,
                template=template,
                messages=messages,
                sampling=Sampling(max_tokens=1, top_logprobs=TOP_LOGPROBS),
                parse=parse,
                typical=labels[0],
                whole=False,
            )
        )


def label_outcomes(
    question: DecisionQuestion,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the labels of a question's outcomes, and the outcomes in words.

    Levels have digits, as grades have: from 1, or from 0 if there are ten.
    """
    if isinstance(question, ScoreQuestion):
        start = 0 if len(question.levels) == len(digits) else 1
        labels = digits[start : start + len(question.levels)]
        return tuple(labels), question.levels
    if isinstance(question, ChoiceQuestion):
        outcomes = tuple(
            f"{name}: {about}" if about else name
            for name, about in question.options
        )
        return tuple(ascii_uppercase[: len(outcomes)]), outcomes
    return ("A", "B"), ("yes", "no")
