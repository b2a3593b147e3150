"""What becomes of the rows of a first answer when the second cannot be read."""

from __future__ import annotations

import asyncio
import json

import pytest

from beholder.backends.base import Request
from beholder.backends.scripted import Scripted
from beholder.errors import TransientError
from beholder.judges.llm import LLMJudge
from beholder.judges.operations import (
    AnswerQuestions,
    TextAnswer,
    TextQuestion,
)

QUESTIONS = (
    TextQuestion("Where is the dog?", ("on grass", "on a chair")),
    TextQuestion("What colour is it?", ("red", "black")),
)
FIRST_ROW_ONLY = json.dumps(
    {"rows": [{"id": 0, "choice": "A", "quote": "on grass"}]}
)


def _answer(second: str | Exception) -> list[TextAnswer]:
    """Return the answers to both questions; the second request gets ``second``."""

    def model(request: Request) -> str:
        if len(backend.requests) == 1:
            return FIRST_ROW_ONLY
        if isinstance(second, Exception):
            raise second
        return second

    backend = Scripted(model)
    operation = AnswerQuestions(QUESTIONS, "A dog lies on grass.")
    answers = asyncio.run(LLMJudge(backend).ask(operation))
    return answers


@pytest.mark.parametrize("second", ["garbage", "", "[]", "{}"])
def test_rows_that_were_read_stay(second: str) -> None:
    known, unread = _answer(second)
    assert not known.unread
    assert unread.unread


def test_a_lost_connection_is_no_answer() -> None:
    with pytest.raises(TransientError):
        _answer(TransientError("the connection was lost"))
