"""Criteria and questions for rows, from their pictures or references."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from beholder.asking.asker import ValueInfo
from beholder.asking.params import param
from beholder.errors import ItemError
from beholder.judges import Judge, operations
from beholder.judges.operations import TextQuestion
from beholder.kinds.generation.askers import (
    RowAsker,
    RowColumns,
    check_pictures,
)
from beholder.kinds.generation.generators import GeneratedText, Parts
from beholder.metrics import Tools
from beholder.records import Item
from beholder.text.languages import language_named

_MAX_WRITTEN = 100
UNANSWERED = "not answered by its source"
BLIND = "answered without its source"
BLIND_ORDERS = 3
"""A question counts as answerable blind if it is answered rightly in this many orders."""


@dataclass(frozen=True)
class AskedRow(RowAsker):
    """Base: a judge writes from a row's pictures or references into one of the row's fields.

    Raises:
        ConfigError: The number is out of range.
    """

    n: int = param(10, "how many at most", whole=(1, _MAX_WRITTEN))
    source: Literal["pictures", "references"] = param(
        "pictures", "what they are written from"
    )

    @property
    def looks(self) -> bool:
        """Return whether pictures are the source."""
        return self.source == "pictures"

    def check(self, subject: Item) -> None:
        """Refuse an item without the source."""
        if self.looks:
            check_pictures(subject)
        elif not _references(subject):
            raise ItemError(
                "there is no reference to write from; --source pictures takes pictures"
            )

    async def _source(self, item: Item, tools: Tools) -> dict[str, Any]:
        arguments: dict[str, Any] = {"language": language_named(item.language)}
        if self.looks:
            return arguments | {
                "images": await tools.pictures.read(item.images)
            }
        return arguments | {"text": _references(item)}


@dataclass(frozen=True)
class CriteriaRow(AskedRow):
    """Criteria for ``checklist``, written into the field ``criteria``."""

    registered_name: ClassVar[str] = "write_criteria"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo(
            "written",
            "criteria written",
            high=_MAX_WRITTEN,
            higher_is_better=None,
        ),
    )
    needs = (operations.WriteCriteria,)

    kind: Literal["facts", "events", "objects"] = param(
        "facts", "facts, events or objects"
    )

    async def make(
        self, subject: Item, judge: Judge, tools: Tools
    ) -> tuple[GeneratedText, ...]:
        """Return a part per criterion, labelled with its dimension."""
        source = await self._source(subject, tools)
        criteria = await judge.ask(
            operations.WriteCriteria(n=self.n, kind=self.kind, **source)
        )
        return tuple(
            GeneratedText(criterion.text, criterion.dimension)
            for criterion in criteria
        )

    def measure(self, parts: Parts) -> dict[str, float]:
        """Return the number of criteria."""
        return {"written": float(len(parts))}

    def _row(
        self, item: Item, parts: Parts, system: str, columns: RowColumns
    ) -> Item:
        rows = [
            {"text": p.text, "dimension": p.label, "source": "judge"}
            for p in parts
        ]
        return replace(item, meta={**item.meta, "criteria": rows})


@dataclass(frozen=True)
class QuestionsRow(AskedRow):
    """Multiple-choice questions for ``qa``, written into the field ``questions``.

    A question is kept if the judge answers it from the source, and fails to do so in at least one
    of three orders of the options without the source.
    """

    registered_name: ClassVar[str] = "write_questions"
    values: ClassVar[tuple[ValueInfo, ...]] = (
        ValueInfo(
            "written",
            "questions written",
            high=_MAX_WRITTEN,
            higher_is_better=None,
        ),
        ValueInfo("kept", "share of questions that are kept"),
        ValueInfo(
            "blind",
            "share answered without the source",
            higher_is_better=False,
        ),
    )
    needs = (operations.WriteQuestions,)
    operations: ClassVar[tuple[str, ...]] = (
        "write_questions",
        "answer_questions",
        "answer_from_pictures",
    )

    @property
    def operations_asked(self) -> tuple[str, ...]:
        """Return the operations that are used; only pictures as the source need the third."""
        return self.operations if self.looks else self.operations[:2]

    def identities(self, tools: Tools) -> dict[str, str]:
        """Return the judge's identity; refuse a judge that cannot check its questions."""
        # Otherwise the run would fail at its first item, after it paid for the questions.
        judge = tools.judge(self.judge)
        judge.check_can(operations.AnswerQuestions)
        if self.looks:
            judge.check_can(operations.AnswerFromPictures, images=True)
        return super().identities(tools)

    async def make(
        self, subject: Item, judge: Judge, tools: Tools
    ) -> tuple[GeneratedText, ...]:
        """Return a part per question: label is why it is dropped, source its options."""
        source = await self._source(subject, tools)
        written = await judge.ask(
            operations.WriteQuestions(n=self.n, **source)
        )
        if not written:
            return ()
        # A good question can be answered from its source, and not without it. It is asked once
        # with the source (one may say "unknown") and in several orders of options without
        # it (one must guess): only a right guess in every order counts as answered blind.
        answering = (
            operations.AnswerFromPictures
            if self.looks
            else operations.AnswerQuestions
        )
        seen_order, *blind_orders = [
            [_shuffled(subject, question, order) for question in written]
            for order in range(BLIND_ORDERS + 1)
        ]
        seen_answers, *blind = await asyncio.gather(
            judge.ask(
                answering(
                    [replace(question, third=True) for question in seen_order],
                    **source,
                )
            ),
            *(
                judge.ask(
                    operations.AnswerQuestions(rows, "", source["language"])
                )
                for rows in blind_orders
            ),
        )
        parts = []
        for place, question in enumerate(written):
            seen_answer = seen_answers[place]
            guesses = [answers[place] for answers in blind]
            if seen_answer.state != question.answer:
                label = UNANSWERED
            elif all(guess.state == question.answer for guess in guesses):
                label = BLIND
            else:
                label = ""
            parts.append(
                GeneratedText(
                    question.question, label, "\n".join(_options(question))
                )
            )
        return tuple(parts)

    def measure(self, parts: Parts) -> dict[str, float]:
        """Return the number of questions, and the shares kept and answered blind."""
        # Shares of no questions are undefined, so the values are left out.
        n = len(parts)
        values = {"written": float(n)}
        if n:
            values["kept"] = sum(not part.label for part in parts) / n
            values["blind"] = sum(part.label == BLIND for part in parts) / n
        return values

    def _row(
        self, item: Item, parts: Parts, system: str, columns: RowColumns
    ) -> Item:
        rows = []
        for part in parts:
            # A label is the reason why a question is dropped.
            if part.label:
                continue
            options = part.source.split("\n")
            rows.append(
                {
                    "question": part.text,
                    "options": options,
                    "answer": options[0],
                    "source": "judge",
                }
            )
        return replace(item, meta={**item.meta, "questions": rows})


def _references(item: Item) -> str:
    return "\n\n".join(text for text in item.references if text.strip())


def _options(question: operations.WrittenQuestion) -> tuple[str, ...]:
    """Return the options, the right one first."""
    return (question.answer, *question.wrong)


def _shuffled(
    item: Item, question: operations.WrittenQuestion, order: int
) -> TextQuestion:
    """Return the question with its options shuffled, then rotated by ``order`` places.

    The rotation puts each option at another place in each order; "none of them" is no option.
    """
    # Seeded by item and question: the same order in each run, and no place that is often right.
    options = list(_options(question))
    random.Random(f"{item.id}\0{question.question}").shuffle(options)  # noqa: S311
    return TextQuestion(
        question.question, (*options[order:], *options[:order]), third=False
    )
