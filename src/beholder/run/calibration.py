"""How well the probabilities of a run's judge fit labels that are yes or no."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from beholder.records import Unit
from beholder.run.store import Store
from beholder.stats.calibration import (
    brier_score,
    expected_calibration_error,
)
from beholder.tables import (
    NOTE,
    VALUE,
    Cells,
    Column,
    N,
    Table,
    interval_cells,
)

DECISIONS = "decisions"
"""Field of an outcome's detail with the distributions of a decision model."""

_VERIFY = "verify"
_COLUMNS = (
    VALUE,
    Column("of", "probabilities of", "text"),
    Column("error", "calibration error", interval=True),
    Column("brier", "Brier score", interval=True),
    N,
    NOTE,
)
_NOTES = (
    "0 is best; a judge that always answers 0.5 has a Brier score of 0.25",
    "probabilities of yes, as the judge gave them, beside labels of yes and no",
)


class LabelledProbability(NamedTuple):
    """A probability of yes with its label.

    Attributes:
        probability: What the judge says.
        label: 1 or 0.
        source: The picture, which is resampled.
    """

    probability: float
    label: float
    source: Hashable


def has_probabilities(run: Store, metric: str) -> bool:
    """Return whether the judge of a metric gave probabilities in a run."""
    return any(DECISIONS in detail for _, detail in run.details(metric))


def item_probabilities(run: Store, metric: str) -> dict[int, float]:
    """Return the probability of yes of each item with one question about its text, by position.

    It is the probability of the item's only yes-or-no question, or else the expected level of its
    only score, as a share of the scale.
    """
    probabilities = {}
    for place, detail in run.details(metric):
        rows = [r for r in detail.get(DECISIONS, ()) if not r.get("reason")]
        predicates = [
            r for r in rows if "options" not in r and "levels" not in r
        ]
        scores = [r for r in rows if "levels" in r]
        if len(predicates) == 1:
            probabilities[place] = predicates[0]["probabilities"][0]
        elif not predicates and len(scores) == 1:
            probabilities[place] = _expected_share(scores[0]["probabilities"])
    return probabilities


def _expected_share(levels: Sequence[float]) -> float:
    expected = math.fsum(place * p for place, p in enumerate(levels))
    return min(1.0, expected / max(1, len(levels) - 1))


def unit_probability(
    unit: Unit, decisions: Sequence[Mapping[str, Any]]
) -> float | None:
    """Return the probability that a unit is supported; None if the judge gave none.

    Args:
        unit: A unit of a run's item.
        decisions: Questions about the item, with their distributions.
    """
    # The verdict on a claim is yes or no, and its probability stands with the
    # question; the score of a unit's presence is the probability itself.
    ending = ": " + " ".join(unit.text.split())
    is_verified = False
    for row in decisions:
        if row["operation"] != _VERIFY:
            continue
        is_verified = True
        if row["probabilities"] and str(row["question"]).endswith(ending):
            return float(row["probabilities"][0])
    return None if is_verified or not decisions else unit.score


def decisions_by_place(
    run: Store, metric: str
) -> Iterator[tuple[int, Sequence[Mapping[str, Any]]]]:
    """Yield the position of each scored item with its questions and their distributions."""
    for place, detail in run.details(metric):
        yield place, detail.get(DECISIONS, ())


def calibration_cells(
    probabilities: Sequence[LabelledProbability],
) -> Cells:
    """Return the cells of a row: both figures with their intervals, n, and why one is missing."""
    if not probabilities:
        return {"n": 0, "reason": "no label belongs to a probability"}
    p, labels, sources = zip(*probabilities, strict=True)
    error = expected_calibration_error(p, labels, clusters=sources)
    brier = brier_score(p, labels, clusters=sources)
    return {
        "error": error.mean,
        **interval_cells("error", error.interval),
        "brier": brier.mean,
        **interval_cells("brier", brier.interval),
        "n": error.n,
        "reason": brier.reason or error.reason or "",
    }


def verdict_rows(
    run: Store, metric: str, labels: Mapping[str, float], value: str
) -> Iterator[Cells]:
    """Yield the row of a metric beside verdicts on texts; none if its judge gave no probability.

    Args:
        run: The run.
        metric: Name of the metric.
        labels: 1 or 0 by the id of the item.
        value: What the row is about.
    """
    if not has_probabilities(run, metric):
        return
    by_place = item_probabilities(run, metric)
    sources = run.sources(run.n_subjects())
    probabilities = [
        LabelledProbability(by_place[place], labels[item.id], sources[place])
        for place, item in run.items()
        if place in by_place and item.id in labels
    ]
    yield {"value": value, "of": "texts", **calibration_cells(probabilities)}


def calibration_table(rows: Sequence[Cells]) -> Table:
    """Return the table of rows that have ``value``, ``of`` and ``calibration_cells``."""
    return Table(
        "calibration",
        "Calibration of probabilities",
        _COLUMNS,
        tuple(rows),
        _NOTES,
    )
