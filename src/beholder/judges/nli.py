"""``nli:MODEL``: the built-in judge's operations, decided by an entailment model of the hub."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar

from beholder.base.registry import versioned
from beholder.embed.entailment import ENTAILMENT, HFEntailment
from beholder.judges.base import FIRST, Draw
from beholder.judges.builtin.analysed import AnalysedText
from beholder.judges.builtin.claims import close_to
from beholder.judges.builtin.entailed import Chances, ask
from beholder.judges.builtin.judge import (
    BuiltinJudge,
    check_language,
    check_statements,
    reference_of,
)
from beholder.judges.builtin.phrases import question_graph
from beholder.judges.builtin.reading import analysed, analysed_claims
from beholder.judges.grades import Grade, rule_grade
from beholder.judges.operations import (
    CheckCriteria,
    MatchNearest,
    MatchStatements,
    Operation,
    Presence,
    PresenceList,
    Question,
    TextAnswer,
    Verify,
)
from beholder.judges.operations.answer import CONTRADICTED, MET, NOT_MENTIONED
from beholder.language.statements import wording

T = TypeVar("T")
_EVEN = 0.5
"""Probability above which a class decides."""


class NLIJudge(BuiltinJudge):
    """An entailment model of the hub with two or three classes (extra ``hf``). English only.

    The built-in pipeline reads the texts, words each unit as a statement and finds the sentences
    that are nearest to a statement; the model alone decides whether they entail or contradict it.
    It answers ``Presence``, ``MatchStatements``, ``Verify`` and ``CheckCriteria``; ``Decompose``,
    ``AlignWords`` and ``Rewrite`` have the answers of the built-in judge. A model of two classes
    contradicts nothing.

    Args:
        model: Name on a hub, or a folder.
        revision: Commit or tag on the hub.
        labels: What the outputs mean, in order and separated by commas; by default what the
            configuration of the model says.
        device: ``cpu``, ``cuda``, ``cuda:1``...; None takes a GPU if there is one.
        dtype: ``float32``, ``bfloat16``, ``float16``; None takes 16 bits on a GPU, 32 on the CPU.
        batch_size: Pairs of sentences per forward pass at most.
    """

    per_process: ClassVar[bool] = False

    def __init__(
        self,
        model: str,
        *,
        revision: str | None = None,
        labels: str | None = None,
        device: str | None = None,
        dtype: str | None = None,
        batch_size: int = 32,
    ) -> None:
        super().__init__()
        self._model = HFEntailment(
            model,
            revision=revision,
            labels=labels,
            device=device,
            dtype=dtype,
            batch_size=batch_size,
        )
        self._own: Mapping[type[Operation[Any]], Callable[[Any], Any]] = {
            Presence: self._presence,
            PresenceList: self._presence,
            MatchStatements: self._match,
            MatchNearest: self._match,
            Verify: self._verify,
            CheckCriteria: self._criteria,
        }

    @property
    def identity(self) -> str:
        """``nli:NAME@REVISION(format,labels)`` and the built-in judge, which reads the texts."""
        name, _, how = self._model.identity.partition(",")
        return versioned(self, f"nli:{name}({how})+{super().identity}")

    async def ask(self, operation: Operation[T], draw: Draw = FIRST) -> T:
        """See ``Judge.ask``; as the built-in judge, and pairs must fit the model's window."""
        own = self._own.get(type(operation))
        if own is None:
            return await super().ask(operation, draw)
        answer: T = await asyncio.to_thread(own, operation)
        return answer

    def _asked(self, statements: Sequence[str], text: str) -> list[Chances]:
        return ask(statements, analysed(text), self._model)

    def _presence(self, asked: Presence) -> list[Grade]:
        known = {}
        if asked.source is not None:
            about = analysed(asked.source)
            known = {
                (u.kind, u.place(about.graph)): wording(u, about.graph)
                for u in about.units
            }
        statements = [
            known.get((q.kind, q.place)) or _worded(q) for q in asked.questions
        ]
        return [
            rule_grade(
                1.0 + 4.0 * said.entailed,
                said.premise if said.excluded > _EVEN else "",
                said.span(asked.target)
                if max(said.entailed, said.excluded) > _EVEN
                else (),
            )
            for said in self._asked(statements, asked.target)
        ]

    def _verify(self, asked: Verify) -> list[bool]:
        return [
            said.entailed > _EVEN
            for said in self._asked(asked.claims, reference_of(asked))
        ]

    def _criteria(self, asked: CheckCriteria) -> list[TextAnswer]:
        check_statements(asked)
        found = []
        for said in self._asked(asked.criteria, asked.text):
            met, against = said.entailed > _EVEN, said.excluded > _EVEN
            state = MET if met else CONTRADICTED if against else NOT_MENTIONED
            found.append(
                TextAnswer(
                    state, said.span(asked.text) if met or against else ()
                )
            )
        return found

    def _match(self, asked: MatchStatements) -> list[int | None]:
        check_language(asked.language)
        claims, references = (
            analysed_claims.of(asked.claims),
            analysed_claims.of(asked.references),
        )
        close = close_to(claims, references)
        if isinstance(asked, MatchNearest):
            return [next(iter(places), None) for places in close]
        pairs = [
            (asked.references[i], claim)
            for claim, places in zip(asked.claims, close, strict=True)
            for i in places
        ]
        chances = iter(self._model(pairs)[:, ENTAILMENT].tolist())
        found: list[int | None] = []
        for places in close:
            best, place = max(
                ((next(chances), -i) for i in places), default=(0.0, 0)
            )
            found.append(-place if best > _EVEN else None)
        return found


def _worded(question: Question) -> str:
    """A question as a statement, by its own words."""
    asked = AnalysedText(question_graph(question))
    units = [unit for unit in asked.units if unit.kind == question.kind]
    return wording(units[-1], asked.graph) if units else question.text
