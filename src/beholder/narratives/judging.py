"""Judges rate sequences and their steps; each judge's vote is kept apart, failures with reasons."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass

from beholder.errors import ConfigError, ItemError, TransientError
from beholder.judges import Draw, Judge
from beholder.judges.operations import RateSequence, RateTransition, Rating
from beholder.narratives.views import View
from beholder.records import ItemFailure
from beholder.records import Sequence as Narrative


@dataclass(frozen=True, slots=True)
class Voting:
    """How sequences are rated.

    Attributes:
        judges: Independent judges (replicates of one model, each with its own seed).
        temperature: Sampling temperature; at 0 all judges of one model say the same.
        context: What the collection is, in the user's own words.
        anchors: Whether judges see worked examples of low and high ratings.
    """

    judges: int = 3
    temperature: float = 0.7
    context: str = ""
    anchors: bool = False

    def __post_init__(self) -> None:
        if self.judges < 1:
            raise ConfigError(f"judges={self.judges}: expected at least 1")
        if self.judges > 1 and self.temperature == 0.0:
            raise ConfigError(
                f"judges={self.judges} at temperature 0 would repeat one answer and look like"
                " agreement; use a temperature above 0, or one judge"
            )


@dataclass(frozen=True, slots=True)
class Vote:
    """What one judge said of a sequence, or of one of its steps.

    Attributes:
        judge: Index of the judge, from 0.
        value: 1 to 10, higher is better; None when there is none.
        reason: The judge's own words.
        failure: Why there is no value.
    """

    judge: int
    value: int | None = None
    reason: str = ""
    failure: ItemFailure | None = None


async def rate_narrative(
    narrative: Narrative, view: View, judge: Judge, voting: Voting
) -> list[Vote]:
    """Votes of all judges on a whole sequence, in order of judges.

    A sequence that cannot be shown fails for all judges; an unusable answer costs its vote alone.
    """
    try:
        shots = await view.shots(narrative.frames)
    except ItemError as error:
        return _all_failed(voting, error)

    async def ask(seat: int) -> Rating:
        question = RateSequence(shots, voting.context, voting.anchors)
        return await judge.ask(question, Draw(seat, voting.temperature))

    return list(await asyncio.gather(*(_vote(seat, ask(seat)) for seat in range(voting.judges))))


async def rate_steps(
    narrative: Narrative, view: View, judge: Judge, voting: Voting
) -> list[list[Vote]]:
    """Votes of all judges on each step of a sequence: (n - 1) lists.

    A picture that cannot be shown costs the two steps it takes part in.
    """

    async def step(first: int) -> list[Vote]:
        try:
            before, after = await view.shots(narrative.frames[first : first + 2])
        except ItemError as error:
            return _all_failed(voting, error)

        async def ask(seat: int) -> Rating:
            question = RateTransition(before, after, voting.context)
            return await judge.ask(question, Draw(seat, voting.temperature))

        votes = (_vote(seat, ask(seat)) for seat in range(voting.judges))
        return list(await asyncio.gather(*votes))

    return list(await asyncio.gather(*(step(i) for i in range(len(narrative.frames) - 1))))


async def _vote(seat: int, asked: Awaitable[Rating]) -> Vote:
    try:
        rating = await asked
    except ItemError as error:
        return Vote(seat, failure=as_failure(error))
    return Vote(seat, rating.value, rating.reason)


def _all_failed(voting: Voting, error: ItemError) -> list[Vote]:
    return [Vote(seat, failure=as_failure(error)) for seat in range(voting.judges)]


def as_failure(error: ItemError) -> ItemFailure:
    """An error as the reason why there is no value."""
    return ItemFailure(type(error).__name__, str(error), isinstance(error, TransientError))


def values(votes: Sequence[Vote]) -> list[int]:
    """The values there are."""
    return [vote.value for vote in votes if vote.value is not None]
