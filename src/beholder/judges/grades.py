"""A grade from a judge: expectation over the probabilities of the grades, or mean of samples."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

from beholder.backends import Answer, Sampling
from beholder.backends.decisions import LEAST_MASS
from beholder.judges.reading import BadAnswer, without_thinking
from beholder.records import Span

TOP_LOGPROBS = 20

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
        read: Origin of the grade.
        contradiction: The target's statement instead, if the judge reports it; or empty.
        where: Characters of the unit's counterpart in the target, if the judge reports them.
        sure: False if the judge reports that it is not sure that the unit is there, or not.
        excused: Whether the judge leaves the unit out: it is said of a thing that is wrong itself,
            or probably misread.
        further: Characters of wrong words beside the unit's own, if the judge reports them.
    """

    value: float
    probabilities: tuple[float, ...]
    mass: float
    read: Literal["logprobs", "samples", "rules", "decisions"]
    contradiction: str = ""
    where: tuple[Span, ...] = ()
    sure: bool = True
    excused: bool = False
    further: tuple[Span, ...] = ()


def from_first_token(
    first: Sequence[tuple[str, float]], low: int, high: int
) -> Grade:
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
    probabilities, mass = read_labels(
        first, grades, _describe_digits(low, high)
    )
    return Grade(
        _expected(probabilities, low), probabilities, mass, "logprobs"
    )


def read_labels(
    first: Sequence[tuple[str, float]], labels: Sequence[str], expected: str
) -> tuple[tuple[float, ...], float]:
    """Return the probability of each label at one position, and their share of the whole.

    A token counts when it is exactly one of the labels, blanks aside.

    Args:
        first: Tokens with log-probabilities.
        labels: Single letters or digits.
        expected: What the answer must be, for the error.

    Raises:
        BadAnswer: Hardly any of the probability lies on labels.
    """
    weights = dict.fromkeys(labels, 0.0)
    for token, logprob in first:
        bare = token.strip(_BLANKS)
        if bare in weights:
            weights[bare] += math.exp(logprob)
    mass = sum(weights.values())
    if mass < LEAST_MASS:
        raise BadAnswer(expected)
    probabilities = tuple(weights[label] / mass for label in labels)
    return probabilities, min(1.0, mass)


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
        match = _GRADE.match(bare)
        if match and match[1] in counts:
            counts[match[1]] += 1
    valid = sum(counts.values())
    # A grade from a minority of readable samples would look as certain as any
    # other.
    if 2 * valid < len(texts) or not valid:
        raise BadAnswer(_describe_digits(low, high))
    probabilities = tuple(counts[grade] / valid for grade in grades)
    return Grade(
        _expected(probabilities, low),
        probabilities,
        valid / len(texts),
        "samples",
    )


def grade_sampling(
    top_logprobs: int, low: int, high: int, *, temperature: float, samples: int
) -> tuple[Sampling, Callable[[Answer], Grade]]:
    """Return the sampling for a grade from ``low`` to ``high`` and the reader of its answer.

    If the server returns log-probabilities, one new token is drawn and its distribution read;
    elsewhere the grade is the mean of ``samples`` answers at temperature 1.
    """
    if top_logprobs:
        sampling = Sampling(
            temperature=temperature, max_tokens=1, top_logprobs=TOP_LOGPROBS
        )
        return sampling, lambda answer: _by_first_token(answer, low, high)
    sampling = Sampling(temperature=1.0, max_tokens=8, n=samples)
    return sampling, lambda answer: from_samples(
        [s.text for s in answer.samples], low, high
    )


def _describe_digits(low: int, high: int) -> str:
    return (
        f"the answer must be one digit from {low} to {high}, and nothing else"
    )


def _by_first_token(answer: Answer, low: int, high: int) -> Grade:
    first = answer.samples[0].first
    if first is None:
        raise BadAnswer("no log-probabilities came with the answer")
    return from_first_token(first, low, high)


def rule_grade(
    value: float,
    contradiction: str = "",
    where: tuple[Span, ...] = (),
    *,
    sure: bool = True,
    excused: bool = False,
    further: tuple[Span, ...] = (),
) -> Grade:
    """A grade from 1 to 5 by rule: the two whole grades beside it share the probability.

    Args:
        value: 1..5.
        contradiction: The target's statement in the unit's place.
        where: Characters of the counterpart in the target.
        sure: See ``Grade``.
        excused: See ``Grade``.
        further: See ``Grade``.
    """
    # A value between two whole grades is spread over both, so that the mean of
    # the distribution is the value again. The highest grade has no grade above
    # it, hence the minimum.
    low = min(4, int(value))
    probabilities = [0.0] * 5
    probabilities[low - 1] = low + 1 - value
    probabilities[low] = value - low
    details = (contradiction, where, sure, excused, further)
    return Grade(value, tuple(probabilities), 1.0, "rules", *details)


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


HALF = 0.5
"""Probability on digits below which a model wanted to say something else more than a grade."""

_POOR_SHARE = 0.05


@dataclass(frozen=True)
class Judging:
    """The answers of judges that a run holds.

    Attributes:
        n_answers: Answers, repairs among them.
        prompt_tokens: Tokens of their prompts.
        cached_tokens: Those of them that servers had in their cache, if reported.
        answer_tokens: Tokens of the answers.
        masses: Of each answer with probabilities, or of the first ten thousand, the
            probability that lay on digits.
    """

    n_answers: int
    prompt_tokens: int
    cached_tokens: int
    answer_tokens: int
    masses: Sequence[float] = ()

    @property
    def median_mass(self) -> float:
        """The median of ``masses``; NaN if there are none."""
        return median(self.masses) if self.masses else math.nan

    @property
    def share_unsure(self) -> float:
        """Share of ``masses`` below one half; NaN if there are none."""
        unsure = sum(mass < HALF for mass in self.masses)
        return unsure / len(self.masses) if self.masses else math.nan

    @property
    def in_words(self) -> str:
        """All of it in a line; empty if nothing was asked."""
        if not self.n_answers:
            return ""
        cached = ""
        if self.cached_tokens:
            cached = f" ({self.cached_tokens / self.prompt_tokens:.0%} from the server's cache)"
        summary = (
            f"{self.n_answers:,} answers, {self.prompt_tokens:,} prompt tokens{cached},"
            f" {self.answer_tokens:,} answer tokens"
        )
        if not self.masses:
            return summary
        return (
            f"{summary}; of the probability on the first token, digits had"
            f" {_share(self.median_mass)} (median), and under half in"
            f" {_share(self.share_unsure)} of {len(self.masses):,}"
        )

    @property
    def caution(self) -> str:
        """Describe the weakness of such a judge's grades; empty if there is none."""
        if not self.masses or self.share_unsure <= _POOR_SHARE:
            return ""
        return (
            f"the judge wanted to say something else than a digit: digits had"
            f" {_share(self.median_mass)} of the probability (median), and grades below"
            f" {LEAST_MASS:.0%} were not taken; try a larger model (see `beholder judge-check`)"
        )


def digit_mass(answer: Answer) -> float | None:
    """The probability of digits as the first token; None if not reported."""
    first = answer.samples[0].first if answer.samples else None
    if first is None:
        return None
    return min(
        1.0,
        math.fsum(
            math.exp(logprob) for token, logprob in first if digit(token)
        ),
    )


def _share(value: float) -> str:
    return f"{value:.1%}" if value < 0.9995 else "100 %"
