"""The published protocol, ``rules="reference"``: three passes with identifiers and a threshold.

Source: the PoSh paper (2025) and the behaviour of its public code. The questions of a pass depend
on the grades of the passes before, so the protocol is a function from the answers known so far to
what is still open.

An entity has several candidate identifiers, and a later one replaces an earlier one only if its
rounded score is strictly higher. So they are asked one after the other and no further than the
first that rounds to 5: the result is that of asking for all of them. Identifiers that are made of
several words by rule ("tall man") may be put into better words by a judge before they are asked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NamedTuple, TypeAlias

from beholder.errors import ItemError
from beholder.judges import Grade
from beholder.judges.operations import Question, QuestionKind
from beholder.metrics.base import f1 as f1
from beholder.metrics.posh.published_graph import PART_OF, PublishedGraph
from beholder.records import Side, Span

GradeLookup: TypeAlias = Callable[[Question], Grade | None]
Wording: TypeAlias = Callable[[str], str | None]
"""The wording of a phrase; None until it is asked."""
Answer: TypeAlias = Callable[
    [QuestionKind, str, str, str, Side], Sequence[float]
]

THRESHOLD = 2.0
"""The published score from which an entity is present."""
LOWEST, HIGHEST = 1, 5
_PRONOUNS = frozenset(
    (
        "he", "him", "his", "himself", "she", "her", "hers", "herself", "it", "its", "itself",
        "they", "them", "their", "theirs", "themselves",
        "who", "whom", "this", "that", "these", "those",
    )
)  # fmt: skip


class _Naming(IntEnum):
    """Kinds of candidate identifiers, in the order in which they are asked."""

    HEAD = 0
    ATTRIBUTE = 1
    MENTION = 2
    SUBJECT = 3
    OBJECT = 4


_REWORDED = frozenset((_Naming.ATTRIBUTE, _Naming.SUBJECT, _Naming.OBJECT))


@dataclass(frozen=True, slots=True)
class Component:
    """A scored part of a graph under the published rules.

    Attributes:
        kind: ``entity``, ``attribute`` or ``relation``.
        text: As written.
        identifier: The name under which it was asked for.
        spans: Its characters in the original text.
        score: 1..5.
        grade: The judge's grade, or None where its entity was absent and it was not asked for.
    """

    kind: QuestionKind
    text: str
    identifier: str
    spans: tuple[Span, ...]
    score: float
    grade: Grade | None


@dataclass(frozen=True)
class Advance:
    """The state after the known answers: open questions, or all components.

    Attributes:
        open: Questions.
        phrases: Candidate identifiers that wait for their wording.
        components: All components; empty while anything is open.
    """

    open: tuple[Question, ...] = ()
    phrases: tuple[str, ...] = ()
    components: tuple[Component, ...] = ()


def as_made(phrase: str) -> str:
    """Return the phrase itself: the wording without a judge."""
    return phrase


def advance(
    graph: PublishedGraph,
    grade_of: GradeLookup,
    threshold: float,
    wording: Wording = as_made,
) -> Advance:
    """Go through the passes as far as the known answers allow.

    Args:
        graph: The graph whose components are looked for.
        grade_of: Grade of a question, or None if it was not asked yet.
        threshold: Score from which an entity is present.
        wording: Wording of a candidate identifier.
    """
    passes = _Passes(graph, grade_of, threshold, wording)
    # First entities without parents, then those with: their names contain the
    # parent's.
    for nested in (False, True):
        missing = passes.judge_entities(nested)
        if missing.open or missing.phrases:
            return missing
    # Attributes and relations are asked only where their entities are present.
    parts = [*passes.attribute_parts(), *passes.relation_parts()]
    open_parts = dict.fromkeys(
        p.question
        for p in parts
        if p.is_asked and grade_of(p.question) is None
    )
    if open_parts:
        return Advance(tuple(open_parts))
    components = (
        *passes.entity_components(),
        *(p.component(grade_of) for p in parts),
    )
    return Advance(components=components)


def mean_score(components: Sequence[Component]) -> float:
    """Return the mean of all components' scores / 5; a graph without components scores 1."""
    if not components:
        return 1.0
    return sum(c.score for c in components) / HIGHEST / len(components)


class PublishedScores(NamedTuple):
    """Scores of the published scorer for a pair of graphs, each 0.2..1, higher is better.

    Attributes:
        precision: Mean score / 5 of the candidate's components; low for mistakes.
        recall: The same of the reference's components; low for omissions.
        f1: Their harmonic mean.
    """

    precision: float
    recall: float
    f1: float


def score_graphs(
    candidate_graph: Mapping[str, Any],
    reference_graph: Mapping[str, Any],
    answer: Answer,
    *,
    threshold: float = THRESHOLD,
    rewrite: Callable[[str], str] = as_made,
) -> PublishedScores:
    """Score a pair of graphs in the public form as the public scorer does.

    Args:
        candidate_graph: The candidate's graph; see ``PublishedGraph.of_public``.
        reference_graph: The reference's graph.
        answer: Called with ``(kind, text, subject, object, side)``, all in lower case; ``kind`` is
            ``entity``, ``attribute`` or ``relation``, and ``side`` the text in which it is looked
            for: ``"reference"`` for the candidate's components, ``"candidate"`` for the
            reference's. Gives the probabilities of the scores 1 to 5; they are divided by their
            sum. No question is asked twice about a side.
        threshold: Score from which an entity is present.
        rewrite: Puts a candidate identifier of several words ("tall man") into better words; the
            public code has a model do it. By default it stays as it is.

    Raises:
        ItemError: A graph is not in the public form, or an answer is not five probabilities.
    """

    def looked_for(public: Mapping[str, Any], side: Side) -> float:
        graph, grades = (
            PublishedGraph.of_public(public),
            dict[Question, Grade](),
        )
        # Each round answers what the round before has opened.
        while (step := advance(graph, grades.get, threshold, rewrite)).open:
            for q in step.open:
                grades[q] = _expected_grade(
                    q, answer(q.kind, q.text, q.subject, q.object, side)
                )
        return mean_score(step.components)

    precision = looked_for(candidate_graph, "reference")
    recall = looked_for(reference_graph, "candidate")
    return PublishedScores(precision, recall, f1(precision, recall))


def _expected_grade(question: Question, answer: Sequence[float]) -> Grade:
    """Return the grade of an answer: its expectation over the scores."""
    total = sum(answer)
    if len(answer) != HIGHEST or min(answer) < 0 or not total > 0:
        raise ItemError(
            f"answer to {question}: expected probabilities of 1 to 5, got {answer!r}"
        )
    probabilities = tuple(p / total for p in answer)
    value = sum(
        score * p for score, p in enumerate(probabilities, start=LOWEST)
    )
    return Grade(value, probabilities, 1.0, "rules")


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
    is_asked: bool

    def component(self, grade_of: GradeLookup) -> Component:
        question = self.question
        words = (question.subject, question.text, question.object)
        grade = grade_of(question) if self.is_asked else None
        score = grade.value if grade else float(LOWEST)
        return Component(question.kind, self.text, " ".join(w for w in words if w), self.spans,
                         score, grade)  # fmt: skip


@dataclass(eq=False)
class _Passes:
    """The passes through one graph."""

    graph: PublishedGraph
    grade_of: GradeLookup
    threshold: float
    wording: Wording

    def __post_init__(self) -> None:
        self._entities = self.graph.entities
        self._accepted: dict[int, _Accepted] = {}

    def judge_entities(self, nested: bool) -> Advance:
        """Accept an identifier for each entity with or without parents; return what is open."""
        # Who looks at the picture is always there, under a fixed name.
        accepted = {
            i: _Accepted(entity.viewer, float(HIGHEST), None)
            for i, entity in enumerate(self._entities)
            if entity.viewer
        }
        questions: dict[Question, None] = {}
        phrases: dict[str, None] = {}
        for index, entity in enumerate(self._entities):
            if bool(self.graph.parents[index]) != nested or entity.viewer:
                continue
            # Later names replace the best one only if they round higher; 5
            # cannot be beaten.
            best: _Accepted | None = None
            for naming, phrase in self._candidates(index):
                text = self.wording(phrase) if naming in _REWORDED else phrase
                if text is None:
                    phrases[phrase] = None
                    break
                question = Question("entity", text)
                grade = self.grade_of(question)
                if grade is None:
                    questions[question] = None
                    break
                if best is None or round(grade.value) > round(best.score):
                    best = accepted[index] = _Accepted(
                        text, grade.value, grade
                    )
                if round(grade.value) >= HIGHEST:
                    break
        # Accepted all at once, so that a pass that is asked again starts from
        # the same state.
        if not questions and not phrases:
            self._accepted |= accepted
        return Advance(tuple(questions), tuple(phrases))

    def attribute_parts(self) -> Iterator[_Part]:
        for index, entity in enumerate(self._entities):
            if entity.viewer:
                continue
            for attribute in entity.attributes:
                question = Question(
                    "attribute",
                    attribute.text,
                    self._accepted[index].identifier,
                )
                yield _Part(
                    attribute.written,
                    attribute.spans,
                    question,
                    self._is_present(index),
                )

    def relation_parts(self) -> Iterator[_Part]:
        for r in self.graph.relations:
            if (
                self._entities[r.subject].viewer
                and self._entities[r.object].viewer
            ):
                continue
            subject, object_name = (
                self._accepted[i].identifier for i in (r.subject, r.object)
            )
            question = Question("relation", r.text, subject, object_name)
            is_asked = self._is_present(r.subject) and self._is_present(
                r.object
            )
            yield _Part(r.written, r.spans, question, is_asked)

    def entity_components(self) -> Iterator[Component]:
        for index, entity in enumerate(self._entities):
            if not entity.viewer:
                best = self._accepted[index]
                yield Component(
                    "entity",
                    entity.written,
                    best.identifier,
                    entity.spans,
                    best.score,
                    best.grade,
                )

    def _is_present(self, index: int) -> bool:
        return (
            index in self._accepted
            and self._accepted[index].score >= self.threshold
        )

    def _candidates(self, index: int) -> list[tuple[_Naming, str]]:
        """Return the identifiers under which an entity is asked for, in the published order."""
        head, parents = self._entities[index].head, self.graph.parents
        namesakes = tuple(
            i
            for i, entity in enumerate(self._entities)
            if i != index and entity.head == head and not entity.viewer
        )
        present = [p for p in parents[index] if self._is_present(p)]
        # A frame is the head alone, or the head of a present parent, with the
        # namesakes it leaves.
        frames = [(head, namesakes)] if not present or not namesakes else []
        for parent in present:
            siblings = tuple(i for i in namesakes if parent in parents[i])
            frames.append(
                (f"{head} of {self._accepted[parent].identifier}", siblings)
            )
        namings: dict[str, _Naming] = {}
        for (
            frame,
            rivals,
        ) in frames:  # a way to name it, and who else would be named so
            # A name that an earlier frame has made is none of this one: relations are tried then.
            before = len(namings)
            for text, naming in self._of_frame(index, frame, rivals):
                namings.setdefault(text, naming)
            if rivals and len(namings) == before:
                for text, naming in self._by_relations(index, frame, rivals):
                    namings.setdefault(text, naming)
        in_order = sorted(
            namings.items(), key=lambda pair: pair[1]
        )  # stable: then as they were made
        return [(naming, text) for text, naming in in_order] or [
            (_Naming.HEAD, frames[0][0])
        ]

    def _of_frame(
        self, index: int, frame: str, rivals: Sequence[int]
    ) -> Iterator[tuple[str, _Naming]]:
        """Yield names by head, attribute and other mention that no rival has."""
        entity = self._entities[index]
        rival_entities = [self._entities[i] for i in rivals]
        if not rival_entities:
            # Without rivals the frame is unique by itself.
            yield frame, _Naming.HEAD
        qualities = {
            attribute.text
            for rival in rival_entities
            for attribute in rival.attributes
        }
        for attribute in sorted(entity.attributes, key=lambda a: a.sentence):
            if attribute.text not in qualities:
                yield f"{attribute.text} {frame}", _Naming.ATTRIBUTE
        rival_names = {
            name for rival in rival_entities for name in rival.mentions
        }
        for name in entity.mentions:
            if name not in _PRONOUNS and name not in rival_names:
                yield name + frame.removeprefix(entity.head), _Naming.MENTION

    def _by_relations(
        self, index: int, frame: str, rivals: Sequence[int]
    ) -> Iterator[tuple[str, _Naming]]:
        """Yield names by relations that no rival has to the same other end."""
        head = self._entities[index].head
        by_sentence = sorted(self.graph.relations, key=lambda r: r.sentence)
        # Parents are in the frames already.
        relations = [r for r in by_sentence if r.text != PART_OF]
        alike = {(r.subject, r.text, r.object) for r in relations}
        for r in relations:
            name = self._end(r.object) if r.subject == index else None
            if name and not any(
                (rival, r.text, r.object) in alike for rival in rivals
            ):
                yield f"{head} {r.text} {name}", _Naming.SUBJECT
        for r in relations:
            name = self._end(r.subject) if r.object == index else None
            if name and not any(
                (r.subject, r.text, rival) in alike for rival in rivals
            ):
                yield (
                    f'{frame} with relation "{name} {r.text} {head}"',
                    _Naming.OBJECT,
                )

    def _end(self, index: int) -> str | None:
        """Return the name of the other end of a relation; None if it was found absent.

        An end that is not judged yet is named by its head with its earliest attribute.
        """
        if index in self._accepted:
            return (
                self._accepted[index].identifier
                if self._is_present(index)
                else None
            )
        entity = self._entities[index]
        earliest = min(
            entity.attributes, key=lambda a: a.sentence, default=None
        )
        return f"{earliest.text} {entity.head}" if earliest else entity.head
