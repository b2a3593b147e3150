"""Relations of one text in another: by predicate, ends and direction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from beholder.judges.builtin.analysed import AnalysedText, verb_similarity
from beholder.judges.builtin.entities import Counterparts
from beholder.judges.builtin.evidence import Evidence
from beholder.judges.builtin.numbers import number
from beholder.judges.builtin.predicates import (
    Predicate,
    likeness,
    verb_likeness,
)

_ENDS = number("decide.ends")
_LEAST_SHOWN = number("relations.shown")


class _Near(NamedTuple):
    """Similarity of a relation of the target to one of the source, and its place."""

    value: float = 0.0
    at: int = -1


def related(
    source: AnalysedText, target: AnalysedText, pairs: Counterparts
) -> dict[int, Evidence]:
    """Gather the evidence of the target on each relation of the source, by index of its unit."""
    verbs = verb_similarity(source, target)
    strength = pairs.strength
    first, second = source.relation_ends
    subjects, objects = target.relation_ends
    by_first, by_second = strength[first], strength[second]
    straight = np.sqrt(by_first[:, subjects] * by_second[:, objects])
    crossed = np.sqrt(by_first[:, objects] * by_second[:, subjects])
    # Best ends first, so that the search below may stop early. A stable sort
    # keeps the result independent of the processor.
    order = np.argsort(-np.maximum(straight, crossed), axis=1, kind="stable")
    evidence_by_place: dict[int, Evidence] = {}
    tables = (table.tolist() for table in (verbs, straight, crossed, order))
    for (place, unit, predicate), *rows in zip(
        source.relations, *tables, strict=True
    ):
        best, reverse, ends = _look(predicate, target, *rows)
        denied, contradiction, at = False, "", best.at
        # The exchanged reading counts only if nothing says the relation as
        # it is.
        if reverse.value >= _ENDS > best.value:
            at = reverse.at
            contradiction = _relation_text(target, at)
        elif best.value >= _ENDS:
            denied = target.relations[at][1].polarity != unit.polarity
            contradiction = _relation_text(target, at) if denied else ""
        is_located = at >= 0 and (contradiction or best.value >= _LEAST_SHOWN)
        evidence_by_place[place] = Evidence(
            "relation",
            stated=best.value,
            between=ends.value,
            turned=reverse.value,
            bare=not predicate.verb and not predicate.verb_turned,
            denied=denied,
            instead=contradiction,
            where=target.relations[at][1].spans if is_located else (),
        )
    return evidence_by_place


def _look(
    predicate: Predicate,
    target: AnalysedText,
    verbs: Sequence[float],
    straight: Sequence[float],
    crossed: Sequence[float],
    order: Sequence[int],
) -> tuple[_Near, _Near, _Near]:
    """Return the target's relations most like one: as it is, exchanged, and by their ends.

    They come in the order of their ends, the likest first; of relations as like the first counts.
    """
    best = reverse = likest = _Near()
    for column in order:
        right, wrong = straight[column], crossed[column]
        ends = max(right, wrong)
        # No likeness is above that of the ends, and a reverse counts from _ENDS on.
        if ends < best.value and (ends < _ENDS or ends < reverse.value):
            break
        if ends > likest.value:
            likest = _Near(ends, column)
        target_predicate = target.relations[column][2]
        verb = verb_likeness(predicate, target_predicate, verbs[column])
        right, wrong = likeness(
            predicate, target_predicate, verb, right, wrong
        )
        if right > best.value or (right == best.value and column < best.at):
            best = _Near(right, column)
        if wrong > reverse.value or (
            wrong == reverse.value and column < reverse.at
        ):
            reverse = _Near(wrong, column)
    return best, reverse, likest


def _relation_text(target: AnalysedText, at: int) -> str:
    """A relation of the target in words."""
    unit = target.relations[at][1]
    entities = target.graph.entities
    object_ = entities[
        unit.object if unit.object is not None else unit.subject
    ]
    denied = "" if unit.polarity else "not "
    first = entities[unit.subject].mentions[0].text
    return f"{first} {denied}{unit.text} {object_.mentions[0].text}"
