"""The built-in judge: answers operations on texts by language analysis, without any model call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from beholder.backends import Image
from beholder.errors import ConfigError
from beholder.judges.base import Judge, Question, Statement
from beholder.judges.builtin.claims import matches, supported
from beholder.judges.builtin.findings import Finding, find
from beholder.judges.builtin.phrases import question_graph
from beholder.judges.builtin.reading import claim_view, view
from beholder.judges.builtin.relevance import seen
from beholder.judges.builtin.settings import identity, settings
from beholder.judges.builtin.view import View
from beholder.judges.grades import Grade, rule_grade
from beholder.language import graph_statements

_ENGLISH = ("en", "english")


class BuiltinJudge(Judge):
    """Grades units of English texts by aligning scene graph to scene graph.

    It answers ``presence``, ``match``, ``verify`` (against a reference text) and ``decompose``. It
    sees no pictures and reads no other language than English. Deterministic.
    """

    cheap: ClassVar[bool] = True

    @property
    def identity(self) -> str:
        """``builtin@DIGEST``: of all code and data that an answer hangs on."""
        return identity()

    async def presence(
        self,
        questions: Sequence[Question],
        target: str,
        source: str | None = None,
        *,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[Grade]:
        """Grade from 1 (certainly not) to 5 (certainly) that each unit is in the target text.

        A question that says where its unit stands is answered by aligning the whole source with the
        whole target; any other by aligning its own words.

        Args:
            questions: The units.
            target: The text in which they are looked for.
            source: The text they come from, or None.
            replicate: Not used: the same question has the same answer.
            temperature: Not used.

        Raises:
            ItemError: A text is not English.
        """
        there = view(target)
        known: dict[tuple[str, tuple[int, ...]], tuple[Finding, float]] = {}
        if source is not None:
            about = view(source)
            findings = find(about, there, settings())
            known = {
                (unit.kind, unit.place(about.graph)): (
                    finding,
                    settings().grade(unit.kind, finding.value),
                )
                for unit, finding in zip(about.units, findings, strict=True)
            }
        answers = []
        for question in questions:
            finding, grade = known.get((question.kind, question.place)) or _phrase(question, there)
            answers.append(rule_grade(grade, finding.instead, finding.where))
        return answers

    async def decompose(
        self,
        text: str,
        *,
        language: str | None = None,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[Statement]:
        """The atomic statements of an English text, in text order, guesses and mood marked."""
        _check_language(language)
        read = view(text)
        graph = read.graph
        return [
            Statement(
                found.text,
                f"{graph.entities[found.entities[0]].name}_{found.entities[0]}",
                seen(found, read),
                spans=found.spans,
            )
            for found in graph_statements(graph)
        ]

    async def match(
        self,
        claims: Sequence[str],
        references: Sequence[str],
        *,
        language: str | None = None,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[int | None]:
        """For each claim the reference statement that says it, and not much more, or None."""
        _check_language(language)
        return matches(claim_view.of(claims), claim_view.of(references))

    async def verify(
        self,
        claims: Sequence[str],
        *,
        images: Sequence[Image] = (),
        reference: str | None = None,
        language: str | None = None,
        replicate: int = 0,
        temperature: float | None = None,
    ) -> list[bool]:
        """Whether the reference text supports each claim."""
        _check_language(language)
        if images:
            self._cannot("see pictures")
        if reference is None:
            self._cannot("verify claims without a reference text")
        return supported(claim_view.of(claims), view(reference))

    async def rewrite(
        self, phrase: str, *, replicate: int = 0, temperature: float | None = None
    ) -> str:
        """The phrase as it is: this judge reads rough phrases, too."""
        return phrase


def _check_language(language: str | None) -> None:
    if language is not None and language.lower() not in _ENGLISH:
        raise ConfigError(
            f"the built-in judge reads English, not {language!r}; use an LLM judge "
            "(judge='openai:MODEL') or the metric vcs"
        )


def _phrase(question: Question, target: View) -> tuple[Finding, float]:
    """Answer a question from its own words; the worst of its parts decides."""
    asked = View(question_graph(question))
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
