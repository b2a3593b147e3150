"""The built-in judge: answers operations on texts by language analysis, without any model call."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, ClassVar, TypeVar

from beholder.errors import ConfigError, ItemError
from beholder.judges.base import FIRST, Draw, Judge
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.bearers import (
    borne_statements,
    compatibility,
    without_bearers,
)
from beholder.judges.builtin.claims import matches, supported
from beholder.judges.builtin.classes import word_set
from beholder.judges.builtin.findings import Finding, find
from beholder.judges.builtin.lexical_alignment import align_words
from beholder.judges.builtin.numbers import PRESENT, whole
from beholder.judges.builtin.phrases import question_graph
from beholder.judges.builtin.reading import analysed, analysed_claims
from beholder.judges.grades import Grade, rule_grade
from beholder.judges.operations import (
    AlignWords,
    AtomicStatement,
    CheckCriteria,
    Decompose,
    MatchNearest,
    MatchStatements,
    Operation,
    Presence,
    PresenceList,
    Question,
    Rewrite,
    TextAnswer,
    Verify,
)
from beholder.judges.operations.answer import CONTRADICTED, MET, NOT_MENTIONED
from beholder.language.statements import Statement
from beholder.language.unseen import MOOD, OPINIONS
from beholder.text.languages import ENGLISH, language_named

T = TypeVar("T")


class BuiltinJudge(Judge):
    """Grades units of English texts by aligning scene graph to scene graph.

    It answers ``Presence``, ``MatchStatements``, ``Verify`` (against a reference text),
    ``CheckCriteria``, ``Decompose`` and ``AlignWords``; ``Rewrite`` gives the phrase back, as this
    judge reads rough ones, too. It sees no pictures and reads no other language than English.
    Deterministic.

    Args:
        entail: Whether the entailment model decides with the rules (``docs/judges.md``). Without
            it, answers are several times as fast, and less often right.
    """

    per_process: ClassVar[bool] = True

    def __init__(self, entail: bool = True) -> None:
        self._entail = entail

    @property
    def identity(self) -> str:
        """Its name and option; see ``registry.versioned_identity``."""
        return "builtin" if self._entail else "builtin(entail=False)"

    @property
    def english_only(self) -> bool:
        """True: it reads no other language."""
        return True

    def can(self, kind: type[Operation[Any]]) -> bool:
        """Return whether the table ``_ANSWERS`` has the operation."""
        return kind in _ANSWERS

    async def ask(self, operation: Operation[T], draw: Draw = FIRST) -> T:
        """Answer an operation; the same question always has the same answer.

        Raises:
            ConfigError: It cannot do this, the language is not English, or pictures are to be seen.
            ItemError: A text is not English.
        """
        if not self.can(type(operation)):
            self._cannot(type(operation))
        answer: T = _ANSWERS[type(operation)](operation, self._entail)
        return answer


def _presence(operation: Presence, entail: bool) -> list[Grade]:
    """Grade the units by the content of the texts.

    A question that says where its unit stands is answered by aligning the whole source with the
    whole target; any other by aligning its own words.
    """
    there = analysed(operation.target)
    findings_by_unit: dict[tuple[str, tuple[int, ...]], Finding] = {}
    # With the source text, units are those of its graph, which the rules
    # compare in context; a question about anything else is parsed from its own
    # words.
    if operation.source is not None:
        about = analysed(operation.source)
        findings_by_unit = {
            (unit.kind, unit.place(about.graph)): finding
            for unit, finding in zip(
                about.units, find(about, there, entail=entail), strict=True
            )
        }
    answers = []
    for question in operation.questions:
        finding = findings_by_unit.get(
            (question.kind, question.place)
        ) or _phrase(question, there, entail)
        grade = rule_grade(
            finding.grade,
            finding.contradiction,
            finding.where,
            sure=finding.sure,
            excused=finding.excused,
            further=finding.further,
        )
        answers.append(grade)
    return answers


def _decompose(operation: Decompose, _: bool) -> list[AtomicStatement]:
    """The atomic statements of an English text, in text order, guesses and mood marked."""
    _check_language(operation.language)
    text = analysed(operation.text)
    graph = text.graph
    return [
        AtomicStatement(
            statement.text,
            f"{graph.entities[statement.entities[0]].name}_{statement.entities[0]}",
            is_visible(statement, text),
            spans=statement.spans,
        )
        for statement in borne_statements(graph)
    ]


def _match(operation: MatchStatements, entail: bool) -> list[int | None]:
    """For each claim the reference statement that says it, and not much more, or the nearest."""
    _check_language(operation.language)
    claims, references = (
        analysed_claims.read_texts([without_bearers(fact) for fact in facts])
        for facts in (operation.claims, operation.references)
    )

    def fit(claim: int, reference: int) -> int | None:
        return compatibility(
            operation.claims[claim],
            operation.references[reference],
            operation.references,
        )

    nearest = isinstance(operation, MatchNearest)
    return matches(claims, references, nearest=nearest, entail=entail, fit=fit)


def _verify(operation: Verify, entail: bool) -> list[bool]:
    """Return whether the reference text supports each claim.

    Raises:
        ConfigError: Pictures are to be seen, or the language is not English.
    """
    _check_language(operation.language)
    if operation.images or operation.reference is None:
        raise ConfigError(
            "this judge does not see pictures, and verify shows them here; choose a model"
            " that can (judge='openai:MODEL'), or verify by a reference text alone"
        )
    return supported(operation.claims, operation.reference, entail=entail)


def _criteria(operation: CheckCriteria, entail: bool) -> list[TextAnswer]:
    """Check statements against a text: supported, else contradicted where a unit is."""
    _check_statements(operation)
    there = analysed(operation.text)
    answers: list[TextAnswer] = []
    verdicts = supported(operation.criteria, operation.text, entail=entail)
    for criterion, holds in zip(operation.criteria, verdicts, strict=True):
        claim = analysed(criterion)
        findings = find(claim, there, entail=entail)
        is_named = any(
            unit.kind == "entity" and finding.grade >= PRESENT
            for unit, finding in zip(claim.units, findings, strict=True)
        )
        # A text that does not name the thing is silent about it, unless the rules see a denial.
        denied = findings if is_named else find(claim, there)
        against = [finding for finding in denied if finding.contradiction]
        state = NOT_MENTIONED
        if holds:
            state = MET
        elif against:
            state = CONTRADICTED
        relevant = findings if holds else against
        spans = sorted(
            {span for finding in relevant for span in finding.where}
        )
        answers.append(TextAnswer(state, tuple(spans)))
    return answers


def _check_statements(operation: CheckCriteria) -> None:
    """Refuse criteria that are no English statements.

    Raises:
        ConfigError: The language is not English.
        ItemError: A criterion is a question, or a demand on the text.
    """
    _check_language(operation.language)
    for index, criterion in enumerate(operation.criteria):
        if index in operation.demands or criterion.rstrip().endswith(
            ("?", "？")
        ):
            kind = (
                "a demand on the text"
                if index in operation.demands
                else "a question"
            )
            raise ItemError(
                f"this judge checks statements, and {criterion!r} is {kind}; write it as a"
                " statement about what is described, or use an LLM judge (judge='openai:MODEL')"
            )


_ANSWERS: Mapping[type[Operation[Any]], Callable[[Any, bool], Any]] = {
    Presence: _presence,
    PresenceList: _presence,
    Decompose: _decompose,
    MatchStatements: _match,
    MatchNearest: _match,
    Verify: _verify,
    CheckCriteria: _criteria,
    Rewrite: lambda operation, _: operation.phrase,
    AlignWords: lambda operation, _: align_words(
        operation.candidate, operation.references
    ),
}


def _check_language(language: str | None) -> None:
    """Refuse every language but English.

    Raises:
        ConfigError: It is another one.
    """
    if language is not None and language_named(language) != ENGLISH:
        raise ConfigError(
            f"this judge reads English, not {language!r}; use an LLM judge "
            "(judge='openai:MODEL') or the metric vcs"
        )


def _phrase(question: Question, target: AnalysedText, entail: bool) -> Finding:
    """Answer a question from its own words; the worst of its parts decides."""
    phrase = AnalysedText(question_graph(question))
    unit_findings = list(
        zip(phrase.units, find(phrase, target, entail=entail), strict=True)
    )
    same_kind = [
        pair for pair in unit_findings if pair[0].kind == question.kind
    ]
    # The question of an attribute or relation also names its things; only the
    # unit itself is asked about.
    parts = (
        same_kind if question.kind != "entity" and same_kind else unit_findings
    )
    nothing = Finding(0.0, 1.0, sure=True)
    return min(
        (finding for _, finding in parts),
        key=lambda f: f.grade,
        default=nothing,
    )


_REACH = whole("relevance.reach")
_MARKS = re.compile(r"[.,;:!?()\n]|\b(?:but|while|which|who)\b")
"""Words and marks that end the scope of a hedge."""


def is_visible(statement: Statement, text: AnalysedText) -> bool:
    """Return whether a statement is visible: no guess, inference, mood or mere opinion.

    A guess is what a hedge ("possibly", "seems to", "suggesting") covers in the text: the next few
    words, up to a mark. Inference and mood also show in words of the statement. Opinion counts
    only where the statement says nothing else.

    Args:
        statement: A statement of the text.
        text: The text that it comes from.
    """
    if any(
        text.graph.entities[index].kind == "unseen"
        for index in statement.entities
    ):
        return False
    words = re.findall(r"[a-z]+(?:-[a-z]+)*", statement.text.lower())
    # Any word of inference or mood makes the statement invisible; opinion only
    # if the attribute says nothing else.
    if not (_words("inference") | MOOD).isdisjoint(words):
        return False
    if statement.kind == "attribute":
        covered_words = [
            w
            for span in statement.spans
            for w in text.words[slice(*text.at(span))]
        ]
        bearing = [
            word for word in covered_words if word not in _words("empty")
        ]
        if bearing and OPINIONS.issuperset(bearing):
            return False
    return not any(_hedged(text, span[0]) for span in statement.spans)


def _hedged(text: AnalysedText, start: int) -> bool:
    """Return whether a hedge such as "perhaps" covers the words from a character on."""
    place = text.at((start, start + 1))[0]
    mark = max(
        (m.end() for m in _MARKS.finditer(text.graph.text, 0, start)),
        default=0,
    )
    first = max(text.at((mark, mark + 1))[0], place - _REACH)
    return any(
        word in _words("hedges") | _words("inference")
        or (word in _words("seeming") and after in _words("complements"))
        for word, after in pairwise(text.words[first : place + 1])
    )


def _words(section: str) -> frozenset[str]:
    return word_set("inference.txt", section)
