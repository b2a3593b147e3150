"""From grades to scores: pure functions, one per rule set."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from beholder.errors import ItemError
from beholder.judges import Grade
from beholder.judges.grades import rule_grade
from beholder.language.graph import SceneGraph
from beholder.language.statements import GraphUnit
from beholder.metrics.base import ValueInfo
from beholder.metrics.posh.plan import Ask, Grades, Plan
from beholder.metrics.posh.published import (
    HIGHEST,
    LOWEST,
    Component,
    Wording,
    as_made,
    mean_score,
)
from beholder.records import Side, Span, Unit
from beholder.text import frequency
from beholder.text.tokenize import lower_words

RATES = (
    ValueInfo(
        "contradicted_rate",
        "share of the candidate's units that the reference contradicts",
        higher_is_better=False,
    ),
    ValueInfo(
        "unstated_rate",
        "share of the candidate's units that the reference does not state",
        higher_is_better=False,
    ),
    ValueInfo(
        "omission_rate",
        "share of the references' units that the candidate does not state",
        higher_is_better=False,
    ),
)
"""The values that ``rates`` returns."""


CONTRADICTED = 5.0
"""Weight of a contradicted unit, against one that is not stated: a wrong fact is worse than a
paraphrase that was not recognised. Chosen on half of ``suite minimal-pairs``. Only for
``weighting="information"``: with equal weights the values are the plain mean of the paper."""


@dataclass(frozen=True, slots=True)
class Weighing:
    """The weights of units.

    Attributes:
        kinds: Weight by kind.
        information: True if a unit counts by the information of its words, and five times if it is
            contradicted; otherwise every unit of a kind counts alike.
    """

    kinds: Mapping[str, float]
    information: bool

    def weight_of(self, kind: str, value: str) -> float:
        """Return the weight of a unit with this base form."""
        if not self.information:
            return self.kinds[kind]
        return self.kinds[kind] * sum(frequency.weights(lower_words(value)))

    @property
    def contradicted(self) -> float:
        """The factor of a unit that the other text contradicts."""
        return CONTRADICTED if self.information else 1.0


@dataclass(frozen=True)
class ScoredSide:
    """A side of an item, judged.

    Attributes:
        value: Its precision or recall.
        units: Its units.
    """

    value: float
    units: tuple[Unit, ...]


def fixed_precision(
    plan: Plan, grades: Grades, weighing: Weighing
) -> ScoredSide:
    """Return precision against the union of the references: each unit's best grade counts.

    A candidate without units has precision 0. A relation that the
    judge excuses, as a thing of it is wrong itself, is left out.
    """
    units, parts = [], []
    for unit, question in plan.questions[0]:
        unit_grades = [
            grades[Ask("candidate", i, question)] for i in plan.distinct
        ]
        # Of equal grades the one that counts, then the sure one: the order of references must not
        # decide whether the unit is left out.
        place = max(
            range(len(unit_grades)),
            key=lambda i: (
                unit_grades[i].value,
                not unit_grades[i].excused,
                unit_grades[i].sure,
            ),
        )
        grade, best = unit_grades[place], plan.distinct[place]
        if grade.excused:
            continue
        parts.append(unit)
        if grade.value < plan.threshold:
            # A reference that says otherwise has more information than a silent one.
            contradicting = [
                g for g in unit_grades if g.contradiction and g.sure
            ]
            if contradicting:
                grade = replace(
                    grade,
                    contradiction=contradicting[0].contradiction,
                    sure=True,
                )
        about = {
            "weight": weighing.weight_of(unit.kind, unit.value),
            "reference": best,
        }
        candidate_unit = _unit(
            unit, "candidate", question.subject, grade, plan.threshold, about
        )
        units.append(_weigh(candidate_unit, weighing))
    return ScoredSide(_mean(units), tuple(_put_under(units, parts)))


def fixed_recall(
    plan: Plan,
    grades: Grades,
    weighing: Weighing,
    rule: Literal["best", "mean"],
) -> ScoredSide:
    """Return recall as the best or the mean over the references with units.

    Raises:
        ItemError: No reference names anything, so that nothing can be missing.
    """
    values: list[float] = []
    units: list[Unit] = []
    for index in plan.distinct:
        reference_units, parts = [], []
        for unit, question in plan.questions[1 + index]:
            grade = grades[Ask("reference", index, question)]
            if grade.excused:
                continue
            parts.append(unit)
            about = {"weight": weighing.weight_of(unit.kind, unit.value)}
            arguments = (question.subject, grade, plan.threshold, about, index)
            reference_units.append(
                _weigh(_unit(unit, "reference", *arguments), weighing)
            )
        if reference_units:
            values.append(_mean(reference_units))
        units += _put_under(reference_units, parts)
    if not values:
        raise ItemError(
            "no reference names anything that could be looked for; the first begins "
            f"{plan.references[0].text.strip()[:40]!r}"
        )
    # fsum, so that the order of references changes no digit.
    value = max(values) if rule == "best" else math.fsum(values) / len(values)
    return ScoredSide(value, tuple(units))


def published_side(
    plan: Plan,
    grades: Grades,
    side: Side,
    reference: int,
    wording: Wording = as_made,
) -> ScoredSide:
    """Score one side as published: mean of all components / 5, and 1 without components."""
    components = plan.advance(side, reference, grades, wording).components
    units = tuple(
        _component(c, side, reference, plan.threshold) for c in components
    )
    return ScoredSide(mean_score(components), units)


def _mean(units: Sequence[Unit]) -> float:
    """Return the weighted mean of the units' scores; 0 if there are none, or all weigh 0."""
    weights = [float(unit.detail["weight"]) for unit in units]
    total = sum(weights)
    if not total:
        return 0.0
    return (
        sum(
            (unit.score or 0.0) * w
            for unit, w in zip(units, weights, strict=True)
        )
        / total
    )


def _unit(
    part: GraphUnit | Component,
    side: Side,
    subject: str,
    grade: Grade,
    threshold: float,
    about: Mapping[str, Any],
    reference: int | None = None,
) -> Unit:
    present = grade.value >= threshold
    detail: dict[str, Any] = {"grade": round(grade.value, 3), **about}
    if subject and part.kind != "entity":
        detail["of"] = subject
    if not grade.sure:
        detail["unsure"] = True
    # An unsure contradiction is not shown, and a present unit has none.
    contradicted = bool(grade.contradiction) and grade.sure and not present
    if contradicted:
        detail["contradiction"] = grade.contradiction
    # Grades of 1 to 5 become scores of 0 to 1.
    score = (grade.value - LOWEST) / (HIGHEST - LOWEST)
    verdict = "match"
    if not present:
        verdict = "omission" if side == "reference" else "unstated"
    if verdict == "unstated" and contradicted:
        verdict = "contradicted"
    spans = part.spans + grade.further
    return Unit(
        part.kind, part.text, side, spans, score, verdict, reference, detail
    )


def _weigh(unit: Unit, weighing: Weighing) -> Unit:
    """Return the unit, its weight scaled by a factor if the other text contradicts it."""
    if "contradiction" not in unit.detail:
        return unit
    weight = unit.detail["weight"] * weighing.contradicted
    return replace(unit, detail={**unit.detail, "weight": weight})


def rates(
    candidate: Sequence[Unit], reference: Sequence[Unit]
) -> dict[str, float]:
    """Return shares of the units of a text, each counting alike; 0 where a text has none."""

    def share(units: Sequence[Unit], verdict: str) -> float:
        return (
            sum(unit.verdict == verdict for unit in units) / len(units)
            if units
            else 0.0
        )

    return {
        "contradicted_rate": share(candidate, "contradicted"),
        "unstated_rate": share(candidate, "unstated"),
        "omission_rate": share(reference, "omission"),
    }


def _put_under(
    units: Sequence[Unit], parts: Sequence[GraphUnit]
) -> list[Unit]:
    """Put the units about an absent thing under that thing, for readers.

    Such a unit gets ``detail["under"]``, the name of the thing; the thing gets ``detail["holds"]``,
    how many are under it. A contradicted unit stays by itself.
    """
    absent = {
        part.subject: place
        for place, (unit, part) in enumerate(zip(units, parts, strict=True))
        if part.kind == "entity"
        and part.polarity
        and unit.verdict in ("unstated", "omission")
    }
    folded_units, n_under = list(units), Counter[int]()
    for place, (unit, part) in enumerate(zip(units, parts, strict=True)):
        if part.kind == "entity" or unit.verdict not in (
            "unstated",
            "omission",
        ):
            continue
        # A relation is under its subject, or under its object if only that is
        # absent.
        ends = (
            (part.subject,)
            if part.object is None
            else (part.subject, part.object)
        )
        owner = next((absent[end] for end in ends if end in absent), None)
        if owner is not None:
            folded_units[place] = replace(
                unit, detail={**unit.detail, "under": units[owner].text}
            )
            n_under[owner] += 1
    for owner, n in n_under.items():
        folded_units[owner] = replace(
            folded_units[owner],
            detail={**folded_units[owner].detail, "holds": n},
        )
    return folded_units


def _component(
    component: Component, side: Side, reference: int, threshold: float
) -> Unit:
    grade = component.grade or rule_grade(component.score)
    about: dict[str, Any] = {"identifier": component.identifier}
    # Published rules ask only about parts of present entities.
    if component.grade is None:
        about["reason"] = "not asked: what it belongs to is absent"
    unit = _unit(component, side, "", grade, threshold, about)
    place = reference if side == "reference" else None
    return replace(
        unit, score=component.score / HIGHEST, reference_index=place
    )


def graphs_detail(
    plan: Plan, units: Sequence[Unit], in_order: float
) -> dict[str, object]:
    """Return ``ItemScore.detail`` of PoSh.

    Returns:
        A dict with the keys

        - ``view``: ``"scene_graph"``.
        - ``presence_threshold``: grade from which a unit is present.
        - ``peers``: what the references recall of one another, 1 where that does not count.
        - ``in_order``: the factor of precision and recall, 0.2..1; below 1 for a reference's words
          out of order.
        - ``graphs``: the candidate's graph, then one per reference. Each has ``nodes``, with
          ``name``, ``unit`` (place in the item's units, or None) and ``attributes`` (places), and
          ``edges``: rows of subject, object, words, and place in the units or None.
    """
    graphs = [
        _graph(
            plan.candidate,
            [u if u.side == "candidate" else None for u in units],
        )
    ]
    # Each graph names its units by their places in the list of all units.
    for index, graph in enumerate(plan.references):
        reference_units = [
            u if u.side == "reference" and u.reference_index == index else None
            for u in units
        ]
        graphs.append(_graph(graph, reference_units))
    return {
        "view": "scene_graph",
        "presence_threshold": plan.threshold,
        "peers": plan.peers,
        "in_order": in_order,
        "graphs": graphs,
    }


def _graph(
    graph: SceneGraph, units: Sequence[Unit | None]
) -> dict[str, object]:
    # A denied unit has a span more than its part of the graph, its last: the first ones identify
    # it.
    places: dict[tuple[str, str, tuple[Span, ...]], int] = {}
    for place, unit in enumerate(units):
        if unit is not None:
            places.setdefault((unit.kind, unit.text, unit.spans[:1]), place)

    def place_of(kind: str, text: str, spans: tuple[Span, ...]) -> int | None:
        return places.get((kind, text, spans[:1]))

    nodes: list[dict[str, Any]] = [
        {
            "name": entity.name,
            "unit": place_of(
                "entity", entity.name, (entity.mentions[0].span,)
            ),
            "attributes": [],
        }
        for entity in graph.entities
    ]
    for attribute in graph.attributes:
        unit_place = place_of("attribute", attribute.text, attribute.spans)
        if unit_place is not None:
            nodes[attribute.entity]["attributes"].append(unit_place)
    edges = [
        [r.subject, r.object, r.text, place_of("relation", r.text, r.spans)]
        for r in graph.relations
    ]
    return {"nodes": nodes, "edges": edges}
