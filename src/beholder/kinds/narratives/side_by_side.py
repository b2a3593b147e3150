"""Two runs over the same narratives side by side: how their judges agree, rank and cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import msgspec

from beholder.errors import ConfigError
from beholder.kinds.narratives import results
from beholder.kinds.narratives.models import between_models
from beholder.kinds.narratives.results import NarrativeStudy, SideBySide, StageOfRun, mean_vote
from beholder.kinds.narratives.tables import side_by_side_tables
from beholder.run.kind import Beside

STEPS = "steps"
"""Name under which the mean rating of a narrative's steps is compared."""


def side_by_side(run_a: Path, run_b: Path) -> SideBySide:
    """Compare the judges of two finished runs, way by way, over narratives of the same id.

    Args:
        run_a: A run over narratives; its human source comes first.
        run_b: Another.

    Raises:
        ConfigError: An id means different pictures in the two runs.
        RunError: A folder holds no finished run over narratives.
    """
    studies = [results.read(run) for run in (run_a, run_b)]
    names = (run_a.name, run_b.name)
    if names[0] == names[1]:
        names = (f"first ({run_a})", f"second ({run_b})")
    _check_same(names, studies)
    rated = [_rated(study) for study in studies]
    sources = {one.id: one.source for study in studies for one in study.narratives}
    ways = [way for way in rated[0] if way in rated[1]]
    return SideBySide(
        runs=names,
        judges={way: tuple(_judge(study, way) for study in studies) for way in ways},
        models=tuple(
            between_models(
                way,
                {name: found[way] for name, found in zip(names, rated, strict=True)},
                sources,
                studies[0].human,
            )
            for way in ways
        ),
        cost=tuple(
            StageOfRun(name, stage, **asdict(spent))
            for name, study in zip(names, studies, strict=True)
            for stage, spent in study.cost.stages.items()
        ),
    )


def _rated(study: NarrativeStudy) -> dict[str, dict[str, float]]:
    """Per way of rating the mean vote of each narrative that has one."""
    found: dict[str, dict[str, float]] = {}
    for one in study.narratives:
        means = {way: mean_vote([v.value for v in votes]) for way, votes in one.votes.items()}
        means[STEPS] = mean_vote(one.step_means)
        for way, mean in means.items():
            if mean is not None:
                found.setdefault(way, {})[one.id] = mean
    return found


def _judge(study: NarrativeStudy, way: str) -> str:
    return study.judges.get("transitions" if way == STEPS else way, "")


def _check_same(names: Sequence[str], studies: Sequence[NarrativeStudy]) -> None:
    first, second = (
        {one.id: [study.frames[at]["id"] for at in one.frames] for one in study.narratives}
        for study in studies
    )
    for name, frames in first.items():
        if second.get(name, frames) != frames:
            raise ConfigError(
                f"sequence {name!r} shows other pictures in {names[1]} than in {names[0]}; runs"
                " can be compared over the same sequences"
            )


def beside(run_a: Path, run_b: Path) -> Beside:
    """What ``compare`` shows of two runs: how their judges agree, rank sources, and cost."""
    found = side_by_side(run_a, run_b)
    notes = () if found.models else ("the runs share no way of rating",)
    return Beside(msgspec.to_builtins(found), side_by_side_tables(found), notes)
