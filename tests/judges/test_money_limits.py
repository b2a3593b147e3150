"""What a server may charge stays below the limit; prices and tokens by hand."""

from __future__ import annotations

import asyncio
import copy
import hashlib
import itertools
import json
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from beholder import judges
from beholder.backends import Image
from beholder.errors import BudgetError, ItemError
from beholder.judges import AnswerFile, Answers, Budget, Judge
from beholder.judges.operations import Caption, Presence, Question, Rewrite
from servers.batches import QUICK, BatchServer
from servers.faults import FaultServer, completion, run_beside, serving
from servers.odd import OddServer

PRICES = (
    '{"models": {"served-1": {"input": 100, "cached": 100, "output": 1000}}}'
)
PROMPT, COMPLETION = 100 * 100 / 1e6, 10 * 1000 / 1e6
"""What the server charges for the 100 tokens of a prompt, and for the 10 of one answer."""


def plain(body: dict[str, Any]) -> dict[str, Any]:
    return completion("5")


def with_logprobs(body: dict[str, Any]) -> dict[str, Any]:
    return (
        completion("5", first={"5": -0.1})
        if body.get("logprobs")
        else completion("5")
    )


def without_usage(body: dict[str, Any]) -> dict[str, Any]:
    whole = completion("5")
    del whole["usage"]
    return whole


def colourful(body: dict[str, Any]) -> dict[str, Any]:
    """Sees what is in a picture: two of them get two answers."""
    return completion(
        f"a thing of {hashlib.sha256(str(body).encode()).hexdigest()[:8]}"
    )


def as_many_as_asked(body: dict[str, Any]) -> dict[str, Any]:
    whole = completion("5")
    whole["choices"] = [
        copy.copy(whole["choices"][0]) for _ in range(body.get("n", 1))
    ]
    whole["usage"]["completion_tokens"] = 10 * body.get("n", 1)
    return whole


def rewrite(judge: Judge, i: int) -> Coroutine[Any, Any, Any]:
    return judge.ask(Rewrite(f"thing {i}"))


def grade(judge: Judge, i: int) -> Coroutine[Any, Any, Any]:
    return judge.ask(Presence([Question("entity", f"thing {i}")], "A text."))


@pytest.mark.parametrize(
    ("reply", "ask", "faults"),
    [
        (without_usage, rewrite, ()),
        (plain, grade, ()),  # gives one answer whatever n says
        (with_logprobs, grade, ()),
        (as_many_as_asked, grade, ()),
        (
            plain,
            rewrite,
            ("body: cut", "content: parts", "choices: empty", "body: 9 MB"),
        ),
    ],
    ids=[
        "no usage",
        "ignores n",
        "log-probabilities",
        "n answers",
        "30 % broken and charged",
    ],
)
def test_what_the_server_charges_never_passes_the_limit(
    tmp_path: Path, reply: Any, ask: Any, faults: tuple[str, ...]
) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(PRICES)
    charged = 0.0

    def counted(body: dict[str, Any]) -> dict[str, Any]:
        nonlocal charged
        whole: dict[str, Any] = reply(body)
        charged += PROMPT + len(whole["choices"]) * COMPLETION
        return whole

    async def many(judge: Judge) -> None:
        await asyncio.gather(*(ask(judge, i) for i in range(200)))

    file = AnswerFile(tmp_path / "run.sqlite")
    limit = 2.0
    with serving(
        OddServer(counted, fault_rate=0.3 if faults else 0.0, faults=faults)
    ) as server:
        budget = Budget(max_cost=limit)
        options: dict[str, Any] = {
            "base_url": server.url,
            "prices": str(prices),
            "wait": 0.01,
        }
        judge = judges.judge(
            "openai:m",
            answers=Answers(file),
            budget=budget,
            concurrency=64,
            **options,
        )
        with pytest.raises(BudgetError, match="--max-cost 2"):
            run_beside(server, many(judge))
    assert 0.1 < charged <= limit + 1e-9
    assert limit - 0.07 < budget.spent <= limit + 1e-9, (
        "up to the most of one call, 0.0682"
    )
    assert charged <= budget.spent + 1e-9, (
        "nothing that the server charged is missing"
    )
    assert file.cost() == pytest.approx(budget.spent), (
        "and the next start knows it"
    )
    file.close()


def test_a_server_that_ignores_n_is_asked_one_by_one_from_then_on() -> None:
    async def three(judge: Judge) -> None:
        for i in range(3):
            await grade(judge, i)

    draw_numbers = itertools.count()
    with serving(
        FaultServer(lambda body: completion(str(next(draw_numbers) % 5 + 1)))
    ) as server:
        judge = judges.judge("openai:m", base_url=server.url, samples=3)
        asyncio.run(three(judge))
    bodies = [
        body
        for body in server.bodies
        if "word and any number" in str(body["messages"])
    ]
    assert [body.get("n") for body in bodies] == [3, None, None]
    grades = [
        body for body in server.bodies if "Your digit" in str(body["messages"])
    ]
    assert [body.get("n") for body in grades] == [None] * 9


def test_calls_without_an_answer_are_paid_for_and_remembered(
    tmp_path: Path,
) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(PRICES)
    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(OddServer(plain)) as server:
        budget = Budget(max_cost=100.0)
        options: dict[str, Any] = {
            "base_url": server.url,
            "prices": str(prices),
            "attempts": 3,
        }
        judge = judges.judge(
            "openai:m", answers=Answers(file), budget=budget, **options
        )
        asyncio.run(judge.ask(Rewrite("first")))
        each = PROMPT + COMPLETION
        assert budget.spent == pytest.approx(
            2 * each
        )  # the probe, and the answer
        server.fault_rate, server.faults = 1.0, ("content: number",)
        with pytest.raises(
            ItemError, match=r"is not a text \(tried 3 times\)"
        ):
            run_beside(server, judge.ask(Rewrite("second")))
        assert budget.spent == pytest.approx(
            (2 + 3) * each
        )  # its usage was told each time
        server.faults = ("429",)
        with pytest.raises(ItemError, match=r"HTTP 429.*\(tried 3 times\)"):
            run_beside(server, judge.ask(Rewrite("third")))
        assert budget.spent == pytest.approx(
            (2 + 3) * each
        )  # an error is not charged
    assert file.cost() == pytest.approx(budget.spent)
    file.close()


@pytest.mark.parametrize("batch", [False, True], ids=["each", "batch"])
def test_the_limit_holds_where_pictures_take_more_than_expected(
    tmp_path: Path, batch: bool
) -> None:
    """A server counts 30,000 tokens for a picture; who asks holds as much from then on."""
    prices = tmp_path / "prices.json"
    prices.write_text('{"models": {"served-1": {"input": 1, "output": 0}}}')

    def heavy(body: dict[str, Any], reply: Any = colourful) -> dict[str, Any]:
        whole: dict[str, Any] = reply(body)
        whole["usage"]["prompt_tokens"] = 100 + 30_000 * str(body).count(
            "'image_url': {"
        )
        return whole

    class Batches(BatchServer):
        def route(self, method: str, path: str, raw: bytes) -> Any:
            if path == "/chat/completions":
                return heavy(json.loads(raw))
            return super().route(method, path, raw)

        def line(
            self, request: dict[str, Any], response: dict[str, Any]
        ) -> str:
            row = {"status_code": 200, "body": heavy(request["body"])}
            return super().line(request, row)

    async def many(judge: Judge) -> list[Any]:
        assert (
            await judge.accepts_images()
        )  # two pictures, so it is known what one takes
        pictures = [Image(bytes([i]), "image/png") for i in range(100)]
        return await asyncio.gather(
            *(judge.ask(Caption((picture,))) for picture in pictures),
            return_exceptions=True,
        )

    with serving(Batches() if batch else FaultServer(heavy)) as server:
        budget = Budget(max_cost=1.0)
        options: dict[str, Any] = {
            "prices": str(prices),
            **(QUICK if batch else {}),
        }
        judge = judges.judge(
            "openai:m", base_url=server.url, budget=budget, **options
        )
        outcomes = run_beside(server, many(judge))
    assert 0.9 < budget.spent <= 1.0
    assert {type(outcome) for outcome in outcomes} == {str, BudgetError}


def test_an_answer_in_a_batch_that_cannot_be_read_is_paid_for_and_remembered(
    tmp_path: Path,
) -> None:
    prices = tmp_path / "prices.json"
    prices.write_text(PRICES)

    class Empty(BatchServer):
        def line(
            self, request: dict[str, Any], response: dict[str, Any]
        ) -> str:
            body = {**completion("a phrase"), "choices": []}
            return super().line(request, {"status_code": 200, "body": body})

    file = AnswerFile(tmp_path / "run.sqlite")
    budget = Budget(max_cost=100.0)
    with serving(Empty()) as server:
        for _ in range(2):
            options: dict[str, Any] = {
                "base_url": server.url,
                "prices": str(prices),
                **QUICK,
            }
            judge = judges.judge(
                "openai:m", answers=Answers(file), budget=budget, **options
            )
            with pytest.raises(
                ItemError, match=r"failed in its batch: .*no choices"
            ):
                run_beside(server, judge.ask(Rewrite("thing")))
        assert (server.n_probes, len(server.sent())) == (1, 2)
    # The probe at the whole price, and each answer at half of it.
    assert budget.spent == pytest.approx(2 * (PROMPT + COMPLETION))
    assert file.cost() == pytest.approx(budget.spent)
    file.close()
