"""Agreement of attributes: those of one text with what another says of its things."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beholder.embed.base import FloatArray
from beholder.embed.exact import cosines
from beholder.judges.builtin.amounts import amount_value
from beholder.judges.builtin.analysed import AnalysedText, lower_excluded
from beholder.judges.builtin.classes import Values
from beholder.judges.builtin.lexis import content, part_numbers, said_in
from beholder.judges.builtin.numbers import number

_STATE = number("evidence.state")


@dataclass(frozen=True)
class AttributeAgreement:
    """Scores of the source's attributes against the target's facts about its entities.

    ``places`` are the units of the attributes; ``similarity`` is (attributes, properties), ``best``
    (attributes, entities of the target); ``excluded`` are pairs that exclude each other;
    ``values`` are those of the attributes.
    """

    places: list[int]
    similarity: FloatArray
    best: FloatArray
    excluded: dict[int, list[int]]
    values: list[Values]


def property_agreement(
    source: AnalysedText, target: AnalysedText
) -> AttributeAgreement:
    """Compare the attributes of a text with all facts about the things of another."""
    places = [
        p
        for p, u in enumerate(source.units)
        if u.kind == "attribute" and not u.quantity
    ]
    # They come first among the properties, in the order of the units.
    source_values = [
        property_.value for property_ in source.properties[: len(places)]
    ]
    there = [property_.value for property_ in target.properties]
    similarity = said_in(source_values, there)
    # A value of one content word is compared as a whole phrase as well, as its
    # vector may be nearer than that of its words.
    single = [
        row
        for row, value in enumerate(source_values)
        if len(content(value)) == 1
    ]
    whole = cosines(source.property_vectors[single], target.property_vectors)
    part_numbers(whole, [source_values[row] for row in single], there)
    similarity[single] = np.maximum(similarity[single], whole)
    values = [
        (row, value)
        for row, value in source.property_values
        if row < len(places)
    ]
    excluded: dict[int, list[int]] = {}
    # How many there are excludes no other number: "two men" are "six feet tall".
    target_values = [
        (p, v)
        for p, v in target.property_values
        if not target.properties[p].quantity
    ]
    for row, column in lower_excluded(similarity, values, target_values):
        excluded.setdefault(row, []).append(column)
    best = np.zeros((len(places), len(target.graph.entities)))
    np.maximum.at(best.T, target.property_owners, similarity.T)
    row_values = [
        source.values_at.get(row, frozenset()) for row in range(len(places))
    ]
    return AttributeAgreement(places, similarity, best, excluded, row_values)


def agreement_by_entity(
    source: AnalysedText, target: AnalysedText, best: FloatArray
) -> FloatArray:
    """Return (n, m), agreement of each entity's attributes and amount with each other entity."""
    attributes = [
        u for u in source.units if u.kind == "attribute" and not u.quantity
    ]
    owners = [unit.subject for unit in attributes]
    # What a thing does in the moment identifies it less than what it is like.
    weights = np.array(
        [_STATE if source.is_state(unit) else 1.0 for unit in attributes]
    )
    total = np.zeros((len(source.graph.entities), best.shape[1]))
    np.add.at(total, owners, best * weights[:, None])
    counts = (
        np.bincount(owners, weights, len(total))
        if owners
        else np.zeros(len(total))
    )
    total /= np.maximum(counts, _STATE)[:, None]
    for entity in source.graph.entities:
        if entity.quantity is not None:
            fits = [
                amount_value(entity, target_entity)[0]
                for target_entity in target.graph.entities
            ]
            total[entity.index] += fits
    return total
