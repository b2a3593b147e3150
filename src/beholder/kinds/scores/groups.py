"""Break a metric's headline down by the group columns of the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beholder import stats
from beholder.records import Estimate
from beholder.report.load import MetricColumns, RunData

MAX_ROWS = 30
"""Groups of a column that are shown; the largest ones."""


@dataclass(frozen=True)
class Breakdown:
    """A metric's headline by one group column.

    Attributes:
        column: Name of the group column.
        rows: Group and mean with interval, the best first.
        n_left_out: Groups beyond ``MAX_ROWS``.
    """

    column: str
    rows: list[tuple[str, Estimate]]
    n_left_out: int


def breakdowns(run: RunData, metric: MetricColumns, sources: Sequence[bytes]) -> list[Breakdown]:
    """One breakdown per group column that tells items apart.

    Args:
        run: The run.
        metric: One of its metrics.
        sources: What each item describes; intervals resample these, as in the run's summary.
    """
    column_of_scores = metric.columns[metric.headline.name]
    known = np.isfinite(column_of_scores)
    positions, scores = metric.positions[known].tolist(), column_of_scores[known]
    found = []
    for column, labels in run.groups.items():
        members: dict[str, list[int]] = {}
        for place, position in enumerate(positions):
            label = labels[position]
            if label is not None:
                members.setdefault(label, []).append(place)
        if not members:
            continue
        largest = sorted(members, key=lambda label: (-len(members[label]), label))[:MAX_ROWS]
        rows = [
            (
                label,
                stats.mean_interval(
                    scores[members[label]],
                    clusters=[sources[positions[place]] for place in members[label]],
                ),
            )
            for label in largest
        ]
        rows.sort(
            key=lambda row: row[1].mean, reverse=metric.headline.higher_is_better is not False
        )
        found.append(Breakdown(column, rows, len(members) - len(largest)))
    return found
