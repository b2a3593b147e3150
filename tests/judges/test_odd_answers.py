"""Each odd answer alone: tried again or a reason that names it; nothing broken is kept."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from beholder import judges
from beholder.errors import ItemError, TransientError
from beholder.judges import AnswerFile, Answers, Judge
from beholder.judges.operations import Presence, Question, Rewrite
from servers.faults import completion, run_beside, serving
from servers.odd import KINDS, OddServer

PHRASE = "a phrase"
EMPTY, NO_PHRASE = (
    "no usable answer to rewrite: the answer is empty",
    "must be one noun phrase",
)
REFUSALS = {
    "finish: filtered": "refused to answer rewrite",
    "finish: length": "cut off in its answer to rewrite",
    "content: null": EMPTY,
    "content: missing": EMPTY,
    "content: empty": EMPTY,
    "content: blanks": EMPTY,
    "content: thinking only": "the answer holds reasoning only",
    "content: zero byte": NO_PHRASE,
    "content: nested": NO_PHRASE,
    "content: long": NO_PHRASE,
}
"""Kinds that are texts, and bad ones: asked again once with a complaint, then the item's reason."""

REDIRECTS = ("status: 302", "status: 307")
"""Kinds that cannot get better by another try at once; a later start asks again."""

OTHERWISE = {
    "content: nested object": '{"a":' * 50_000,
    "content: separators": "a\u2028b\u0085c\x0bd",
}
"""Kinds that are texts, and taken as they are."""


def good(body: dict[str, Any]) -> dict[str, Any]:
    """A probe, a grade or a phrase."""
    if "ready" in str(body["messages"]):
        return completion("ready", first={"ready": -0.1})
    if body.get("logprobs"):
        return completion("5", first={"5": -0.1})
    return completion(PHRASE)


async def outcome(judge: Judge, question: Rewrite) -> str | ItemError:
    try:
        return await judge.ask(question)
    except ItemError as error:
        return error


@pytest.fixture(scope="module")
def server() -> Iterator[OddServer]:
    with serving(OddServer(good, most_in_a_row=1)) as odd_server:
        yield odd_server


@pytest.mark.parametrize("kind", KINDS)
def test_one_odd_answer_costs_one_try_or_one_item(
    server: OddServer, kind: str, tmp_path: Path
) -> None:
    file = AnswerFile(tmp_path / "run.sqlite")
    options: dict[str, Any] = {"base_url": server.url}
    server.faults, server.fault_rate = (kind,), 0.0
    judge = judges.judge("openai:m", answers=Answers(file), **options)
    run_beside(server, judge.ask(Rewrite("probe first")))
    server.fault_rate = 1.0
    question = Rewrite(f"thing of {kind}")
    n_before = server.shown[kind]
    result = run_beside(server, outcome(judge, question))
    if kind in REFUSALS:
        # A transient failure would say that the odd answer was not tried again.
        assert type(result) is ItemError
        assert REFUSALS[kind] in str(result)
    elif kind in REDIRECTS:
        assert type(result) is TransientError
        assert "a redirect to http://127.0.0.1:9/" in str(result)
    else:
        assert result == OTHERWISE.get(kind, PHRASE)
    assert server.shown[kind] > n_before, "the odd answer was met"
    for record in file.records():
        record.answer.to_json().encode("utf-8")

    server.fault_rate = 0.0
    n_bodies = len(server.bodies)
    again = judges.judge("openai:m", answers=Answers(file), **options)
    found_again = run_beside(server, outcome(again, question))
    if kind in REDIRECTS:
        assert found_again == PHRASE
    else:
        assert str(found_again) == str(result)
        assert len(server.bodies) == n_bodies, "what was kept is found again"
    file.close()


def test_an_answer_in_a_store_from_before_that_cannot_be_read_is_asked_again(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.sqlite"
    with serving(OddServer(good)) as server:
        file = AnswerFile(path)
        judge = judges.judge(
            "openai:m", answers=Answers(file), base_url=server.url
        )
        assert asyncio.run(judge.ask(Rewrite("man holds cup"))) == PHRASE
        row = next(iter(file.records()))
        whole = json.loads(row.answer.to_json())
        damaged: tuple[Any, ...] = (
            {
                **whole,
                "samples": [
                    {"text": ["parts"], "finish": "stop", "first": None}
                ],
            },
            {
                **whole,
                "samples": [{"text": "x", "finish": ["stop"], "first": None}],
            },
            {**whole, "usage": {"prompt": "many"}},
            {"samples": 5},
            [],
            None,
        )
        for broken in damaged:
            with sqlite3.connect(path) as db:
                db.execute(
                    "UPDATE answers SET answer = ?, cost = 0.25",
                    (json.dumps(broken),),
                )
            before = file.cost()
            n_bodies = len(server.bodies)
            again = judges.judge(
                "openai:m", answers=Answers(file), base_url=server.url
            )
            assert asyncio.run(again.ask(Rewrite("man holds cup"))) == PHRASE
            assert len(server.bodies) == n_bodies + 1
            assert file.cost() == before, "what was paid for it stays paid"
            assert [r.answer.text for r in file.records()] == [PHRASE]
        file.close()


@pytest.mark.slow  # hundreds of faults
def test_a_third_of_all_kinds_mixed_ends_every_item_with_a_result_or_a_reason(
    tmp_path: Path,
) -> None:
    async def all_of(judge: Judge) -> list[object]:
        questions: list[Any] = [
            judge.ask(Rewrite(f"thing {i}")) for i in range(150)
        ]
        questions += [
            judge.ask(Presence([Question("entity", f"thing {i}")], "t"))
            for i in range(150)
        ]
        return list(await asyncio.gather(*questions, return_exceptions=True))

    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(OddServer(good, fault_rate=0.3, faults=KINDS)) as server:
        options: dict[str, Any] = {
            "base_url": server.url,
            "wait": 0.01,
            "max_wait": 0.2,
        }
        judge = judges.judge("openai:m", answers=Answers(file), **options)
        outcomes = run_beside(server, all_of(judge))
        reasons = [
            outcome for outcome in outcomes if isinstance(outcome, Exception)
        ]
        assert all(isinstance(reason, ItemError) for reason in reasons), (
            reasons
        )
        assert len(reasons) < 60
        assert sum(server.shown.values()) > 100
        server.fault_rate = 0.0
        again = judges.judge("openai:m", answers=Answers(file), **options)
        run_beside(server, all_of(again))
        assert max(server.paid.values()) == 1, (
            "no good answer is asked for twice"
        )
    file.close()
