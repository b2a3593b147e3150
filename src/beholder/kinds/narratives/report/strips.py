"""Film strips: the pictures of a narrative in order, with theta and judges' votes at each step."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from beholder.kinds.narratives.study import mean_vote
from beholder.report.pages import jpeg_uri
from beholder.rounding import fixed
from beholder.run.thumbs import thumb


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture in a strip.

    Attributes:
        frame: Index of the picture.
        id: Its id.
        date: As far as known, or empty.
        place: Or empty.
        caption: What is known or was written of it, or empty.
        failure: Why it could not be captioned, or empty.
        thumb: Whether there is a thumbnail.
    """

    frame: int
    id: str
    date: str
    place: str
    caption: str
    failure: str
    thumb: bool


@dataclass(frozen=True, slots=True)
class Step:
    """The way from a picture to the next.

    Attributes:
        theta: Coherence, or None.
        level: 0 (weakest in the run) to 9, for its tint; None without theta.
        weakest: Whether it is the weakest link by coherence.
        vote: Mean vote of the judges, or None.
        lowest: Whether judges rated no step of the narrative lower.
        says: The judges' words.
    """

    theta: float | None
    level: int | None
    weakest: bool
    vote: float | None
    lowest: bool
    says: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Strip:
    """A narrative as a film strip.

    Attributes:
        position: Place in the run.
        id: Its id.
        source: What made it.
        group: What else is known of it.
        shots: Its pictures.
        steps: One fewer.
        minimum: Minimum coherence, or None.
        mean: Mean coherence, or None.
        ratings: Per method its votes and their mean.
        reasons: Per method the judges' words.
        failures: What went wrong, in words.
        breaks: The weakest links in words.
    """

    position: int
    id: str
    source: str
    group: Mapping[str, str]
    shots: tuple[Shot, ...]
    steps: tuple[Step, ...]
    minimum: float | None
    mean: float | None
    ratings: tuple[tuple[str, tuple[float | None, ...], float | None], ...]
    reasons: tuple[tuple[str, int, str], ...]
    failures: tuple[str, ...]
    breaks: tuple[str, ...]


def strips(study: Mapping[str, Any], thumbs: Mapping[int, str]) -> list[Strip]:
    """All narratives of a study as strips, in order of the run."""
    steps = [
        step
        for narrative in study["narratives"]
        if narrative["coherence"]
        for step in narrative["coherence"]["steps"]
    ]
    low, high = (min(steps), max(steps)) if steps else (0.0, 1.0)
    return [
        _strip(position, narrative, study["frames"], thumbs, (low, high))
        for position, narrative in enumerate(study["narratives"])
    ]


def thumbnails(folder: Path, n_frames: int) -> dict[int, str]:
    """Thumbnails as data URIs, by index of the picture."""
    found = {}
    for number in range(n_frames):
        path = thumb(folder, number)
        if path.is_file():
            found[number] = jpeg_uri(path.read_bytes())
    return found


def _strip(
    position: int,
    narrative: Mapping[str, Any],
    frames: Sequence[Mapping[str, Any]],
    thumbs: Mapping[int, str],
    limits: tuple[float, float],
) -> Strip:
    shots = tuple(_shot(index, frames[index], index in thumbs) for index in narrative["frames"])
    steps = _steps(narrative, len(shots) - 1, limits)
    coherence = narrative["coherence"] or {}
    votes = {
        method: tuple(vote["value"] for vote in votes)
        for method, votes in narrative["votes"].items()
    }
    if narrative["hybrid"] is not None:
        votes["hybrid"] = tuple(narrative["hybrid"])
    return Strip(
        position=position,
        id=narrative["id"],
        source=narrative["source"],
        group=narrative["group"],
        shots=shots,
        steps=steps,
        minimum=coherence.get("minimum"),
        mean=coherence.get("mean"),
        ratings=tuple((method, values, mean_vote(values)) for method, values in votes.items()),
        reasons=tuple(
            (method, vote["judge"] + 1, vote["reason"])
            for method, votes in narrative["votes"].items()
            for vote in votes
            if vote["reason"]
        ),
        failures=_failures(narrative),
        breaks=_breaks(shots, steps),
    )


def _shot(index: int, frame: Mapping[str, Any], thumb: bool) -> Shot:
    return Shot(
        frame=index,
        id=frame["id"],
        date=frame.get("date", ""),
        place=frame.get("place", ""),
        caption=frame.get("caption", ""),
        failure=frame.get("failure", ""),
        thumb=thumb,
    )


def _steps(
    narrative: Mapping[str, Any], n_steps: int, limits: tuple[float, float]
) -> tuple[Step, ...]:
    coherence, asked = narrative["coherence"], narrative["steps"]
    means = [mean_vote([vote["value"] for vote in votes]) for votes in asked]
    rated = [mean for mean in means if mean is not None]
    least = min(rated, default=None)
    found = []
    for i in range(n_steps):
        theta = coherence["steps"][i] if coherence else None
        vote = means[i] if means else None
        says = tuple(v["reason"] for v in asked[i] if v["reason"]) if asked else ()
        found.append(
            Step(
                theta=theta,
                level=None if theta is None else _level(theta, limits),
                weakest=bool(coherence) and coherence["weakest"] == i,
                vote=vote,
                lowest=vote is not None and vote == least and len(rated) > 1,
                says=says,
            )
        )
    return tuple(found)


def _level(theta: float, limits: tuple[float, float]) -> int:
    low, high = limits
    return 9 if high <= low else min(9, math.floor(10 * (theta - low) / (high - low)))


def _failures(narrative: Mapping[str, Any]) -> tuple[str, ...]:
    found = [narrative["coherence_failure"]] if narrative["coherence_failure"] else []
    for method, votes in narrative["votes"].items():
        found += [f"{method}: {vote['failure']}" for vote in votes if vote["failure"]]
    found += [
        f"step {number + 1}: {vote['failure']}"
        for number, votes in enumerate(narrative["steps"])
        for vote in votes
        if vote["failure"]
    ]
    return tuple(dict.fromkeys(found))


def _breaks(shots: Sequence[Shot], steps: Sequence[Step]) -> tuple[str, ...]:
    def named(places: Sequence[int]) -> str:
        words = [f"{i + 1} ({shots[i].id} → {shots[i + 1].id})" for i in places[:3]]
        return ", ".join(words) + (f" and {len(places) - 3} more" if len(places) > 3 else "")

    found = []
    weakest = [i for i, step in enumerate(steps) if step.weakest]
    lowest = [i for i, step in enumerate(steps) if step.lowest]
    theta = steps[weakest[0]].theta if weakest else None
    vote = steps[lowest[0]].vote if lowest else None
    if theta is not None:
        found.append(f"weakest by coherence, θ {fixed(theta, 3)}: step {named(weakest)}")
    if vote is not None:
        found.append(f"lowest by judges, {fixed(vote, 1)} of 10: step {named(lowest)}")
    return tuple(found)
