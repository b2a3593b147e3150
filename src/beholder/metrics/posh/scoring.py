"""From grades to scores: pure functions, one per rule set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from beholder.errors import ItemError
from beholder.judges import Grade
from beholder.judges.grades import rule_grade
from beholder.language.units import GraphUnit
from beholder.metrics.posh.plan import Ask, Grades, Plan
from beholder.metrics.posh.published import Component, advance
from beholder.records import Side, Unit
from beholder.text import frequency, words

_LOW, _HIGH = 1.0, 5.0


@dataclass(frozen=True, slots=True)
class Weighing:
    """What a unit counts for.

    Attributes:
        kinds: Weight by kind.
        information: Whether a unit counts by the information of its words instead of 1.
    """

    kinds: Mapping[str, float]
    information: bool

    def of(self, kind: str, value: str) -> float:
        """The weight of a unit with this base form."""
        if not self.information:
            return self.kinds[kind]
        lower = value.lower()
        return self.kinds[kind] * sum(frequency.weight(lower[a:b]) for a, b in words(lower))


@dataclass(frozen=True)
class Judged:
    """A side of an item, judged.

    Attributes:
        value: Its precision or recall.
        units: Its units.
    """

    value: float
    units: tuple[Unit, ...]


def fixed_precision(plan: Plan, grades: Grades, weighing: Weighing, threshold: float) -> Judged:
    """Precision against the union of the references: each unit's best grade counts.

    A candidate that names nothing has precision 0: none of it is supported.
    """
    units, weights = [], []
    for unit, question in plan.questions[0]:
        asked = [grades[Ask("candidate", i, question)] for i in range(len(plan.references))]
        best = max(range(len(asked)), key=lambda i: asked[i].value)
        grade = asked[best]
        if grade.value < threshold:  # a reference that says otherwise tells more than a silent one
            told = [g for g in asked if g.contradiction]
            grade = replace(grade, contradiction=told[0].contradiction) if told else grade
        units.append(_unit(unit, "candidate", question.subject, grade, threshold))
        units[-1] = replace(units[-1], detail={**units[-1].detail, "reference": best})
        weights.append(weighing.of(unit.kind, unit.value))
    return Judged(_mean(units, weights, empty=0.0), tuple(units))


def fixed_recall(
    plan: Plan, grades: Grades, weighing: Weighing, threshold: float, rule: Literal["best", "mean"]
) -> Judged:
    """Recall as the best or the mean over the references that name anything.

    Raises:
        ItemError: No reference names anything, so that nothing can be missing.
    """
    values: list[float] = []
    units: list[Unit] = []
    for index, questions in enumerate(plan.questions[1:]):
        own, weights = [], []
        for unit, question in questions:
            grade = grades[Ask("reference", index, question)]
            made = _unit(unit, "reference", question.subject, grade, threshold)
            own.append(replace(made, reference_index=index))
            weights.append(weighing.of(unit.kind, unit.value))
        if own:
            values.append(_mean(own, weights, empty=0.0))
        units += own
    if not values:
        raise ItemError(
            "no reference names anything that could be looked for; the first begins "
            f"{plan.references[0].text.strip()[:40]!r}"
        )
    return Judged(max(values) if rule == "best" else float(np.mean(values)), tuple(units))


def published_side(
    plan: Plan, grades: Grades, side: Side, reference: int, threshold: float
) -> tuple[float, tuple[Unit, ...]]:
    """Mean of the scores of all components / 5; a graph without components scores 1."""
    graph = plan.source(side, reference)
    progress = advance(graph, lambda q: grades.get(Ask(side, reference, q)), threshold)
    components = progress.components
    units = tuple(_component(c, side, reference, threshold) for c in components)
    if not components:
        return 1.0, units
    return sum(c.score for c in components) / _HIGH / len(components), units


def f1(precision: float, recall: float) -> float:
    """Harmonic mean; 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def peer_adjusted_recall(recall: float, peers: float) -> float:
    """Recall set against what the references recall of one another: its odds over theirs at even.

    With r and q for the two, r / (r + q (1 - r)): 0 and 1 stay, as does all with q = 1; the less
    people agree on what to say, the less a candidate is blamed for saying something else.
    """
    return recall / (recall + peers * (1 - recall)) if recall else 0.0


def _mean(units: Sequence[Unit], weights: Sequence[float], empty: float) -> float:
    total = sum(weights)
    if not total:
        return empty
    return sum((u.score or 0.0) * w for u, w in zip(units, weights, strict=True)) / total


def _unit(
    part: GraphUnit | Component, side: Side, subject: str, grade: Grade, threshold: float
) -> Unit:
    present = grade.value >= threshold
    detail: dict[str, Any] = {"grade": round(grade.value, 3)}
    if subject and part.kind != "entity":
        detail["of"] = subject
    if grade.contradiction and not present:
        detail["contradiction"] = grade.contradiction
    missing = "mistake" if side == "candidate" else "omission"
    score = (grade.value - _LOW) / (_HIGH - _LOW)
    verdict = "match" if present else missing
    return Unit(part.kind, part.text, side, part.spans, score, verdict, None, detail)


def _component(component: Component, side: Side, reference: int, threshold: float) -> Unit:
    grade = component.grade or rule_grade(component.score)
    unit = _unit(component, side, "", grade, threshold)
    detail = {**unit.detail, "identifier": component.identifier}
    if component.grade is None:
        detail["reason"] = "not asked: what it belongs to is absent"
    return replace(unit, detail=detail, reference_index=reference if side == "reference" else None)
