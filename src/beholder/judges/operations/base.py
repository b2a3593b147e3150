"""What an operation is: a value that says what is asked of a judge, and how a model is asked."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from beholder.backends import Answer, Image, Message, Sampling
from beholder.judges.asking import Prompt, Questioner
from beholder.judges.fences import Untrusted
from beholder.judges.grades import Grade, grade_sampling
from beholder.judges.reading import read_json, read_text
from beholder.judges.shapes import Shape, in_words
from beholder.judges.templates import Template, Templates

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


OPERATIONS: dict[str, type[Operation[Any]]] = {}
"""All operations by name."""


class Operation(ABC, Generic[T_co]):
    """Something a judge can be asked; ``T_co`` is its answer.

    An operation is a frozen dataclass whose fields are what is asked. One that makes no sense (a
    description of no picture) cannot be made: it raises an ``ItemError``.

    Attributes:
        name: Its name in prompts, stores and messages.
    """

    name: ClassVar[str]

    def __init_subclass__(cls, *, name: str = "", **further: Any) -> None:
        super().__init_subclass__(**further)
        if name:
            cls.name = name
            OPERATIONS[name] = cls


class ModelOperation(Operation[T]):
    """An operation that a model can be asked. A panel asks its first judge alone."""

    @abstractmethod
    async def put(self, model: Respondent) -> T:
        """Put it to a model: render the prompt, say how the answer is drawn, read it."""


class PanelOperation(ModelOperation[T]):
    """An operation whose answers by several judges make one."""

    @abstractmethod
    def merge(self, answers: Sequence[T]) -> T:
        """The answer of a panel.

        Args:
            answers: One per judge, at least one.
        """

    def ratings(self, answers: Sequence[T]) -> Iterable[tuple[object, Sequence[float]]]:
        """What the agreement of the judges is computed from: for each question a number per judge.

        A question is anything that JSON can hold, with pictures and records in it.
        """
        return ()


@dataclass(frozen=True)
class Respondent:
    """A model that is asked one operation.

    Attributes:
        asker: Who asks it.
        operation: Name of the operation.
        templates: The prompts.
        temperature: Of the answer.
        replicate: Index of the repeat.
        samples: Answers per grade if a server returns no log-probabilities.
    """

    asker: Questioner
    operation: str
    templates: Templates
    temperature: float
    replicate: int
    samples: int

    @property
    def template(self) -> Template:
        """The prompt of the operation."""
        return self.templates[self.operation]

    def render(
        self,
        untrusted: Mapping[str, Untrusted],
        settings: Mapping[str, str] | None = None,
        *,
        parts: Mapping[str, str | None] | None = None,
        images: Sequence[Image] = (),
    ) -> tuple[Message, ...]:
        """The messages of one question; see ``Template.render``."""
        return self.template.render(untrusted, settings, parts=parts, images=images)

    async def text(
        self,
        messages: tuple[Message, ...],
        read: Callable[[str], T],
        *,
        max_tokens: int,
        typical: str,
    ) -> T:
        """Ask for a text.

        Args:
            messages: The question.
            read: Makes the text a value, or raises ``BadAnswer``.
            max_tokens: Tokens of the answer at most.
            typical: An answer as it could be, for estimates.
        """
        sampling = Sampling(self.temperature, max_tokens)
        return await self._ask(messages, sampling, lambda a: read(read_text(a.text)), typical)

    async def json(
        self,
        messages: tuple[Message, ...],
        shape: Shape[T],
        *,
        max_tokens: int,
        typical: object,
    ) -> T:
        """Ask for a JSON value; see ``text``."""
        sampling = Sampling(self.temperature, max_tokens)
        return await self._ask(
            _asking_for(messages, shape),
            sampling,
            lambda answer: shape.read(read_json(answer.text), ""),
            json.dumps(typical),
            schema=shape.schema,
        )

    async def grade(
        self, messages: tuple[Message, ...], low: int, high: int, *, typical: str, costly: str = ""
    ) -> Grade:
        """Ask for a grade from low to high.

        If the server returns log-probabilities, one new token is drawn and its distribution read;
        elsewhere the grade is the mean of ``samples`` answers at temperature 1.
        """
        able = await self.asker.backend.capabilities(images=any(m.images for m in messages))
        copies = not able.top_logprobs and await self.asker.backend.draws_copies()
        sampling, parse = grade_sampling(
            able.top_logprobs,
            low,
            high,
            temperature=self.temperature,
            samples=1 if copies else self.samples,
        )
        return await self._ask(messages, sampling, parse, typical, costly=costly, whole=False)

    async def _ask(
        self,
        messages: tuple[Message, ...],
        sampling: Sampling,
        parse: Callable[[Answer], T],
        typical: str,
        **further: Any,
    ) -> T:
        return await self.asker.ask(
            Prompt(
                operation=self.operation,
                template=self.template,
                messages=messages,
                sampling=sampling,
                parse=parse,
                typical=typical,
                replicate=self.replicate,
                **further,
            )
        )


def _asking_for(messages: tuple[Message, ...], shape: Shape[Any]) -> tuple[Message, ...]:
    """The messages, with the form of the answer said at the end."""
    *before, last = messages
    form = f"\n\n{in_words(shape.schema)}"
    return (*before, Message(last.role, (*last.parts, form)))
