"""A run as the report needs it: scores as arrays, the rest read from the store on demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from beholder.records import MetricResult
from beholder.run import manifest
from beholder.run.export import SubjectLabels
from beholder.run.manifest import AskerLog, RunLog, ValueLog
from beholder.run.reading import describe_incomplete
from beholder.run.store import Store
from beholder.run.subjects import ITEM
from beholder.run.summary import read_columns


@dataclass(frozen=True)
class MetricColumns:
    """A metric's outcomes over a run.

    Attributes:
        name: Canonical name.
        signature: Signature of the numbers.
        values: Its values; the first is the headline.
        positions: (n,) positions of the scored items, ascending.
        columns: (n,) scores by value name; NaN if an item has no such value.
        failures: Reason by position.
        result: Means with intervals; None while the run is not complete.
    """

    name: str
    signature: str
    values: tuple[ValueLog, ...]
    positions: NDArray[np.int64]
    columns: Mapping[str, NDArray[np.float64]]
    failures: Mapping[int, str]
    result: MetricResult | None

    @property
    def headline(self) -> ValueLog:
        """The metric's main value."""
        return self.values[0]

    def finite(self, name: str) -> NDArray[np.float64]:
        """Return the scores of a value, without items that have none."""
        column = self.columns[name]
        return column[np.isfinite(column)]

    def ranking(self) -> NDArray[np.int64]:
        """Return positions from the worst headline to the best; ties keep the order of the data.

        A headline without a direction is ordered from its lowest to its highest value.
        """
        column = self.columns[self.headline.name]
        # ``stable`` keeps equal scores in the order of the data, whatever the
        # platform.
        has_value = np.isfinite(column)
        key = (
            -column[has_value]
            if self.headline.higher_is_better is False
            else column[has_value]
        )
        return self.positions[has_value][np.argsort(key, kind="stable")]

    def reasons(self) -> list[tuple[str, int]]:
        """Return the reasons of failures with their counts, the most frequent first."""
        return Counter(self.failures.values()).most_common()


@dataclass(frozen=True)
class RunData:
    """Data of a report.

    Attributes:
        log: The content of ``run.json``.
        n_items: Items of the run.
        metrics: Outcomes per metric, in the order of the run.
        groups: Per group column, the value of each item, or None.
        caution: Sentence that the run is not complete, with n of m; empty for a complete run.
    """

    log: RunLog
    n_items: int
    metrics: tuple[MetricColumns, ...]
    groups: Mapping[str, list[str | None]]
    caution: str = ""


def load(store: Store) -> RunData:
    """Read a run.

    Raises:
        RunError: The folder has no run log, or a damaged one.
    """
    log = manifest.read_log(store.folder)
    n_items = log.data.n_items
    results = manifest.results(log)
    labels = SubjectLabels.from_subjects(
        ITEM, (item for _, item in islice(store.items(), n_items))
    )
    return RunData(
        log=log,
        n_items=n_items,
        metrics=tuple(
            _metric(store, entry, n_items, results.get(entry.name))
            for entry in log.metrics
        ),
        groups={
            name: column.to_pylist() for name, column in labels.groups.items()
        },
        caution=describe_incomplete(store),
    )


def _metric(
    store: Store, entry: AskerLog, n_items: int, result: MetricResult | None
) -> MetricColumns:
    outcomes = read_columns(store, entry.name, n_items)
    # A value that no item has, such as one of the corpus alone.
    lacking = np.full(len(outcomes.positions), np.nan)
    columns = {
        value.name: outcomes.values.get(value.name, lacking)
        for value in entry.values
    }
    signature = result.signature if result else entry.signature
    return MetricColumns(
        entry.name,
        signature,
        entry.values,
        outcomes.positions,
        columns,
        outcomes.failures,
        result,
    )
