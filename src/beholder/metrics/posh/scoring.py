"""From grades to scores: pure functions, one per rule set."""

from __future__ import annotations

from collections import Counter
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
    parts = [unit for unit, _ in plan.questions[0]]
    return Judged(_mean(units, weights, empty=0.0), tuple(_folded(units, parts)))


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
        units += _folded(own, [unit for unit, _ in questions])
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
    score = (grade.value - _LOW) / (_HIGH - _LOW)
    verdict = "match" if present else "omission" if side == "reference" else "unstated"
    if verdict == "unstated" and grade.contradiction:
        verdict = "contradicted"
    return Unit(part.kind, part.text, side, part.spans, score, verdict, None, detail)


def rates(candidate: Sequence[Unit], reference: Sequence[Unit]) -> dict[str, float]:
    """Shares of the units of a text, each counting alike; 0 where a text has none."""

    def share(units: Sequence[Unit], verdict: str) -> float:
        return sum(unit.verdict == verdict for unit in units) / len(units) if units else 0.0

    return {
        "contradicted_rate": share(candidate, "contradicted"),
        "unstated_rate": share(candidate, "unstated"),
        "omission_rate": share(reference, "omission"),
    }


def _folded(units: Sequence[Unit], parts: Sequence[GraphUnit]) -> list[Unit]:
    """The units of one text, with what is said of an absent thing put under it for readers.

    Such a unit gets ``detail["under"]``, the name of the thing, and the thing ``detail["holds"]``,
    how many are under it. What the other text contradicts stands for itself.
    """
    absent = {
        part.subject: place
        for place, (unit, part) in enumerate(zip(units, parts, strict=True))
        if part.kind == "entity" and part.polarity and unit.verdict in ("unstated", "omission")
    }
    found, held = list(units), Counter[int]()
    for place, (unit, part) in enumerate(zip(units, parts, strict=True)):
        if part.kind == "entity" or unit.verdict not in ("unstated", "omission"):
            continue
        ends = (part.subject,) if part.object is None else (part.subject, part.object)
        owner = next((absent[end] for end in ends if end in absent), None)
        if owner is not None:
            found[place] = replace(unit, detail={**unit.detail, "under": units[owner].text})
            held[owner] += 1
    for owner, n in held.items():
        found[owner] = replace(found[owner], detail={**found[owner].detail, "holds": n})
    return found


def _component(component: Component, side: Side, reference: int, threshold: float) -> Unit:
    grade = component.grade or rule_grade(component.score)
    unit = _unit(component, side, "", grade, threshold)
    detail = {**unit.detail, "identifier": component.identifier}
    if component.grade is None:
        detail["reason"] = "not asked: what it belongs to is absent"
    return replace(unit, detail=detail, reference_index=reference if side == "reference" else None)
