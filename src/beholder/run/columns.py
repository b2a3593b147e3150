"""Outcomes of one asker as arrays, read from the store in one pass; flat but for the numbers."""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.embed.base import FloatArray
from beholder.run.store import Store


@dataclass(frozen=True)
class OutcomeColumns:
    """Outcomes of the first subjects of a run.

    Attributes:
        positions: (n,) positions of what was scored, ascending.
        values: (n,) scores by name, in the order in which names are met; NaN where a subject has
            no such value.
        failures: Reason by position, ascending.
        statistics: (n, k) sums' parts, ``detail["statistics"]``; None where they were not asked
            for.
    """

    positions: NDArray[np.int64]
    values: Mapping[str, FloatArray]
    failures: Mapping[int, str]
    statistics: FloatArray | None = None

    def known(self, name: str) -> tuple[NDArray[np.int64], FloatArray]:
        """Positions of the subjects that have a value, and their scores."""
        column = self.values[name]
        known = np.isfinite(column)
        return self.positions[known], column[known]


def read_columns(store: Store, asker: str, n: int, *, statistics: bool = False) -> OutcomeColumns:
    """The outcomes of an asker over the first ``n`` subjects.

    Args:
        store: The run's store.
        asker: Canonical name.
        n: How many subjects.
        statistics: Whether the parts of sums over all subjects are read, too.

    Raises:
        RunError: The store is damaged.
    """
    positions = array("q")
    values: dict[str, array[float]] = {}
    for position, scores in store.values(asker, n):
        for name in [name for name in scores if name not in values]:
            values[name] = array("d", [np.nan]) * len(positions)
        positions.append(position)
        for name, column in values.items():
            column.append(scores.get(name, np.nan))
    return OutcomeColumns(
        np.frombuffer(positions, dtype=np.int64) if positions else np.zeros(0, dtype=np.int64),
        {name: np.frombuffer(column, dtype=np.float64) for name, column in values.items()},
        {p: failure.message for p, failure in store.failures(asker) if p < n},
        _statistics(store, asker, n) if statistics and positions else None,
    )


def _statistics(store: Store, asker: str, n: int) -> FloatArray:
    flat, n_rows = array("d"), 0
    for _, detail in store.details(asker, n):
        flat.extend(detail["statistics"])
        n_rows += 1
    return np.frombuffer(flat, dtype=np.float64).reshape(n_rows, -1)
