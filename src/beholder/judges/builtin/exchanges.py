"""Exchanged roles: facts that the target states of another thing's counterpart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np

from beholder.embed.base import FloatArray
from beholder.judges.builtin.analysed import AnalysedText, verb_similarity
from beholder.judges.builtin.entities import Counterparts
from beholder.judges.builtin.lexis import tie
from beholder.judges.builtin.numbers import number
from beholder.judges.builtin.predicates import alike_predicates
from beholder.language.statements import GraphUnit
from beholder.text.kinds import is_kind, senses

_SAME = number("decide.same")
_NAME_LIKENESS = number("exchanges.named")
_MOST_ALIKE = 2
"""Things of one name between which it is clear that a unit has moved."""


def exchanged(
    source: AnalysedText,
    target: AnalysedText,
    pairs: Counterparts,
    places: Sequence[int],
    similarity: FloatArray,
) -> dict[int, int]:
    """Return the units that the target states of another thing's counterpart instead of their own.

    Between two things of one name it is enough that one unit has moved; of three or more it is not
    sure which is meant. Between things of two names another must have moved the other way, as
    paraphrases shift what is said from a whole to its part; and each must be the only thing that
    either text calls so, as coreference may have split one thing in two ("flycatcher", "bird").

    Args:
        source: The text whose units are looked for.
        target: The text in which they are looked for.
        pairs: The counterparts.
        places: The units that are attributes.
        similarity: (attributes, properties of the target), how far they say the same.

    Returns:
        The entity of the target that has it, by the place of the unit.
    """
    counterpart_of = _known_counterparts(source, pairs)
    if len(counterpart_of) < 2:
        return {}
    claimed: dict[int, list[int]] = defaultdict(list)
    for index, counterpart in counterpart_of.items():
        claimed[counterpart].append(index)
    # Each unit that the target says of other things only, with the thing of the source that has it,
    # and its rivals: the things whose counterparts have it, with these counterparts.
    moved: list[tuple[int, int, dict[int, int]]] = []
    for place, owners in (
        *_attribute_owners(source, target, places, similarity),
        *_relation_owners(source, target, pairs),
    ):
        if not owners:
            continue
        index = _doer(source, source.units[place])
        own_counterpart = counterpart_of.get(index)
        if own_counterpart is None or own_counterpart in owners:
            continue
        rivals = {
            rival: owner
            for owner in owners
            for rival in claimed.get(owner, ())
        }
        if set(rivals.values()) == owners and not any(
            rival == index or _has(source, pairs, rival, place)
            for rival in rivals
        ):
            moved.append((place, index, rivals))
    if not moved:
        return {}
    entities = source.graph.entities
    # Plan: a unit is exchanged if the target gives it to the counterpart of a
    # rival only. The rival must be named like the owner, or the exchange must
    # be mutual between two things that are the only ones of their name.
    called = pairs.similarity >= _SAME
    alike = np.maximum(called.sum(axis=1), (called @ called.T).sum(axis=1))
    alone = alike <= 1
    both = {(owner, rival) for _, owner, rivals in moved for rival in rivals}
    return {
        place: counterpart
        for place, owner, rivals in moved
        for rival, counterpart in rivals.items()
        if (
            _called_alike(source, owner, rival) and alike[owner] <= _MOST_ALIKE
        )
        or (
            (rival, owner) in both
            and alone[owner]
            and alone[rival]
            and not _may_be_one(
                entities[rival].head.lower(), entities[owner].head.lower()
            )
        )
    }


def _known_counterparts(
    source: AnalysedText, pairs: Counterparts
) -> dict[int, int]:
    """The counterparts of named, affirmed things that are surely called the same."""
    counterparts = {}
    for entity in source.graph.entities:
        index, counterpart = entity.index, int(pairs.best[entity.index])
        if entity.kind != "thing" or not entity.polarity or counterpart < 0:
            continue
        if (
            pairs.similarity[index, counterpart] >= _NAME_LIKENESS
            and not pairs.unpaired[index]
        ):
            counterparts[index] = counterpart
    return counterparts


def _attribute_owners(
    source: AnalysedText,
    target: AnalysedText,
    places: Sequence[int],
    similarity: FloatArray,
) -> Iterable[tuple[int, set[int]]]:
    """Return, per attribute, the entities of the target that have it."""
    owners: dict[int, set[int]] = defaultdict(set)
    for row, column in np.argwhere(similarity >= _SAME).tolist():
        owners[places[row]].add(target.properties[column].entity)
    for place in places:
        if source.units[place].polarity:
            yield place, owners[place]


def _relation_owners(
    source: AnalysedText, target: AnalysedText, pairs: Counterparts
) -> Iterable[tuple[int, set[int]]]:
    """Return, per relation, the entities of the target that have this relation to its object."""
    ends = target.relation_ends.T.tolist()
    verbs = verb_similarity(source, target)
    for row, (place, unit, predicate) in enumerate(source.relations):
        if unit.object is None or not unit.polarity:
            continue
        # Each its own where both texts have as many.
        is_namesake = pairs.alike[unit.object].tolist()
        owners: set[int] = set()
        for column, (first, second) in enumerate(ends):
            _, relation, other_predicate = target.relations[column]
            if not (
                relation.polarity
                and (is_namesake[first] or is_namesake[second])
            ):
                continue
            straight, crossed = alike_predicates(
                predicate, other_predicate, verbs.item(row, column)
            )
            if straight and is_namesake[second]:
                owners.add(_doer(target, relation))
            if crossed and is_namesake[first]:
                owners.add(second)
        yield place, owners


def _doer(text: AnalysedText, unit: GraphUnit) -> int:
    """Return the thing of a unit, by its words where the parse gives one thing two verbs.

    Of two clauses joined by "and" it may give the second verb to the subject of the first ("the
    right panel shows Eve and the left panel shows Adam"): a thing of the same name that stands
    right before the verb is its subject.
    """
    subject = unit.subject
    if not (unit.verb and unit.spans):
        return subject
    neighbour = text.named_at.get(text.at(unit.spans[0])[0] - 1, subject)
    if neighbour == subject or not _called_alike(text, subject, neighbour):
        return subject
    twice = any(
        rival.subject == subject
        and rival.value == unit.value
        and rival.spans != unit.spans
        for rival in text.units
    )
    return neighbour if twice else subject


def _has(
    source: AnalysedText, pairs: Counterparts, index: int, place: int
) -> bool:
    """Return whether another source entity has the unit too, as far as the target distinguishes.

    "In a dress" of two women is the same unit, unless the target has a dress for each.
    """
    source_unit = source.units[place]
    return any(
        unit.subject == index
        and unit.kind == source_unit.kind
        and unit.value == source_unit.value
        and (
            unit.object is None
            or source_unit.object is None
            or pairs.best[unit.object] == pairs.best[source_unit.object]
        )
        for unit in source.units
    )


def _called_alike(text: AnalysedText, a: int, b: int) -> bool:
    """Return whether two single things have the same name."""
    first, second = text.graph.entities[a], text.graph.entities[b]
    return first.head.lower() == second.head.lower() and not (
        first.plural or second.plural
    )


def _may_be_one(a: str, b: str) -> bool:
    """Return whether two nouns may name one thing (sparrow, bird); unknown nouns may."""
    return (
        not (senses(a, "n") and senses(b, "n"))
        or tie(a, b) == "same"
        or is_kind(a, b)
        or is_kind(b, a)
    )
