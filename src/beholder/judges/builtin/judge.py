"""The built-in judge: answers operations on texts by language analysis, without any model call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar

from beholder.errors import ConfigError
from beholder.judges.base import FIRST, Draw, Judge
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.claims import matches, supported
from beholder.judges.builtin.findings import Finding, find
from beholder.judges.builtin.lexical_alignment import align_words
from beholder.judges.builtin.phrases import question_graph
from beholder.judges.builtin.reading import analysed, analysed_claims
from beholder.judges.builtin.relevance import seen
from beholder.judges.builtin.settings import identity, settings
from beholder.judges.grades import Grade, rule_grade
from beholder.judges.operations import (
    AlignWords,
    AtomicStatement,
    Decompose,
    MatchStatements,
    Operation,
    Presence,
    Question,
    Rewrite,
    Verify,
)
from beholder.language import graph_statements

T = TypeVar("T")

_ENGLISH = ("en", "english")


class BuiltinJudge(Judge):
    """Grades units of English texts by aligning scene graph to scene graph.

    It answers ``Presence``, ``MatchStatements``, ``Verify`` (against a reference text),
    ``Decompose`` and ``AlignWords``; ``Rewrite`` gives the phrase back, as this judge reads rough
    ones, too. It sees no pictures and reads no other language than English. Deterministic.
    """

    per_process: ClassVar[bool] = True

    @property
    def identity(self) -> str:
        """``builtin@DIGEST``: of all code and data that an answer hangs on."""
        return identity()

    def can(self, kind: type[Operation[Any]]) -> bool:
        """What is in the table below."""
        return kind in _ANSWERS

    async def ask(self, operation: Operation[T], draw: Draw = FIRST) -> T:
        """See ``Judge.ask``; the same question always has the same answer.

        Raises:
            ConfigError: It cannot do this, the language is not English, or pictures are to be seen.
            ItemError: A text is not English.
        """
        if not self.can(type(operation)):
            self._cannot(type(operation))
        answer: T = _ANSWERS[type(operation)](operation)
        return answer


def _presence(asked: Presence) -> list[Grade]:
    """Grade the units by what the texts say.

    A question that says where its unit stands is answered by aligning the whole source with the
    whole target; any other by aligning its own words.
    """
    there = analysed(asked.target)
    known: dict[tuple[str, tuple[int, ...]], tuple[Finding, float]] = {}
    if asked.source is not None:
        about = analysed(asked.source)
        findings = find(about, there, settings())
        known = {
            (unit.kind, unit.place(about.graph)): (
                finding,
                settings().grade(unit.kind, finding.value),
            )
            for unit, finding in zip(about.units, findings, strict=True)
        }
    answers = []
    for question in asked.questions:
        finding, grade = known.get((question.kind, question.place)) or _phrase(question, there)
        answers.append(rule_grade(grade, finding.contradiction, finding.where))
    return answers


def _decompose(asked: Decompose) -> list[AtomicStatement]:
    """The atomic statements of an English text, in text order, guesses and mood marked."""
    _check_language(asked.language)
    read = analysed(asked.text)
    graph = read.graph
    return [
        AtomicStatement(
            found.text,
            f"{graph.entities[found.entities[0]].name}_{found.entities[0]}",
            seen(found, read),
            spans=found.spans,
        )
        for found in graph_statements(graph)
    ]


def _match(asked: MatchStatements) -> list[int | None]:
    """For each claim the reference statement that says it, and not much more, or None."""
    _check_language(asked.language)
    return matches(analysed_claims.of(asked.claims), analysed_claims.of(asked.references))


def _verify(asked: Verify) -> list[bool]:
    """Whether the reference text supports each claim."""
    _check_language(asked.language)
    if asked.images or asked.reference is None:
        raise ConfigError(
            "the built-in judge does not see pictures, and verify shows them here; choose a model"
            " that can (judge='openai:MODEL'), or verify by a reference text alone"
        )
    return supported(analysed_claims.of(asked.claims), analysed(asked.reference))


_ANSWERS: Mapping[type[Operation[Any]], Callable[[Any], Any]] = {
    Presence: _presence,
    Decompose: _decompose,
    MatchStatements: _match,
    Verify: _verify,
    Rewrite: lambda asked: asked.phrase,
    AlignWords: lambda asked: align_words(asked.candidate, asked.references),
}


def _check_language(language: str | None) -> None:
    if language is not None and language.lower() not in _ENGLISH:
        raise ConfigError(
            f"the built-in judge reads English, not {language!r}; use an LLM judge "
            "(judge='openai:MODEL') or the metric vcs"
        )


def _phrase(question: Question, target: AnalysedText) -> tuple[Finding, float]:
    """Answer a question from its own words; the worst of its parts decides."""
    asked = AnalysedText(question_graph(question))
    findings = find(asked, target, settings())
    graded = [
        (settings().grade(unit.kind, finding.value), place, finding)
        for place, (unit, finding) in enumerate(zip(asked.units, findings, strict=True))
    ]
    if not graded:
        return Finding(0.0), settings().grade(question.kind, 0.0)
    own = [entry for entry in graded if asked.units[entry[1]].kind == question.kind]
    grade, _, finding = min(own if question.kind != "entity" and own else graded)
    return finding, grade
