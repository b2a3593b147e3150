"""LLM judge: how good a description of a picture is, in numbers (``assess``, ``grade``)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial

from beholder.backends import Answer, Image, Sampling
from beholder.errors import ItemError
from beholder.judges.asking import Ask, Asker
from beholder.judges.base import Aspect, Assessment
from beholder.judges.grades import Grade, grade_sampling
from beholder.judges.reading import get_integer, read_object
from beholder.judges.schemas import integer, obj, words
from beholder.judges.templates import Template

ASPECTS: tuple[Aspect, ...] = ("overall", "mistakes", "omissions", "same_picture")
LOWEST, HIGHEST = 0, 9


async def assess(
    asker: Asker,
    template: Template,
    candidate: str,
    aspects: Sequence[Aspect],
    *,
    references: Sequence[str],
    images: Sequence[Image],
    low: int,
    high: int,
    rubric: bool,
    temperature: float,
    replicate: int,
) -> Assessment:
    """A whole number per aspect, with the reason."""
    if not aspects or not set(aspects) <= set(ASPECTS):
        raise ItemError(f"assess: aspects {aspects!r} are not among {', '.join(ASPECTS)}")
    ending = "_rubric" if rubric else ""
    parts: dict[str, str | None] = {"evidence_note": _evidence(images, references)}
    for aspect in ASPECTS:
        own = f"{aspect}{ending}" if f"{aspect}{ending}" in template.sections else aspect
        parts[f"{aspect}_note"] = own if aspect in aspects else None
    grade = integer(range(low, high + 1))
    return await asker.ask(
        Ask(
            operation="assess",
            template=template,
            messages=template.render(
                {"candidate": candidate, "reference": references},
                {"low": str(low), "high": str(high)},
                parts=parts,
                images=images,
            ),
            sampling=Sampling(temperature, max_tokens=512),
            parse=partial(_read_assessment, aspects=tuple(aspects), low=low, high=high),
            typical=json.dumps({"reason": "word " * 40, **dict.fromkeys(aspects, high)}),
            schema=obj(reason=words(), **dict.fromkeys(aspects, grade)),
            replicate=replicate,
        )
    )


def _read_assessment(answer: Answer, aspects: tuple[str, ...], low: int, high: int) -> Assessment:
    row = read_object(answer.text)
    grades = {aspect: float(get_integer(row, aspect, low, high)) for aspect in aspects}
    return Assessment(grades, str(row.get("reason", "")).strip())


async def grade(
    asker: Asker,
    template: Template,
    candidate: str,
    *,
    references: Sequence[str],
    images: Sequence[Image],
    samples: int,
    temperature: float,
    replicate: int,
) -> Grade:
    """A grade from 0 to 9, as the expectation over the probabilities of the digits.

    Where the server tells no log-probabilities, the mean of ``samples`` answers at temperature 1.
    """
    if not images:
        raise ItemError("grade needs a picture; there is none")
    able = await asker.backend.capabilities(images=True)
    sampling, parse = grade_sampling(
        able.top_logprobs, LOWEST, HIGHEST, temperature=temperature, samples=samples
    )
    return await asker.ask(
        Ask(
            operation="grade",
            template=template,
            messages=template.render(
                {"candidate": candidate, "reference": references},
                parts={"evidence_note": _evidence(images, references)},
                images=images,
            ),
            sampling=sampling,
            parse=parse,
            typical="9",
            replicate=replicate,
            whole=False,
        )
    )


def _evidence(images: Sequence[Image], references: Sequence[str]) -> str:
    """Which section says what the judge may go by."""
    if images and references:
        return "both"
    if not images and not references:
        raise ItemError("a description is judged by a picture or by references; there is neither")
    return "picture" if images else "reference"
