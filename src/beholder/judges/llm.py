"""The LLM judge: operations are put to a model as prompts."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from beholder.aio import run_sync
from beholder.backends import Backend, Capabilities
from beholder.backends.money import Budget
from beholder.errors import ConfigError
from beholder.judges.answers import Answers, AnswerStore
from beholder.judges.asking import Questioner
from beholder.judges.base import FIRST, Draw, Judge
from beholder.judges.dry import DryAsker, Tally
from beholder.judges.operations.base import ModelOperation, Operation, Respondent
from beholder.judges.templates import Scale, Templates
from beholder.registry import versioned

T = TypeVar("T")


class LLMJudge(Judge):
    """A judge that asks a model.

    Args:
        backend: How the model is reached.
        answers: Where answers are kept; in memory if None.
        budget: What may be spent; no limit if None.
        prompts: Folder with prompts of your own, or None.
        scale: What grades of presence mean: ``"mention"`` (1 absent ... 5 explicit, as published)
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
        if not 0.0 <= temperature <= 2.0:
            raise ConfigError(f"temperature={temperature!r}: expected a number from 0 to 2")
        if samples < 1:
            raise ConfigError(f"samples={samples!r}: expected a number above 0")
        self.backend = backend
        self.templates = Templates(prompts, scale)
        self._temperature = temperature
        self._samples = samples
        if tally is None:
            self._asker = Questioner(backend, answers or Answers(), budget or Budget())
        else:
            self._asker = DryAsker(backend, tally)

    @property
    def identity(self) -> str:
        """As ``identity_for`` all operations."""
        return self.identity_for(self.templates.names())

    def identity_for(self, operations: Collection[str]) -> str:
        """Served model, how grades are read, temperature, and hash of the operations' prompts.

        Asks the server who it is, the first time.
        """
        able = self._able
        read = "logprobs" if able.top_logprobs else f"mean of {self._samples}"
        kind = self.backend.name.partition(":")[0]
        temperature = f",t={self._temperature:g}" if self._temperature else ""
        digest = self.templates.digest(operations)
        how = f"{read}{temperature}{f',prompts@{digest}' if digest else ''}"
        return versioned(self.backend, f"{kind}:{able.model}{self.backend.variant}({how})")

    @cached_property
    def _able(self) -> Capabilities:
        """What the model can do, asked once: a signature is made for every item."""
        return run_sync(self._asker.backend.capabilities())

    @property
    def grades_at_once(self) -> bool:
        """Whether the server returns log-probabilities, of which one answer makes a grade."""
        return bool(self._able.top_logprobs)

    @property
    def presence_threshold(self) -> float:
        """That of its prompt."""
        return self.templates["presence"].threshold

    async def accepts_images(self) -> bool:
        """See ``Judge.accepts_images``. Asks the server, the first time."""
        able = await self._asker.backend.capabilities(images=True)
        return able.images is not False

    def can(self, kind: type[Operation[Any]]) -> bool:
        """All that can be put to a model."""
        return issubclass(kind, ModelOperation)

    async def ask(self, operation: Operation[T], draw: Draw = FIRST) -> T:
        """See ``Judge.ask``."""
        if not isinstance(operation, ModelOperation):
            self._cannot(type(operation))
        own = self._temperature if draw.temperature is None else draw.temperature
        model = Respondent(
            self._asker, operation.name, self.templates, own, draw.replicate, self._samples
        )
        answer: T = await operation.put(model)
        return answer
