"""The judging of a run: captions once, then votes by captions, by sight, on steps.

Every answer is in the run's store before it is used. A killed run asks only what it has no answer
to; failures are asked again at the next start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from beholder.aio import bounded
from beholder.errors import ItemError
from beholder.judges import Judge
from beholder.judges.answers import AnswerStore
from beholder.narratives.cost import Meter, Stage
from beholder.narratives.hybrid import choose
from beholder.narratives.judging import Vote, as_failure, rate_narrative, rate_steps
from beholder.narratives.views import Captioner, Sight, View, Words
from beholder.records import Frame, ItemFailure, ItemScore
from beholder.records import Sequence as Narrative
from beholder.run.narrate.config import NarrateConfig
from beholder.run.session import Progress

T = TypeVar("T")
R = TypeVar("R")

MakeJudge = Callable[[str, AnswerStore], Judge]
"""Builds a judge from its spec over an answer store."""

_DONE = ItemScore({})


@dataclass
class Judged:
    """What the judges of a run said.

    Attributes:
        captions: Caption per frame id, or why it has none.
        votes: Per method (``captions``, ``sight``) the votes per position of a narrative.
        steps: Votes per step, per position of a narrative.
        seen: Positions that hybrid judging looks at.
        stages: What each stage took.
        identities: Identity of the judge of each stage.
    """

    captions: dict[str, str | ItemFailure] = field(default_factory=dict)
    votes: dict[str, dict[int, list[Vote]]] = field(default_factory=dict)
    steps: dict[int, list[list[Vote]]] = field(default_factory=dict)
    seen: list[int] = field(default_factory=list)
    stages: dict[str, Stage] = field(default_factory=dict)
    identities: dict[str, str] = field(default_factory=dict)


class Bench:
    """The judges of a run, one per stage, so that each stage's cost is counted apart."""

    def __init__(self, config: NarrateConfig, store: AnswerStore, make: MakeJudge) -> None:
        self.judges: dict[str, Judge] = {}
        self.meters: dict[str, Meter] = {}
        writer = config.caption_judge or config.judge
        specs = {"caption": writer if _writes_captions(config) else None}
        specs |= {
            "captions": config.judge if config.by_captions else None,
            "sight": config.judge if {"sight", "hybrid"} & set(config.parts) else None,
            "transitions": config.judge if "transitions" in config.parts else None,
        }
        for stage, spec in specs.items():
            if spec is not None:
                self.meters[stage] = Meter(store)
                self.judges[stage] = make(spec, self.meters[stage])

    def identities(self) -> dict[str, str]:
        """Identity per stage; asks servers who they are, so not from within a coroutine."""
        return {stage: judge.identity for stage, judge in self.judges.items()}


def _writes_captions(config: NarrateConfig) -> bool:
    return config.by_captions or ("transitions" in config.parts and config.steps_by == "captions")


async def judge_all(
    config: NarrateConfig, narratives: Sequence[Narrative], bench: Bench, progress: Progress
) -> Judged:
    """Do all judging that a run asks for.

    Raises:
        ConfigError: The judge cannot do what is asked.
        RunError: The run cannot go on, for instance because its budget is spent.
    """
    found = Judged()
    sight = Sight(config.root, max_side=config.max_side)
    if _writes_captions(config):
        captioner = Captioner(
            bench.judges.get("caption"),
            sight,
            context=config.voting.context,
            words=config.words,
            language=config.language,
        )
        frames = {f.id: f for narrative in narratives for f in narrative.frames}
        found.captions = await _captions(captioner, frames.values(), config, progress)
    words = Words(found.captions)
    everything = range(len(narratives))

    async def rate(stage: str, view: View, positions: Iterable[int]) -> dict[int, list[Vote]]:
        async def one(position: int) -> list[Vote]:
            return await rate_narrative(
                narratives[position], view, bench.judges[stage], config.voting
            )

        return await _each(one, positions, config.concurrency, progress)

    if config.by_captions:
        found.votes["captions"] = await rate("captions", words, everything)
    if "hybrid" in config.parts:
        found.seen = choose(_table(found.votes["captions"]), config.share, config.rule)
    if "sight" in config.parts:
        found.votes["sight"] = await rate("sight", sight, everything)
    elif "hybrid" in config.parts:
        found.votes["sight"] = await rate("sight", sight, found.seen)
    if "transitions" in config.parts:
        view: View = sight if config.steps_by == "sight" else words

        async def steps(position: int) -> list[list[Vote]]:
            return await rate_steps(
                narratives[position], view, bench.judges["transitions"], config.voting
            )

        found.steps = await _each(steps, everything, config.concurrency, progress)
    found.stages = {stage: meter.stage for stage, meter in bench.meters.items()}
    return found


def n_jobs(config: NarrateConfig, narratives: Sequence[Narrative]) -> int:
    """How many jobs a run has, for its progress."""
    n = len(narratives)
    jobs = len({f.id for x in narratives for f in x.frames}) if _writes_captions(config) else 0
    jobs += n * config.by_captions + n * ("transitions" in config.parts)
    if "sight" in config.parts:
        jobs += n
    elif "hybrid" in config.parts:
        jobs += len(choose(np.zeros((n, 1)), config.share, config.rule))
    return jobs


def _table(votes: dict[int, list[Vote]]) -> list[list[float]]:
    return [
        [float("nan") if vote.value is None else float(vote.value) for vote in votes[position]]
        for position in range(len(votes))
    ]


async def _captions(
    captioner: Captioner, frames: Iterable[Frame], config: NarrateConfig, progress: Progress
) -> dict[str, str | ItemFailure]:
    async def one(frame: Frame) -> str | ItemFailure:
        try:
            return await captioner.caption(frame)
        except ItemError as error:
            return as_failure(error)

    found: dict[str, str | ItemFailure] = {}
    async for frame, caption in bounded(one, frames, config.concurrency):
        found[frame.id] = caption
        progress.advance(caption if isinstance(caption, ItemFailure) else _DONE)
    return found


async def _each(
    job: Callable[[int], Awaitable[list[R]]],
    positions: Iterable[int],
    concurrency: int,
    progress: Progress,
) -> dict[int, list[R]]:
    found: dict[int, list[R]] = {}
    async for position, votes in bounded(job, positions, concurrency):
        found[position] = votes
        progress.advance(_outcome(votes))
    return dict(sorted(found.items()))


def _outcome(votes: Sequence[object]) -> ItemScore | ItemFailure:
    """A job counts as failed when no vote of it has a value."""
    flat = [v for vote in votes for v in (vote if isinstance(vote, list) else [vote])]
    failures = [v.failure for v in flat if isinstance(v, Vote) and v.failure is not None]
    return failures[0] if failures and len(failures) == len(flat) else _DONE
