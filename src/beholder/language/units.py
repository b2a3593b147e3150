"""The units of a scene graph that are judged one by one: entities, attributes, relations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from beholder.language.graph import APART, Attribute, Entity, Relation, SceneGraph
from beholder.language.lexicon import GROUP_NOUNS, INDEFINITE, SELECTORS
from beholder.language.numerals import number
from beholder.language.unseen import EFFECT_VERBS, EMPTY_QUALITIES, GENERIC, MOOD, OPINIONS
from beholder.records import Span

UnitKind: TypeAlias = Literal["entity", "attribute", "relation"]

_BEFORE = 60
"""How far before its noun a quantity is looked for, in characters."""
_SAYS_NOTHING = EMPTY_QUALITIES | MOOD | OPINIONS
_AMOUNTS = GROUP_NOUNS | INDEFINITE | {"multiple", "numerous", "dozens"}
"""Words that say how many, and do not only cut a piece off."""
_DENIAL = re.compile(r"\b(?:no|not|never|neither|nor|without)\b|n't\b", re.IGNORECASE)
_DENIED_WITHIN = 40
"""How far before a denied unit its negation is looked for, in characters."""
_OWNERS = frozenset(("its", "his", "her", "their", "whose"))


@dataclass(frozen=True, slots=True)
class GraphUnit:
    """One part of a scene graph that a text may have or not.

    Attributes:
        kind: ``entity``, ``attribute`` or ``relation``.
        text: The unit as written.
        value: In base form, to compare with.
        spans: Its characters in the original text, last those of the word that denies it; empty if
            nothing is written.
        subject: The entity, the entity that has the attribute, or the relation's first end.
        object: The relation's other end, or None.
        polarity: False if the text denies it.
        passive: Whether the relation's subject undergoes its verb.
        verb: Whether the relation begins with a verb.
        quantity: Whether the attribute says how many there are.
        asked: Whether it is looked for by itself. If not, it only helps to distinguish things:
            which thing has a part, by a pronoun ("its tail"); what makes an effect; a bare place
            ("the front"); a quality that says nothing ("visible").
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
    asked: bool = True

    def place(self, graph: SceneGraph) -> tuple[int, ...]:
        """Where its words and its ends begin in the text: identifies it."""
        starts = [self.spans[0][0] if self.spans else -1]
        if self.kind != "entity":
            starts.append(graph.entities[self.subject].mentions[0].span[0])
        if self.object is not None:
            starts.append(graph.entities[self.object].mentions[0].span[0])
        return tuple(starts)


def graph_units(graph: SceneGraph) -> tuple[GraphUnit, ...]:
    """The units of a graph: entities, then attributes and quantities, then relations.

    The picture itself, what no picture shows, and what is said of them are no units; a pronoun that
    is never named is no entity to look for, but what is said of it counts. A relation said of a
    pair twice counts once.
    """
    found = [_entity(graph, e) for e in graph.entities if e.kind in ("thing", "place")]
    seen: set[tuple[object, ...]] = set()
    for attribute in graph.attributes:
        key: tuple[object, ...] = (attribute.entity, attribute.value, attribute.polarity)
        if graph.entities[attribute.entity].kind not in APART and key not in seen:
            seen.add(key)
            found.append(_attribute(graph, attribute))
    found += [
        _quantity(graph, e)
        for e in graph.entities
        if e.kind == "thing" and e.polarity and e.quantity is not None
    ]
    for relation in graph.relations:
        ends = {graph.entities[relation.subject].kind, graph.entities[relation.object].kind}
        key = (relation.subject, relation.object, relation.predicate, relation.polarity)
        if key not in seen and APART.isdisjoint(ends):
            seen.add(key)
            found.append(_relation(graph, relation))
    return tuple(found)


def _with_denial(text: str, spans: tuple[Span, ...], polarity: bool) -> tuple[Span, ...]:
    """The characters of a unit, and those of the word before it that denies it."""
    if polarity or not spans:
        return spans
    end = spans[0][0]
    if any(_DENIAL.search(text[start:stop]) for start, stop in spans):  # "without"
        return spans
    start = max(0, end - _DENIED_WITHIN)
    found = list(_DENIAL.finditer(text, start, end))
    return (*spans, found[-1].span()) if found else spans


def _entity(graph: SceneGraph, entity: Entity) -> GraphUnit:
    spans = tuple(mention.span for mention in entity.mentions)
    return GraphUnit(
        "entity",
        entity.name,
        entity.name,
        _with_denial(graph.text, spans, entity.polarity),
        entity.index,
        polarity=entity.polarity,
        asked=entity.kind == "thing" and entity.rule != "selector" and entity.name not in GENERIC,
    )


def _attribute(graph: SceneGraph, attribute: Attribute) -> GraphUnit:
    words = attribute.value.lower().split()
    path = attribute.kind == "position" and words[0] == "from"
    effect = attribute.kind == "state" and words[0] in EFFECT_VERBS
    owner = graph.entities[attribute.entity]
    owned = owner.kind != "place" and owner.name not in SELECTORS
    return GraphUnit(
        "attribute",
        attribute.text,
        attribute.value,
        _with_denial(graph.text, attribute.spans, attribute.polarity),
        attribute.entity,
        polarity=attribute.polarity,
        asked=(owned and not (path or effect) and not _says_nothing(words))
        or not attribute.polarity,
    )


def _says_nothing(words: list[str]) -> bool:
    return _SAYS_NOTHING.issuperset(words) or "_".join(words) in _SAYS_NOTHING


def _relation(graph: SceneGraph, relation: Relation) -> GraphUnit:
    written = {graph.text[start:end].lower() for start, end in relation.spans}
    effect = relation.kind == "verb" and relation.predicate.split()[0] in EFFECT_VERBS
    ends = (graph.entities[relation.subject], graph.entities[relation.object])
    placed = any(end.kind == "place" or end.name in GENERIC for end in ends)
    return GraphUnit(
        "relation",
        relation.text,
        relation.predicate,
        _with_denial(graph.text, relation.spans, relation.polarity),
        relation.subject,
        relation.object,
        relation.polarity,
        relation.passive,
        relation.kind == "verb",
        asked=not (effect or placed or written & _OWNERS),
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
    counted = number(words) is not None or any(w in _AMOUNTS for w in words.lower().split())
    return GraphUnit(
        "attribute",
        words,
        words.lower(),
        spans,
        entity.index,
        quantity=True,
        asked=counted and entity.rule != "selector",
    )
