"""A run as a whole, from its columns: means, distributions, verdicts, groups, failures, cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from beholder.records import Estimate
from beholder.report import charts
from beholder.report.tones import by_tone, tone
from beholder.run.answers import costs
from beholder.run.manifest import ValueLog
from beholder.web.items import AskerColumns, RunView, Snapshot
from beholder.web.lists import verdict_counts

_MOST_ROWS = 12


@dataclass(frozen=True)
class ValueOverview:
    """One value over the run.

    Attributes:
        value: Description of the value.
        estimate: Its mean with interval; None while the run is not complete.
        n: Subjects that have it.
        low: Lowest that one has, or None.
        high: Highest.
    """

    value: ValueLog
    estimate: Estimate | None
    n: int
    low: float | None
    high: float | None


def overview(view: RunView) -> Mapping[str, object]:
    """Return the context of a run's first page: results of all askers, and the cost of judges.

    Raises:
        RunError: The store cannot be read.
    """
    # The total is given only if every row has a price: a sum without some would mislead.
    paid = costs(view.folder)
    costs_known = [row.cost for row in paid if row.cost is not None]
    return {
        "sections": [
            _asker_context(view.snapshot, columns)
            for columns in view.snapshot.askers
        ],
        "costs": paid,
        "cost": sum(costs_known) if len(costs_known) == len(paid) else None,
    }


def _asker_context(
    snapshot: Snapshot,
    columns: AskerColumns,
) -> Mapping[str, object]:
    """Return the context of an asker's section: values, histogram, verdicts, groups, failures."""
    # An asker that only makes texts has no value: its section has no histogram and no groups.
    headline = columns.value(None)
    scores = (
        np.empty(0) if headline is None else columns.numbers[headline.name]
    )
    finite_scores = scores[np.isfinite(scores)]
    failures = columns.result.failures if columns.result else {}
    subjects = dict(verdict_counts(columns))
    histogram = None
    if headline and len(finite_scores):
        histogram = charts.histogram(headline, finite_scores)
    return {
        "columns": columns,
        "values": [
            *(_value(columns, value) for value in columns.values),
            *_whole_values(snapshot, columns),
        ],
        "histogram": histogram,
        "verdicts": [
            (
                verdict,
                tone(verdict),
                int(columns.verdicts[verdict].sum())
                - columns.n_unsure.get(verdict, 0),
                columns.n_unsure.get(verdict, 0),
                subjects[verdict],
            )
            for verdict in by_tone(subjects)
            if verdict is not None
        ],
        "groups": list(_groups(snapshot, columns, scores)),
        "failures": Counter(failures).most_common(_MOST_ROWS),
    }


def _value(columns: AskerColumns, value: ValueLog) -> ValueOverview:
    """Return the mean, number and range of a value over the run."""
    scores = columns.numbers[value.name]
    finite_scores = scores[np.isfinite(scores)]
    estimate = (
        columns.result.values.get(value.name) if columns.result else None
    )
    if not len(finite_scores):
        return ValueOverview(value, estimate, 0, None, None)
    low = float(finite_scores.min())
    high = float(finite_scores.max())
    return ValueOverview(value, estimate, len(finite_scores), low, high)


def _whole_values(
    snapshot: Snapshot,
    columns: AskerColumns,
) -> Iterator[ValueOverview]:
    """Yield the values of the whole set, such as CIDEr's; no single subject has one."""
    estimates = columns.result.values if columns.result else {}
    log = snapshot.log.askers.get(columns.name)
    for value in log.corpus_values if log else ():
        if (estimate := estimates.get(value.name)) is not None:
            yield ValueOverview(value, estimate, estimate.n, None, None)


def _groups(
    snapshot: Snapshot,
    columns: AskerColumns,
    scores: charts.Scores,
) -> Iterator[tuple[str, list[tuple[str, int, float]]]]:
    """Yield each group column with its largest values: value, number of subjects, mean score."""
    # Sums and counts of all values at once, by the codes of the column. A column with one value,
    # or a different one for each subject, groups nothing and is left out.
    if not columns.values:
        return
    groups = snapshot.subjects[columns.kind].groups
    for name, (values, codes) in groups.items():
        is_known = np.isfinite(scores) & (codes >= 0)
        counts = np.bincount(codes[is_known], minlength=len(values))
        sums = np.bincount(
            codes[is_known], weights=scores[is_known], minlength=len(values)
        )
        largest = np.argsort(-counts, kind="stable")[:_MOST_ROWS].tolist()
        if len(values) > 1 and counts.max(initial=0) > 1:
            yield (
                name,
                [
                    (
                        values[code],
                        int(counts[code]),
                        float(sums[code] / counts[code]),
                    )
                    for code in largest
                    if counts[code]
                ],
            )
