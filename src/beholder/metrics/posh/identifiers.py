"""Words that tell which of several like things is meant."""

from __future__ import annotations

from beholder.language.graph import SceneGraph

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")


def identifier(graph: SceneGraph, entity: int, without: str = "") -> str:
    """A phrase that names one entity of a graph and no other.

    The name alone where it is unique, else with an attribute or a relation that no namesake has,
    else with a number ("second man").

    Args:
        graph: The graph.
        entity: Index of the entity.
        without: Value of an attribute that must not be used, since it is what will be asked.
    """
    own = graph.entities[entity]
    rivals = [e.index for e in graph.entities if e.name == own.name and e.index != entity]
    if not rivals:
        return own.name
    theirs = {a.value for rival in rivals for a in graph.attributes_of(rival)}
    for attribute in graph.attributes_of(entity):
        told = attribute.value not in theirs and attribute.value != without
        if told and attribute.kind == "quality" and attribute.polarity:
            return f"{attribute.value} {own.name}"
    said = {
        (r.predicate, graph.entities[r.object].name) for r in graph.relations if r.subject in rivals
    }
    for relation in graph.relations:
        other = graph.entities[relation.object].name
        if relation.subject == entity and (relation.predicate, other) not in said:
            return f"{own.name} that is {relation.text} {other}"
    place = sum(rival < entity for rival in rivals)
    return f"{_ORDINALS[place] if place < len(_ORDINALS) else f'{place + 1}th'} {own.name}"
