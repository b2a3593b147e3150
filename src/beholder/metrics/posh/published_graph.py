"""Scene graphs as the published scorer sees them: in lower case, with the parents of entities.

Two forms come in: the graph of the public code, as its authors write it to files, and our own
``SceneGraph`` made with ``rules="reference"``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from beholder.errors import ItemError
from beholder.language.graph import Mention, SceneGraph
from beholder.records import Span

PART_OF = "part of"
CONTAINS = frozenset(
    (
        "have", "has", "had", "having", "hold", "holds", "holding",
        "contain", "contains", "contained", "containing", "wear", "wears", "wore", "wearing",
    )
)  # fmt: skip
"""Relations whose subject is the parent of their object."""
_VIEWERS = frozenset(("us", "our", "we"))
_VIEWER = "the viewer"
_FIXED_NAMES = {
    "is_us": _VIEWER,
    "is_left": "our left",
    "is_right": "our right",
}


@dataclass(frozen=True, slots=True)
class PublishedAttribute:
    """An attribute of one entity.

    Attributes:
        text: In lower case.
        sentence: The first sentence that says it.
        written: As written.
        spans: Its characters in the original text.
    """

    text: str
    sentence: int
    written: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedEntity:
    """A thing that the text mentions.

    Attributes:
        head: Its name, in lower case.
        mentions: The words of all its mentions in lower case.
        attributes: In the order of the alphabet, capitals before small letters; each text once.
        viewer: The fixed name of the viewer, or of what is on their side ("our
            left"); such an entity is always there and never scored. Empty for all others.
        written: Its name in results.
        spans: The characters of its mentions.
    """

    head: str
    mentions: tuple[str, ...]
    attributes: tuple[PublishedAttribute, ...]
    viewer: str
    written: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedRelation:
    """A relation between two entities.

    Attributes:
        subject: Place of the first entity.
        object: Place of the second.
        text: In lower case.
        sentence: The first sentence that says it.
        written: As written.
        spans: Its characters in the original text.
    """

    subject: int
    object: int
    text: str
    sentence: int
    written: str
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True)
class PublishedGraph:
    """A graph as the published scorer sees it.

    Attributes:
        entities: In order of first mention.
        relations: In the graph's order; no two have the same ends and text.
    """

    entities: tuple[PublishedEntity, ...]
    relations: tuple[PublishedRelation, ...]

    @cached_property
    def parents(self) -> tuple[tuple[int, ...], ...]:
        """Parents of each entity: what it is part of, and what has, holds, contains or wears it."""
        parent_sets: list[set[int]] = [set() for _ in self.entities]
        for relation in self.relations:
            if relation.text == PART_OF:
                parent_sets[relation.subject].add(relation.object)
            if relation.text in CONTAINS:
                parent_sets[relation.object].add(relation.subject)
        return tuple(tuple(sorted(parents)) for parents in parent_sets)

    @classmethod
    def of_public(cls, graph: Mapping[str, Any]) -> PublishedGraph:
        """Read the public form of a graph.

        Args:
            graph: ``entities`` (each with ``head``, ``heads``, ``attributes``,
                ``attribute_sentence_idxs``) and ``relations`` (``subject``, ``object``,
                ``relation``, ``sentence_idxs``). The flags ``is_us``, ``is_left``, ``is_right`` and
                the spans may be left out.

        Raises:
            ItemError: A field is missing or of another type, an attribute or relation has no
                sentence, or a relation has no such end.
        """
        try:
            entities = tuple(map(_public_entity, graph["entities"]))
            relations = tuple(map(_public_relation, graph["relations"]))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            problem = (
                f"has no {error}"
                if isinstance(error, KeyError)
                else f"cannot be read ({error})"
            )
            raise ItemError(
                f"the graph {problem}; a graph in the public form has entities with head,"
                " heads, attributes and attribute_sentence_idxs (a list for each attribute), and"
                " relations with subject, object, relation and sentence_idxs"
            ) from error
        # JSON from outside: an index may point anywhere.
        for place, relation in enumerate(relations):
            ends = (relation.subject, relation.object)
            if not all(0 <= end < len(entities) for end in ends):
                raise ItemError(
                    f"relation {place} ({relation.written!r}) stands between the entities {ends},"
                    f" but there are {len(entities)}, counted from 0"
                )
        return cls(entities, _distinct(relations))

    @classmethod
    def of_scene_graph(cls, graph: SceneGraph) -> PublishedGraph:
        """Convert our own graph, made with ``rules="reference"``."""
        entities = []
        for entity in graph.entities:
            mentions = tuple(
                mention.text.lower() for mention in entity.mentions
            )
            # The published scorer compares in lower case and shows the text as written.
            attributes = _alphabetical(
                PublishedAttribute(a.text.lower(), a.sentence, a.text, a.spans)
                for a in graph.attributes_of(entity.index)
            )
            viewer = _viewer(graph.text, entity.mentions[0])
            display = (
                entity.name,
                tuple(mention.span for mention in entity.mentions),
            )
            entities.append(
                PublishedEntity(
                    mentions[0], mentions, attributes, viewer, *display
                )
            )
        relations = (
            PublishedRelation(
                r.subject,
                r.object,
                r.text.lower(),
                r.sentence,
                r.text,
                r.spans,
            )
            for r in graph.relations
        )
        return cls(tuple(entities), _distinct(relations))


def _public_entity(entity: Mapping[str, Any]) -> PublishedEntity:
    head = entity["head"].strip()
    if entity.get("quantity"):
        raise ItemError(
            f"the entity {head!r} has the quantity {entity['quantity']!r}; the public extractor"
            " writes quantities as attributes: put it there"
        )
    sentences, spans = (
        entity["attribute_sentence_idxs"],
        entity.get("attribute_text_spans", {}),
    )

    def attribute(text: str) -> PublishedAttribute:
        display = (text, _spans(spans.get(text, ())))
        return PublishedAttribute(
            text.strip().lower(), _earliest(sentences[text], text), *display
        )

    attributes = _alphabetical(map(attribute, entity["attributes"]))
    # The flags may be missing; the head then names the viewer.
    flags = {"is_us": head.lower() in _VIEWERS, **entity}
    viewer = next(
        (name for flag, name in _FIXED_NAMES.items() if flags.get(flag)), ""
    )
    mentions = tuple(text.strip().lower() for text in entity["heads"])
    places = _spans(entity.get("text_spans", ()))
    return PublishedEntity(
        head.lower(), mentions, attributes, viewer, head, places
    )


def _public_relation(relation: Mapping[str, Any]) -> PublishedRelation:
    text = relation["relation"]
    ends = (int(relation["subject"]), int(relation["object"]))
    sentence, spans = (
        relation["sentence_idxs"],
        _spans(relation.get("text_spans", ())),
    )
    return PublishedRelation(
        *ends, text.lower(), _earliest(sentence, text), text, spans
    )


def _earliest(sentences: Sequence[int], what: str) -> int:
    if not sentences:
        raise ItemError(
            f"{what!r} is in no sentence; give the place of one, counted from 0"
        )
    return min(sentences)


def _spans(pairs: Iterable[Sequence[int]]) -> tuple[Span, ...]:
    return tuple((int(start), int(end)) for start, end in pairs)


def _alphabetical(
    attributes: Iterable[PublishedAttribute],
) -> tuple[PublishedAttribute, ...]:
    """Sort by the text as written, capitals first; of texts that differ in case keep the first."""
    by_text: dict[str, PublishedAttribute] = {}
    for attribute in sorted(attributes, key=lambda a: a.written):
        by_text.setdefault(attribute.text, attribute)
    return tuple(by_text.values())


def _distinct(
    relations: Iterable[PublishedRelation],
) -> tuple[PublishedRelation, ...]:
    by_ends: dict[tuple[int, int, str], PublishedRelation] = {}
    for relation in relations:
        by_ends.setdefault(
            (relation.subject, relation.object, relation.text), relation
        )
    return tuple(by_ends.values())


def _viewer(text: str, first: Mention) -> str:
    """Return the fixed name of the viewer ("us"), "our left" or "our right"; else an empty text."""
    word = first.text.lower()
    if word in _VIEWERS:
        return _VIEWER
    before = text[: first.span[0]].lower().split()[-1:]
    return (
        f"our {word}"
        if word in ("left", "right") and before == ["our"]
        else ""
    )
