"""What goes out to a model, under which key it is kept and what becomes of it never changes unseen.

The golden record was made at commit 74262a5. A difference means that stored answers go stale.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import pytest

from beholder.backends import (
    Answer,
    Capabilities,
    Image,
    Request,
    Scripted,
    Surprisal,
)
from beholder.errors import BeholderError
from beholder.judges import Draw, Grade, Judge, LLMJudge, Panel, Tally
from beholder.judges.answers import InMemory, Record
from beholder.judges.operations import OPERATIONS
from beholder.judges.operations.base import ModelOperation
from toy.request_cases import CASES, Case

GOLDEN = Path(__file__).parent / "golden" / "requests.json"
RECORDED = json.loads(GOLDEN.read_text("utf-8"))


class Model(Scripted):
    """Answers in turn; the last answer again and again."""

    def __init__(self, case: Case) -> None:
        turn = case.answers()

        def answer(request: Request) -> str | Answer:
            return turn.pop(0) if len(turn) > 1 else turn[0]

        super().__init__(answer)
        self.able = Capabilities(
            "scripted",
            case.logprobs,
            case.structure,  # type: ignore[arg-type]
            True,
        )

    async def surprisal(
        self,
        texts: Sequence[str],
        *,
        prompt: str,
        images: tuple[Image, ...] = (),
    ) -> list[Surprisal]:
        return [Surprisal(1.5 * len(text), 2, len(text)) for text in texts]


class RecordingAnswers(InMemory):
    """Remembers the records it was given, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.records: list[Record] = []

    def put_answer(self, record: Record) -> None:
        super().put_answer(record)
        self.records.append(record)


def plain(value: Any) -> Any:
    if isinstance(value, Grade):
        return [value.value, list(value.probabilities), value.mass, value.read]
    if isinstance(value, list | tuple):
        return [plain(element) for element in value]
    return (
        asdict(value)
        if is_dataclass(value) and not isinstance(value, type)
        else value
    )


async def ask(judge: Judge, case: Case) -> Any:
    return await judge.ask(
        case.build(), Draw(case.replicate, case.temperature)
    )


def outcome(judge: Judge, case: Case) -> Any:
    try:
        return plain(asyncio.run(ask(judge, case)))
    except BeholderError as error:
        return f"{type(error).__name__}: {error}"


def observed(case: Case) -> dict[str, Any]:
    """All that is seen from outside of one question; digests by their beginning."""
    answers, model = RecordingAnswers(), Model(case)
    single_judge = LLMJudge(model, answers=answers, **case.judge)
    judge = (
        single_judge
        if case.seats == 1
        else Panel([single_judge] * case.seats, answers)
    )
    result = outcome(judge, case)
    dry = []
    for is_highest in (False, True):
        tally = Tally(answers="most" if is_highest else "typical")
        single_judge = LLMJudge(model, tally=tally, **case.judge)
        outcome(
            single_judge
            if case.seats == 1
            else Panel([single_judge] * case.seats, InMemory()),
            case,
        )
        dry.append(
            [tally.n_calls, tally.prompt_tokens, tally.completion_tokens]
        )
    return {
        "outcome": result,
        "requests": [request.digest[:16] for request in model.requests],
        "keys": [record.key[:16] for record in answers.records],
        "kept": [
            f"{r.operation} {r.template} {r.replicate} {r.request[:8]}{r.request[64:]}"
            for r in answers.records
        ],
        "ratings": sorted(
            [*key, value] for key, value in answers.ratings.items()
        ),
        "dry": dry,
    }


@pytest.mark.parametrize(
    "operation", sorted({case.operation for case in CASES.values()})
)
def test_requests_keys_and_outcomes_are_the_recorded_ones(
    operation: str,
) -> None:
    names = [
        name for name, case in CASES.items() if case.operation == operation
    ]
    observations = json.loads(
        json.dumps({name: observed(CASES[name]) for name in names})
    )
    if os.environ.get("BEHOLDER_GOLDEN") == "write":
        RECORDED.update(observations)
        GOLDEN.write_text(
            json.dumps(RECORDED, ensure_ascii=False, indent=0), "utf-8"
        )
    recorded = {name: RECORDED.get(name) for name in names}
    assert [
        name for name in names if observations[name] != recorded[name]
    ] == []
    assert observations == recorded


def test_every_operation_that_models_are_asked_has_a_case() -> None:
    operations = {
        name
        for name, kind in OPERATIONS.items()
        if issubclass(kind, ModelOperation)
    }
    assert {case.operation for case in CASES.values()} == operations


def test_every_case_is_recorded_and_every_record_is_a_case() -> None:
    assert set(RECORDED) == set(CASES)
