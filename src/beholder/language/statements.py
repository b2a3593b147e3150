"""Atomic statements: each says one thing, and together they say what the text does."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from beholder.language import lemmas
from beholder.language.document import Document
from beholder.language.graph import Attribute, Entity, Relation, SceneGraph
from beholder.language.links import Coref
from beholder.language.phrases import SHARES
from beholder.language.scene import scene_graph
from beholder.language.units import GraphUnit
from beholder.language.unseen import EMPTY_QUALITIES
from beholder.records import Span

StatementKind: TypeAlias = Literal["existence", "attribute", "relation"]
_VOWELS = tuple("aeiou")
_OF_YEARS = ("in", "of", "from", "by")


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a text says.

    Attributes:
        text: A sentence: "The bookshelf is wooden."
        kind: ``existence``, ``attribute`` or ``relation``.
        spans: The words that say it, in the original text.
        sentence: Place of the sentence that says it.
        entities: Indices of the entities in the scene graph.
        polarity: False for "There are no people."
    """

    text: str
    kind: StatementKind
    spans: tuple[Span, ...]
    sentence: int
    entities: tuple[int, ...]
    polarity: bool = True


def statements(document: Document, coref: Coref = "builtin") -> tuple[Statement, ...]:
    """The atomic statements of a parsed text, in text order.

    Args:
        document: From ``parse``.
        coref: As in ``scene_graph``.
    """
    return graph_statements(scene_graph(document, coref=coref))


def graph_statements(graph: SceneGraph) -> tuple[Statement, ...]:
    """The statements of a scene graph; the picture itself is no thing that exists in it."""
    told = _introduced(graph)
    made = [
        _existence(e, graph)
        for e in graph.entities
        if e.kind == "thing" and e.member_of is None and (e.index not in told or e.quantity)
    ]
    made += [
        _attribute(a, graph)
        for a in graph.attributes
        if graph.entities[a.entity].kind != "picture" and graph.entities[a.entity].polarity
    ]
    made += [_relation(r, graph) for r in graph.relations if r.predicate != "of"]
    unique = {statement.text: statement for statement in reversed(made)}
    return tuple(sorted(unique.values(), key=lambda s: (s.sentence, s.spans)))


def wording(unit: GraphUnit, graph: SceneGraph) -> str:
    """A sentence that says a unit of a graph and nothing else: "The bookshelf is wooden."."""
    if unit.kind == "entity" or unit.quantity:
        entity = graph.entities[unit.subject]
        return _existence(entity if unit.quantity else replace(entity, quantity=None), graph).text
    if unit.kind == "attribute":
        return next(
            _attribute(a, graph).text
            for a in graph.attributes
            if (a.entity, a.value, a.polarity) == (unit.subject, unit.value, unit.polarity)
        )
    return next(
        _relation(r, graph).text
        for r in graph.relations
        if (r.subject, r.object, r.predicate, r.polarity)
        == (unit.subject, unit.object, unit.value, unit.polarity)
    )


def _introduced(graph: SceneGraph) -> set[int]:
    """Entities whose existence follows from a relation to them: "has a chimney"."""
    return {r.object for r in graph.relations if r.polarity}


def _existence(entity: Entity, graph: SceneGraph) -> Statement:
    noun = _noun(entity)
    if not entity.polarity:
        # What is denied is the thing with its qualities: "no red cars", but no more with "visible".
        qualities = [
            a.text
            for a in graph.attributes_of(entity.index)
            if a.kind == "quality" and a.value not in EMPTY_QUALITIES
        ]
        text = f"There {_be(entity)} no {' '.join([*qualities, noun])}."
    elif entity.plural:
        amount = f"{_amount(entity.quantity)} " if entity.quantity else ""
        text = f"There are {amount}{noun}."
    else:
        text = f"There is {_article(noun)}{noun}."
    mention = entity.mentions[0]
    return Statement(
        text, "existence", (mention.span,), mention.sentence, (entity.index,), entity.polarity
    )


def _attribute(attribute: Attribute, graph: SceneGraph) -> Statement:
    entity = graph.entities[attribute.entity]
    words = attribute.text
    if attribute.rule == "year":  # "in 1750" alone says that it was there then
        plain = words.partition(" ")[0].lower() in _OF_YEARS
        words = f"from {attribute.value if plain else words}"
    if attribute.kind == "kind":
        words = words if entity.plural else _article(words) + words
    if attribute.kind == "state":
        words = words if attribute.polarity or _is_participle(words) else attribute.value
        predicate = _predicate(words, entity, _is_participle(words), attribute.polarity)
    else:
        predicate = f"{_be(entity)} {'' if attribute.polarity else 'not '}{words}"
    return Statement(
        f"{_subject(entity)} {predicate}.",
        "attribute",
        attribute.spans,
        attribute.sentence,
        (entity.index,),
        attribute.polarity,
    )


def _relation(relation: Relation, graph: SceneGraph) -> Statement:
    subject, target = graph.entities[relation.subject], graph.entities[relation.object]
    affirmed = relation.polarity or not subject.polarity  # "no clouds are in the sky"
    if relation.kind == "possessive":
        predicate = "have" if subject.plural else "has"
    elif relation.kind == "preposition":
        predicate = f"{_be(subject)} {'' if affirmed else 'not '}{relation.text}"
    else:
        participle = relation.passive or _is_participle(relation.text)
        words = relation.text if affirmed or participle else relation.predicate
        predicate = _predicate(words, subject, participle, affirmed)
    return Statement(
        f"{_subject(subject)} {predicate} {_object(target)}.",
        "relation",
        relation.spans,
        relation.sentence,
        (subject.index, target.index),
        relation.polarity,
    )


def _predicate(words: str, subject: Entity, participle: bool, polarity: bool) -> str:
    """A verb as it stands, or after "be" if a participle; in base form after "does not"."""
    if not participle and polarity:
        return words
    if not participle:
        return f"{'do' if subject.plural else 'does'} not {words}"
    return f"{_be(subject)} {'' if polarity else 'not '}{words}"


def _is_participle(words: str) -> bool:
    first = words.split()[0]
    return first.endswith(("ing", "ed", "en")) or first in ("lit", "hung", "set", "held", "built")


def _noun(entity: Entity) -> str:
    named = [m.text for m in entity.mentions if m.text.lower() not in ("it", "they", "he", "she")]
    text = named[0] if named and entity.member_of is None else entity.name
    first, _, rest = text.partition(" ")
    return text if first[1:] != first[1:].lower() else f"{first.lower()}{' ' if rest else ''}{rest}"


def _subject(entity: Entity) -> str:
    if entity.kind == "pronoun":
        return entity.name.capitalize()
    if entity.member_of is not None:
        return f"{(entity.quantity or 'one').capitalize()} {entity.name}"
    if entity.quantity in SHARES:
        return f"{entity.quantity.capitalize()} of the {_noun(entity)}"
    return f"{'The' if entity.polarity else 'No'} {_noun(entity)}"


def _object(entity: Entity) -> str:
    """The other end of a relation; what is not there is none that is known: "not with any cars"."""
    if entity.kind == "pronoun" or entity.member_of is not None:
        return _subject(entity).lower()
    if not entity.polarity:
        return f"any {_noun(entity)}"
    if entity.quantity and entity.plural:
        return f"{_amount(entity.quantity)} {_noun(entity)}"
    return f"the {_noun(entity)}"


def _amount(quantity: str) -> str:
    last = quantity.split()[-1]
    one = lemmas.noun(last)
    if one in ("pair", "couple", "group", "row", "number", "variety", "set", "bunch", "series"):
        return f"{'' if ' ' in quantity or one != last else 'a '}{quantity} of"
    return quantity


def _article(noun: str) -> str:
    return "an " if noun.lower().startswith(_VOWELS) else "a "


def _be(entity: Entity) -> str:
    return "are" if entity.plural else "is"
