"""The judge that asks a decision model, and leaves what must be written to another judge."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any, NoReturn, TypeVar

from beholder.aio import run_sync
from beholder.backends import Backend, Capabilities
from beholder.backends.decisions import DecidingBackend
from beholder.backends.money import Budget
from beholder.base.registry import versioned_identity
from beholder.errors import ConfigError, ItemError
from beholder.judges.answers import AnswerStore
from beholder.judges.base import FIRST, Draw, Judge
from beholder.judges.decisions.decider import Decider
from beholder.judges.decisions.letters import LETTER_LIMITS, LetterDecider
from beholder.judges.decisions.methods import (
    METHODS,
    WRITTEN_IN_PART,
    needs_writer,
)
from beholder.judges.decisions.methods.base import TEMPLATES
from beholder.judges.llm import Tally, make_asker
from beholder.judges.operations.base import OPERATIONS, Operation
from beholder.judges.templates import digest_templates

T = TypeVar("T")

_WITH_WRITER = "\"decisions('MODEL', writer='openai:MODEL')\""

LETTERS = "letters"
"""Name of the prompt by which a chat model is asked."""


class DecisionJudge(Judge):
    """A judge that answers closed operations by probabilities.

    Args:
        backend: A decision model, or a chat model whose log-probabilities are read.
        writer: Judge of the operations that need written words; None: they cannot be asked.
        orders: 2 asks each choice in both orders of its options and takes the mean.
        answers: Where answers are kept; in memory if None.
        budget: What may be spent; no limit if None.
        tally: Counts what would be asked; nothing is sent.

    Attributes:
        is_deciding: Whether the model is a decision model, and not a chat model.
        limits: How much one call may ask.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        writer: Judge | None = None,
        orders: int = 1,
        answers: AnswerStore | None = None,
        budget: Budget | None = None,
        tally: Tally | None = None,
    ) -> None:
        if orders not in (1, 2) or isinstance(orders, bool):
            raise ConfigError(f"orders={orders!r}: expected 1 or 2")
        self.backend = backend
        self.writer = writer
        self._orders = orders
        self.is_deciding = isinstance(backend, DecidingBackend)
        self.limits = (
            backend.limits
            if isinstance(backend, DecidingBackend)
            else LETTER_LIMITS
        )
        self._asker = make_asker(backend, answers, budget, tally)

    @property
    def identity(self) -> str:
        """As ``identity_for`` all operations."""
        return self.identity_for(OPERATIONS)

    def identity_for(self, operations: Collection[str]) -> str:
        """Served model, form, sizes of calls, orders, hash of the prompts, and the writer.

        Asks the server who it is, the first time.
        """
        is_closed = any(name in TEMPLATES for name in operations)
        if self.writer is not None and operations and not is_closed:
            # The model is not asked, nor who it is.
            return self.writer.identity_for(operations)
        kind = self.backend.name.partition(":")[0]
        limits = self.limits
        # Some models judge the questions of a call jointly, so that its size
        # changes answers.
        # More options than a choice takes are asked in rounds.
        size = (
            f"{limits.max_questions} questions/{limits.max_options} options"
            f"/{limits.window} tokens"
        )
        if not self.is_deciding:
            size = "letters"
            operations = [*operations, LETTERS]
        orders = f",orders={self._orders}" if self._orders > 1 else ""
        digest = digest_templates(TEMPLATES, operations)
        how = (
            f"decisions,{size}{orders}{f',prompts@{digest}' if digest else ''}"
        )
        identity = versioned_identity(
            self.backend,
            f"{kind}:{self._able.model}{self.backend.variant}({how})",
        )
        is_written = any(
            name not in TEMPLATES or name in WRITTEN_IN_PART
            for name in operations
        )
        if self.writer is None or not is_written:
            return identity
        return f"{identity}+writer={self.writer.identity_for(operations)}"

    @property
    def english_only(self) -> bool:
        """Return whether the writer reads English alone."""
        return self.writer is not None and self.writer.english_only

    @cached_property
    def _able(self) -> Capabilities:
        return run_sync(self._asker.backend.capabilities())

    async def accepts_images(self) -> bool:
        """Return whether the model sees pictures; asks the server, the first time."""
        able = await self._asker.backend.capabilities(images=True)
        return able.images is not False

    def can(self, kind: type[Operation[Any]]) -> bool:
        """Return whether the operation is closed, or the writer can do it."""
        if kind in METHODS:
            return True
        return self.writer is not None and self.writer.can(kind)

    def check_can(
        self, kind: type[Operation[Any]], *, images: bool = False
    ) -> None:
        """Refuse an operation that neither the model nor the writer supports."""
        if kind not in METHODS and self.writer is not None:
            self.writer.check_can(kind, images=images)
        else:
            super().check_can(kind, images=images)

    async def ask(self, operation: Operation[T], draw: Draw = FIRST) -> T:
        """Return the answer to an operation.

        There is no temperature: all draws of a closed operation are the same answer.
        """
        kind = type(operation)
        method = METHODS.get(kind)
        if method is None or needs_writer(operation):
            if self.writer is None and method is not None:
                raise ItemError(
                    f"{self.backend.name} writes no answers, and a question"
                    " without options needs one; give its options, or name a"
                    f" second judge: {_WITH_WRITER}"
                )
            if self.writer is None:
                self._cannot(kind)
            return await self.writer.ask(operation, draw)
        decider = self.decider_for(operation.name)
        answer: T = await method(decider, operation)
        return answer

    def decider_for(self, operation: str) -> Decider:
        """Return what asks the questions of an operation, named as its prompt."""
        decider_type = Decider if self.is_deciding else LetterDecider
        return decider_type(
            asker=self._asker,
            limits=self.limits,
            operation=operation,
            template=TEMPLATES[operation],
            letter_template=TEMPLATES[LETTERS],
            orders=self._orders,
        )

    def _cannot(self, kind: type[Operation[Any]]) -> NoReturn:
        raise ConfigError(
            f"{self.backend.name} decides and writes nothing, and {kind.name!r}"
            f" needs words; name a second judge for it: {_WITH_WRITER}"
        )
