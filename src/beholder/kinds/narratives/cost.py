"""What judging by captions and by sight costs, and from how many narratives captions pay."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from beholder.judges.answers import AnswerStore
from beholder.metrics.asker import Outcome


@dataclass(frozen=True, slots=True)
class Stage:
    """What one stage of a study took, over its distinct answers.

    Attributes:
        calls: Answers.
        seconds: From sending to the last byte, all calls added up, as measured when each was made.
        prompt_tokens: Tokens sent, pictures included.
        completion_tokens: Tokens that came back.
    """

    calls: int = 0
    seconds: float = 0.0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def tokens(self) -> int:
        """All tokens."""
        return self.prompt_tokens + self.completion_tokens


def spent_on(outcomes: Iterable[Outcome], answers: AnswerStore) -> Stage:
    """The cost of a stage: each stored answer behind its outcomes counts once.

    This includes answers of earlier starts, answers from a shared cache, and unusable answers.

    Args:
        outcomes: The stage's outcomes; ``detail["answers"]`` holds the keys of the answers.
        answers: The stored answers.
    """
    keys = {key for outcome in outcomes for key in outcome.detail.get("answers", ())}
    kept = [answer for key in keys if (answer := answers.get_answer(key)) is not None]
    return pooled(Stage(1, a.seconds, a.usage.prompt, a.usage.completion) for a in kept)


@dataclass(frozen=True, slots=True)
class Rates:
    """Cost of one call of each kind, in one unit (seconds, or tokens).

    Attributes:
        caption: Writing one caption; paid once per picture.
        by_captions: One judge rating one narrative from its captions.
        by_sight: One judge rating one narrative from its pictures.
        basis: Where the numbers come from, for people.
    """

    caption: float
    by_captions: float
    by_sight: float
    basis: str

    def captions_total(self, n_pictures: int, n_narratives: int, judges: int) -> float:
        """Captions for all pictures, then all ratings."""
        return n_pictures * self.caption + n_narratives * judges * self.by_captions

    def sight_total(self, n_narratives: int, judges: int) -> float:
        """All ratings from pictures."""
        return n_narratives * judges * self.by_sight

    def break_even(self, n_pictures: int, judges: int) -> float | None:
        """Narratives from which captions cost less than sight; None when they never do."""
        saved = judges * (self.by_sight - self.by_captions)
        return n_pictures * self.caption / saved if saved > 0 else None


PUBLISHED_SECONDS = Rates(2.5, 0.86, 9.30, "published for one hosted model (Keith et al. 2025)")
"""Used before anything was measured; another model or server can be far from it."""


def estimated_tokens(mean_length: float, words: int = 175) -> Rates:
    """Tokens per call from rules of thumb: 1500 a picture, 4 for 3 words, 400 of instructions."""
    caption = 4 / 3 * words
    return Rates(
        caption=1500 + 200 + caption,
        by_captions=400 + mean_length * caption,
        by_sight=400 + mean_length * 1500,
        basis="estimated: 1500 tokens a picture, 4 tokens for 3 words",
    )


def pooled(stages: Iterable[Stage]) -> Stage:
    """Several stages as one."""
    every = list(stages)
    return Stage(
        calls=sum(stage.calls for stage in every),
        seconds=math.fsum(stage.seconds for stage in every),  # whatever their order
        prompt_tokens=sum(stage.prompt_tokens for stage in every),
        completion_tokens=sum(stage.completion_tokens for stage in every),
    )


def measured(stages: Mapping[str, Stage]) -> tuple[Rates, Rates] | None:
    """Seconds and tokens per call as a run measured them.

    None before narratives were rated both ways. A run that wrote no captions was given them: they
    cost nothing.
    """
    caption, words, sight = (stages.get(n, Stage()) for n in ("caption", "captions", "sight"))
    if not (words.calls and sight.calls):
        return None
    written = caption.calls or 1
    given = "" if caption.calls else " (captions were given)"
    basis = (
        f"measured in this run over {caption.calls}, {words.calls} and {sight.calls} answers{given}"
    )
    seconds = (caption.seconds / written, words.seconds / words.calls, sight.seconds / sight.calls)
    tokens = (caption.tokens / written, words.tokens / words.calls, sight.tokens / sight.calls)
    return Rates(*seconds, basis), Rates(*tokens, basis)
