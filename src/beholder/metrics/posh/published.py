"""The published protocol, ``rules="reference"``: three passes with identifiers and a threshold.

Source: the PoSh paper (2025) and the behaviour of its public code. The questions of a pass depend
on the grades of the passes before, so the protocol is a function from the grades known so far to
the questions still open.

An entity has several candidate identifiers, and a later one replaces an earlier one only if its
rounded score is strictly higher. So they are asked one after the other and no further than the
first that rounds to 5: the result is that of asking for all of them. Candidates are made by rule
("tall man"); the public code lets its judge rewrite them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

from beholder.judges import Grade
from beholder.judges.operations import Question
from beholder.language.graph import Attribute, Relation, SceneGraph
from beholder.records import Span

Known: TypeAlias = Callable[[Question], Grade | None]

_PRONOUNS = frozenset(
    (
        "he", "him", "his", "she", "her", "hers", "it", "its", "they",
        "them", "their", "theirs", "who", "whom", "whose", "which", "that", "this",
        "these", "those", "one", "ones",
    )
)  # fmt: skip
_VIEWERS = frozenset(("us", "our", "we"))
_CONTAINS = frozenset(
    (
        "has", "have", "had", "having", "holds", "hold", "held", "holding", "contains",
        "contain", "contained", "containing", "wears", "wear", "wore", "worn", "wearing",
    )
)  # fmt: skip
_PART_OF = "part of"
_LOWEST, _HIGHEST = 1, 5


@dataclass(frozen=True, slots=True)
class Component:
    """A scored part of a graph under the published rules.

    Attributes:
        kind: ``entity``, ``attribute`` or ``relation``.
        text: As written.
        identifier: What it was called when it was asked for.
        spans: Its characters in the original text.
        score: 1..5.
        grade: The judge's grade, or None where its entity was absent and it was not asked for.
    """

    kind: str
    text: str
    identifier: str
    spans: tuple[Span, ...]
    score: float
    grade: Grade | None


@dataclass(frozen=True)
class Advance:
    """What the known grades lead to: questions still open, or all components."""

    open: tuple[Question, ...]
    components: tuple[Component, ...]


def advance(graph: SceneGraph, known: Known, threshold: float) -> Advance:
    """Go through the passes as far as the known grades allow.

    Args:
        graph: Made with ``rules="reference"``.
        known: Grade of a question, or None if it was not asked yet.
        threshold: Score from which an entity is present.
    """
    passes = _Passes(graph, known, threshold)
    for nested in (False, True):
        missing = passes.judge_entities(nested)
        if missing:
            return Advance(missing, ())
    parts = [*passes.attribute_parts(), *passes.relation_parts()]
    missing = tuple(
        dict.fromkeys(p.question for p in parts if p.asked and known(p.question) is None)
    )
    if missing:
        return Advance(missing, ())
    return Advance((), (*passes.entity_components(), *(p.component(known) for p in parts)))


@dataclass(frozen=True, slots=True)
class _Accepted:
    """The identifier under which an entity was found best, with its grade."""

    identifier: str
    score: float
    grade: Grade | None


@dataclass(frozen=True, slots=True)
class _Part:
    """An attribute or relation with its question; it is asked if its ends are present."""

    text: str
    spans: tuple[Span, ...]
    question: Question
    asked: bool

    def component(self, known: Known) -> Component:
        question = self.question
        words = (question.subject, question.text, question.object)
        grade = known(question) if self.asked else None
        score = grade.value if grade else float(_LOWEST)
        return Component(question.kind, self.text, " ".join(w for w in words if w), self.spans,
                         score, grade)  # fmt: skip


class _Passes:
    """The passes over one graph; everything is compared in lower case."""

    def __init__(self, graph: SceneGraph, known: Known, threshold: float) -> None:
        self._graph = graph
        self._known = known
        self._threshold = threshold
        self._entities = range(len(graph.entities))
        self._heads = [entity.mentions[0].text.lower() for entity in graph.entities]
        self._attributes = [_attributes(graph, i) for i in self._entities]
        self._parents = _parents(graph)
        self._viewers = _viewers(graph)
        # Who looks at the picture is always there, under a fixed name.
        self._accepted = {
            i: _Accepted(self._heads[i], float(_HIGHEST), None) for i in self._viewers
        }

    def judge_entities(self, nested: bool) -> tuple[Question, ...]:
        """Accept an identifier for each entity with (or without) parents, or say what to ask."""
        accepted: dict[int, _Accepted] = {}
        missing: list[Question] = []
        for index in self._entities:
            if bool(self._parents[index]) != nested or index in self._viewers:
                continue
            best: _Accepted | None = None
            for text in self._candidates(index):
                question = Question("entity", text)
                grade = self._known(question)
                if grade is None:
                    missing.append(question)
                    break
                if best is None or round(grade.value) > round(best.score):
                    best = accepted[index] = _Accepted(text, grade.value, grade)
                if round(grade.value) >= _HIGHEST:
                    break
        if not missing:
            self._accepted |= accepted
        return tuple(dict.fromkeys(missing))

    def attribute_parts(self) -> Iterator[_Part]:
        for index in self._entities:
            if index in self._viewers:
                continue
            for text, attribute in self._attributes[index].items():
                question = Question("attribute", text, self._accepted[index].identifier)
                yield _Part(attribute.text, attribute.spans, question, self._is_present(index))

    def relation_parts(self) -> Iterator[_Part]:
        for r in self._graph.relations:
            subject, other = (self._accepted[i].identifier for i in (r.subject, r.object))
            question = Question("relation", r.text.lower(), subject, other)
            asked = self._is_present(r.subject) and self._is_present(r.object)
            yield _Part(r.text, r.spans, question, asked)

    def entity_components(self) -> Iterator[Component]:
        for entity in self._graph.entities:
            if entity.index not in self._viewers:
                best = self._accepted[entity.index]
                spans = tuple(mention.span for mention in entity.mentions)
                yield Component(
                    "entity", entity.name, best.identifier, spans, best.score, best.grade
                )

    def _is_present(self, index: int) -> bool:
        return index in self._accepted and self._accepted[index].score >= self._threshold

    def _candidates(self, index: int) -> list[str]:
        """The identifiers under which an entity is asked for, in the published order."""
        head = self._heads[index]
        namesakes = [i for i in self._entities if i != index and self._heads[i] == head]
        present = [p for p in self._parents[index] if self._is_present(p)]
        frames: list[tuple[str, list[int]]] = []
        for parent in present:
            siblings = [i for i in namesakes if parent in self._parents[i]]
            frames.append((f"{head} of {self._accepted[parent].identifier}", siblings))
        if not present or not namesakes:
            frames.append((head, namesakes))
        found = [text for frame, rivals in frames for text in self._of_frame(index, frame, rivals)]
        return list(dict.fromkeys(found or [frames[0][0]]))

    def _of_frame(self, index: int, frame: str, rivals: list[int]) -> list[str]:
        head, entity = self._heads[index], self._graph.entities[index]
        found = [] if rivals else [frame]
        by_sentence = sorted(self._attributes[index].items(), key=lambda pair: pair[1].sentence)
        for text, _ in by_sentence:
            if not any(text in self._attributes[rival] for rival in rivals):
                found.append(f"{text} {frame}")
        taken = {m.text.lower() for rival in rivals for m in self._graph.entities[rival].mentions}
        for name in (mention.text.lower() for mention in entity.mentions[1:]):
            if name not in _PRONOUNS and name not in taken:
                found.append(name + frame.removeprefix(head))
        return found or self._by_relations(index, frame, rivals)

    def _by_relations(self, index: int, frame: str, rivals: list[int]) -> list[str]:
        head = self._heads[index]
        as_subject, as_object = [], []
        for relation in self._graph.relations:
            words = relation.text.lower()
            if words == _PART_OF or index not in (relation.subject, relation.object):
                continue
            first = relation.subject == index
            end = relation.object if first else relation.subject
            if self._shared(relation, rivals, first):
                continue
            if end in self._accepted and not self._is_present(end):
                continue
            name = self._accepted[end].identifier if end in self._accepted else self._first(end)
            if first:
                as_subject.append(f"{head} {words} {name}")
            else:
                as_object.append(f'{frame} with relation "{name} {words} {head}"')
        return as_subject + as_object

    def _shared(self, relation: Relation, rivals: list[int], first: bool) -> bool:
        """Whether a colliding entity stands in the same relation to the same other end."""
        return any(
            other.text.lower() == relation.text.lower()
            and (
                (other.object, other.subject in rivals)
                if first
                else (other.subject, other.object in rivals)
            )
            == (relation.object if first else relation.subject, True)
            for other in self._graph.relations
        )

    def _first(self, index: int) -> str:
        """An entity that is not judged yet: its head with its first attribute."""
        return " ".join([*list(self._attributes[index])[:1], self._heads[index]])


def _attributes(graph: SceneGraph, index: int) -> dict[str, Attribute]:
    """Attributes of an entity by their text in alphabetical order; the first of each text."""
    found: dict[str, Attribute] = {}
    for attribute in graph.attributes_of(index):
        found.setdefault(attribute.text.lower(), attribute)
    return dict(sorted(found.items()))


def _parents(graph: SceneGraph) -> list[list[int]]:
    """For each entity what it is part of, and what has, holds, contains or wears it."""
    found: list[dict[int, None]] = [{} for _ in graph.entities]
    for relation in graph.relations:
        text = relation.text.lower()
        if text == _PART_OF:
            found[relation.subject][relation.object] = None
        if text in _CONTAINS:
            found[relation.object][relation.subject] = None
    return [list(parents) for parents in found]


def _viewers(graph: SceneGraph) -> frozenset[int]:
    """Who looks ("us"), and "our left" and "our right": never asked for and never counted."""
    found = set()
    for entity in graph.entities:
        first = entity.mentions[0]
        before = graph.text[: first.span[0]].lower().split()[-1:]
        ours = first.text.lower() in ("left", "right") and before == ["our"]
        if ours or first.text.lower() in _VIEWERS:
            found.add(entity.index)
    return frozenset(found)
