"""The published protocol, ``rules="reference"``: three passes with identifiers and a threshold.

Source: the PoSh paper (2025) and the behaviour of its public code. The questions of a pass depend
on the grades of the pass before, so the protocol is a function from the grades known so far to the
questions still open. Candidates for identifiers are made by rule ("tall man"); the public code lets
its judge rewrite them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from beholder.judges import Grade, Question
from beholder.language.graph import Relation, SceneGraph
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
_ABSENT = 1.0
_CERTAIN = 5.0


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
class Progress:
    """What the known grades lead to: questions still open, or all components."""

    open: tuple[Question, ...]
    components: tuple[Component, ...]


def advance(graph: SceneGraph, known: Known, threshold: float) -> Progress:
    """Go through the passes as far as the known grades allow.

    Args:
        graph: Made with ``rules="reference"``.
        known: Grade of a question, or None if it was not asked yet.
        threshold: Score from which an entity is present.
    """
    parents = _parents(graph)
    accepted: dict[int, tuple[str, float, Grade | None]] = {}
    for nested in (False, True):
        indices = [i for i in range(len(graph.entities)) if bool(parents[i]) == nested]
        questions = {i: _candidates(graph, i, parents, accepted, threshold) for i in indices}
        missing = [q for i in indices for q in questions[i] if known(q) is None]
        if missing:
            return Progress(tuple(dict.fromkeys(missing)), ())
        found = {i: _accept(graph, i, questions[i], known) for i in indices}
        accepted |= found
    present = {i for i, (_, score, _) in accepted.items() if score >= threshold}
    attributes = [
        (a, Question("attribute", a.text, accepted[a.entity][0]))
        for a in graph.attributes
        if not _is_viewer(graph, a.entity)
    ]
    relations = [
        (r, Question("relation", r.text, accepted[r.subject][0], accepted[r.object][0]))
        for r in graph.relations
    ]
    asked = [q for a, q in attributes if a.entity in present]
    asked += [q for r, q in relations if {r.subject, r.object} <= present]
    missing = [q for q in asked if known(q) is None]
    if missing:
        return Progress(tuple(dict.fromkeys(missing)), ())
    components = [
        Component(
            "entity", e.name, accepted[i][0], tuple(m.span for m in e.mentions), *accepted[i][1:]
        )
        for i, e in enumerate(graph.entities)
        if not _is_viewer(graph, i)
    ]
    components += [
        _part("attribute", a.text, q, a.spans, known(q) if a.entity in present else None)
        for a, q in attributes
    ]
    components += [
        _part(
            "relation",
            r.text,
            q,
            r.spans,
            known(q) if {r.subject, r.object} <= present else None,
        )
        for r, q in relations
    ]
    return Progress((), tuple(components))


def _part(
    kind: str, text: str, question: Question, spans: tuple[Span, ...], grade: Grade | None
) -> Component:
    identifier = " ".join(filter(None, (question.subject, question.text, question.object)))
    return Component(kind, text, identifier, spans, grade.value if grade else _ABSENT, grade)


def _is_viewer(graph: SceneGraph, index: int) -> bool:
    return graph.entities[index].mentions[0].text.lower() in _VIEWERS


def _name(graph: SceneGraph, index: int) -> str:
    return graph.entities[index].mentions[0].text.lower()


def _parents(graph: SceneGraph) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in graph.entities]
    for relation in graph.relations:
        text = relation.text.lower()
        if text == "part of" and relation.object not in found[relation.subject]:
            found[relation.subject].append(relation.object)
        if text in _CONTAINS and relation.subject not in found[relation.object]:
            found[relation.object].append(relation.subject)
    return found


def _candidates(
    graph: SceneGraph,
    index: int,
    parents: list[list[int]],
    accepted: dict[int, tuple[str, float, Grade | None]],
    threshold: float,
) -> list[Question]:
    """The identifiers under which an entity is asked for, in the published order."""
    if _is_viewer(graph, index):
        return []
    head = _name(graph, index)
    everyone = [i for i in range(len(graph.entities)) if _name(graph, i) == head]
    there = [p for p in parents[index] if p in accepted and accepted[p][1] >= threshold]
    frames: list[tuple[str, list[int]]] = []
    for parent in there:
        siblings = [i for i in everyone if parent in parents[i]]
        frames.append((f"{head} of {accepted[parent][0]}", siblings))
    if not there or len(everyone) == 1:
        frames.append((head, everyone))
    texts: list[str] = []
    for frame, group in frames:
        rivals = [i for i in group if i != index]
        texts += _of_frame(graph, index, frame, rivals, accepted, threshold)
    return [Question("entity", text) for text in dict.fromkeys(texts or [head])]


def _of_frame(
    graph: SceneGraph,
    index: int,
    frame: str,
    rivals: list[int],
    accepted: dict[int, tuple[str, float, Grade | None]],
    threshold: float,
) -> list[str]:
    found = [] if rivals else [frame]
    theirs = {a.text.lower() for rival in rivals for a in graph.attributes_of(rival)}
    for attribute in sorted(graph.attributes_of(index), key=lambda a: (a.sentence, a.text)):
        if attribute.text.lower() not in theirs:
            found.append(f"{attribute.text.lower()} {frame}")
    names = {m.text.lower() for rival in rivals for m in graph.entities[rival].mentions}
    head = _name(graph, index)
    for mention in graph.entities[index].mentions[1:]:
        other = mention.text.lower()
        if other not in _PRONOUNS and other not in names and other != head:
            found.append(frame.replace(head, other, 1))
    if found:
        return found
    for relation in graph.relations:
        if index not in (relation.subject, relation.object):
            continue
        first = relation.subject == index
        end = relation.object if first else relation.subject
        if relation.text.lower() == "part of" or _shared(graph, relation, rivals, first):
            continue
        if end in accepted and accepted[end][1] < threshold:
            continue
        name = accepted[end][0] if end in accepted else _described(graph, end)
        words = relation.text.lower()
        found.append(
            f"{head} {words} {name}" if first else f'{frame} with relation "{name} {words} {head}"'
        )
    return found


def _shared(graph: SceneGraph, relation: Relation, rivals: list[int], first: bool) -> bool:
    """Whether a colliding entity stands in the same relation to the same other end."""
    return any(
        other.text.lower() == relation.text.lower()
        and (other.object if first else other.subject)
        == (relation.object if first else relation.subject)
        and (other.subject if first else other.object) in rivals
        for other in graph.relations
    )


def _described(graph: SceneGraph, index: int) -> str:
    attributes = sorted(a.text.lower() for a in graph.attributes_of(index))
    return " ".join([*attributes[:1], _name(graph, index)])


def _accept(
    graph: SceneGraph, index: int, questions: list[Question], known: Known
) -> tuple[str, float, Grade | None]:
    """The identifier with the highest rounded score; the earlier one wins a tie."""
    if not questions:
        return _name(graph, index), _CERTAIN, None
    best: tuple[str, float, Grade | None] = ("", 0.0, None)
    for question in questions:
        grade = known(question)
        if grade is not None and (best[2] is None or round(grade.value) > round(best[1])):
            best = (question.text, grade.value, grade)
    return best
