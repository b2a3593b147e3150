"""A grade from a judge: expectation over the probabilities of the grades, or mean of samples."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal

from beholder.backends import Answer, Sampling
from beholder.judges.reading import BadAnswer, without_thinking
from beholder.records import Span

TOP_LOGPROBS = 20

LEAST_MASS = 0.05
"""Share of the probability that must lie on grades for a grade to be taken from it: below, the
model was about to say something else, a blank perhaps, and what is left is noise."""

# How tokenizers write a blank before a word.
_BLANKS = " \n\t▁Ġ"

_MARKS = r"[\s*_#>`'\"(\[]*"
_GRADE = re.compile(
    rf"{_MARKS}(?:(?:the\s+)?(?:digit|grade|score|rating|answer)\s*(?:is|=|:)?{_MARKS})?"
    r"(\d+)[*_`'\")\].,!;:]*[^\S\n]*(?:\n(?!\s*\d)|\Z)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Grade:
    """A graded answer.

    Attributes:
        value: Expected grade.
        probabilities: Probability of each grade, from the lowest; they sum to 1.
        mass: Share of the model's probability that lay on grades at all (of the samples, those
            that were grades); far below 1 says that the model wanted to answer something else.
        read: Where it comes from.
        contradiction: What the target says instead, if the judge reports it; or empty.
        where: Characters of the unit's counterpart in the target, if the judge reports them.
        sure: False if the judge reports that it is not sure that the unit is there, or not.
        excused: Whether the judge leaves the unit out: it relates a thing that is wrong itself.
    """

    value: float
    probabilities: tuple[float, ...]
    mass: float
    read: Literal["logprobs", "samples", "rules"]
    contradiction: str = ""
    where: tuple[Span, ...] = ()
    sure: bool = True
    excused: bool = False


def from_first_token(first: Sequence[tuple[str, float]], low: int, high: int) -> Grade:
    """Expectation over the first token's probabilities.

    A token counts when it is exactly one of the grades, blanks aside: "15" is neither 1 nor 5.
    Grades that the server did not list count as probability zero.

    Args:
        first: Tokens with log-probabilities.
        low: Lowest grade.
        high: Highest grade; one digit, so that it is one token.

    Raises:
        BadAnswer: No grade is among the tokens, or hardly any of the probability lies on grades.
    """
    grades = [str(grade) for grade in range(low, high + 1)]
    weights = dict.fromkeys(grades, 0.0)
    for token, logprob in first:
        bare = digit(token)
        if bare in weights:
            weights[bare] += math.exp(logprob)
    mass = sum(weights.values())
    if mass < LEAST_MASS:
        raise BadAnswer(_wanted(low, high))
    probabilities = tuple(weights[grade] / mass for grade in grades)
    return Grade(_expected(probabilities, low), probabilities, min(1.0, mass), "logprobs")


def digit(token: str) -> str:
    """The digit that a token is, blanks aside; empty if it is none."""
    bare = token.strip(_BLANKS)
    return bare if len(bare) == 1 and bare in "0123456789" else ""


def from_samples(texts: Sequence[str], low: int, high: int) -> Grade:
    """Mean over independently drawn answers.

    A grade may be in marks (``**4**``), behind its name (``Grade: 4``), before a stop, or on a
    line of its own before an explanation; nothing else is read as one.

    Raises:
        BadAnswer: Fewer than half of them are one of the grades.
    """
    grades = [str(grade) for grade in range(low, high + 1)]
    counts = dict.fromkeys(grades, 0)
    for text in texts:
        try:
            bare = without_thinking(text)
        except BadAnswer:
            continue  # counted below: a sample that is no grade
        told = _GRADE.match(bare)
        if told and told[1] in counts:
            counts[told[1]] += 1
    valid = sum(counts.values())
    if 2 * valid < len(texts) or not valid:
        raise BadAnswer(_wanted(low, high))
    probabilities = tuple(counts[grade] / valid for grade in grades)
    return Grade(_expected(probabilities, low), probabilities, valid / len(texts), "samples")


def grade_sampling(
    top_logprobs: int, low: int, high: int, *, temperature: float, samples: int
) -> tuple[Sampling, Callable[[Answer], Grade]]:
    """How to ask for a grade from ``low`` to ``high``, and how to read the answer.

    If the server returns log-probabilities, one new token is drawn and its distribution read;
    elsewhere the grade is the mean of ``samples`` answers at temperature 1.
    """
    if top_logprobs:
        sampling = Sampling(temperature=temperature, max_tokens=1, top_logprobs=TOP_LOGPROBS)
        return sampling, lambda answer: _by_first_token(answer, low, high)
    sampling = Sampling(temperature=1.0, max_tokens=8, n=samples)
    return sampling, lambda answer: from_samples([s.text for s in answer.samples], low, high)


def _wanted(low: int, high: int) -> str:
    return f"the answer must be one digit from {low} to {high}, and nothing else"


def _by_first_token(answer: Answer, low: int, high: int) -> Grade:
    first = answer.samples[0].first
    if first is None:
        raise BadAnswer("no log-probabilities came with the answer")
    return from_first_token(first, low, high)


def rule_grade(
    value: float, contradiction: str = "", where: tuple[Span, ...] = (), *, sure: bool = True
) -> Grade:
    """A grade from 1 to 5 by rule: the two whole grades beside it share the probability.

    Args:
        value: 1..5.
        contradiction: What the target says in the unit's place.
        where: Characters of the counterpart in the target.
        sure: See ``Grade``.
    """
    low = min(4, int(value))
    probabilities = [0.0] * 5
    probabilities[low - 1] = low + 1 - value
    probabilities[low] = value - low
    return Grade(value, tuple(probabilities), 1.0, "rules", contradiction, where, sure)


def _expected(probabilities: Sequence[float], low: int) -> float:
    return math.fsum((low + i) * p for i, p in enumerate(probabilities))


def mean_grade(grades: Sequence[Grade]) -> Grade:
    """The mean of several judges' grades; ``mass`` is the least of theirs."""
    columns = zip(*(grade.probabilities for grade in grades), strict=True)
    return Grade(
        value=fmean(grade.value for grade in grades),
        probabilities=tuple(fmean(column) for column in columns),
        mass=min(grade.mass for grade in grades),
        read=grades[0].read,
        sure=all(grade.sure for grade in grades),
    )
