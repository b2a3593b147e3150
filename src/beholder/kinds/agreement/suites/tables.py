"""Tables of the suites of texts that are known to be good or bad."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from beholder.kinds.agreement.suites.authors import AuthorsResult
from beholder.kinds.agreement.suites.comparison import ComparisonResult
from beholder.records import Estimate
from beholder.tables import Column, Table, heading, record_cells


@dataclass(frozen=True)
class ComparisonRow:
    """Accuracy of a metric on pairs of a valid and an invalid version of one text."""

    metric: Annotated[str, heading("metric", "text")]
    accuracy: Annotated[
        Estimate | None, heading("accuracy", interval=True, scale=(0.0, 1.0))
    ]
    level: Annotated[float | None, heading("level")]
    separated: Annotated[float | None, heading("separated")]
    n: Annotated[int, heading("texts", "count")]


@dataclass(frozen=True)
class VersionRow:
    """Scores of a metric for one kind of versions."""

    metric: Annotated[str, heading("metric", "text")]
    validity: Annotated[str, heading("validity", "text")]
    kind: Annotated[str, heading("version", "text")]
    mean: Annotated[float | None, heading("mean")]
    right: Annotated[
        Estimate | None, heading("right", interval=True, scale=(0.0, 1.0))
    ]
    n: Annotated[int, heading("n", "count")]
    n_failed: Annotated[int, heading("failed", "failed")]


def comparison_tables(results: Sequence[ComparisonResult]) -> list[Table]:
    """Return the accuracy of all metrics, then of each metric the kinds of versions."""
    accuracy = [
        ComparisonRow(
            _name(result),
            result.accuracy,
            _mean(result.ties),
            _mean(result.separated),
            _count(result.accuracy),
        )
        for result in results
    ]
    versions = [
        VersionRow(
            _name(result),
            row.validity,
            row.kind,
            _mean(row.score),
            row.accuracy,
            _count(row.score),
            row.n_failed,
        )
        for result in results
        for row in result.kinds
    ]
    legend = (
        "Accuracy: share of pairs of a valid and an invalid version of one text in which the valid"
        " one is better, ties half; level: share of ties; separated: share of texts whose worst"
        " valid version is better than their best invalid one."
    )
    right = "Right: share of the other sort's versions of the same text on the right side of it."
    return [
        Table.from_records(
            "comparison",
            "valid above invalid",
            ComparisonRow,
            accuracy,
            [legend, *(result.signature for result in results)],
        ),
        Table.from_records(
            "kinds",
            "kinds of versions",
            VersionRow,
            versions,
            [right],
            by="metric",
        ),
    ]


@dataclass(frozen=True)
class AuthorsRow:
    """Accuracy of a metric over all pairs of authors."""

    metric: Annotated[str, heading("metric", "text")]
    accuracy: Annotated[
        Estimate | None, heading("accuracy", interval=True, scale=(0.0, 1.0))
    ]


@dataclass(frozen=True)
class AuthorPairRow:
    """Scores of a metric for the texts of one author against those of another."""

    metric: Annotated[str, heading("metric", "text")]
    candidate: Annotated[str, heading("texts of", "text")]
    reference: Annotated[str, heading("against", "text")]
    accuracy: Annotated[
        Estimate | None, heading("accuracy", interval=True, scale=(0.0, 1.0))
    ]
    same: Annotated[float | None, heading("same")]
    other: Annotated[float | None, heading("other")]
    n: Annotated[int, heading("videos", "count")]
    n_failed: Annotated[int, heading("failed", "failed")]


def authors_tables(results: Sequence[AuthorsResult]) -> list[Table]:
    """Return the accuracy of all metrics by author, then of each metric the pairs of authors."""
    names = dict.fromkeys(
        name for result in results for name in result.by_reference
    )
    against = {name: f"against {name}" for name in names}
    accuracy = [
        record_cells(AuthorsRow(_name(result), result.accuracy))
        | {
            key: _mean(result.by_reference.get(name))
            for name, key in against.items()
        }
        for result in results
    ]
    pairs = [
        AuthorPairRow(
            _name(result),
            pair.candidate,
            pair.reference,
            pair.accuracy,
            _mean(pair.same),
            _mean(pair.other),
            _count(pair.accuracy),
            pair.n_failed,
        )
        for result in results
        for pair in result.pairs
    ]
    legend = (
        "Share of an author's texts about other videos that the text about the same video stands"
        " above, with the other author's text for reference; ties half."
    )
    return [
        Table.from_records(
            "authors",
            "same above other",
            AuthorsRow,
            accuracy,
            [legend, *(result.signature for result in results)],
            after=(Column(key, key) for key in against.values()),
        ),
        Table.from_records(
            "pairs", "pairs of authors", AuthorPairRow, pairs, by="metric"
        ),
    ]


def _name(result: ComparisonResult | AuthorsResult) -> str:
    return f"{result.metric}.{result.value}"


def _mean(estimate: Estimate | None) -> float | None:
    return None if estimate is None else estimate.mean


def _count(estimate: Estimate | None) -> int:
    return 0 if estimate is None else estimate.n
