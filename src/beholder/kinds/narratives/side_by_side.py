"""Two runs over the same narratives side by side: how their judges agree, rank and cost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from beholder.errors import ConfigError
from beholder.kinds.narratives import results
from beholder.kinds.narratives.models import between_models
from beholder.kinds.narratives.report.tables import side_by_side_tables
from beholder.kinds.narratives.study import mean_vote
from beholder.run.kind import Beside

STEPS = "steps"
"""What the ratings of a narrative's steps are called beside the ways of rating it whole."""


def side_by_side(run_a: Path, run_b: Path) -> dict[str, Any]:
    """Compare the judges of two finished runs, way by way, over narratives of the same id.

    Args:
        run_a: A run over narratives; its human source comes first.
        run_b: Another.

    Returns:
        ``runs``: their names; ``judges``: per way the judge of each run; ``models``: per way that
        both have, what ``between_models`` finds (a narrative's steps count by their mean);
        ``cost``: per run and stage answers, seconds and tokens.

    Raises:
        ConfigError: An id means different pictures in the two runs.
        RunError: A folder holds no finished run over narratives.
    """
    studies = [results.read(run) for run in (run_a, run_b)]
    names = [run_a.name, run_b.name]
    if names[0] == names[1]:
        names = [f"first ({run_a})", f"second ({run_b})"]
    _check_same(names, studies)
    rated = [_rated(study) for study in studies]
    sources = {
        narrative["id"]: narrative["source"]
        for study in studies
        for narrative in study["narratives"]
    }
    ways = [way for way in rated[0] if way in rated[1]]
    return {
        "runs": names,
        "judges": {way: [_judge(study, way) for study in studies] for way in ways},
        "models": [
            {
                "by": way,
                **between_models(
                    {name: found[way] for name, found in zip(names, rated, strict=True)},
                    sources,
                    studies[0]["human"],
                ),
            }
            for way in ways
        ],
        "cost": [
            {"run": name, "stage": stage, **row}
            for name, study in zip(names, studies, strict=True)
            for stage, row in study["cost"]["stages"].items()
        ],
    }


def _rated(study: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Per way of rating the mean vote of each narrative that has one."""
    found: dict[str, dict[str, float]] = {}
    for narrative in study["narratives"]:
        means = {
            way: mean_vote([vote["value"] for vote in votes])
            for way, votes in narrative["votes"].items()
        }
        steps = [mean_vote([vote["value"] for vote in votes]) for votes in narrative["steps"]]
        means[STEPS] = mean_vote(steps)
        for way, mean in means.items():
            if mean is not None:
                found.setdefault(way, {})[narrative["id"]] = mean
    return found


def _judge(study: Mapping[str, Any], way: str) -> str:
    return str(study["judges"].get("transitions" if way == STEPS else way, ""))


def _check_same(names: list[str], studies: list[dict[str, Any]]) -> None:
    first, second = (
        {
            narrative["id"]: [study["frames"][at]["id"] for at in narrative["frames"]]
            for narrative in study["narratives"]
        }
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
    notes = () if found["models"] else ("the runs share no way of rating",)
    return Beside(found, side_by_side_tables(found), notes)
