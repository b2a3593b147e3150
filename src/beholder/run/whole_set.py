"""Values of a whole data set, such as corpus BLEU: from counts that are summed over sources."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from beholder.asking.asker import Asker
from beholder.run.store import Store
from beholder.run.summary import N_RESAMPLES, SEED, read_columns
from beholder.stats.bootstrap import (
    PairedDifference,
    percentile_interval,
    sum_replicates,
)
from beholder.stats.checks import Floats

WholeValue: TypeAlias = Callable[[Floats], float]
"""The value of summed counts, (k,); NaN where it is not defined."""

_N_SWAPS = 1000


def whole_value(metric: Asker[Any], name: str) -> WholeValue:
    """One of a metric's values of the whole set, as a function of summed counts."""
    return lambda sums: metric.corpus(sums).get(name, float("nan"))


def read_counts(store: Store, metric: str) -> dict[int, Floats]:
    """The counts, (k,), of each scored item by its place; empty if the metric has none."""
    n = store.n_subjects(store.kind_of(metric))
    columns = read_columns(store, metric, n, statistics=True)
    if columns.statistics is None:
        return {}
    return dict(
        zip(columns.positions.tolist(), columns.statistics, strict=True)
    )


def resample_whole(value: WholeValue, sums: Floats) -> Floats:
    """(n_resamples,) values of resampled sources, none of too few; ``sums`` is (sources, k)."""
    replicates = sum_replicates(sums, n_resamples=N_RESAMPLES, seed=SEED)
    return np.array([value(replicate) for replicate in replicates])


def whole_difference(
    value: WholeValue, a: Floats, b: Floats, n: int
) -> PairedDifference:
    """The value of ``a`` minus that of ``b`` with a bootstrap interval and a swap test.

    The null hypothesis is that the two sides of a source could as well be exchanged (approximate
    randomization, Riezler and Maxwell 2005).

    Args:
        value: The value of summed counts.
        a: (sources, k) counts of the first side.
        b: (sources, k) counts of the second side about the same sources.
        n: Texts of a side.
    """
    total_a, total_b, gap = a.sum(axis=0), b.sum(axis=0), a - b
    observed = value(total_a) - value(total_b)
    interval = None
    differences = resample_whole(value, a) - resample_whole(value, b)
    # One undefined resample leaves the quantiles undefined.
    if np.isfinite(differences).all():
        interval = percentile_interval(differences, 0.95)
    rng = np.random.default_rng(
        [SEED, 1]
    )  # independent of the bootstrap's draws
    # The observed arrangement counts as one, so that p is never 0.
    n_as_extreme = 1
    for _ in range(_N_SWAPS):
        # Swapping the sides of a source moves its difference from one total to the other.
        moved_counts = (rng.random(len(gap)) < 0.5) @ gap
        swapped_difference = value(total_a - moved_counts) - value(
            total_b + moved_counts
        )
        n_as_extreme += abs(swapped_difference) >= abs(observed) - 1e-12
    method = f"percentile bootstrap ({N_RESAMPLES} resamples), swap test ({_N_SWAPS} swaps)"
    return PairedDifference(
        observed, interval, n_as_extreme / (_N_SWAPS + 1), n, len(a), method
    )
