"""What judges were asked in a run and how sure their grades were, in numbers and words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from beholder.backends import Answer
from beholder.judges.grades import LEAST_MASS, digit

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
        said = (
            f"{self.n_answers:,} answers, {self.prompt_tokens:,} prompt tokens{cached},"
            f" {self.answer_tokens:,} answer tokens"
        )
        if not self.masses:
            return said
        return (
            f"{said}; of the probability on the first token, digits had {_share(self.median_mass)}"
            f" (median), and under half in {_share(self.share_unsure)} of {len(self.masses):,}"
        )

    @property
    def caution(self) -> str:
        """What is wrong with grades of such a judge; empty if it is good."""
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
    return min(1.0, math.fsum(math.exp(logprob) for token, logprob in first if digit(token)))


def _share(value: float) -> str:
    return f"{value:.1%}" if value < 0.9995 else "100 %"
