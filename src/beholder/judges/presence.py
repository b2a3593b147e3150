"""LLM judge: is a unit of one text in the other text (``presence``), and how to name it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from beholder.backends import Answer, Message, Sampling
from beholder.judges.asking import Ask, Asker
from beholder.judges.base import Question
from beholder.judges.grades import Grade, grade_sampling
from beholder.judges.reading import BadAnswer, read_text
from beholder.judges.templates import Template

LOWEST, HIGHEST = 1, 5


async def presence(
    asker: Asker,
    template: Template,
    questions: Sequence[Question],
    target: str,
    *,
    samples: int,
    temperature: float,
    replicate: int,
) -> list[Grade]:
    """Grade 1 to 5 for each question.

    Where the server tells log-probabilities, one new token per question is drawn and its
    distribution read. Elsewhere the grade is the mean of ``samples`` answers at temperature 1.
    All prompts about one text begin alike and are sent one after the other, so that servers can
    reuse what they computed.
    """
    able = await asker.backend.capabilities()
    sampling, parse = grade_sampling(
        able.top_logprobs, LOWEST, HIGHEST, temperature=temperature, samples=samples
    )

    def ask(question: Question) -> Ask[Grade]:
        return Ask(
            operation="presence",
            template=template,
            messages=render(template, question, target),
            sampling=sampling,
            parse=parse,
            typical="5",
            costly="4",  # present, but not so surely that no other name need be tried
            replicate=replicate,
            whole=False,
        )

    return list(await asyncio.gather(*(asker.ask(ask(question)) for question in questions)))


def render(template: Template, question: Question, target: str) -> tuple[Message, ...]:
    """The prompt of one question: the text first, then what differs between questions."""
    texts = {
        "target": target,
        "text": question.text,
        "subject": question.subject,
        "object": question.object,
    }
    return template.render(texts, parts={"question": question.kind})


async def rewrite(
    asker: Asker, template: Template, phrase: str, *, temperature: float, replicate: int
) -> str:
    """A noun phrase for a rough phrase."""
    return await asker.ask(
        Ask(
            operation="rewrite",
            template=template,
            messages=template.render({"phrase": phrase}),
            sampling=Sampling(temperature=temperature, max_tokens=48),
            parse=_noun_phrase,
            typical="the thing that is meant",
            replicate=replicate,
        )
    )


def _noun_phrase(answer: Answer) -> str:
    text = read_text(answer.text).strip(" \t\"'.“”‘’")
    if "\n" in text or len(text.split()) > 20 or not any(c.isalnum() for c in text):
        raise BadAnswer("the answer must be one noun phrase of at most 15 words on one line")
    return text
