"""Which subjects of a run are listed, and in what order, by its columns alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from beholder.web.items import NO_VERDICT, STATES, AskedColumns, Snapshot, SubjectColumns


@dataclass(frozen=True)
class Query:
    """Which subjects are listed, and in what order.

    Attributes:
        kind: Kind of subject.
        asked: Name of the asker whose values and verdicts count.
        value: Name of the value that is shown, filtered and sorted by.
        low: Least value, or None.
        high: Greatest value, or None.
        verdict: Only with a unit of this verdict; None for any.
        state: One of ``STATES``; empty for any.
        group: Column and value, or None.
        words: In the texts or the id; empty for any.
        order: ``position``, ``id``, ``value`` or ``verdict`` (its number of units).
        down: Whether the greatest come first.
    """

    kind: str
    asked: str = ""
    value: str = ""
    low: float | None = None
    high: float | None = None
    verdict: str | None = None
    state: str = ""
    group: tuple[str, str] | None = None
    words: str = ""
    order: str = "position"
    down: bool = False


def find(snapshot: Snapshot, wanted: Query) -> NDArray[np.int64]:
    """Positions of the subjects that are wanted, in order; equal ones in the order of the data."""
    subjects = snapshot.subjects[wanted.kind]
    keep = np.ones(len(subjects.ids), dtype=bool)
    columns = next((one for one in snapshot.asked if one.name == wanted.asked), None)
    if wanted.group is not None:
        values, codes = subjects.groups.get(wanted.group[0], ((), np.full(len(keep), -1)))
        keep &= codes == (values.index(wanted.group[1]) if wanted.group[1] in values else -2)
    if columns is not None:
        keep &= _kept_by_outcome(columns, wanted)
    if wanted.words:
        having = np.zeros(len(keep), dtype=bool)
        having[subjects.texts.having(wanted.words)] = True
        keep &= having
    positions = np.flatnonzero(keep)
    key = _key(subjects, columns, wanted)
    if key is None:
        return positions[::-1] if wanted.down and wanted.order == "position" else positions
    if wanted.order == "id":
        ordered = sorted(positions.tolist(), key=lambda at: subjects.ids[at], reverse=wanted.down)
        return np.array(ordered, dtype=np.int64)
    chosen = key[positions]
    # NaN stays last in both directions.
    return positions[np.argsort(-chosen if wanted.down else chosen, kind="stable")]


def verdict_counts(columns: AskedColumns) -> list[tuple[str, int]]:
    """Verdicts with the number of subjects that have one."""
    return [(name, int((counts > 0).sum())) for name, counts in columns.verdicts.items()]


def group_counts(subjects: SubjectColumns, name: str) -> list[tuple[str, int]]:
    """Values of a group column with the number of subjects, the most frequent first."""
    values, codes = subjects.groups[name]
    counted = Counter(codes[codes >= 0].tolist())
    return [(values[code], n) for code, n in counted.most_common()]


def _kept_by_outcome(columns: AskedColumns, wanted: Query) -> NDArray[np.bool_]:
    keep = np.ones(len(columns.state), dtype=bool)
    if wanted.state in STATES:
        keep &= columns.state == STATES.index(wanted.state)
    if wanted.verdict is not None:
        keep &= columns.verdicts.get(wanted.verdict, np.zeros(len(keep), dtype=np.int32)) > 0
    numbers = columns.numbers.get(wanted.value)
    if numbers is not None:
        if wanted.low is not None:
            keep &= numbers >= wanted.low
        if wanted.high is not None:
            keep &= numbers <= wanted.high
    return keep


def _key(
    subjects: SubjectColumns, columns: AskedColumns | None, wanted: Query
) -> NDArray[np.float64] | None:
    """What is sorted by; None for the order of the data."""
    if wanted.order == "id":
        return np.empty(0)
    if columns is None or wanted.order == "position":
        return None
    if wanted.order == "verdict":
        found = columns.verdicts.get(wanted.verdict or NO_VERDICT)
        return None if found is None else found.astype(np.float64)
    return columns.numbers.get(wanted.value)
