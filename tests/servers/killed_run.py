"""A run that is killed from outside; in a module of its own so that a child process finds it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from beholder import judges
from beholder.judges.operations import Rewrite

N_QUESTIONS = 300
CONCURRENCY = 8


def run(url: str, path: str) -> None:
    """The whole run."""
    file = judges.AnswerFile(Path(path))
    judge = judges.judge(
        "openai:m", base_url=url, answers=judges.Answers(file), concurrency=CONCURRENCY
    )

    async def ask_all() -> None:
        await asyncio.gather(*(judge.ask(Rewrite(f"thing {i}")) for i in range(N_QUESTIONS)))

    asyncio.run(ask_all())
    file.close()
