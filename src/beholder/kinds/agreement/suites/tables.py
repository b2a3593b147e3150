"""Tables of the suites of texts that are known to be good or bad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from beholder.kinds.agreement.suites.authors import AuthorsResult
from beholder.kinds.agreement.suites.comparison import ComparisonResult
from beholder.records import Estimate
from beholder.tables import (
    FAILED,
    METRIC,
    Column,
    EstimateCells,
    Table,
    estimate_cells,
)

_ACCURACY = Column("accuracy", "accuracy", interval=True, scale=(0.0, 1.0))

COMPARISON = Table(
    "comparison",
    "valid above invalid",
    (
        METRIC,
        _ACCURACY,
        Column("level", "level"),
        Column("separated", "separated"),
        Column("n", "texts", "count"),
    ),
    notes=(
        "Accuracy: share of pairs of a valid and an invalid version of one text in which the valid"
        " one is better, ties half; level: share of ties; separated: share of texts whose worst"
        " valid version is better than their best invalid one.",
    ),
)
KINDS = Table(
    "kinds",
    "kinds of versions",
    (
        METRIC,
        Column("validity", "validity", "text"),
        Column("kind", "version", "text"),
        Column("mean", "mean"),
        replace(_ACCURACY, key="right", heading="right"),
        Column("n", "n", "count"),
        FAILED,
    ),
    notes=(
        "Right: share of the other sort's versions of the same text on the right side of it.",
    ),
    by="metric",
)
AUTHORS = Table(
    "authors",
    "same above other",
    (METRIC, _ACCURACY),
    notes=(
        "Share of an author's texts about other videos that the text about the same video stands"
        " above, with the other author's text for reference; ties half.",
    ),
)
PAIRS = Table(
    "pairs",
    "pairs of authors",
    (
        METRIC,
        Column("candidate", "texts of", "text"),
        Column("reference", "against", "text"),
        _ACCURACY,
        Column("same", "same"),
        Column("other", "other"),
        Column("n", "videos", "count"),
        FAILED,
    ),
    by="metric",
)


def comparison_tables(results: Sequence[ComparisonResult]) -> list[Table]:
    """Return the accuracy of all metrics, then of each metric the kinds of versions."""
    accuracy = [
        _head(result)
        | estimate_cells("accuracy", result.accuracy)
        | {
            "level": _mean(result.ties),
            "separated": _mean(result.separated),
            "n": _count(result.accuracy),
        }
        for result in results
    ]
    # The kinds of versions show where a metric fails, which the accuracy
    # hides.
    versions = [
        _head(result)
        | estimate_cells("right", row.accuracy)
        | {
            "validity": row.validity,
            "kind": row.kind,
            "mean": _mean(row.score),
            "n": _count(row.score),
            "n_failed": row.n_failed,
        }
        for result in results
        for row in result.kinds
    ]
    signatures = [result.signature for result in results]
    return [
        COMPARISON.with_rows(accuracy, signatures),
        KINDS.with_rows(versions),
    ]


def authors_tables(results: Sequence[AuthorsResult]) -> list[Table]:
    """Return the accuracy of all metrics by author, then of each metric the pairs of authors."""
    accuracy = [
        _head(result)
        | estimate_cells("accuracy", result.accuracy)
        | {
            f"against {name}": _mean(estimate)
            for name, estimate in result.by_reference.items()
        }
        for result in results
    ]
    pairs = [
        _head(result)
        | estimate_cells("accuracy", pair.accuracy)
        | {
            "candidate": pair.candidate,
            "reference": pair.reference,
            "same": _mean(pair.same),
            "other": _mean(pair.other),
            "n": _count(pair.accuracy),
            "n_failed": pair.n_failed,
        }
        for result in results
        for pair in result.pairs
    ]
    # Metrics share the columns of authors, even if one has no score for an
    # author.
    names = dict.fromkeys(
        f"against {name}" for result in results for name in result.by_reference
    )
    columns = [Column(name, name) for name in names]
    signatures = [result.signature for result in results]
    return [
        replace(AUTHORS, columns=(*AUTHORS.columns, *columns)).with_rows(
            accuracy, signatures
        ),
        PAIRS.with_rows(pairs),
    ]


def _head(result: ComparisonResult | AuthorsResult) -> EstimateCells:
    return {"metric": f"{result.metric}.{result.value}"}


def _mean(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.mean


def _count(estimate: Estimate | None) -> int:
    return 0 if estimate is None else estimate.n
