"""Steps of narratives: how they were rated, what breaks in them, and whether theta sees it too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from beholder import stats
from beholder.judges.operations import BREAK_KINDS, BreakKind
from beholder.kinds.narratives.study import compare_groups, ordered_sources, pair, with_holm

StepRow: TypeAlias = tuple[str, Sequence[float | None], Sequence[float] | None]
"""Source, mean vote per step (None where it failed), theta per step (None where not measured)."""

Breaks: TypeAlias = Sequence[BreakKind] | None
"""What breaks in one step; None if no judge reported it."""


def steps_table(rows: Sequence[StepRow], human: str = "human") -> dict[str, Any]:
    """Mean step rating per source, tests between sources, and agreement of ratings with theta.

    Steps of one narrative are not independent: they share pictures and a judge who saw the one
    before. So a narrative counts once, with its mean step rating.

    Args:
        rows: One per narrative.
        human: Name of the human source; it comes first.

    Returns:
        ``sources``: per source the mean over narratives of their mean step rating, its SD, and how
        many steps were rated and failed. ``comparisons``: per pair of sources the tests of
        ``compare_groups`` over these means, with Holm's correction. ``correlation``: of step
        rating and theta over all steps, narratives resampled as wholes. ``same_weakest``: share of
        narratives whose lowest rated steps include the step with the lowest theta, ``by_chance``:
        what to expect of it if the lowest theta fell on any step alike.
    """
    sources = ordered_sources([source for source, _, _ in rows], human)
    means = {s: _narrative_means([r for r in rows if r[0] == s]) for s in sources}
    compared = [
        {"a": a, "b": b, **compare_groups(means[a], means[b])}
        for a, b in combinations(sources, 2)
        if means[a] and means[b]
    ]
    return {
        "sources": [_source(source, [r for r in rows if r[0] == source]) for source in sources],
        "comparisons": with_holm(compared, "p_welch"),
        "correlation": _correlation(rows),
        **_weakest(rows),
    }


def told_by(votes: Sequence[Breaks]) -> Breaks:
    """What breaks in a step: the kinds named by more than half of the judges that reported any."""
    told = [kinds for kinds in votes if kinds is not None]
    named = Counter(kind for kinds in told for kind in kinds)
    return [kind for kind in BREAK_KINDS if 2 * named[kind] > len(told)] if told else None


def breaks_table(
    rows: Sequence[tuple[str, Sequence[Breaks]]], human: str = "human"
) -> dict[str, Any]:
    """How often what breaks, per source, and tests between sources.

    Args:
        rows: Source and what breaks in each step, one per narrative.
        human: Name of the human source; it comes first.

    Returns:
        ``sources``: per source the steps with and without a report, and per kind
        how many steps break (``counts``) and their share (``shares``); a step can break in several
        ways. ``comparisons``: per kind and pair of sources the difference of the mean share over
        narratives, with Mann-Whitney's p, a narrative counting once, and Holm's correction over
        all of them.
    """
    sources = ordered_sources([source for source, _ in rows], human)
    told = {
        source: [[b for b in steps if b is not None] for s, steps in rows if s == source]
        for source in sources
    }
    compared = []
    for kind in BREAK_KINDS:
        shares = {
            source: [float(np.mean([kind in b for b in steps])) for steps in told[source] if steps]
            for source in sources
        }
        for a, b in combinations(sources, 2):
            if shares[a] and shares[b]:
                compared.append(
                    {
                        "kind": kind,
                        "a": a,
                        "b": b,
                        "n_a": len(shares[a]),
                        "n_b": len(shares[b]),
                        "difference": float(np.mean(shares[a]) - np.mean(shares[b])),
                        "p": stats.mann_whitney(shares[a], shares[b]).p_value,
                    }
                )
    return {
        "sources": [
            _tally(source, told[source], [steps for s, steps in rows if s == source])
            for source in sources
        ],
        "comparisons": with_holm(compared, "p"),
    }


def _tally(
    source: str, told: Sequence[Sequence[Breaks]], steps: Sequence[Sequence[Breaks]]
) -> dict[str, Any]:
    every = [breaks for narrative in told for breaks in narrative if breaks is not None]
    counts = {kind: sum(kind in breaks for breaks in every) for kind in BREAK_KINDS}
    return {
        "source": source,
        "n": len(every),
        "n_not_told": sum(map(len, steps)) - len(every),
        "counts": counts,
        "shares": {kind: n / len(every) if every else None for kind, n in counts.items()},
    }


def _narrative_means(rows: Sequence[StepRow]) -> list[float]:
    rated = [[v for v in votes if v is not None] for _, votes, _ in rows]
    return [float(np.mean(votes)) for votes in rated if votes]


def _source(source: str, rows: Sequence[StepRow]) -> dict[str, Any]:
    means = _narrative_means(rows)
    return {
        "source": source,
        "n": len(means),
        "mean": float(np.mean(means)) if means else None,
        "sd": float(np.std(means, ddof=1)) if len(means) > 1 else None,
        "n_steps": sum(vote is not None for _, votes, _ in rows for vote in votes),
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
    return {"n": len(x), "rho": found.value, "interval": pair(found.interval)}


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
