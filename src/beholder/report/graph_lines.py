"""A scene graph as lines of text."""

from __future__ import annotations

from collections.abc import Iterator

from beholder.language.graph import Attribute, Entity, Relation, SceneGraph


def graph_text(graph: SceneGraph) -> str:
    """A line per entity with its attributes, and one below it per relation that begins there."""
    return "\n".join(_lines(graph))


def _lines(graph: SceneGraph) -> Iterator[str]:
    for entity in graph.entities:
        attributes = ", ".join(_attribute(a) for a in graph.attributes_of(entity.index))
        yield _entity(entity) + (f": {attributes}" if attributes else "")
        for relation in graph.relations:
            if relation.subject == entity.index:
                yield f"    {_relation(relation)} -> {_label(graph.entities[relation.object])}"


def _label(entity: Entity) -> str:
    return f"{entity.name} [{entity.index}]"


def _entity(entity: Entity) -> str:
    notes = [entity.quantity] if entity.quantity else []
    notes += ["not there"] if not entity.polarity else []
    notes += [entity.kind] if entity.kind != "thing" else []
    notes += [f"one of [{entity.member_of}]"] if entity.member_of is not None else []
    return _label(entity) + (f" ({', '.join(notes)})" if notes else "")


def _attribute(attribute: Attribute) -> str:
    return attribute.text if attribute.polarity else f"not {attribute.text}"


def _relation(relation: Relation) -> str:
    return relation.text if relation.polarity else f"not {relation.text}"
