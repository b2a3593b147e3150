"""Ratings of steps: a table per source, agreement with theta, and the kinds of break.

Pure arithmetic. Steps of one narrative are not independent, so in tests a narrative counts once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain, combinations
from typing import TypeAlias

import numpy as np

from beholder import stats
from beholder.judges.operations import BREAK_KINDS, BreakKind
from beholder.kinds.narratives import compared
from beholder.kinds.narratives.compared import Number
from beholder.kinds.narratives.results import (
    mean_vote,
)
from beholder.kinds.narratives.study import (
    compare_sources,
    mean_and_sd,
    ordered_sources,
    with_holm,
)
from beholder.records import interval_ends

StepRow: TypeAlias = tuple[str, Sequence[float | None], Sequence[float] | None]
"""Source, mean vote per step (None where it failed), theta per step (None where not measured)."""


Breaks: TypeAlias = Sequence[BreakKind] | None
"""Kinds of break in one step; None if no judge reported on it."""


def steps_table(
    rows: Sequence[StepRow],
    human: str = "human",
    broken: Sequence[tuple[str, Sequence[Breaks]]] = (),
) -> compared.StepTables:
    """Return step ratings per source, tests between sources, and agreement with theta.

    Steps of one narrative are not independent: they share pictures and a judge who saw the one
    before. So a narrative counts once, with its mean step rating.

    Args:
        rows: One per narrative.
        human: Name of the human source; it comes first.
        broken: Breaks in steps, as ``breaks_table`` takes them.
    """
    sources = ordered_sources([source for source, _, _ in rows], human)
    votes = {
        source: [votes for of, votes, _ in rows if of == source]
        for source in sources
    }
    means = {
        source: [
            mean for mean in map(mean_vote, source_votes) if mean is not None
        ]
        for source, source_votes in votes.items()
    }
    n_compared, same_weakest, by_chance = _weakest(rows)
    return compared.StepTables(
        sources=tuple(
            _source(source, votes[source], means[source]) for source in sources
        ),
        comparisons=tuple(compare_sources(means)),
        correlation=_correlation(rows),
        n_compared=n_compared,
        same_weakest=same_weakest,
        by_chance=by_chance,
        breaks=breaks_table(broken, human),
    )


def agreed_breaks(votes: Sequence[Breaks]) -> Breaks:
    """Return the kinds of break in a step that more than half of the reporting judges name."""
    reports = [kinds for kinds in votes if kinds is not None]
    if not reports:
        return None
    counts = Counter(kind for kinds in reports for kind in kinds)
    return [kind for kind in BREAK_KINDS if 2 * counts[kind] > len(reports)]


def breaks_table(
    rows: Sequence[tuple[str, Sequence[Breaks]]], human: str = "human"
) -> compared.BreakTables:
    """Return counts of each kind of break per source, and tests between sources.

    In tests a narrative counts once, with its share of steps that break; p-values are adjusted over
    all kinds and pairs of sources.

    Args:
        rows: Source and what breaks in each step, one per narrative.
        human: Name of the human source; it comes first.
    """
    sources = ordered_sources([source for source, _ in rows], human)
    # Per source and narrative, what breaks in each step that was reported on.
    reports = {
        source: [
            [breaks for breaks in steps if breaks is not None]
            for of, steps in rows
            if of == source
        ]
        for source in sources
    }
    tests = []
    # A narrative counts once, with the share of its steps that break in this way.
    for kind in BREAK_KINDS:
        shares = {
            source: [
                float(np.mean([kind in breaks for breaks in steps]))
                for steps in reports[source]
                if steps
            ]
            for source in sources
        }
        for (a, first), (b, second) in combinations(shares.items(), 2):
            if first and second:
                difference = float(np.mean(first) - np.mean(second))
                p = stats.mann_whitney(first, second).p_value
                row = compared.BreakComparison(
                    kind, a, b, len(first), len(second), difference, p
                )
                tests.append(row)
    n_steps = Counter[str]()
    for source, steps in rows:
        n_steps[source] += len(steps)
    return compared.BreakTables(
        tuple(
            _tally(s, list(chain.from_iterable(reports[s])), n_steps[s])
            for s in sources
        ),
        tuple(with_holm(tests, "p")),
    )


def _tally(
    source: str, reports: Sequence[Sequence[BreakKind]], n_steps: int
) -> compared.BreakTally:
    n = len(reports)
    counts: dict[str, int] = {
        kind: sum(kind in breaks for breaks in reports) for kind in BREAK_KINDS
    }
    return compared.BreakTally(
        source=source,
        n=n,
        n_not_told=n_steps - n,
        counts=counts,
        shares={k: count / n if n else None for k, count in counts.items()},
    )


def _source(
    source: str,
    votes: Sequence[Sequence[Number]],
    means: Sequence[float],
) -> compared.StepSource:
    summary = mean_and_sd(means)
    steps = [vote for narrative_votes in votes for vote in narrative_votes]
    n_failed = steps.count(None)
    return compared.StepSource(
        source,
        summary.n,
        summary.mean,
        summary.sd,
        len(steps) - n_failed,
        n_failed,
    )


def _correlation(rows: Sequence[StepRow]) -> compared.StepCorrelation:
    # Steps of one narrative are not independent: the number of the narrative is resampled.
    rated_steps = []
    for number, (_, votes, theta) in enumerate(rows):
        for vote, step in zip(votes, theta or [], strict=False):
            if vote is not None:
                rated_steps.append((vote, step, number))
    x, y, narrative = ([step[at] for step in rated_steps] for at in range(3))
    if len(set(narrative)) < 3:
        return compared.StepCorrelation(len(rated_steps), None, None)
    rho = stats.spearman(x, y, clusters=narrative)
    return compared.StepCorrelation(
        len(rated_steps), rho.value, interval_ends(rho.interval)
    )


def _weakest(
    rows: Sequence[StepRow],
) -> tuple[int, Number, Number]:
    """Return narratives compared, the share with lowest rating at lowest theta, and by chance."""
    at_lowest, chance = [], []
    for _, votes, theta in rows:
        if theta is None or None in votes or len(theta) < 2:
            continue
        ratings = np.array(votes, dtype=np.float64)
        # Ratings tie often: the step of lowest theta may be any of the lowest rated ones, and the
        # chance of that grows with their number.
        lowest = ratings == ratings.min()
        at_lowest.append(float(lowest[int(np.argmin(theta))]))
        chance.append(float(lowest.mean()))
    return (
        len(at_lowest),
        mean_and_sd(at_lowest).mean,
        mean_and_sd(chance).mean,
    )
