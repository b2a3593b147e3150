"""Tables of the suites of texts that are known to be good or bad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from beholder.kinds.agreement.page_tables import TABLES
from beholder.kinds.agreement.suites.authors import AuthorsResult
from beholder.kinds.agreement.suites.comparison import ComparisonResult
from beholder.records import Estimate
from beholder.tables import Column, Table, estimate_cells


def comparison_tables(found: Sequence[ComparisonResult]) -> list[Table]:
    """Accuracy of all metrics, then of each metric the kinds of versions."""
    accuracy = [
        {
            "metric": _name(one),
            **estimate_cells("accuracy", one.accuracy),
            "level": _mean(one.ties),
            "separated": _mean(one.separated),
            "n": _count(one.accuracy),
        }
        for one in found
    ]
    kinds = [
        {
            "metric": _name(one),
            "validity": row.validity,
            "kind": row.kind,
            "mean": _mean(row.score),
            **estimate_cells("right", row.accuracy),
            "n": _count(row.score),
            "n_failed": row.n_failed,
        }
        for one in found
        for row in one.kinds
    ]
    signatures = [one.signature for one in found]
    return [TABLES["comparison"].of(accuracy, signatures), TABLES["kinds"].of(kinds)]


def authors_tables(found: Sequence[AuthorsResult]) -> list[Table]:
    """Accuracy of all metrics by author, then of each metric the pairs of authors."""
    names = dict.fromkeys(name for one in found for name in one.by_reference)
    against = {name: f"against {name}" for name in names}
    table = TABLES["authors"]
    columns = (*table.columns, *(Column(heading, heading) for heading in against.values()))
    accuracy = [
        {
            "metric": _name(one),
            **estimate_cells("accuracy", one.accuracy),
            **{key: _mean(one.by_reference.get(name)) for name, key in against.items()},
        }
        for one in found
    ]
    pairs = [
        {
            "metric": _name(one),
            "candidate": pair.candidate,
            "reference": pair.reference,
            **estimate_cells("accuracy", pair.accuracy),
            "same": _mean(pair.same),
            "other": _mean(pair.other),
            "n": _count(pair.accuracy),
            "n_failed": pair.n_failed,
        }
        for one in found
        for pair in one.pairs
    ]
    signatures = [one.signature for one in found]
    by_author = replace(table, columns=columns).of(accuracy, signatures)
    return [by_author, TABLES["pairs"].of(pairs)]


def _name(one: ComparisonResult | AuthorsResult) -> str:
    return f"{one.metric}.{one.value}"


def _mean(found: Estimate | None) -> float | None:
    return None if found is None else found.mean


def _count(found: Estimate | None) -> int:
    return 0 if found is None else found.n
