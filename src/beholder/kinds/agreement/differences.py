"""Metrics compared under one measure, with the same resamples for all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from beholder.kinds.agreement.measure import AgreementFound
from beholder.kinds.agreement.results import MetricDifference
from beholder.records import Interval
from beholder.stats.bootstrap import percentile_interval
from beholder.stats.significance import holm, significance_clusters


@dataclass(frozen=True)
class AgreementDifference:
    """Two metrics under one measure, on the data that both scored.

    Attributes:
        a: Label of the first.
        b: Label of the second.
        difference: Agreement of the first minus that of the second; None where undefined.
        interval: Paired bootstrap interval.
        p_value: Two-sided, from the same resamples, corrected (Holm) over the pairs of a measure.
    """

    a: str
    b: str
    difference: float | None
    interval: Interval | None
    p_value: float | None

    @property
    def record(self) -> MetricDifference:
        """The difference as results store it."""
        low, high = (self.interval.low, self.interval.high) if self.interval else (None, None)
        return MetricDifference(self.a, self.b, self.difference, low, high, self.p_value)


def compare(
    labels: Sequence[str], found: Sequence[AgreementFound], n_resamples: int
) -> tuple[list[AgreementDifference], list[int | None]]:
    """Differences of all pairs, and clusters of metrics that are not significantly different.

    Args:
        labels: Names of the metrics.
        found: What each reached on the same data, with replicates of the same resamples.
        n_resamples: How many those are; 0 gives neither.

    Returns:
        The pairs in order, and the number of each metric's cluster
        (``stats.significance_clusters``).
    """
    if not n_resamples:
        return [], [None] * len(labels)
    raw = {
        (i, j): _difference((labels[i], labels[j]), (found[i], found[j]), n_resamples)
        for i, j in combinations(range(len(labels)), 2)
    }
    clusters = significance_clusters(
        [one.value for one in found], lambda i, j: raw[min(i, j), max(i, j)].p_value
    )
    corrected = holm([one.p_value for one in raw.values()])
    differences = [
        AgreementDifference(one.a, one.b, one.difference, one.interval, p)
        for one, p in zip(raw.values(), corrected, strict=True)
    ]
    return differences, clusters


def _difference(
    names: tuple[str, str], found: tuple[AgreementFound, AgreementFound], n_resamples: int
) -> AgreementDifference:
    """One pair; its p is not corrected yet."""
    a, b = found
    if a.value is None or b.value is None:
        return AgreementDifference(*names, None, None, None)
    pairs = zip(a.replicates, b.replicates, strict=True)
    drawn = np.array([x - y for x, y in pairs if x is not None and y is not None])
    interval, p = None, None
    if len(drawn) >= 0.9 * n_resamples and a.n_sources > 1:
        interval = percentile_interval(drawn, 0.95)
        tail = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
        p = min(1.0, 2 * (tail + 1) / (len(drawn) + 1))
    return AgreementDifference(*names, a.value - b.value, interval, p)
