"""Answers of judges in a run: resumed, shared, within their budget."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from beholder.backends import Answer, Request, Sample, Scripted, Usage
from beholder.backends.money import Price
from beholder.errors import BudgetError
from beholder.judges import LLMJudge
from beholder.judges.operations import Rewrite
from beholder.run.answers import run_answers


class Paid(Scripted):
    """A scripted model that charges one dollar a call."""

    def __init__(self) -> None:
        super().__init__(self.say)

    @staticmethod
    def say(request: Request) -> Answer:
        """Any question costs a million prompt tokens."""
        return Answer(
            (Sample("a phrase", "stop"),),
            "scripted",
            usage=Usage(prompt=1_000_000),
        )

    def price(self) -> Price:
        """One dollar per million prompt tokens."""
        return Price(1.0, 0.0)


def test_cost_of_earlier_starts_counts_and_cached_answers_cost_nothing(
    tmp_path: Path,
) -> None:
    cache = tmp_path / "cache" / "answers.sqlite"
    backend = Paid()
    with run_answers(tmp_path / "a", cache, max_cost=2.0) as (answers, budget):
        judge = LLMJudge(backend, answers=answers, budget=budget)
        asyncio.run(judge.ask(Rewrite("one")))
        asyncio.run(judge.ask(Rewrite("two")))
    with run_answers(tmp_path / "a", cache, max_cost=2.0) as (answers, budget):
        assert budget.spent == pytest.approx(2.0)
        judge = LLMJudge(backend, answers=answers, budget=budget)
        asyncio.run(judge.ask(Rewrite("one")))
        with pytest.raises(BudgetError):
            asyncio.run(judge.ask(Rewrite("three")))
    with run_answers(tmp_path / "b", cache, max_cost=2.0) as (answers, budget):
        judge = LLMJudge(backend, answers=answers, budget=budget)
        asyncio.run(judge.ask(Rewrite("one")))
        assert budget.spent == 0.0
    assert len(backend.requests) == 2
    with run_answers(tmp_path / "b", None) as (answers, budget):
        asyncio.run(
            LLMJudge(backend, answers=answers, budget=budget).ask(
                Rewrite("one")
            )
        )
        asyncio.run(
            LLMJudge(backend, answers=answers, budget=budget).ask(
                Rewrite("two")
            )
        )
    assert (
        len(backend.requests) == 3
    )  # the second run holds "one" alone, and never had "two"
