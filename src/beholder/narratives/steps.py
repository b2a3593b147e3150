"""Steps of narratives: how they were rated, and whether judges and theta see the same breaks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from beholder import stats

StepRow: TypeAlias = tuple[str, Sequence[float | None], Sequence[float] | None]
"""Source, mean vote per step (None where it failed), theta per step (None where not measured)."""


def steps_table(rows: Sequence[StepRow]) -> dict[str, Any]:
    """Mean step rating per source, and agreement of ratings with theta.

    Args:
        rows: One per narrative.

    Returns:
        ``sources``: per source the mean over narratives of their mean step rating, its SD, and how
        many steps were rated and failed. ``correlation``: of step rating and theta over all steps,
        narratives resampled as wholes. ``same_weakest``: share of narratives whose lowest rated
        steps include the step with the lowest theta, ``by_chance``: what to expect of it if the
        lowest theta fell on any step alike.
    """
    sources = list(dict.fromkeys(source for source, _, _ in rows))
    return {
        "sources": [_source(source, [r for r in rows if r[0] == source]) for source in sources],
        "correlation": _correlation(rows),
        **_weakest(rows),
    }


def _source(source: str, rows: Sequence[StepRow]) -> dict[str, Any]:
    rated = [[v for v in votes if v is not None] for _, votes, _ in rows]
    means = [float(np.mean(votes)) for votes in rated if votes]
    return {
        "source": source,
        "n": len(means),
        "mean": float(np.mean(means)) if means else None,
        "sd": float(np.std(means, ddof=1)) if len(means) > 1 else None,
        "n_steps": sum(map(len, rated)),
        "n_failed": sum(vote is None for _, votes, _ in rows for vote in votes),
    }


def _correlation(rows: Sequence[StepRow]) -> dict[str, Any]:
    x, y, narrative = [], [], []
    for number, (_, votes, theta) in enumerate(rows):
        for vote, step in zip(votes, theta or [], strict=False):
            if vote is not None:
                x.append(vote)
                y.append(step)
                narrative.append(number)
    if len(set(narrative)) < 3:
        return {"n": len(x), "rho": None, "interval": None}
    found = stats.spearman(x, y, clusters=narrative)
    interval = found.interval
    return {
        "n": len(x),
        "rho": found.value,
        "interval": None if interval is None else [interval.low, interval.high],
    }


def _weakest(rows: Sequence[StepRow]) -> dict[str, Any]:
    same, chance = [], []
    for _, votes, theta in rows:
        if theta is None or None in votes or len(theta) < 2:
            continue
        rated = np.array(votes, dtype=np.float64)
        lowest = rated == rated.min()
        same.append(bool(lowest[int(np.argmin(theta))]))
        chance.append(float(lowest.mean()))
    return {
        "n_compared": len(same),
        "same_weakest": float(np.mean(same)) if same else None,
        "by_chance": float(np.mean(chance)) if chance else None,
    }
