"""A panel: several judges, or one judge several times, asked the same; with their agreement."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import is_dataclass
from statistics import fmean
from typing import Any, TypeVar

from beholder.backends import Image
from beholder.errors import ConfigError
from beholder.judges.answers import AnswerStore
from beholder.judges.base import FIRST, Draw, Judge
from beholder.judges.operations.base import Operation, PanelOperation

T = TypeVar("T")


class Panel(Judge):
    """Judges whose answers make one, as each ``PanelOperation`` says.

    Grades, ratings and assessments are the mean, yes-or-no answers and matches the majority (a tie
    counts as no match, not supported), ranks the order of the mean ranks. What cannot be averaged
    (statements, captions, reviews, phrases, categories, translations, surprisal) comes from the
    first judge.

    Args:
        members: The judges; the same one several times gives replicates.
        ratings: Keeps what each judge said, for ``reliability``.
    """

    def __init__(self, members: Sequence[Judge], ratings: AnswerStore) -> None:
        if len(members) < 2:
            raise ConfigError(f"a panel needs at least two judges, got {len(members)}")
        self._ratings = ratings
        seen: Counter[int] = Counter()
        self._seats: list[tuple[Judge, int]] = []
        for member in members:
            self._seats.append((member, seen[id(member)]))
            seen[id(member)] += 1

    @property
    def identity(self) -> str:
        """The identities of all members."""
        return f"panel({', '.join(member.identity for member, _ in self._seats)})"

    @property
    def presence_threshold(self) -> float:
        """The mean of its members', as its grades are the mean of theirs."""
        return fmean(member.presence_threshold for member, _ in self._seats)

    @property
    def english_only(self) -> bool:
        """Whether any member reads English alone."""
        return any(member.english_only for member, _ in self._seats)

    async def accepts_images(self) -> bool:
        """Whether all members do."""
        return all([await member.accepts_images() for member, _ in self._seats])

    def can(self, kind: type[Operation[Any]]) -> bool:
        """Whether all members can."""
        return all(member.can(kind) for member, _ in self._seats)

    def check_can(self, kind: type[Operation[Any]], *, images: bool = False) -> None:
        """See ``Judge.check_can``; all members must, and who cannot is named."""
        for member, _ in self._seats:
            member.check_can(kind, images=images)

    async def ask(self, operation: Operation[T], draw: Draw = FIRST) -> T:
        """See ``Judge.ask``. Repeats of one member get replicate numbers of their own."""
        if not isinstance(operation, PanelOperation):
            return await self._seats[0][0].ask(operation, draw)
        first = draw.replicate * len(self._seats)
        answers: list[T] = await asyncio.gather(
            *(
                member.ask(operation, Draw(first + nth, draw.temperature))
                for member, nth in self._seats
            )
        )
        for question, values in operation.ratings(answers):
            self._note(operation.name, question, values)
        merged: T = operation.merge(answers)
        return merged

    def _note(self, operation: str, question: object, values: Sequence[float]) -> None:
        text = json.dumps(question, default=_plain, ensure_ascii=False)
        digest = hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]
        for seat, value in enumerate(values):
            self._ratings.put_rating(operation, digest, f"judge {seat}", value)


def _plain(value: object) -> object:
    if isinstance(value, Image):
        return value.digest
    if is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in value.__dataclass_fields__}
    raise TypeError(f"{type(value).__name__} cannot be part of a question")
