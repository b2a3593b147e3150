"""Atomic statements: each states one fact, and together they state the text."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from beholder.language.document import Document
from beholder.language.graph import (
    SET_APART,
    Attribute,
    Entity,
    Relation,
    SceneGraph,
)
from beholder.language.lexicon import (
    GROUP_NOUNS,
    INDEFINITE,
    LISTING,
    NAMELESS,
    SELECTORS,
    UNPLACED,
)
from beholder.language.links import Coref
from beholder.language.numerals import amount_words, number
from beholder.language.scene import scene_graph
from beholder.language.unseen import (
    EFFECT_VERBS,
    EMPTY_QUALITIES,
    GENERIC,
    MOOD,
    OPINIONS,
)
from beholder.records import Span

UnitKind: TypeAlias = Literal["entity", "attribute", "relation"]

_BEFORE = 60
"""Distance before a noun, in characters, within which its quantity is looked for."""
_SAYS_NOTHING = EMPTY_QUALITIES | MOOD | OPINIONS
_AMOUNTS = GROUP_NOUNS | INDEFINITE | {"multiple", "numerous", "dozens"}
"""Words that say how many, and do not only cut a piece off."""
_DENIAL = re.compile(
    r"\b(?:no|none|not|never|neither|nor|without)\b|n't\b", re.IGNORECASE
)
_DENIED_WITHIN = 40
"""Distance before a denied unit, in characters, within which its negation is looked for."""
_OWNERS = frozenset(("its", "his", "her", "their", "whose"))
_OBJECT_FORMS = {"they": "them", "he": "him", "she": "her"}


class GraphUnit(NamedTuple):
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
        share: Whether it is said only of the part of the things that their quantity names: "most of
            the seats are empty". Its spans then have that word.
        asked: Whether it is looked for by itself. If not, it only helps to distinguish things:
            which thing has a part, by a pronoun ("its tail"); what makes an effect; a bare place
            ("the front"); a quality that says nothing ("visible"); what is said of nothing that has
            a name ("another is red").
        doubt: Probability that it is misread, 0..1.
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
    share: bool = False
    asked: bool = True
    doubt: float = 0.0

    def place(self, graph: SceneGraph) -> tuple[int, ...]:
        """Return the first characters of its words and of its ends, which identify it."""
        ends = (None if self.kind == "entity" else self.subject, self.object)
        places = [
            graph.entities[end].mentions[0].span[0]
            for end in ends
            if end is not None
        ]
        return (self.spans[0][0] if self.spans else -1, *places)


@lru_cache(
    maxsize=512
)  # as many graphs as are kept: metric and judge both ask
def graph_units(graph: SceneGraph) -> tuple[GraphUnit, ...]:
    """Return the units of a graph: entities, then attributes and quantities, then relations.

    The picture itself, what no picture shows, and what is said of them are no units; a pronoun that
    is never named is no entity to look for, but what is said of it counts. A relation said of a
    pair twice counts once.
    """
    units = [
        _entity_unit(graph, e)
        for e in graph.entities
        if e.kind in ("thing", "place")
    ]
    # A text may say the same of the same thing twice; it counts once.
    unique_keys: set[tuple[object, ...]] = set()
    for attribute in graph.attributes:
        key: tuple[object, ...] = (
            attribute.entity,
            attribute.value,
            attribute.polarity,
        )
        if (
            graph.entities[attribute.entity].kind not in SET_APART
            and key not in unique_keys
        ):
            unique_keys.add(key)
            units.append(_attribute_unit(graph, attribute))
    counted = (e for e in graph.entities if e.kind == "thing" and e.polarity)
    units += [
        _quantity_unit(graph, e) for e in counted if e.quantity is not None
    ]
    for relation in graph.relations:
        ends = {
            graph.entities[relation.subject].kind,
            graph.entities[relation.object].kind,
        }
        key = (
            relation.subject,
            relation.object,
            relation.predicate,
            relation.polarity,
        )
        if key not in unique_keys and SET_APART.isdisjoint(ends):
            unique_keys.add(key)
            units.append(_relation_unit(graph, relation))
    return tuple(units)


def _with_denial(
    text: str, spans: tuple[Span, ...], polarity: bool
) -> tuple[Span, ...]:
    """The characters of a unit, and those of the word before it that denies it."""
    if polarity or not spans:
        return spans
    end = spans[0][0]
    # As in "without".
    if any(_DENIAL.search(text[start:stop]) for start, stop in spans):
        return spans
    start = max(0, end - _DENIED_WITHIN)
    denials = list(_DENIAL.finditer(text, start, end))
    return (*spans, denials[-1].span()) if denials else spans


def _entity_unit(graph: SceneGraph, entity: Entity) -> GraphUnit:
    spans = tuple(mention.span for mention in entity.mentions)
    spans = _with_denial(graph.text, spans, entity.polarity)
    is_asked = (
        entity.kind == "thing"
        and entity.rule != "selector"
        and entity.name not in GENERIC
    )
    return GraphUnit(
        kind="entity",
        text=entity.name,
        value=entity.name,
        spans=spans,
        subject=entity.index,
        polarity=entity.polarity,
        asked=is_asked,
        doubt=entity.doubt,
    )


def _attribute_unit(graph: SceneGraph, attribute: Attribute) -> GraphUnit:
    words = attribute.value.lower().split()
    # A denied attribute is asked in any case: "not visible" says something.
    path = attribute.kind == "position" and words[0] == "from"
    effect = attribute.kind == "state" and words[0] in EFFECT_VERBS
    owner = graph.entities[attribute.entity]
    owned = owner.kind != "place" and not _is_nameless(owner)
    empty = _SAYS_NOTHING.issuperset(words) or "_".join(words) in _SAYS_NOTHING
    is_asked = (
        owned and not (path or effect or empty)
    ) or not attribute.polarity
    spans = _with_denial(graph.text, attribute.spans, attribute.polarity)
    share = _is_of_share(owner, attribute)
    spans += _quantity_spans(graph, owner) if share else ()
    return GraphUnit(
        kind="attribute",
        text=attribute.text,
        value=attribute.value,
        spans=spans,
        subject=attribute.entity,
        polarity=attribute.polarity,
        share=share,
        asked=is_asked,
        doubt=attribute.doubt,
    )


def _relation_unit(graph: SceneGraph, relation: Relation) -> GraphUnit:
    # Judges are not asked about verbs of effect ("adds"), bare places and
    # owners by pronoun: such units only distinguish things.
    written = {graph.text[start:end].lower() for start, end in relation.spans}
    effect = (
        relation.kind == "verb"
        and relation.predicate.split()[0] in EFFECT_VERBS
    )
    ends = (graph.entities[relation.subject], graph.entities[relation.object])
    placed = any(
        end.kind == "place" or end.name in GENERIC or _is_nameless(end)
        for end in ends
    )
    unplaced = _is_unplaced(relation)
    spans = _with_denial(graph.text, relation.spans, relation.polarity)
    share = _is_of_share(ends[0], relation)
    spans += _quantity_spans(graph, ends[0]) if share else ()
    is_asked = not (effect or placed or unplaced or written & _OWNERS)
    return GraphUnit(
        kind="relation",
        text=relation.text,
        value=relation.predicate,
        spans=spans,
        subject=relation.subject,
        object=relation.object,
        polarity=relation.polarity,
        passive=relation.passive,
        verb=relation.kind == "verb",
        share=share,
        asked=is_asked,
        doubt=relation.doubt,
    )


def _is_unplaced(relation: Relation) -> bool:
    """Return whether a preposition says no place: "the nose to the eye", "hangs due to wind"."""
    if relation.kind == "preposition":
        return relation.text in UNPLACED | LISTING
    return relation.text.partition(" ")[2] in LISTING


def _is_nameless(entity: Entity) -> bool:
    """Return whether a pronoun stands for nothing that the text names: "another", "those"."""
    return entity.name in SELECTORS or (
        entity.kind == "pronoun" and entity.name in NAMELESS
    )


def _is_of_share(entity: Entity, fact: Attribute | Relation) -> bool:
    """Return whether a fact is said only of a part of the things.

    In "most of the red seats are empty" that holds for "empty", not for "red".
    """
    said_there = entity.mentions[0].sentence == fact.sentence
    return (
        said_there
        and entity.rule == "share"
        and fact.rule not in ("modifier", "preposition")
    )


def _quantity_spans(graph: SceneGraph, entity: Entity) -> tuple[Span, ...]:
    """Return the characters of an entity's quantity, looked for before its first mention.

    A graph has the words of a quantity but not their place.
    """
    end = entity.mentions[0].span[0]
    start = max(0, end - _BEFORE)
    pattern = r"\s+".join(
        re.escape(word) for word in (entity.quantity or "").split()
    )
    places = list(
        re.finditer(rf"\b{pattern}\b", graph.text[start:end], re.IGNORECASE)
    )
    return tuple(
        (start + place.start(), start + place.end()) for place in places[-1:]
    )


def _quantity_unit(graph: SceneGraph, entity: Entity) -> GraphUnit:
    """Return the unit that states the number of things, as an attribute."""
    words = entity.quantity or ""
    spans = _quantity_spans(graph, entity) or (entity.mentions[0].span,)
    counted = number(words) is not None or any(
        w in _AMOUNTS for w in words.lower().split()
    )
    is_asked = counted and entity.rule not in ("selector", "share")
    return GraphUnit(
        kind="attribute",
        text=words,
        value=words.lower(),
        spans=spans,
        subject=entity.index,
        quantity=True,
        asked=is_asked,
    )


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


def statements(
    document: Document, coref: Coref = "builtin"
) -> tuple[Statement, ...]:
    """The atomic statements of a parsed text, in text order.

    Args:
        document: From ``parse``.
        coref: As in ``scene_graph``.
    """
    return graph_statements(scene_graph(document, coref=coref))


Bearer: TypeAlias = Callable[[int, Attribute | Relation], str]
"""Facts that set an entity apart from its namesakes, except the stated one; may be empty."""


def graph_statements(
    graph: SceneGraph, bearer: Bearer | None = None
) -> tuple[Statement, ...]:
    """The statements of a scene graph; the picture itself is no thing that exists in it.

    Args:
        graph: The graph.
        bearer: Words to put in brackets behind things that share their name with others: "The woman
            (in the blue dress) pours the water."
    """
    # The existence of others follows from a relation to them: "has a chimney".
    related = {r.object for r in graph.relations if r.polarity}
    things = (
        e for e in graph.entities if e.kind == "thing" and e.member_of is None
    )
    sentences = [
        _existence(e, graph)
        for e in things
        if e.index not in related or e.quantity
    ]
    described = {
        e.index for e in graph.entities if e.kind != "picture" and e.polarity
    }
    sentences += [
        _attribute(a, graph, bearer)
        for a in graph.attributes
        if a.entity in described
    ]
    sentences += [
        _relation(r, graph, bearer)
        for r in graph.relations
        if r.predicate != "of"
    ]
    # Of equal sentences the first in the text stays.
    unique = {statement.text: statement for statement in reversed(sentences)}
    return tuple(sorted(unique.values(), key=lambda s: (s.sentence, s.spans)))


def wording(unit: GraphUnit, graph: SceneGraph) -> str:
    """A sentence that says a unit of a graph and nothing else: "The bookshelf is wooden."."""
    if unit.kind == "entity" or unit.quantity:
        entity = graph.entities[unit.subject]
        return _existence(
            entity if unit.quantity else replace(entity, quantity=None), graph
        ).text
    if unit.kind == "attribute":
        quality = (unit.subject, unit.value, unit.polarity)
        like = (
            a
            for a in graph.attributes
            if (a.entity, a.value, a.polarity) == quality
        )
        return _attribute(next(like), graph).text
    tie = (unit.subject, unit.object, unit.value, unit.polarity)
    ties = (
        r
        for r in graph.relations
        if (r.subject, r.object, r.predicate, r.polarity) == tie
    )
    return _relation(next(ties), graph).text


def _existence(entity: Entity, graph: SceneGraph) -> Statement:
    noun = _noun(entity)
    if not entity.polarity:
        # What is denied is the thing with its qualities: "no red cars", but no more with "visible".
        of_it = [
            a for a in graph.attributes_of(entity.index) if a.kind == "quality"
        ]
        qualities = [a.text for a in of_it if a.value not in EMPTY_QUALITIES]
        text = f"There {_be(entity)} no {' '.join([*qualities, noun])}."
    elif entity.plural:
        counted = entity.quantity is not None and entity.rule != "share"
        quantity = "two" if entity.quantity == "both" else entity.quantity
        amount = f"{amount_words(quantity or '')} " if counted else ""
        text = f"There are {amount}{noun}."
    else:
        text = f"There is {_article(noun)}{noun}."
    mention = entity.mentions[0]
    return Statement(
        text=text,
        kind="existence",
        spans=(mention.span,),
        sentence=mention.sentence,
        entities=(entity.index,),
        polarity=entity.polarity,
    )


def _attribute(
    attribute: Attribute, graph: SceneGraph, bearer: Bearer | None = None
) -> Statement:
    entity = graph.entities[attribute.entity]
    words = attribute.text
    # "in 1750" alone says that it was there then.
    if attribute.rule == "year":
        plain = words.partition(" ")[0].lower() in _OF_YEARS
        words = f"from {attribute.value if plain else words}"
    if attribute.kind == "kind":
        words = words if entity.plural else _article(words) + words
    if attribute.kind == "state" and not (
        attribute.polarity or _is_participle(words)
    ):
        words = attribute.value
    acts = attribute.kind == "state" or attribute.rule == "way"
    participle = not acts or _is_participle(words)
    predicate = _predicate(words, entity, participle, attribute.polarity)
    share = _is_of_share(entity, attribute)
    which = _which(entity, attribute, bearer)
    text = f"{_subject(entity, graph, share)}{which} {predicate}."
    return Statement(
        text=text,
        kind="attribute",
        spans=attribute.spans,
        sentence=attribute.sentence,
        entities=(entity.index,),
        polarity=attribute.polarity,
    )


def _which(
    entity: Entity, fact: Attribute | Relation, bearer: Bearer | None
) -> str:
    """Return the words that distinguish an entity, in brackets; empty if there are none."""
    words = "" if bearer is None else bearer(entity.index, fact)
    return f" ({words})" if words else ""


def _relation(
    relation: Relation, graph: SceneGraph, bearer: Bearer | None = None
) -> Statement:
    subject = graph.entities[relation.subject]
    target = graph.entities[relation.object]
    # As in "no clouds are in the sky".
    affirmed = relation.polarity or not subject.polarity
    if relation.kind == "possessive":
        predicate = "have" if subject.plural else "has"
    else:
        participle = relation.kind == "preposition" or relation.passive
        participle = participle or _is_participle(relation.text)
        words = relation.text if affirmed or participle else relation.predicate
        predicate = _predicate(words, subject, participle, affirmed)
    share = _is_of_share(subject, relation)
    which, of_target = (
        _which(end, relation, bearer) for end in (subject, target)
    )
    text = (
        f"{_subject(subject, graph, share)}{which} {predicate}"
        f" {_object(target, graph)}{of_target}."
    )
    ends = (subject.index, target.index)
    return Statement(
        text=text,
        kind="relation",
        spans=relation.spans,
        sentence=relation.sentence,
        entities=ends,
        polarity=relation.polarity,
    )


def _predicate(
    words: str, subject: Entity, participle: bool, polarity: bool
) -> str:
    """A verb as it stands, or after "be" if a participle; in base form after "does not"."""
    if participle:
        return f"{_be(subject)} {'' if polarity else 'not '}{words}"
    return (
        words
        if polarity
        else f"{'do' if subject.plural else 'does'} not {words}"
    )


def _is_participle(words: str) -> bool:
    first = words.split()[0]
    return first.endswith(("ing", "ed", "en")) or first in (
        "lit",
        "hung",
        "set",
        "held",
        "built",
    )


def _noun(entity: Entity) -> str:
    names = [
        m.text
        for m in entity.mentions
        if m.text.lower() not in ("it", "they", "he", "she")
    ]
    text = names[0] if names and entity.member_of is None else entity.name
    first, blank, rest = text.partition(" ")
    return (
        text
        if first[1:] != first[1:].lower()
        else f"{first.lower()}{blank}{rest}"
    )


def _subject(entity: Entity, graph: SceneGraph, share: bool = False) -> str:
    if entity.kind == "pronoun":
        return entity.name.capitalize()
    if entity.member_of is not None:
        words = _member(entity, graph)
        return words[:1].upper() + words[1:]
    if share:
        of = "" if entity.quantity in ("each", "every") else "of the "
        return f"{(entity.quantity or '').capitalize()} {of}{_noun(entity)}"
    return f"{'The' if entity.polarity else 'No'} {_noun(entity)}"


def _object(entity: Entity, graph: SceneGraph) -> str:
    """Return the other end of a relation; "any cars" if the text says that there are none."""
    if entity.kind == "pronoun":
        return _OBJECT_FORMS.get(entity.name, entity.name)
    if entity.member_of is not None:
        return _member(entity, graph)
    amount = (
        amount_words(entity.quantity)
        if entity.quantity and entity.plural
        else "the"
    )
    return f"{amount if entity.polarity else 'any'} {_noun(entity)}"


def _member(entity: Entity, graph: SceneGraph) -> str:
    """Return words for some things of a group: "one man", "the other men", "three of the men"."""
    group = entity
    while group.member_of is not None:
        group = graph.entities[group.member_of]
    quantity = entity.quantity or "one"
    if quantity.startswith("other"):
        return f"the other {_noun(group) if entity.plural else entity.name}"
    if entity.plural:
        return f"{quantity} of the {_noun(group)}"
    return f"{quantity} {entity.name}"


def _article(noun: str) -> str:
    return "an " if noun.lower().startswith(_VOWELS) else "a "


def _be(entity: Entity) -> str:
    return "are" if entity.plural else "is"
