"""Scene graphs: entities, attributes and relations of a text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, TypeAlias

from beholder.base.optional import require
from beholder.language.document import Word
from beholder.records import Span

EntityKind: TypeAlias = Literal[
    "thing", "pronoun", "place", "picture", "unseen"
]
"""``thing``: named by a noun. ``pronoun``: never named ("she"). ``place``: named by where it is on
something else only ("the front"). ``picture``: the image itself and its viewer ("the photo").
``unseen``: nothing that a picture shows ("contrast", "mood"). The last two are set apart, not
scored."""
SET_APART: frozenset[EntityKind] = frozenset(("picture", "unseen"))
AttributeKind: TypeAlias = Literal["quality", "state", "kind", "position"]
"""``quality``: red, wooden. ``state``: sitting, parked. ``kind``: what it is ("is a doctor").
``position``: in the foreground, on the left."""
RelationKind: TypeAlias = Literal["verb", "preposition", "possessive"]


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where an entity is named.

    Attributes:
        text: The naming words without determiner and modifiers ("coffee cup", "he").
        span: Their characters in the original text.
        sentence: Place of the sentence.
    """

    text: str
    span: Span
    sentence: int


@dataclass(frozen=True, slots=True)
class Entity:
    """Something the text speaks of.

    Attributes:
        index: Its place in the graph.
        name: The whole name in base form: "coffee cup", "stop sign".
        head: The last word of the name in base form: "cup".
        mentions: Mentions of it, in order; never empty.
        quantity: Number or amount, as written ("two", "several", "pair"); None if not stated.
        plural: Whether it stands for more than one.
        kind: See ``EntityKind``.
        polarity: False if the text says that there is none.
        member_of: The entity of which it is one ("one of the men"), or None.
        rule: The rule that made it; ``share``: what is said of it is said of the part of such
            things that ``quantity`` names ("most of the seats").
        doubt: Probability that it is misread, 0..1; 0 if the parser gives no margins.
    """

    index: int
    name: str
    head: str
    mentions: tuple[Mention, ...]
    quantity: str | None = None
    plural: bool = False
    kind: EntityKind = "thing"
    polarity: bool = True
    member_of: int | None = None
    rule: str = "noun"
    doubt: float = 0.0


@dataclass(frozen=True, slots=True)
class Attribute:
    """A property of one entity.

    Attributes:
        entity: Index of the entity.
        text: As written, with words of degree: "very dark red".
        value: The bare value in base form, to compare with: "dark red".
        spans: Its characters in the original text.
        sentence: Place of the sentence.
        kind: See ``AttributeKind``.
        polarity: False if the text denies it.
        rule: The rule that made it.
        doubt: As of ``Entity``.
    """

    entity: int
    text: str
    value: str
    spans: tuple[Span, ...]
    sentence: int
    kind: AttributeKind = "quality"
    polarity: bool = True
    rule: str = ""
    doubt: float = 0.0


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of one entity to another.

    Attributes:
        subject: Index of the first entity.
        object: Index of the second.
        text: The words between them as written: "is held by", without auxiliaries: "held by".
        predicate: The same in base form: "hold by".
        spans: Its characters in the original text; empty if nothing is written ("the man's hat"
            has the possessive mark).
        sentence: Place of the sentence.
        kind: ``verb``, ``preposition`` or ``possessive``.
        passive: Whether the subject undergoes the verb.
        polarity: False if the text denies it.
        rule: The rule that made it.
        doubt: As of ``Entity``.
    """

    subject: int
    object: int
    text: str
    predicate: str
    spans: tuple[Span, ...]
    sentence: int
    kind: RelationKind
    passive: bool = False
    polarity: bool = True
    rule: str = ""
    doubt: float = 0.0


@dataclass(frozen=True, slots=True)
class SceneGraph:
    """Entities with their attributes and relations.

    Attributes:
        text: The original text; every span points into it.
        entities: In order of first mention; ``index`` is the place.
        attributes: In text order.
        relations: In text order.
        rules: The rule set that made the graph.
        parser: Parser of the text.
    """

    text: str
    entities: tuple[Entity, ...]
    attributes: tuple[Attribute, ...]
    relations: tuple[Relation, ...]
    rules: str = "fixed"
    parser: str = "builtin"

    def __hash__(self) -> int:
        return hash(self.text)

    def attributes_of(self, entity: int) -> tuple[Attribute, ...]:
        """The attributes of one entity."""
        return tuple(a for a in self.attributes if a.entity == entity)

    def to_dict(self) -> dict[str, object]:
        """The graph as JSON values."""
        return asdict(self)

    def to_networkx(self) -> Any:
        """The graph as a ``networkx.MultiDiGraph``.

        Nodes are entity indices with the fields of ``Entity`` and a list ``attributes``; edges
        carry the fields of ``Relation``.

        Raises:
            MissingExtraError: networkx is not installed.
        """
        networkx = require(
            "networkx", extra="graph", purpose="SceneGraph.to_networkx()"
        )
        multigraph = networkx.MultiDiGraph(
            text=self.text, rules=self.rules, parser=self.parser
        )
        for entity in self.entities:
            attributes = [asdict(a) for a in self.attributes_of(entity.index)]
            multigraph.add_node(
                entity.index, **asdict(entity), attributes=attributes
            )
        for relation in self.relations:
            multigraph.add_edge(
                relation.subject, relation.object, **asdict(relation)
            )
        return multigraph


class AttributeFact(NamedTuple):
    """An attribute of the noun at ``noun``."""

    noun: int
    words: tuple[Word, ...]
    value: str
    kind: AttributeKind
    rule: str
    polarity: bool = True


class RelationFact(NamedTuple):
    """A relation between the nouns at ``subject`` and ``object``."""

    subject: int
    object: int
    words: tuple[Word, ...]
    kind: RelationKind
    rule: str
    passive: bool = False
    polarity: bool = True
    text: str | None = None


def spans(words: Sequence[Word]) -> tuple[Span, ...]:
    """The characters of some words, neighbours joined into one span."""
    merged: list[Span] = []
    last = -2
    for word in sorted(words):
        if word.index == last + 1:
            merged[-1] = (merged[-1][0], word.end)
        elif word.index != last:
            merged.append(word.span)
        last = word.index
    return tuple(merged)
