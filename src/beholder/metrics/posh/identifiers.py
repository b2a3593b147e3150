"""Words that tell which of several like things is meant."""

from __future__ import annotations

from collections import defaultdict
from typing import TypeAlias

from beholder.language.graph import Attribute, Relation, SceneGraph

_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
_Owners: TypeAlias = defaultdict[tuple[str, ...], set[int]]


class Identifiers:
    """Phrases that name one entity of a graph and no other.

    What is said of namesakes is collected once, so that a long text costs no more than its length.

    Args:
        graph: The graph.
    """

    def __init__(self, graph: SceneGraph) -> None:
        self._graph = graph
        self._namesakes: defaultdict[str, list[int]] = defaultdict(list)
        for entity in graph.entities:
            self._namesakes[entity.name].append(entity.index)
        self._attributes: defaultdict[int, list[Attribute]] = defaultdict(list)
        self._relations: defaultdict[int, list[Relation]] = defaultdict(list)
        self._owners: _Owners = defaultdict(set)
        for attribute in graph.attributes:
            name = graph.entities[attribute.entity].name
            self._attributes[attribute.entity].append(attribute)
            self._owners[name, attribute.value].add(attribute.entity)
        for relation in graph.relations:
            name = graph.entities[relation.subject].name
            self._relations[relation.subject].append(relation)
            self._owners[name, *self._end(relation)].add(relation.subject)

    def of(self, entity: int, without: str = "") -> str:
        """The name alone where it is unique, else with what no namesake has, else with a number.

        Args:
            entity: Index of the entity.
            without: Value of an attribute that must not be used, since it is what will be asked.
        """
        name = self._graph.entities[entity].name
        namesakes = self._namesakes[name]
        if len(namesakes) == 1:
            return name
        for attribute in self._attributes[entity]:
            told = attribute.value != without and self._owners[name, attribute.value] == {entity}
            if told and attribute.kind == "quality" and attribute.polarity:
                return f"{attribute.value} {name}"
        for relation in self._relations[entity]:
            if self._owners[name, *self._end(relation)] == {entity}:
                return f"{name} {_clause(relation)} {self._end(relation)[1]}"
        place = namesakes.index(entity)
        return f"{_ORDINALS[place] if place < len(_ORDINALS) else f'{place + 1}th'} {name}"

    def _end(self, relation: Relation) -> tuple[str, str]:
        return relation.predicate, self._graph.entities[relation.object].name


def _clause(relation: Relation) -> str:
    """The relation after its subject: "that is on", "that holds", "that is held by"."""
    first = relation.text.split()[0].lower()
    acts = relation.kind != "preposition" and not relation.passive
    finite = acts and not first.endswith(("ing", "ed", "en"))
    return f"that {relation.text}" if finite else f"that is {relation.text}"
