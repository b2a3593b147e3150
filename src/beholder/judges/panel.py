"""A panel: several judges, or one judge several times, asked the same; with their agreement."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, is_dataclass
from statistics import fmean
from typing import Any, TypeVar

from beholder.backends import Image
from beholder.base.registry import versioned_identity
from beholder.errors import ConfigError
from beholder.judges.answers import AnswerStore
from beholder.judges.base import FIRST, Draw, Judge
from beholder.judges.decisions.judge import DecisionJudge
from beholder.judges.llm import LLMJudge
from beholder.judges.operations.base import Operation, PanelOperation

T = TypeVar("T")


def _panel_name(identities: Iterable[str]) -> str:
    return f"panel({', '.join(identities)})"


class Panel(Judge):
    """Judges whose answers make one, as each ``PanelOperation`` says.

    Grades, ratings and assessments are the mean, yes-or-no answers and matches the majority (a tie
    counts as no match, not supported), ranks the order of the mean ranks. What cannot be averaged
    (statements, captions, reviews, phrases, categories, translations, surprisal) comes from the
    first judge.

    Args:
        members: The judges; the same model several times gives replicates, whether it is one
            judge or several, and also where some of them sit in a panel among the members.
        ratings: Keeps what each judge said, for ``reliability``.
    """

    def __init__(self, members: Sequence[Judge], ratings: AnswerStore) -> None:
        if len(members) < 2:
            raise ConfigError(
                f"a panel needs at least two judges, got {len(members)}"
            )
        self._ratings = ratings
        self._seats, self._room = _seated(members)

    @property
    def _members(self) -> list[Judge]:
        return [seat.judge for seat in self._seats]

    @property
    def identity(self) -> str:
        """The identities of all members."""
        return _panel_name(member.identity for member in self._members)

    def identity_for(self, operations: Collection[str]) -> str:
        """The identities of all members for these operations."""
        return _panel_name(
            versioned_identity(member, member.identity_for(operations))
            for member in self._members
        )

    @property
    def presence_threshold(self) -> float:
        """The mean of its members', as its grades are the mean of theirs."""
        return fmean(member.presence_threshold for member in self._members)

    @property
    def english_only(self) -> bool:
        """Return whether any member reads English alone."""
        return any(member.english_only for member in self._members)

    @property
    def grades_at_once(self) -> bool:
        """Return whether one answer of each member makes a grade."""
        return all(member.grades_at_once for member in self._members)

    async def accepts_images(self) -> bool:
        """Return whether all members accept pictures."""
        return all([await member.accepts_images() for member in self._members])

    def can(self, kind: type[Operation[Any]]) -> bool:
        """Return whether all members answer operations of a class."""
        return all(member.can(kind) for member in self._members)

    def check_can(
        self, kind: type[Operation[Any]], *, images: bool = False
    ) -> None:
        """Raise ConfigError naming the members that do not answer operations of a class."""
        for member in self._members:
            member.check_can(kind, images=images)

    async def ask(self, operation: Operation[T], draw: Draw = FIRST) -> T:
        """Ask all members and merge; repeats of one model get replicate numbers of their own."""
        if not isinstance(operation, PanelOperation):
            return await self._seats[0].judge.ask(operation, draw)
        answers: list[T] = await asyncio.gather(
            *(
                seat.judge.ask(operation, seat.draw(draw))
                for seat in self._seats
            )
        )
        for question, values in operation.ratings(answers):
            self._note(operation.name, question, draw.replicate, values)
        merged: T = operation.merge(answers)
        return merged

    def _note(
        self,
        operation: str,
        question: object,
        replicate: int,
        values: Sequence[float],
    ) -> None:
        repeat = (
            f" {replicate}" if replicate else ""
        )  # a question of its own: all seats answer it
        text = (
            json.dumps(question, default=_plain, ensure_ascii=False) + repeat
        )
        digest = hashlib.sha256(text.encode("utf-8")).hexdigest()[:32]
        for seat, value in enumerate(values):
            self._ratings.put_rating(operation, digest, f"judge {seat}", value)


@dataclass(frozen=True, slots=True)
class _Seat:
    """A member of a panel, with its repeats that the panel uses.

    Attributes:
        judge: The member.
        step: Repeats of it for each repeat of the panel.
        nth: Index of this seat's repeats among those.
    """

    judge: Judge
    step: int
    nth: int

    def draw(self, draw: Draw) -> Draw:
        """Return the member's draw for a draw of the panel."""
        return Draw(draw.replicate * self.step + self.nth, draw.temperature)


def _seated(members: Sequence[Judge]) -> tuple[list[_Seat], int]:
    """The seats, and how many repeats of one model a repeat of the panel takes at most.

    No two seats ask one model for the same repeat: its answers are kept under its name and the
    number of the repeat, so the seats would share one answer, or each pay for it.
    """
    # Plan: members that share a model must not repeat each other's answers, so
    # each gets its own range of replicate numbers. Ranges have the width of
    # the member, and the room is the least multiple that holds all of them.
    n_seats: Counter[object] = Counter()
    placed: list[tuple[Judge, int, int]] = []
    for member in members:
        width, models = _width(member), _models(member)
        nth = math.ceil(max(n_seats[model] for model in models) / width)
        for model in models:
            n_seats[model] = (nth + 1) * width
        placed.append((member, width, nth))
    unit = math.lcm(*(width for _, width, _ in placed))
    room = math.ceil(max(len(members), *n_seats.values()) / unit) * unit
    return [
        _Seat(member, room // width, nth) for member, width, nth in placed
    ], room


def _width(judge: Judge) -> int:
    """Repeats of one model that one answer of a judge takes at most."""
    return judge._room if isinstance(judge, Panel) else 1


def _models(judge: Judge) -> frozenset[object]:
    """Return keys of the models behind a judge, without a request to a server."""
    if isinstance(judge, Panel):
        return frozenset().union(*map(_models, judge._members))
    if isinstance(judge, LLMJudge):
        return frozenset([judge.backend.name + judge.backend.variant])
    writer = judge.writer if isinstance(judge, DecisionJudge) else None
    keys: frozenset[object] = frozenset([id(judge)])
    return keys if writer is None else keys | _models(writer)


def _plain(value: object) -> object:
    if isinstance(value, Image):
        return value.digest
    if is_dataclass(value) and not isinstance(value, type):
        return {
            name: getattr(value, name) for name in value.__dataclass_fields__
        }
    raise TypeError(f"{type(value).__name__} cannot be part of a question")
