"""Summarise a run: means with intervals, counts of failures, signatures.

Outcomes are read from the store in one pass, as arrays.
"""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beholder import stats
from beholder.asking.asker import Asker
from beholder.embed.base import FloatArray
from beholder.judges.grades import Judging
from beholder.records import Estimate, MetricResult
from beholder.run.store import Store
from beholder.run.subjects import ScheduledAsker
from beholder.stats.bootstrap import (
    describe_few_sources,
    percentile_interval,
    sum_replicates,
)
from beholder.stats.checks import Ints, cluster_codes, cluster_rows


@dataclass(frozen=True)
class OutcomeColumns:
    """Outcomes of the first subjects of a run.

    Attributes:
        positions: (n,) positions of what was scored, ascending.
        values: (n,) scores by name, in the order in which names are met; NaN where a subject has
            no such value.
        failures: Reason by position, ascending.
        statistics: (n, k) sums' parts, ``detail["statistics"]``; None where they were not asked
            for. Of s subsets (n, s * k): each row's parts are in the columns of its subset.
        subsets: ``detail["subset"]`` of each row of the statistics.
    """

    positions: NDArray[np.int64]
    values: Mapping[str, FloatArray]
    failures: Mapping[int, str]
    statistics: FloatArray | None = None
    subsets: Sequence[str] = ()

    def scored_values(self, name: str) -> tuple[NDArray[np.int64], FloatArray]:
        """Return positions of the subjects that have a value, and their scores."""
        column = self.values[name]
        is_defined = np.isfinite(column)
        return self.positions[is_defined], column[is_defined]


def read_columns(
    store: Store, asker: str, n: int, *, statistics: bool = False
) -> OutcomeColumns:
    """Read the outcomes of an asker over the first ``n`` subjects.

    Args:
        store: The run's store.
        asker: Canonical name.
        n: Number of subjects.
        statistics: Whether the parts of sums over all subjects are read, too.

    Raises:
        RunError: The store is damaged.
    """
    return collect_columns(
        store.values(asker, n),
        {p: failure.message for p, failure in store.failures(asker) if p < n},
        store.details(asker, n) if statistics else None,
    )


def collect_columns(
    scores: Iterable[tuple[int, Mapping[str, float]]],
    failures: Mapping[int, str],
    details: Iterable[tuple[int, Mapping[str, Any]]] | None = None,
) -> OutcomeColumns:
    """Return outcomes as columns.

    Args:
        scores: Position and values of each subject with a score, by position.
        failures: Reason by position, of each subject without a score.
        details: Position and detail of the same subjects as ``scores``; None if no value is
            computed from sums over all subjects.
    """
    positions = array("q")
    values: dict[str, array[float]] = {}
    for position, numbers in scores:
        for name in [name for name in numbers if name not in values]:
            # A value that first occurs late is NaN for all subjects before.
            values[name] = array("d", [np.nan]) * len(positions)
        positions.append(position)
        for name, column in values.items():
            column.append(numbers.get(name, np.nan))
    return OutcomeColumns(
        np.frombuffer(positions, dtype=np.int64)
        if positions
        else np.zeros(0, dtype=np.int64),
        {
            name: np.frombuffer(column, dtype=np.float64)
            for name, column in values.items()
        },
        failures,
        *(_statistics(details) if details is not None and positions else ()),
    )


def _statistics(
    details: Iterable[tuple[int, Mapping[str, Any]]],
) -> tuple[FloatArray, list[str]]:
    flat, subsets = array("d"), []
    for _, detail in details:
        flat.extend(detail["statistics"])
        subsets.append(detail.get("subset", ""))
    rows = np.frombuffer(flat, dtype=np.float64).reshape(len(subsets), -1)
    names = sorted(set(subsets))
    # Columns grow with the subsets, so many subsets count as one.
    if not 1 < len(names) <= _MOST_SUBSETS:
        return rows, subsets
    # Each subset has its own columns, so that the sums of a subset can be separated.
    masks = np.array([name == np.array(subsets) for name in names]).T
    return (masks[:, :, None] * rows[:, None, :]).reshape(
        len(rows), -1
    ), subsets


_MOST_SUBSETS = 20
"""Data with more are summed up as one."""
N_RESAMPLES = 1000
SEED = 12345


def summarise(
    store: Store, entry: ScheduledAsker, judging: Judging | None = None
) -> MetricResult:
    """Compute the result of one asker over its subjects.

    Means are over scored items. Intervals resample what is described, not texts: several texts
    about one picture are not independent.

    Args:
        store: The outcomes.
        entry: Asker with its subjects.
        judging: Certainty of the run's judges about their grades; None if none was asked.
    """
    name, n = entry.name, entry.n
    corpus = bool(entry.asker.corpus_values)
    columns = read_columns(store, name, n, statistics=corpus)
    sources = cluster_codes(store.sources(n, entry.kind), n)
    is_asked = judging is not None and entry.asker.asks_judge()
    judge_cautions = (
        [judging.caution]
        if judging is not None and is_asked and judging.caution
        else []
    )
    return summarise_columns(
        entry.asker,
        columns,
        sources,
        store.signatures(name) or [entry.signature],
        judge_cautions,
    )


def summarise_columns(
    asker: Asker[Any],
    columns: OutcomeColumns,
    sources: Ints,
    signatures: Sequence[str],
    cautions: Sequence[str] = (),
) -> MetricResult:
    """Compute the result of one asker from its outcomes; see ``summarise``.

    Args:
        asker: The asker.
        columns: Its outcomes; with statistics if it has values of the whole set.
        sources: Code of what each subject describes, by position.
        signatures: Distinct signatures of the outcomes.
        cautions: Cautions besides those about the values.
    """
    estimates = {}
    # A value that an item does not have counts nowhere.
    for key in columns.values:
        positions, values = columns.scored_values(key)
        estimates[key] = stats.mean_interval(
            values,
            clusters=sources[positions],
            n_resamples=N_RESAMPLES,
            seed=SEED,
        )
    if columns.statistics is not None:
        clusters = sources[columns.positions]
        estimates |= corpus_estimates(asker, columns.statistics, clusters)
    failures = Counter(columns.failures.values())
    return MetricResult(
        metric=asker.name,
        values=estimates,
        n_scored=len(columns.positions),
        n_failed=sum(failures.values()),
        signature=f"{' ; '.join(signatures)}|bs:{N_RESAMPLES}|seed:{SEED}",
        failures=dict(failures.most_common()),
        cautions=(
            *asker.cautions(
                {key: columns.scored_values(key)[1] for key in columns.values}
            ),
            *cautions,
        ),
    )


def corpus_estimates(
    metric: Asker[Any], statistics: FloatArray, clusters: Sequence[Any] | Ints
) -> dict[str, Estimate]:
    """Compute values of the whole set from summed statistics, with bootstrap intervals.

    Args:
        metric: Turns summed statistics into values.
        statistics: (n, k), a row per scored item.
        clusters: Source that each item describes; whole clusters are resampled.
    """
    codes = cluster_codes(clusters, len(statistics))
    sums = cluster_rows(codes, np.asarray(statistics, np.float64))
    values = metric.corpus(sums.sum(axis=0))
    replicates = sum_replicates(sums, n_resamples=N_RESAMPLES, seed=SEED)
    resampled = [metric.corpus(replicate) for replicate in replicates]
    estimates = {}
    for name, value in values.items():
        resampled_values = np.array(
            [resample[name] for resample in resampled if name in resample]
        )
        interval, reason = (
            percentile_interval(resampled_values, 0.95),
            describe_few_sources(len(sums)),
        )
        estimates[name] = Estimate(value, interval, len(statistics), reason)
    return estimates
