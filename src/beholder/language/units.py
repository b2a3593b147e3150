"""The units of a scene graph that are judged one by one: entities, attributes, relations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from beholder.language.graph import Entity, SceneGraph
from beholder.records import Span

UnitKind: TypeAlias = Literal["entity", "attribute", "relation"]

_BEFORE = 60
"""How far before its noun a quantity is looked for, in characters."""


@dataclass(frozen=True, slots=True)
class GraphUnit:
    """One part of a scene graph that a text may have or lack.

    Attributes:
        kind: ``entity``, ``attribute`` or ``relation``.
        text: The unit as written.
        value: In base form, to compare with.
        spans: Its characters in the original text; empty where nothing is written.
        subject: The entity, the entity that has the attribute, or the relation's first end.
        object: The relation's other end, or None.
        polarity: False if the text denies it.
        passive: Whether the relation's subject undergoes its verb.
        verb: Whether the relation begins with a verb.
        quantity: Whether the attribute says how many there are.
    """

    kind: UnitKind
    text: str
    value: str
    spans: tuple[Span, ...]
    subject: int
    object: int | None = None
    polarity: bool = True
    passive: bool = False
    verb: bool = False
    quantity: bool = False

    def place(self, graph: SceneGraph) -> tuple[int, ...]:
        """Where its words and its ends begin in the text: tells it from every other unit."""
        starts = [self.spans[0][0] if self.spans else -1]
        if self.kind != "entity":
            starts.append(graph.entities[self.subject].mentions[0].span[0])
        if self.object is not None:
            starts.append(graph.entities[self.object].mentions[0].span[0])
        return tuple(starts)


def graph_units(graph: SceneGraph) -> tuple[GraphUnit, ...]:
    """The units of a graph: entities, then attributes and quantities, then relations.

    The picture itself and what is said of it are no units; a pronoun that is never named is no
    entity to look for, but what is said of it counts. A relation said of a pair twice counts once.
    """
    found = [_entity(entity) for entity in graph.entities if entity.kind == "thing"]
    seen: set[tuple[object, ...]] = set()
    for attribute in graph.attributes:
        key: tuple[object, ...] = (attribute.entity, attribute.value, attribute.polarity)
        if graph.entities[attribute.entity].kind == "picture" or key in seen:
            continue
        seen.add(key)
        found.append(
            GraphUnit(
                "attribute",
                attribute.text,
                attribute.value,
                attribute.spans,
                attribute.entity,
                polarity=attribute.polarity,
            )
        )
    found += [
        _quantity(graph, e) for e in graph.entities if e.kind == "thing" and e.quantity is not None
    ]
    for relation in graph.relations:
        ends = (graph.entities[relation.subject], graph.entities[relation.object])
        key = (relation.subject, relation.object, relation.predicate, relation.polarity)
        if key in seen or any(end.kind == "picture" for end in ends):
            continue
        seen.add(key)
        found.append(
            GraphUnit(
                "relation",
                relation.text,
                relation.predicate,
                relation.spans,
                relation.subject,
                relation.object,
                relation.polarity,
                relation.passive,
                relation.kind == "verb",
            )
        )
    return tuple(found)


def _entity(entity: Entity) -> GraphUnit:
    spans = tuple(mention.span for mention in entity.mentions)
    return GraphUnit(
        "entity", entity.name, entity.name, spans, entity.index, polarity=entity.polarity
    )


def _quantity(graph: SceneGraph, entity: Entity) -> GraphUnit:
    """How many there are, as an attribute; graphs hold the word but not its place."""
    words = entity.quantity or ""
    end = entity.mentions[0].span[0]
    start = max(0, end - _BEFORE)
    pattern = r"\s+".join(re.escape(word) for word in words.split())
    places = list(re.finditer(rf"\b{pattern}\b", graph.text[start:end], re.IGNORECASE))
    spans: tuple[Span, ...] = (entity.mentions[0].span,)
    if places:
        spans = ((start + places[-1].start(), start + places[-1].end()),)
    return GraphUnit("attribute", words, words.lower(), spans, entity.index, quantity=True)
