"""A run that is killed from outside; in a module of its own so that a child process finds it."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from beholder import judges
from beholder.base.postgres import Address
from beholder.errors import BudgetError
from beholder.judges.operations import Presence, Question, Rewrite
from beholder.run.answers import open_cache, run_answers

N_QUESTIONS = 300
CONCURRENCY = 8


def run(
    url: str, path: str, database: str | None = None, kind: str = "openai"
) -> None:
    """The whole run, with a cache in a database where one is given."""
    file = judges.AnswerFile(Path(path))
    cache = None if database is None else open_cache(Address.parse(database))
    judge = judges.judge(
        f"{kind}:m",
        base_url=url,
        answers=judges.Answers(file, cache),
        concurrency=CONCURRENCY,
    )

    async def ask_all() -> None:
        await asyncio.gather(
            *(judge.ask(Rewrite(f"thing {i}")) for i in range(N_QUESTIONS))
        )

    asyncio.run(ask_all())
    file.close()
    if cache is not None:
        cache.close()


N_GRADES, SAMPLES = 60, 3


def run_grades(url: str, path: str) -> None:
    """Another whole run, whose answers have several samples."""
    file = judges.AnswerFile(Path(path))
    judge = judges.judge(
        "openai:m",
        base_url=url,
        answers=judges.Answers(file),
        concurrency=CONCURRENCY,
        samples=SAMPLES,
    )

    async def ask_all() -> None:
        questions = [
            Presence([Question("entity", f"thing {i}")], "A.")
            for i in range(N_GRADES)
        ]
        await asyncio.gather(*(judge.ask(question) for question in questions))

    asyncio.run(ask_all())
    file.close()


OVER_BUDGET = 3
"""Exit status of a run that reached its limit."""


def run_within_budget(
    url: str, folder: str, prices: str, max_cost: float
) -> None:
    """A run with a limit on cost, whose answers and promises are in its folder."""
    with run_answers(Path(folder), None, max_cost) as (answers, budget):
        judge = judges.judge(
            "openai:m",
            base_url=url,
            prices=prices,
            answers=answers,
            budget=budget,
            concurrency=CONCURRENCY,
        )

        async def ask_all() -> None:
            await asyncio.gather(
                *(judge.ask(Rewrite(f"thing {i}")) for i in range(N_QUESTIONS))
            )

        try:
            asyncio.run(ask_all())
        except BudgetError:
            sys.exit(OVER_BUDGET)
