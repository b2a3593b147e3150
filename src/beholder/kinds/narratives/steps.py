"""Steps of narratives: how they were rated, what breaks in them, and whether theta sees it too."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import TypeAlias

import numpy as np

from beholder import stats
from beholder.judges.operations import BREAK_KINDS, BreakKind
from beholder.kinds.narratives import compared, results, study
from beholder.records import ends_of

StepRow: TypeAlias = tuple[str, Sequence[float | None], Sequence[float] | None]
"""Source, mean vote per step (None where it failed), theta per step (None where not measured)."""

Breaks: TypeAlias = Sequence[BreakKind] | None
"""What breaks in one step; None if no judge reported it."""


def steps_table(
    rows: Sequence[StepRow],
    human: str = "human",
    broken: Sequence[tuple[str, Sequence[Breaks]]] = (),
) -> compared.StepTables:
    """Mean step rating per source, tests between sources, and agreement of ratings with theta.

    Steps of one narrative are not independent: they share pictures and a judge who saw the one
    before. So a narrative counts once, with its mean step rating.

    Args:
        rows: One per narrative.
        human: Name of the human source; it comes first.
        broken: What breaks in steps, as ``breaks_table`` takes it.
    """
    by_source: dict[str, list[StepRow]] = {
        source: [row for row in rows if row[0] == source]
        for source in study.ordered_sources([source for source, _, _ in rows], human)
    }
    n_compared, same_weakest, by_chance = _weakest(rows)
    means = {
        source: [mean for _, votes, _ in own if (mean := results.mean_vote(votes)) is not None]
        for source, own in by_source.items()
    }
    return compared.StepTables(
        sources=tuple(_source(source, own, means[source]) for source, own in by_source.items()),
        comparisons=tuple(study.compare_sources(means)),
        correlation=_correlation(rows),
        n_compared=n_compared,
        same_weakest=same_weakest,
        by_chance=by_chance,
        breaks=breaks_table(broken, human),
    )


def told_by(votes: Sequence[Breaks]) -> Breaks:
    """What breaks in a step: the kinds named by more than half of the judges that reported any."""
    told = [kinds for kinds in votes if kinds is not None]
    named = Counter(kind for kinds in told for kind in kinds)
    return [kind for kind in BREAK_KINDS if 2 * named[kind] > len(told)] if told else None


def breaks_table(
    rows: Sequence[tuple[str, Sequence[Breaks]]], human: str = "human"
) -> compared.BreakTables:
    """How often what breaks, per source, and tests between sources.

    In tests a narrative counts once, with its share of steps that break; p-values are adjusted over
    all kinds and pairs of sources.

    Args:
        rows: Source and what breaks in each step, one per narrative.
        human: Name of the human source; it comes first.
    """
    sources = study.ordered_sources([source for source, _ in rows], human)
    told = {
        source: [[b for b in steps if b is not None] for s, steps in rows if s == source]
        for source in sources
    }
    tested = []
    for kind in BREAK_KINDS:
        shares = {
            source: [float(np.mean([kind in b for b in steps])) for steps in told[source] if steps]
            for source in sources
        }
        for (a, first), (b, second) in combinations(shares.items(), 2):
            if first and second:
                difference = float(np.mean(first) - np.mean(second))
                p = stats.mann_whitney(first, second).p_value
                row = compared.BreakComparison(kind, a, b, len(first), len(second), difference, p)
                tested.append(row)
    tallies = (
        _tally(source, told[source], sum(len(steps) for s, steps in rows if s == source))
        for source in sources
    )
    return compared.BreakTables(tuple(tallies), tuple(study.with_holm(tested, "p")))


def _tally(
    source: str, told: Sequence[Sequence[Sequence[BreakKind]]], n_steps: int
) -> compared.BreakTally:
    every = [breaks for narrative in told for breaks in narrative]
    counts: dict[str, int] = {kind: sum(kind in b for b in every) for kind in BREAK_KINDS}
    return compared.BreakTally(
        source=source,
        n=len(every),
        n_not_told=n_steps - len(every),
        counts=counts,
        shares={kind: n / len(every) if every else None for kind, n in counts.items()},
    )


def _source(source: str, rows: Sequence[StepRow], means: Sequence[float]) -> compared.StepSource:
    known = study.mean_and_sd(means)
    votes = [vote for _, votes, _ in rows for vote in votes]
    n_failed = votes.count(None)
    return compared.StepSource(
        source, known.n, known.mean, known.sd, len(votes) - n_failed, n_failed
    )


def _correlation(rows: Sequence[StepRow]) -> compared.StepCorrelation:
    known = [
        (vote, step, number)
        for number, (_, votes, theta) in enumerate(rows)
        for vote, step in zip(votes, theta or [], strict=False)
        if vote is not None
    ]
    x, y, narrative = ([one[at] for one in known] for at in range(3))
    if len(set(narrative)) < 3:
        return compared.StepCorrelation(len(known), None, None)
    found = stats.spearman(x, y, clusters=narrative)
    return compared.StepCorrelation(len(known), found.value, ends_of(found.interval))


def _weakest(rows: Sequence[StepRow]) -> tuple[int, float | None, float | None]:
    """Narratives compared; how often the lowest rating is at the lowest theta; that by chance."""
    same, chance = [], []
    for _, votes, theta in rows:
        if theta is None or None in votes or len(theta) < 2:
            continue
        rated = np.array(votes, dtype=np.float64)
        lowest = rated == rated.min()
        same.append(float(lowest[int(np.argmin(theta))]))
        chance.append(float(lowest.mean()))
    return len(same), study.mean_and_sd(same).mean, study.mean_and_sd(chance).mean
