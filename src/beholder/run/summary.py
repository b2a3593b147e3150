"""Close a run: means with intervals, counts of failures, signatures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from beholder import stats
from beholder.embed.base import FloatArray
from beholder.judges.telling import Judging
from beholder.metrics.asker import Asker
from beholder.records import Estimate, MetricResult
from beholder.run.asked import Asked
from beholder.run.store import Store
from beholder.stats.bootstrap import percentile_interval

N_RESAMPLES = 1000
SEED = 12345


def summarise(store: Store, asked: Asked, judging: Judging | None = None) -> MetricResult:
    """The result of one asker over the subjects it is asked of.

    Means are over scored items. Intervals resample what is described, not texts: several texts
    about one picture are not independent.

    Args:
        store: What came of each subject.
        asked: What was asked of which.
        judging: How sure the judges of the run were of their grades; None where none was asked.
    """
    columns: dict[str, list[tuple[int, float]]] = defaultdict(list)
    positions = []
    name, n = asked.name, asked.n
    for position, values in store.values(name, n):
        positions.append(position)
        for key, value in values.items():  # a value that an item does not have counts nowhere
            columns[key].append((position, value))
    failures = Counter(f.message for p, f in store.failures(name) if p < n)
    sources = store.sources(n, asked.kind)
    made = store.signatures(name) or [asked.signature]
    estimates = {
        key: stats.mean_interval(
            [value for _, value in column],
            clusters=[sources[position] for position, _ in column],
            n_resamples=N_RESAMPLES,
            seed=SEED,
        )
        for key, column in columns.items()
    }
    if asked.asker.corpus_values and positions:
        clusters = [sources[position] for position in positions]
        statistics = [detail["statistics"] for _, detail in store.details(name, n)]
        estimates |= corpus_estimates(asked.asker, np.array(statistics, dtype=np.float64), clusters)
    asks = judging is not None and asked.asker.asks_judge()
    unsure = [judging.caution] if judging is not None and asks and judging.caution else []
    return MetricResult(
        metric=name,
        values=estimates,
        n_scored=len(positions),
        n_failed=sum(failures.values()),
        signature=f"{' ; '.join(made)}|bs:{N_RESAMPLES}|seed:{SEED}",
        failures=dict(failures.most_common()),
        cautions=(
            *asked.asker.cautions({k: [v for _, v in c] for k, c in columns.items()}),
            *unsure,
        ),
    )


def corpus_estimates(
    metric: Asker[Any], statistics: FloatArray, clusters: Sequence[bytes]
) -> dict[str, Estimate]:
    """The values of the whole set from summed statistics, with bootstrap intervals.

    Args:
        metric: Turns summed statistics into values.
        statistics: (n, k), a row per scored item.
        clusters: What each item describes; whole clusters are resampled.
    """
    labels = list(dict.fromkeys(clusters))
    index = {label: place for place, label in enumerate(labels)}
    sums = np.zeros((len(labels), statistics.shape[1]))
    np.add.at(sums, [index[label] for label in clusters], statistics)
    values = metric.corpus(sums.sum(axis=0))
    if len(labels) < 2:
        return {name: Estimate(value, None, len(statistics)) for name, value in values.items()}
    rng = np.random.default_rng(SEED)
    chances = np.full(len(labels), 1 / len(labels))
    resampled = [
        metric.corpus(rng.multinomial(len(labels), chances) @ sums) for _ in range(N_RESAMPLES)
    ]
    return {
        name: Estimate(
            value,
            percentile_interval(np.array([found[name] for found in resampled]), 0.95),
            len(statistics),
        )
        for name, value in values.items()
    }
