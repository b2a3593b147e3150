"""The plan of PoSh: the graphs of all texts, and the questions that they lead to."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from beholder.judges import Grade
from beholder.judges.operations import LexicalAlignment, Question
from beholder.language.graph import Attribute, Relation, SceneGraph
from beholder.language.statements import GraphUnit, graph_units
from beholder.metrics.posh.published import Advance, Wording, advance, as_made
from beholder.metrics.posh.published_graph import PublishedGraph
from beholder.records import Side


class Ask(NamedTuple):
    """One question about one pair of texts.

    Attributes:
        side: The text that has the unit: a unit of the candidate is looked for in the reference.
        reference: Index of the pair's reference.
        question: The question.
    """

    side: Side
    reference: int
    question: Question


Grades: TypeAlias = Mapping[Ask, Grade]


@dataclass(frozen=True)
class Plan:
    """All that is computed before a judge is asked.

    Attributes:
        candidate: Graph of the text under evaluation.
        references: Graphs of the references.
        threshold: Grade from which a unit is present.
        lexical_alignment: Similarity of the texts by words, where it is used.
        peers: Mean recall by words among the references, 0..1; 1 for a single
            reference, or where it does not count.
    """

    candidate: SceneGraph
    references: tuple[SceneGraph, ...]
    threshold: float
    lexical_alignment: LexicalAlignment | None = None
    peers: float = 1.0

    @cached_property
    def questions(self) -> tuple[list[tuple[GraphUnit, Question]], ...]:
        """Units of each graph with their questions: the candidate's, then each reference's."""
        return tuple(
            unit_questions(graph)
            for graph in (self.candidate, *self.references)
        )

    @cached_property
    def published(self) -> tuple[PublishedGraph, ...]:
        """The graphs in the published form: the candidate's, then each reference's."""
        return tuple(
            map(
                PublishedGraph.of_scene_graph,
                (self.candidate, *self.references),
            )
        )

    @cached_property
    def distinct(self) -> tuple[int, ...]:
        """The places of the references, without those that repeat an earlier one.

        A text that is there twice adds no information, so it must not weigh twice in the recall.
        """
        return distinct_places([graph.text for graph in self.references])

    def pairs(self) -> list[tuple[Side, int]]:
        """Return both directions for each distinct reference."""
        candidate: list[tuple[Side, int]] = [
            ("candidate", i) for i in self.distinct
        ]
        return candidate + [("reference", i) for i in self.distinct]

    def source(self, side: Side, reference: int) -> SceneGraph:
        """Return the graph whose units are looked for."""
        return (
            self.candidate
            if side == "candidate"
            else self.references[reference]
        )

    def advance(
        self,
        side: Side,
        reference: int,
        grades: Grades,
        wording: Wording = as_made,
    ) -> Advance:
        """Go through the published passes of one direction, as far as grades are known."""
        graph = self.published[0 if side == "candidate" else 1 + reference]
        return advance(
            graph,
            lambda q: grades.get(Ask(side, reference, q)),
            self.threshold,
            wording,
        )

    def target(self, side: Side, reference: int) -> SceneGraph:
        """Return the graph of the text in which they are looked for."""
        return (
            self.references[reference]
            if side == "candidate"
            else self.candidate
        )


def distinct_places(texts: Sequence[str]) -> tuple[int, ...]:
    """Return the places of texts that differ in more than case, white space and the last full stop.

    Of texts that are alike the longest stands for all, the one with its full stop, wherever it is
    in the list: the order of references must change no value.
    """
    places_by_text: defaultdict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        places_by_text[" ".join(text.casefold().split()).rstrip(" .")].append(
            place
        )

    def rank(place: int) -> tuple[int, str, int]:
        return -len(texts[place].strip()), texts[place], place

    return tuple(
        sorted(min(places, key=rank) for places in places_by_text.values())
    )


def unit_questions(graph: SceneGraph) -> list[tuple[GraphUnit, Question]]:
    """Return the units of a graph with the question for each, under ``rules="fixed"``.

    An entity that shares its name with others is named by what sets it apart; an attribute is never
    asked about an entity that is named by that attribute.
    """
    questions = []
    identifiers = Identifiers(graph)
    for unit in graph_units(graph):
        # The parser marks words for the picture itself ("a photo of"); they
        # are not asked about.
        if not unit.asked:
            continue
        subject = identifiers.phrase_for(unit.subject, without=unit.value)
        place = unit.place(graph)
        # A denied unit asks for its denial: "no dog", "not red".
        denied = "" if unit.polarity else "not "
        if unit.kind == "entity":
            text = f"{'' if unit.polarity else 'no '}{subject}"
            question = Question("entity", text, place=place)
        elif unit.object is None:
            question = Question(
                "attribute", denied + unit.text, subject, place=place
            )
        else:
            object_name = identifiers.phrase_for(unit.object)
            question = Question(
                "relation", denied + unit.text, subject, object_name, place
            )
        questions.append((unit, question))
    return questions


def fixed_asks(plan: Plan) -> list[Ask]:
    """Return all questions under ``rules="fixed"``: every unit against every reference."""
    return [
        Ask(side, reference, question)
        for side, reference in plan.pairs()
        for _, question in plan.questions[
            0 if side == "candidate" else 1 + reference
        ]
    ]


_ORDINALS = (
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
)
_Owners: TypeAlias = defaultdict[tuple[str, ...], set[int]]


class Identifiers:
    """Phrases that name one entity of a graph and no other.

    Attributes and relations of namesakes are collected once, so that cost grows with the length.

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

    def phrase_for(self, entity: int, without: str = "") -> str:
        """Return the name alone if unique, else with what no namesake has, else with a number.

        Args:
            entity: Index of the entity.
            without: Value of an attribute that must not be used, since it is what will be asked.
        """
        name = self._graph.entities[entity].name
        namesakes = self._namesakes[name]
        if len(namesakes) == 1:
            return name
        # Tried in this order: a quality, a relation, the place among the
        # namesakes.
        for attribute in self._attributes[entity]:
            is_distinctive = attribute.value != without and self._owners[
                name, attribute.value
            ] == {entity}
            if (
                is_distinctive
                and attribute.kind == "quality"
                and attribute.polarity
            ):
                return f"{attribute.value} {name}"
        for relation in self._relations[entity]:
            if self._owners[name, *self._end(relation)] == {entity}:
                return f"{name} {_clause(relation)} {self._end(relation)[1]}"
        place = namesakes.index(entity)
        return f"{_ORDINALS[place] if place < len(_ORDINALS) else f'{place + 1}th'} {name}"

    def _end(self, relation: Relation) -> tuple[str, str]:
        return relation.predicate, self._graph.entities[relation.object].name


def _clause(relation: Relation) -> str:
    """Return the relation after its subject: "that is on", "that holds", "that is held by"."""
    # Only a finite verb stands without "is".
    first = relation.text.split()[0].lower()
    acts = relation.kind != "preposition" and not relation.passive
    finite = acts and not first.endswith(("ing", "ed", "en"))
    return f"that {relation.text}" if finite else f"that is {relation.text}"
