"""Scene graphs as sets of facts: what SPICE and its like compare."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias

from beholder.errors import ItemError
from beholder.language import SceneGraph, parse, scene_graph

Fact: TypeAlias = tuple[str, ...]
"""(object), (object, attribute) or (subject, predicate, object), in base form."""


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts of a text.

    Attributes:
        objects: Things, one word group each.
        attributes: Things with what they are like.
        relations: Things and how they stand to each other.
        parser: What parsed the text.
    """

    objects: frozenset[Fact]
    attributes: frozenset[Fact]
    relations: frozenset[Fact]
    parser: str

    @property
    def all(self) -> frozenset[Fact]:
        """All of them."""
        return self.objects | self.attributes | self.relations


@lru_cache(maxsize=1 << 12)  # a reference is met once per candidate, from every metric
def graph(text: str, parser: str) -> SceneGraph:
    """The scene graph of an English text.

    Raises:
        ItemError: The text is not in Latin script, or a sentence is nested too deeply to walk.
        ConfigError: No such parser.
    """
    try:
        return scene_graph(parse(text, parser))
    except RecursionError as error:
        raise ItemError(
            "a sentence is nested too deeply for a scene graph; is the text one long list?"
        ) from error


def facts(texts: tuple[str, ...], parser: str) -> Facts:
    """The facts of some texts together.

    What a text denies, and what it says of the picture itself, is left out; a pronoun that stands
    for nothing named is no object.

    Args:
        texts: Texts about one source.
        parser: See ``beholder.language.parse``.
    """
    objects: set[Fact] = set()
    attributes: set[Fact] = set()
    relations: set[Fact] = set()
    for text in texts:
        found = graph(text, parser)
        names = {
            entity.index: entity.name.casefold()
            for entity in found.entities
            if entity.kind == "thing" and entity.polarity
        }
        objects |= {(name,) for name in names.values()}
        attributes |= {
            (names[attribute.entity], attribute.value.casefold())
            for attribute in found.attributes
            if attribute.polarity and attribute.entity in names
        }
        relations |= {
            (names[relation.subject], relation.predicate.casefold(), names[relation.object])
            for relation in found.relations
            if relation.polarity and relation.subject in names and relation.object in names
        }
    return Facts(frozenset(objects), frozenset(attributes), frozenset(relations), parser)


def phrase(fact: Fact) -> str:
    """A fact as words: ``red car``, ``man hold cup``."""
    return " ".join(reversed(fact)) if len(fact) == 2 else " ".join(fact)
