"""The LLM judge: asks a model each operation as a prompt."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

from beholder.aio import run_sync
from beholder.backends import (
    Answer,
    Backend,
    Capabilities,
    Request,
    Sample,
    Surprisal,
    Usage,
)
from beholder.backends.money import Budget, Price
from beholder.base.ranges import check_number
from beholder.base.registry import versioned_identity
from beholder.judges.answers import Answers, AnswerStore
from beholder.judges.asking import Prompt, Questioner
from beholder.judges.base import FIRST, Draw, Judge
from beholder.judges.operations.base import (
    ModelOperation,
    Operation,
    Respondent,
)
from beholder.judges.templates import Scale, Templates

T = TypeVar("T")


@dataclass
class Tally:
    """Estimates, rather too high than too low in tokens; equal questions count once.

    Attributes:
        n_calls: Questions to models.
        prompt_tokens: Tokens sent.
        completion_tokens: Tokens answered.
        cost: US dollars, or None when some model's price is not known.
        n_stored: Questions whose answers are in the cache; None if not known.
        cost_stored: Part of ``cost`` that stored answers save.
        answers: Kind of answers that questions get: ``typical`` ones, or those that lead to the
            ``fewest`` or the ``most`` further questions.
    """

    n_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = 0.0
    n_stored: int | None = None
    cost_stored: float = 0.0
    answers: Literal["typical", "fewest", "most"] = "typical"
    digests: set[str] = field(default_factory=set, repr=False)

    def add(
        self,
        backend: str,
        request: Request,
        likely_answer: str,
        price: Price | None,
        stored: bool | None = None,
        estimate: Callable[..., int] = Request.estimated_tokens,
    ) -> None:
        """Count a question with its likely answer.

        Args:
            backend: Name of the backend.
            request: The question.
            likely_answer: The answer.
            price: Price of tokens; None if unknown.
            stored: Whether the answer is in the cache; None if not known.
            estimate: Return the tokens of a request, given those of a picture.
        """
        key = f"{backend}/{request.digest}"
        if key in self.digests:
            return
        self.digests.add(key)
        of_pictures = (
            () if price is None or price.image is None else (price.image,)
        )
        answer_tokens = max(1, len(likely_answer.encode("utf-8")) // 3)
        usage = Usage(
            prompt=estimate(request, *of_pictures),
            # Three bytes a token: for English rather too many tokens than too
            # few. A decision model writes none.
            completion=request.sampling.n * answer_tokens
            if request.sampling.max_tokens
            else 0,
        )
        self.n_calls += 1
        self.prompt_tokens += usage.prompt
        self.completion_tokens += usage.completion
        if stored is not None:
            self.n_stored = (self.n_stored or 0) + stored
            self.cost_stored += (
                price.cost(usage) if stored and price is not None else 0.0
            )
        if price is None or self.cost is None:
            self.cost = None
        else:
            self.cost += price.cost(usage)


class Unprobed(Backend):
    """A backend that is never reached; capabilities that are not known are assumed.

    Attributes:
        known: Facts known of the real one; None if there are none.
    """

    def __init__(self, real: Backend) -> None:
        self.name = real.name
        self.variant = real.variant
        self.takes_films = real.takes_films
        self.known = real.remembered()
        self._real = real

    async def capabilities(
        self, *, schema: bool = False, images: bool = False
    ) -> Capabilities:
        """Return the stored capabilities; assume all of them if none are stored."""
        if self.known is None:
            model = self.name.partition(":")[2]
            return Capabilities(
                f"{model}?", top_logprobs=20, structure="schema", images=True
            )
        structure, sees = (
            self.known.structure or "schema",
            self.known.images is not False,
        )
        return replace(self.known, structure=structure, images=sees)

    async def draws_copies(self) -> bool:
        """Return the stored fact; False if none is stored."""
        return self.known is not None and bool(self.known.copies)

    async def chat(self, request: Request) -> Answer:
        """Never happens: ``DryAsker`` answers before a backend is asked."""
        raise AssertionError("a dry run sends no requests")

    def price(self) -> Price | None:
        """Return the price of the real backend."""
        return self._real.price()

    def estimate_tokens(self, request: Request, picture: int = 1500) -> int:
        """Return the estimate of the real backend."""
        return self._real.estimate_tokens(request, picture)


class DryAsker(Questioner):
    """Counts questions and gives each its stored answer, or a likely one."""

    def __init__(
        self,
        backend: Backend,
        tally: Tally,
        answers: AnswerStore | None = None,
    ) -> None:
        unprobed = Unprobed(backend)
        super().__init__(unprobed, answers or Answers(), Budget())
        self._known = unprobed.known
        self._tally = tally

    async def _obtain(self, prompt: Prompt[Any]) -> Answer:
        """Return the stored answer, or the answer that the tally wants, or else the typical one."""
        request = Request(
            prompt.messages, prompt.sampling, prompt.schema, prompt.replicate
        )
        # Answers that lead to the fewest or the most further questions bound
        # the cost of a run whose later questions depend on earlier answers.
        extreme_answer = {"fewest": prompt.fewest, "most": prompt.costly}.get(
            self._tally.answers
        )
        answer_text = extreme_answer or prompt.typical
        first = ((answer_text, 0.0),) if prompt.sampling.top_logprobs else None
        answer = Answer(
            (Sample(answer_text, "stop", first),) * prompt.sampling.n, "dry"
        )
        stored = None
        if self._known is not None:
            able = await self.backend.capabilities()
            stored_answer = self._answers.get_answer(
                self._blank(prompt, request, able).key
            )
            answer, stored = stored_answer or answer, stored_answer is not None
        price = self.backend.price()
        self._tally.add(
            self.backend.name,
            request,
            answer.text,
            price,
            stored,
            self.backend.estimate_tokens,
        )
        return answer

    async def surprisal(
        self, texts: Any, *, prompt: str, images: Any
    ) -> list[Surprisal]:
        """One nat per token; nothing is counted, because local models charge nothing."""
        return [
            Surprisal(max(1.0, len(t) / 4), math.ceil(len(t) / 4), len(t))
            for t in texts
        ]


def make_asker(
    backend: Backend,
    answers: AnswerStore | None,
    budget: Budget | None,
    tally: Tally | None,
) -> Questioner:
    """Return what asks the model; with a tally, what counts the questions of a dry run."""
    if tally is None:
        return Questioner(backend, answers or Answers(), budget or Budget())
    return DryAsker(backend, tally, answers)


class LLMJudge(Judge):
    """A judge that asks a model.

    Args:
        backend: Connection to the model.
        answers: Store for answers; in memory if None.
        budget: Limit on the spending; no limit if None.
        prompts: Folder with prompts of your own, or None.
        scale: Meaning of grades of presence: ``"mention"`` (1 absent ... 5 explicit, as published)
            or ``"certainty"`` (1 certainly not ... 5 certainly).
        temperature: For all operations that do not say otherwise.
        samples: Answers per grade if a server returns no log-probabilities.
        tally: Counts what would be asked; nothing is sent.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        answers: AnswerStore | None = None,
        budget: Budget | None = None,
        prompts: Path | None = None,
        scale: Scale = "mention",
        temperature: float = 0.0,
        samples: int = 5,
        tally: Tally | None = None,
    ) -> None:
        check_number("temperature", temperature, 0, 2)
        check_number("samples", samples, 1, whole=True)
        self.backend = backend
        self.templates = Templates(prompts, scale)
        self._temperature = temperature
        self._samples = samples
        self._asker = make_asker(backend, answers, budget, tally)

    @property
    def identity(self) -> str:
        """As ``identity_for`` all operations."""
        return self.identity_for(self.templates.names())

    def identity_for(self, operations: Collection[str]) -> str:
        """Served model, how grades are read, temperature, and hash of the operations' prompts.

        Asks the server who it is, the first time.
        """
        able = self._able
        reading = (
            "logprobs" if able.top_logprobs else f"mean of {self._samples}"
        )
        kind = self.backend.name.partition(":")[0]
        temperature = f",t={self._temperature:g}" if self._temperature else ""
        digest = self.templates.digest(operations)
        how = f"{reading}{temperature}{f',prompts@{digest}' if digest else ''}"
        return versioned_identity(
            self.backend, f"{kind}:{able.model}{self.backend.variant}({how})"
        )

    @cached_property
    def _able(self) -> Capabilities:
        """Return the model's capabilities; cached, as a signature is made for every item."""
        return run_sync(self._asker.backend.capabilities())

    @property
    def grades_at_once(self) -> bool:
        """Return whether the server returns log-probabilities, so that one answer makes a grade."""
        return bool(self._able.top_logprobs)

    @property
    def presence_threshold(self) -> float:
        """Return the grade from which the presence prompt counts a unit as present."""
        return self.templates["presence"].threshold

    async def accepts_images(self) -> bool:
        """Return whether the model accepts pictures; asks the server, the first time."""
        able = await self._asker.backend.capabilities(images=True)
        return able.images is not False

    def can(self, kind: type[Operation[Any]]) -> bool:
        """Return whether an operation can be asked of a model."""
        return issubclass(kind, ModelOperation)

    async def ask(self, operation: Operation[T], draw: Draw = FIRST) -> T:
        """Send an operation to the model and return its parsed answer."""
        if not isinstance(operation, ModelOperation):
            self._cannot(type(operation))
        temperature = (
            self._temperature if draw.temperature is None else draw.temperature
        )
        model = Respondent(
            self._asker,
            operation.name,
            self.templates,
            temperature,
            draw.replicate,
            self._samples,
        )
        answer: T = await operation.ask_model(model)
        return answer
