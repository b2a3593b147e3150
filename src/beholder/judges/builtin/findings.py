"""How far each unit of one text is in another: the evidence behind the built-in judge's grades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from beholder.embed.base import FloatArray
from beholder.judges.builtin.amounts import amount_value
from beholder.judges.builtin.analysed import AnalysedText, lower_excluded
from beholder.judges.builtin.entities import Counterparts, counterparts
from beholder.judges.builtin.lexis import content, named_further, said_in
from beholder.judges.builtin.nearby import ATTACHED, QUOTED, Nearby
from beholder.judges.builtin.relations import relation_findings
from beholder.judges.builtin.settings import Settings
from beholder.language.units import GraphUnit
from beholder.records import Span

_SAME = 0.85
"""Similarity from which two values say the same."""
_CERTAIN = 0.9
"""Likeness of an attribute on its entity from which words elsewhere do not matter."""
_KNOWN = 0.5
"""Similarity of names from which a counterpart is the same thing, so that it can contradict."""
_NARROWER = 0.7
"""Least value of a thing that is called the same, but whose name says more than the target's."""
_STATE = 0.5
"""Weight of what a thing does, against what it is like, when its counterpart is looked for."""
_NEAR = 0.7
"""Share of the best similarity that an entity named only in passing gives."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What the target says of one unit.

    Attributes:
        value: 0 (nothing like it) .. 1 (says so).
        contradiction: What the target says in its place, or empty.
        where: Characters of the counterpart in the target.
    """

    value: float
    contradiction: str = ""
    where: tuple[Span, ...] = ()


Findings: TypeAlias = dict[int, Finding]


def find(source: AnalysedText, target: AnalysedText, settings: Settings) -> tuple[Finding, ...]:
    """Look for every unit of the source in the target.

    Returns:
        One finding per unit of the source, in order.
    """
    anywhere = _anywhere(source, target, settings)
    agreement = _property_agreement(source, target, settings)
    pairs = counterparts(source, target, _by_entity(source, target, agreement.best), settings)
    nearby = Nearby(source, target, pairs.alike)
    found: Findings = {}
    for place, unit in enumerate(source.units):
        if unit.kind == "entity":
            found[place] = _entity(unit, source, target, pairs, anywhere[place], settings)
        elif unit.quantity:
            found[place] = _quantity(unit, source, target, pairs)
    least = settings.present("entity")
    wrong = [
        u.subject for p, u in enumerate(source.units) if p in found and _lost(u, found[p], least)
    ]
    _attributes(source, target, pairs, agreement, anywhere, settings, nearby, found)
    _spare_attributes(source, target, pairs, agreement, wrong, settings, found)
    for place, (value, contradiction, where) in relation_findings(
        source, target, pairs, anywhere, settings, nearby, wrong
    ).items():
        found[place] = Finding(value, contradiction, where)
    for place, unit in enumerate(source.units):
        known = found[place]
        if unit.kind != "entity" and nearby.quoted(unit, bool(known.contradiction)):
            found[place] = Finding(QUOTED, "", known.where)
    return tuple(found[place] for place in range(len(source.units)))


def _lost(unit: GraphUnit, finding: Finding, least: float) -> bool:
    return unit.kind == "entity" and unit.polarity and finding.value < least


def _spare_attributes(
    source: AnalysedText,
    target: AnalysedText,
    pairs: Counterparts,
    agreement: _Agreement,
    wrong: list[int],
    settings: Settings,
    found: Findings,
) -> None:
    """What is said of a wrong thing is no further mistake if it holds of the thing in its place."""
    for row, place in enumerate(agreement.places):
        index = source.units[place].subject
        said = target.property_owners == pairs.best[index]
        least = settings.present("attribute")
        if index in wrong and float(agreement.similarity[row][said].max(initial=0.0)) >= _SAME:
            finding = found[place]
            if finding.value < least and not finding.contradiction:
                found[place] = Finding(least, "", finding.where)


def _anywhere(source: AnalysedText, target: AnalysedText, settings: Settings) -> FloatArray:
    """(units,), how near the words of each unit come to any words of the target, 0..1."""
    words, owner = source.unit_words
    if not words or not target.words:
        return np.zeros(len(source.units))
    similarity = np.clip(source.unit_word_vectors @ target.word_vectors.T, 0.0, 1.0)
    lower_excluded(similarity, source.unit_word_values, target.word_values, settings.excluded)
    weights = source.unit_word_weights
    n = len(source.units)
    total = np.bincount(owner, similarity.max(axis=1) * weights, n)
    return total / np.maximum(np.bincount(owner, weights, n), 1e-9)


@dataclass(frozen=True)
class _Agreement:
    """How attributes of the source stand to what the target says of its entities.

    ``places`` are the units of the attributes; ``similarity`` is (attributes, properties), ``best``
    (attributes, entities of the target); ``excluded`` are pairs that exclude each other.
    """

    places: list[int]
    similarity: FloatArray
    best: FloatArray
    excluded: dict[int, list[int]]


def _property_agreement(
    source: AnalysedText, target: AnalysedText, settings: Settings
) -> _Agreement:
    units = source.units
    places = [p for p, u in enumerate(units) if u.kind == "attribute" and not u.quantity]
    by_place = {place: row for row, place in enumerate(places)}
    # Attributes come first among the properties, in the order of the units.
    attributes = [p for p, u in enumerate(units) if u.kind == "attribute"]
    rows = [row for row, place in enumerate(attributes) if place in by_place]
    asked = [source.properties[row].value for row in rows]
    similarity = said_in(asked, [p.value for p in target.properties], settings.excluded)
    whole = np.clip(source.property_vectors[rows] @ target.property_vectors.T, 0.0, 1.0)
    single = [row for row, value in enumerate(asked) if len(content(value)) == 1]
    similarity[single] = np.maximum(similarity[single], whole[single])
    chosen = {row: place for place, row in enumerate(rows)}
    values = [(chosen[row], v) for row, v in source.property_values if row in chosen]
    excluded: dict[int, list[int]] = {}
    for row, column in lower_excluded(
        similarity, values, target.property_values, settings.excluded
    ):
        excluded.setdefault(row, []).append(column)
    best = np.zeros((len(places), len(target.graph.entities)))
    np.maximum.at(best.T, target.property_owners, similarity.T)
    return _Agreement(places, similarity, best, excluded)


def _by_entity(source: AnalysedText, target: AnalysedText, best: FloatArray) -> FloatArray:
    """(n, m), agreement of each entity's attributes and amount with each other entity."""
    said = [u for u in source.units if u.kind == "attribute" and not u.quantity]
    owners = [unit.subject for unit in said]
    weights = np.array([_STATE if source.is_state(unit) else 1.0 for unit in said])
    total = np.zeros((len(source.graph.entities), best.shape[1]))
    np.add.at(total, owners, best * weights[:, None])
    counts = np.bincount(owners, weights, len(total)) if owners else np.zeros(len(total))
    total /= np.maximum(counts, _STATE)[:, None]
    for entity in source.graph.entities:
        if entity.quantity is not None:
            fits = [amount_value(entity, other)[0] for other in target.graph.entities]
            total[entity.index] += fits
    return total


def _entity(
    unit: GraphUnit,
    source: AnalysedText,
    target: AnalysedText,
    pairs: Counterparts,
    anywhere: float,
    settings: Settings,
) -> Finding:
    index = unit.subject
    other = int(pairs.best[index])
    if other < 0:
        near = (
            settings.entity_anywhere * anywhere + (1 - settings.entity_anywhere) * _NEAR * anywhere
        )
        return Finding(near if unit.polarity else 1.0 - near)
    named = float(pairs.similarity[index, other])
    value = settings.entity_anywhere * anywhere + (1 - settings.entity_anywhere) * max(
        named, _NEAR * anywhere
    )
    twin = target.graph.entities[other]
    if named >= _SAME:  # what it is called decides, not the rest of its name
        narrower = named_further(source.graph.entities[index].name, twin.name)
        value = max(value, min(named, _NARROWER) if narrower else named)
    where = (twin.mentions[0].span,)
    said = twin.mentions[0].text
    if not unit.polarity:  # "no people" holds where nothing speaks of people
        if named < _SAME or not twin.polarity:
            return Finding(
                1.0 if named < _SAME else max(value, _SAME), "", where if named >= _SAME else ()
            )
        return Finding(min(1.0 - value, settings.contradicted), said, where)
    if not twin.polarity and named >= _SAME:
        return Finding(min(value, settings.contradicted), f"no {said}", where)
    if pairs.unpaired[index]:
        return Finding(min(value, settings.unpaired), "", where)
    closest = int(np.argmax(pairs.plain[index]))
    if named < _SAME and pairs.plain[index, closest] > 1.5 * pairs.similarity[index, closest]:
        return Finding(value, target.graph.entities[closest].mentions[0].text, where)
    return Finding(value, "", where if named >= _KNOWN else ())


def _quantity(
    unit: GraphUnit, source: AnalysedText, target: AnalysedText, pairs: Counterparts
) -> Finding:
    other = int(pairs.best[unit.subject])
    if other < 0:
        return Finding(0.0)
    named = float(pairs.similarity[unit.subject, other])
    twin = target.graph.entities[other]
    value, contradicts = amount_value(source.graph.entities[unit.subject], twin)
    where = (twin.mentions[0].span,)
    if contradicts and named >= _KNOWN:
        return Finding(value * named, twin.quantity or "one", where)
    return Finding(value * named, "", where)


def _attributes(
    source: AnalysedText,
    target: AnalysedText,
    pairs: Counterparts,
    agreement: _Agreement,
    anywhere: FloatArray,
    settings: Settings,
    nearby: Nearby,
    found: Findings,
) -> None:
    """Findings of attributes: on the counterpart, elsewhere, or contradicted."""
    properties, owners = target.properties, target.property_owners
    for row, place in enumerate(agreement.places):
        unit = source.units[place]
        index, other = unit.subject, int(pairs.best[unit.subject])
        near = float(anywhere[place])
        if other < 0:
            found[place] = Finding(settings.anywhere * near)
            continue
        similarity = agreement.similarity[row]
        attached = float(np.max(pairs.strength[index] * agreement.best[row]))
        value = settings.anywhere * near + (1 - settings.anywhere) * attached
        value = max(value, attached) if attached >= _CERTAIN else value
        own = np.flatnonzero(owners == other)
        alike = pairs.alike[index, owners]
        beside = nearby.attribute(unit) if unit.polarity else 0.0
        known = pairs.similarity[index, other] >= _KNOWN
        on_own = float(similarity[own].max()) if len(own) else 0.0
        best = int(own[np.argmax(similarity[own])]) if len(own) else -1
        if known and on_own >= _SAME:
            where = properties[best].spans
            if properties[best].polarity != unit.polarity:
                said = properties[best].text
                said = said if properties[best].polarity else f"not {said}"
                found[place] = Finding(min(value, settings.contradicted), said, where)
                continue
            found[place] = Finding(max(value, beside), "", where)
            continue
        if beside >= ATTACHED:
            found[place] = Finding(max(value, beside))
            continue
        if not unit.polarity:  # "not red" holds where nothing says red
            found[place] = Finding(1.0 - settings.anywhere * on_own)
            continue
        against = [j for j in agreement.excluded.get(row, ()) if owners[j] == other]
        if known and against:
            said, where = properties[against[0]].text, properties[against[0]].spans
            found[place] = Finding(min(value, settings.contradicted), said, where)
            continue
        if known and float(similarity.max()) >= _SAME > attached:
            value *= settings.elsewhere
        value = max(value, beside, float(similarity[alike].max(initial=0.0)))
        found[place] = Finding(value, "", properties[best].spans if on_own >= _KNOWN else ())
