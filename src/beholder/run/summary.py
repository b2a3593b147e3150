"""Close a run: means with intervals, counts of failures, signatures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from beholder import stats
from beholder.metrics import Metric
from beholder.records import MetricResult
from beholder.run.store import Store

N_RESAMPLES = 1000
SEED = 12345


def summarise(store: Store, metric: Metric[Any], n_items: int) -> MetricResult:
    """The result of one metric over the first ``n_items`` of a run.

    Means are over scored items. Intervals resample what is described, not texts: several texts
    about one picture are not independent.
    """
    columns: dict[str, list[float]] = defaultdict(list)
    positions = []
    for position, values in store.values(metric.name, n_items):
        positions.append(position)
        for name, value in values.items():
            columns[name].append(value)
    failures = Counter(f.message for p, f in store.failures(metric.name) if p < n_items)
    sources = store.sources(n_items)
    clusters = [sources[position] for position in positions]
    made = store.signatures(metric.name) or [metric.signature()]
    return MetricResult(
        metric=metric.name,
        values={
            name: stats.mean_interval(column, clusters=clusters, n_resamples=N_RESAMPLES, seed=SEED)
            for name, column in columns.items()
        },
        n_scored=len(positions),
        n_failed=sum(failures.values()),
        signature=f"{' ; '.join(made)}|bs:{N_RESAMPLES}|seed:{SEED}",
        failures=dict(failures.most_common()),
    )


def summarise_all(
    store: Store,
    metrics: Sequence[Metric[Any]],
    n_items: int,
) -> dict[str, MetricResult]:
    """The result of each metric, by its canonical name."""
    return {metric.name: summarise(store, metric, n_items) for metric in metrics}
