"""A run as a whole, from its columns: means, distributions, verdicts, groups, failures, cost."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beholder.records import Estimate
from beholder.report import charts
from beholder.report.tones import by_tone, label, tone
from beholder.run.answered import CostRow, costs
from beholder.run.manifest import ValueLog
from beholder.web.finding import verdict_counts
from beholder.web.items import FAILED, SCORED, AskedColumns, RunView, Snapshot

_MOST_ROWS = 12


@dataclass(frozen=True)
class ValueOverview:
    """One value over the run.

    Attributes:
        value: What it is.
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


@dataclass(frozen=True)
class VerdictOverview:
    """A verdict over the run: how it is drawn, its units and the subjects that have some."""

    name: str
    label: str
    tone: str
    symbol: str
    n_units: int
    n_subjects: int


@dataclass(frozen=True)
class AskedOverview:
    """What an asker found over the run.

    Attributes:
        columns: All that is known.
        values: Its values.
        histogram: Of the headline; None if nothing was scored.
        verdicts: Those to look at first.
        groups: Per group column its largest values: name, number of subjects, mean headline.
        failures: Reasons with counts, the most frequent first; empty while the run is made.
        n_scored: Subjects with an outcome.
        n_failed: Subjects with a reason instead.
    """

    columns: AskedColumns
    values: Sequence[ValueOverview]
    histogram: charts.Histogram | None
    verdicts: Sequence[VerdictOverview]
    groups: Sequence[tuple[str, Sequence[tuple[str, int, float]]]]
    failures: Sequence[tuple[str, int]]
    n_scored: int
    n_failed: int


@dataclass(frozen=True)
class RunOverview:
    """A run as a whole.

    Attributes:
        asked: Per asker.
        costs: What judges cost, by operation and model.
    """

    asked: Sequence[AskedOverview]
    costs: Sequence[CostRow]

    @property
    def cost(self) -> float | None:
        """US dollars of all answers; None where some price is not known."""
        known = [row.cost for row in self.costs if row.cost is not None]
        return sum(known) if len(known) == len(self.costs) else None


class Overviews:
    """Overviews of runs, each made once per state of its run."""

    def __init__(self) -> None:
        self._made: dict[int, tuple[Snapshot, RunOverview]] = {}

    def of(self, view: RunView) -> RunOverview:
        """The overview of a run as it is now.

        Raises:
            RunError: The store cannot be read.
        """
        snapshot = view.snapshot
        kept = self._made.get(id(view))
        if kept is not None and kept[0] is snapshot:
            return kept[1]
        made = RunOverview([_asked(snapshot, one) for one in snapshot.asked], costs(view.folder))
        self._made[id(view)] = (snapshot, made)
        return made


def _asked(snapshot: Snapshot, columns: AskedColumns) -> AskedOverview:
    headline = columns.value(None)
    scores = np.empty(0) if headline is None else columns.numbers[headline.name]
    known = scores[np.isfinite(scores)]
    result = columns.result
    return AskedOverview(
        columns=columns,
        values=[_value(columns, value) for value in columns.values],
        histogram=charts.histogram(headline, known) if headline and len(known) else None,
        verdicts=_verdicts(columns),
        groups=_groups(snapshot, columns),
        failures=Counter(result.failures).most_common(_MOST_ROWS) if result else [],
        n_scored=int((columns.state == SCORED).sum()),
        n_failed=int((columns.state == FAILED).sum()),
    )


def _value(columns: AskedColumns, value: ValueLog) -> ValueOverview:
    scores = columns.numbers[value.name]
    known = scores[np.isfinite(scores)]
    estimate = columns.result.values.get(value.name) if columns.result else None
    some = bool(len(known))
    return ValueOverview(
        value,
        estimate,
        len(known),
        float(known.min()) if some else None,
        float(known.max()) if some else None,
    )


def _verdicts(columns: AskedColumns) -> list[VerdictOverview]:
    subjects = dict(verdict_counts(columns))
    return [
        VerdictOverview(
            name=verdict or "",
            label=label(verdict),
            tone=tone(verdict).name,
            symbol=tone(verdict).symbol,
            n_units=int(columns.verdicts[verdict or ""].sum()),
            n_subjects=subjects[verdict or ""],
        )
        for verdict in by_tone(subjects)
    ]


def _groups(
    snapshot: Snapshot, columns: AskedColumns
) -> list[tuple[str, list[tuple[str, int, float]]]]:
    headline = columns.value(None)
    if headline is None:
        return []
    scores = columns.numbers[headline.name]
    known = np.isfinite(scores)
    found = []
    for name, (values, codes) in snapshot.subjects[columns.kind].groups.items():
        of = codes[known & (codes >= 0)]
        counts = np.bincount(of, minlength=len(values))
        sums = np.bincount(of, weights=scores[known & (codes >= 0)], minlength=len(values))
        largest = np.argsort(-counts, kind="stable")[:_MOST_ROWS].tolist()
        rows = [
            (values[code], int(counts[code]), float(sums[code] / counts[code]))
            for code in largest
            if counts[code]
        ]
        if len(values) > 1 and counts.max(initial=0) > 1:
            found.append((name, rows))
    return found
