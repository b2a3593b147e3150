"""Tables of the suites of texts that are known to be good or bad."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.kinds.agreement.suites.authors import AuthorsResult
from beholder.kinds.agreement.suites.comparison import ComparisonResult
from beholder.records import Estimate
from beholder.tables import FAILED, METRIC, Column, N, Table, estimate_cells

_SHARE = (0.0, 1.0)
_ACCURACY = Column("accuracy", "accuracy", interval=True, scale=_SHARE)


def comparison_tables(found: Sequence[ComparisonResult]) -> list[Table]:
    """Accuracy of all metrics, then of each metric the kinds of versions."""
    accuracy = Table(
        name="comparison",
        title="valid above invalid",
        columns=(
            METRIC,
            _ACCURACY,
            Column("level", "level"),
            Column("separated", "separated"),
            Column("n", "texts", "count"),
        ),
        rows=tuple(
            {
                "metric": _name(one),
                **estimate_cells("accuracy", one.accuracy),
                "level": _mean(one.ties),
                "separated": _mean(one.separated),
                "n": _count(one.accuracy),
            }
            for one in found
        ),
        notes=(
            "Accuracy: share of pairs of a valid and an invalid version of one text in which the"
            " valid one is better, ties half; level: share of ties; separated: share of texts whose"
            " worst valid version is better than their best invalid one.",
            *(one.signature for one in found),
        ),
    )
    return [accuracy, _kinds(found)]


def _kinds(found: Sequence[ComparisonResult]) -> Table:
    return Table(
        name="kinds",
        title="kinds of versions",
        columns=(
            METRIC,
            Column("validity", "validity", "text"),
            Column("kind", "version", "text"),
            Column("mean", "mean"),
            Column("right", "right", interval=True, scale=_SHARE),
            N,
            FAILED,
        ),
        rows=tuple(
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
        ),
        notes=(
            "Right: share of the other sort's versions of the same text on the right side of it.",
        ),
        by="metric",
    )


def authors_tables(found: Sequence[AuthorsResult]) -> list[Table]:
    """Accuracy of all metrics by author, then of each metric the pairs of authors."""
    names = list(dict.fromkeys(name for one in found for name in one.by_reference))
    accuracy = Table(
        name="authors",
        title="same above other",
        columns=(
            METRIC,
            _ACCURACY,
            *(Column(f"against {name}", f"against {name}") for name in names),
        ),
        rows=tuple(
            {
                "metric": _name(one),
                **estimate_cells("accuracy", one.accuracy),
                **{f"against {name}": _mean(one.by_reference.get(name)) for name in names},
            }
            for one in found
        ),
        notes=(
            "Share of an author's texts about other videos that the text about the same video"
            " stands above, with the other author's text for reference; ties half.",
            *(one.signature for one in found),
        ),
    )
    return [accuracy, _pairs(found)]


def _pairs(found: Sequence[AuthorsResult]) -> Table:
    return Table(
        name="pairs",
        title="pairs of authors",
        columns=(
            METRIC,
            Column("candidate", "texts of", "text"),
            Column("reference", "against", "text"),
            _ACCURACY,
            Column("same", "same"),
            Column("other", "other"),
            Column("n", "videos", "count"),
            FAILED,
        ),
        rows=tuple(
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
        ),
        by="metric",
    )


def _name(one: ComparisonResult | AuthorsResult) -> str:
    return f"{one.metric}.{one.value}"


def _mean(found: Estimate | None) -> float | None:
    return None if found is None else found.mean


def _count(found: Estimate | None) -> int:
    return 0 if found is None else found.n
