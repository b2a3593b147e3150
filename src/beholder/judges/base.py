"""The interface of judges: they answer operations. Metrics never write a prompt."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NoReturn, TypeVar

from beholder.aio import run_sync
from beholder.base.spec import Spec
from beholder.errors import ConfigError
from beholder.judges.operations.base import ModelOperation, Operation

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Draw:
    """The choice among a judge's answers to one operation.

    Attributes:
        replicate: Index of a repeat; repeats are asked separately and kept apart.
        temperature: Instead of the judge's own; None keeps that.
    """

    replicate: int = 0
    temperature: float | None = None


FIRST = Draw()
"""The default draw."""


class Judge(ABC):
    """Answers operations. What a judge cannot do raises a ConfigError that names who can."""

    spec: Spec | None = None
    """The spec that the judge was made from; None of a judge that was made by hand."""

    per_process: ClassVar[bool] = False
    """True if every worker process may create the judge; a model may not be created there."""

    def spec_text(self) -> str:
        """The spec as text, by which metrics and runs name it.

        Raises:
            ConfigError: It was made by hand and has none.
        """
        if self.spec is None:
            raise ConfigError(
                f"this {type(self).__name__} was made by hand and has no name, and what is scored"
                " must say by whom; name a judge, such as 'openai:MODEL', or make it with"
                " beholder.judge('openai:MODEL')"
            )
        return str(self.spec)

    @property
    @abstractmethod
    def identity(self) -> str:
        """Identify all that fixes the answers: served model, prompts, way of reading grades."""

    def identity_for(self, operations: Collection[str]) -> str:
        """Identify what fixes the answers to some operations, for metrics that use only these.

        Args:
            operations: Their names; what only others depend on is left out.
        """
        return self.identity

    @property
    def presence_threshold(self) -> float:
        """Grade of ``Presence``, from 1 to 5, from which a unit is present; 3 by default."""
        return 3.0

    @property
    def english_only(self) -> bool:
        """Return whether the judge reads English alone, so that other texts are refused."""
        return False

    async def accepts_images(self) -> bool:
        """Return whether the judge accepts pictures."""
        return False

    @abstractmethod
    def can(self, kind: type[Operation[Any]]) -> bool:
        """Return whether the judge answers operations of a class."""

    @abstractmethod
    async def ask(self, operation: Operation[T], draw: Draw = FIRST) -> T:
        """The answer to an operation.

        Args:
            operation: Operation to answer.
            draw: Choice among the judge's answers. Judges by rule have only one.

        Raises:
            ConfigError: It cannot do this.
            ItemError: There is no usable answer to this question.
        """

    def check_can(
        self, kind: type[Operation[Any]], *, images: bool = False
    ) -> None:
        """Refuse an operation that this judge does not support, before any work.

        Args:
            kind: The operation.
            images: Whether it will be shown pictures.

        Raises:
            ConfigError: It has no such operation, or takes no pictures; names who can.
        """
        if not self.can(kind):
            self._cannot(kind)
        if images and not self.sees:
            raise ConfigError(
                f"the judge {self.identity} does not take pictures, and {kind.name} shows them"
                " here; choose a judge that can see, such as a vision-language model"
            )

    @property
    def grades_at_once(self) -> bool:
        """Return whether one answer makes a grade; without log-probabilities it takes several."""
        return True

    @cached_property
    def sees(self) -> bool:
        """Return whether the judge accepts pictures; cached, as metrics check it for every item."""
        return run_sync(self.accepts_images())

    def _cannot(self, kind: type[Operation[Any]]) -> NoReturn:
        who = "the built-in judge has: judge='builtin'"
        if issubclass(kind, ModelOperation):
            who = "a model has, for example judge='openai:MODEL' or judge='hf:MODEL'"
        # A judge made by hand has no spec; its class names it.
        name = self.spec or type(self).__name__
        raise ConfigError(
            f"the judge {name} has no operation {kind.name!r}; {who}"
        )
