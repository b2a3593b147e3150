"""What judging by captions and by sight costs, and from how many narratives captions pay."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from beholder.backends import Answer
from beholder.judges.answers import AnswerStore, Record


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


class Meter:
    """An answer store that counts what passes through it, each answer once."""

    def __init__(self, store: AnswerStore) -> None:
        self._store = store
        self._seen: dict[str, Answer] = {}

    @property
    def stage(self) -> Stage:
        """The count so far; answers of earlier starts of a run count as they are used again."""
        answers = self._seen.values()
        return Stage(
            calls=len(answers),
            seconds=sum(answer.seconds for answer in answers),
            prompt_tokens=sum(answer.usage.prompt for answer in answers),
            completion_tokens=sum(answer.usage.completion for answer in answers),
        )

    def get_answer(self, key: str) -> Answer | None:
        """See ``AnswerStore``."""
        answer = self._store.get_answer(key)
        if answer is not None:
            self._seen[key] = answer
        return answer

    def put_answer(self, record: Record) -> None:
        """See ``AnswerStore``."""
        self._store.put_answer(record)
        self._seen[record.key] = record.answer

    def put_rating(self, operation: str, question: str, judge: str, value: float) -> None:
        """See ``AnswerStore``."""
        self._store.put_rating(operation, question, judge, value)

    def get_fact(self, name: str) -> str | None:
        """See ``AnswerStore``."""
        return self._store.get_fact(name)

    def put_fact(self, name: str, text: str) -> None:
        """See ``AnswerStore``."""
        self._store.put_fact(name, text)

    def facts(self, prefix: str) -> dict[str, str]:
        """See ``AnswerStore``."""
        return self._store.facts(prefix)

    def claim(self, name: str) -> bool:
        """See ``AnswerStore``."""
        return self._store.claim(name)

    def release(self, name: str) -> None:
        """See ``AnswerStore``."""
        self._store.release(name)

    def put_charge(self, cost: float) -> None:
        """See ``AnswerStore``."""
        self._store.put_charge(cost)


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
