"""Batch mode against a server that keeps batches like the hosted one."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from beholder import judges
from beholder.backends import Message, Request, Sampling
from beholder.backends.openai import OpenAI
from beholder.errors import ItemError, TransientError
from beholder.judges import AnswerFile, Answers, Budget, Draw, Judge
from beholder.judges.operations import Rewrite
from servers.batches import QUICK, BatchServer
from servers.faults import completion, run_beside, send_answer, serving


async def rewrite_all(judge: Judge, n: int) -> list[str]:
    return list(
        await asyncio.gather(
            *(judge.ask(Rewrite(f"thing {i}")) for i in range(n))
        )
    )


def test_requests_of_one_time_go_into_one_batch_at_half_the_price(
    tmp_path: Path,
) -> None:
    prices = tmp_path / "p.json"
    prices.write_text(
        '{"models": {"served-1": {"input": 1000, "cached": 1000, "output": 0}}}'
    )
    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(BatchServer()) as server:
        options: dict[str, Any] = {
            "base_url": server.url,
            "prices": str(prices),
            **QUICK,
        }
        budget = Budget()
        judge = judges.judge(
            "openai:m", answers=Answers(file), budget=budget, **options
        )
        assert run_beside(server, rewrite_all(judge, 30)) == ["a phrase"] * 30
        assert len(server.batches) == 1
    # 100 prompt tokens each at 1000 per million, half of it; and the probe, which is no batch.
    assert budget.spent == pytest.approx(
        30 * 100 * 1000 / 1e6 / 2 + 100 * 1000 / 1e6
    )
    file.close()


class Numbered(BatchServer):
    """Answers each line of a batch with the number of lines before it, as text."""

    def look(self, name: str) -> dict[str, Any]:
        self.n_lines = 0
        return super().look(name)

    def line(self, request: dict[str, Any], response: dict[str, Any]) -> str:
        body = completion(f"answer {self.n_lines}")
        self.n_lines += 1
        return super().line(request, {"status_code": 200, "body": body})


def test_repeats_whose_bodies_are_equal_are_answered_apart(
    tmp_path: Path,
) -> None:
    """At temperature 0 no seed is sent, so nothing in the bodies tells repeats apart."""
    prices = tmp_path / "p.json"
    prices.write_text(
        '{"models": {"served-1": {"input": 1000, "cached": 1000, "output": 0}}}'
    )

    async def repeats(judge: Judge) -> list[str]:
        return list(
            await asyncio.gather(
                *(judge.ask(Rewrite("x"), Draw(k)) for k in range(3))
            )
        )

    with serving(Numbered()) as server:
        budget = Budget()
        options: dict[str, Any] = {
            "base_url": server.url,
            "prices": str(prices),
            **QUICK,
        }
        judge = judges.judge("openai:m", budget=budget, **options)
        assert run_beside(server, repeats(judge)) == [
            "answer 0",
            "answer 1",
            "answer 2",
        ]
        assert len(server.sent()) == 3
    # Three requests of 100 tokens at half of 1000 per million, and the probe at the whole price.
    assert budget.spent == pytest.approx(3 * 0.05 + 0.1)


def test_answers_drawn_without_a_seed_are_drawn_apart() -> None:
    """A server that gives one answer at a time is asked for each, in bodies that are equal."""
    requests = [
        Request(
            (Message("user", ("?",)),),
            Sampling(temperature=1.0, n=3 - k),
            replicate=1000 * k,
        )
        for k in range(3)
    ]

    with serving(Numbered()) as server:
        backend = OpenAI(
            "m", base_url=server.url, extra={"seed": None}, **QUICK
        )

        async def samples() -> list[str]:
            await (
                backend.draws_copies()
            )  # one answer came where several were asked for
            answers = [await backend.chat(request) for request in requests]
            return [
                sample.text for answer in answers for sample in answer.samples
            ]

        assert run_beside(server, samples()) == ["answer 0"] * 3, (
            "one batch each"
        )
        assert len(set(server.sent())) == 3


def test_a_first_repeat_is_named_by_its_body_alone() -> None:
    """Else the batches that were noted before repeats had names would be sent again."""
    with serving(BatchServer()) as server:
        backend = OpenAI("m", base_url=server.url, **QUICK)
        run_beside(server, backend.chat(Request((Message("user", ("?",)),))))
        line = json.loads(next(iter(server.files.values())))
    body = json.dumps(line["body"], sort_keys=True)
    assert line["custom_id"] == hashlib.sha256(body.encode()).hexdigest()


def test_killed_run_finds_its_batch_again_and_sends_nothing_twice(
    tmp_path: Path,
) -> None:
    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(BatchServer(looks=10_000)) as server:
        options: dict[str, Any] = {"base_url": server.url, **QUICK}
        judge = judges.judge("openai:m", answers=Answers(file), **options)
        with pytest.raises(TimeoutError):
            run_beside(
                server, asyncio.wait_for(rewrite_all(judge, 10), timeout=1)
            )
        assert len(server.batches) == 1
        server.looks = 1
        again = judges.judge("openai:m", answers=Answers(file), **options)
        assert run_beside(server, rewrite_all(again, 12)) == ["a phrase"] * 12
        sent = server.sent()
        assert len(sent) == len(set(sent)) == 12
        n_batches = len(server.batches)
        third = judges.judge("openai:m", answers=Answers(file), **options)
        assert run_beside(server, rewrite_all(third, 12)) == ["a phrase"] * 12
        assert len(server.batches) == n_batches
    file.close()


def test_request_refused_in_a_batch_fails_alone() -> None:
    async def ask(judge: Judge) -> tuple[str, str]:
        good = asyncio.ensure_future(judge.ask(Rewrite("thing")))
        with pytest.raises(ItemError, match="refused the request") as caught:
            await judge.ask(Rewrite("refuse me"))
        return await good, str(caught.value)

    with serving(BatchServer()) as server:
        judge = judges.judge("openai:m", base_url=server.url, **QUICK)
        assert run_beside(server, ask(judge))[0] == "a phrase"


def test_expired_batch_is_a_transient_failure() -> None:
    with serving(BatchServer(final="expired")) as server:
        judge = judges.judge("openai:m", base_url=server.url, **QUICK)
        with pytest.raises(TransientError, match="batch-0 ended as expired"):
            run_beside(server, judge.ask(Rewrite("thing")))


class Killed(Exception):
    """Stands for a kill: what comes after it does not happen."""


@pytest.mark.parametrize("n_kept", [0, 1, 7])
def test_killed_while_answers_are_kept_sends_nothing_twice(
    tmp_path: Path, n_kept: int
) -> None:
    class Dying(Answers):
        n = 0

        def put_answer(self, record: Any) -> None:
            self.n += 1
            if self.n > n_kept:
                raise Killed
            super().put_answer(record)

    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(BatchServer()) as server:
        options: dict[str, Any] = {"base_url": server.url, **QUICK}
        judge = judges.judge("openai:m", answers=Dying(file), **options)
        with pytest.raises(Killed):
            run_beside(server, rewrite_all(judge, 10))
        assert sum(1 for _ in file.records()) == n_kept
        again = judges.judge("openai:m", answers=Answers(file), **options)
        assert run_beside(server, rewrite_all(again, 10)) == ["a phrase"] * 10
        assert len(server.batches) == 1
    file.close()


@pytest.mark.parametrize("is_created", [True, False], ids=["after", "before"])
def test_killed_around_the_making_of_a_batch_finds_it_in_the_servers_list(
    tmp_path: Path, is_created: bool
) -> None:
    class Deadly(BatchServer):
        """The first making of a batch never comes back."""

        deadly = True

        def route(self, method: str, path: str, raw: bytes) -> Any:
            if (method, path) != ("POST", "/batches") or not self.deadly:
                return super().route(method, path, raw)
            if is_created:
                super().route(method, path, raw)
            return {}

    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(Deadly()) as server:
        # Of somebody else, on the first page of the list.
        server.batches["other"] = {"metadata": {}, "looks": 0}
        options: dict[str, Any] = {
            "base_url": server.url,
            "attempts": 1,
            **QUICK,
        }
        judge = judges.judge("openai:m", answers=Answers(file), **options)
        with pytest.raises(TransientError, match="has no id"):
            run_beside(server, rewrite_all(judge, 10))
        server.deadly = False
        again = judges.judge("openai:m", answers=Answers(file), **options)
        assert run_beside(server, rewrite_all(again, 10)) == ["a phrase"] * 10
        assert len(server.batches) == 2
    file.close()


def test_a_batch_whose_making_was_answered_badly_is_not_made_again() -> None:
    class Forgetful(BatchServer):
        def route(self, method: str, path: str, raw: bytes) -> Any:
            answer = super().route(method, path, raw)
            return "lost" if (method, path) == ("POST", "/batches") else answer

    with serving(Forgetful()) as server:
        judge = judges.judge(
            "openai:m", base_url=server.url, wait=0.01, **QUICK
        )
        assert run_beside(server, rewrite_all(judge, 10)) == ["a phrase"] * 10
        assert len(server.batches) == 1


@pytest.mark.slow
def test_a_batch_that_a_sister_run_has_sent_is_waited_for(
    tmp_path: Path,
) -> None:
    files = [AnswerFile(tmp_path / f"run-{i}") for i in range(3)]
    caches = [AnswerFile(tmp_path / "cache") for _ in files]
    with serving(BatchServer(looks=10)) as server:
        runs = [
            judges.judge(
                "openai:m",
                answers=Answers(*stores),
                base_url=server.url,
                **QUICK,
            )
            for stores in zip(files, caches, strict=True)
        ]

        async def at_once() -> list[list[str]]:
            return list(
                await asyncio.gather(*(rewrite_all(run, 10) for run in runs))
            )

        assert run_beside(server, at_once()) == [["a phrase"] * 10] * 3
        assert len(server.sent()) == 10
    for file in (*files, *caches):
        file.close()


ODD_LINES: dict[str, Any] = {
    "not JSON": "a phrase, surely",
    "no id": '{"response": {"status_code": 200, "body": {}}}',
    "list": "[]",
    "number as id": '{"custom_id": 5, "response": {}}',
    "nested": "[" * 100_000,
    "body empty": {"status_code": 200, "body": {}},
    "body list": {"status_code": 200, "body": []},
    "content parts": {
        "status_code": 200,
        "body": {"choices": [{"message": {"content": ["a"]}}]},
    },
    "response list": [],
    "response null": None,
    "status text": {"status_code": "200", "body": completion("a phrase")},
    "status 500": {"status_code": 500, "body": {"error": {"message": "no"}}},
}


@pytest.mark.parametrize("kind", ODD_LINES)
def test_one_odd_line_costs_one_item_and_is_asked_again(
    tmp_path: Path, kind: str
) -> None:
    class Odd(BatchServer):
        odd = True

        def line(
            self, request: dict[str, Any], response: dict[str, Any]
        ) -> str:
            if not self.odd or "thing 3" not in str(request["body"]):
                return super().line(request, response)
            odd_line = ODD_LINES[kind]
            return (
                odd_line
                if isinstance(odd_line, str)
                else super().line(request, odd_line)
            )

    async def all_of(judge: Judge) -> list[object]:
        questions = (judge.ask(Rewrite(f"thing {i}")) for i in range(6))
        return list(await asyncio.gather(*questions, return_exceptions=True))

    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(Odd()) as server:
        options: dict[str, Any] = {"base_url": server.url, **QUICK}
        judge = judges.judge("openai:m", answers=Answers(file), **options)
        outcomes = run_beside(server, all_of(judge))
        assert [outcome for i, outcome in enumerate(outcomes) if i != 3] == [
            "a phrase"
        ] * 5
        assert isinstance(outcomes[3], TransientError)
        assert re.search("batch", str(outcomes[3])), (
            "the reason names the cause"
        )
        server.odd = False
        again = judges.judge("openai:m", answers=Answers(file), **options)
        assert run_beside(server, all_of(again)) == ["a phrase"] * 6
        assert len(server.sent()) == 7, "only the one line is sent again"
    file.close()


def test_separators_inside_a_text_do_not_break_a_line() -> None:
    text = "a\u2028b\u2029c\u0085d"

    class Raw(BatchServer):
        def line(
            self, request: dict[str, Any], response: dict[str, Any]
        ) -> str:
            whole = {"custom_id": request["custom_id"], "response": response}
            response["body"] = completion(text)
            return json.dumps(whole, ensure_ascii=False)

    with serving(Raw()) as server:
        judge = judges.judge("openai:m", base_url=server.url, **QUICK)
        assert run_beside(server, rewrite_all(judge, 5)) == [text] * 5


@pytest.mark.parametrize("status", ["paused", "", 5, None, ["completed"]])
def test_a_status_that_nobody_knows_ends_with_words(status: Any) -> None:
    class Strange(BatchServer):
        def look(self, name: str) -> dict[str, Any]:
            return {"id": name, "status": status}

    with serving(Strange()) as server:
        judge = judges.judge(
            "openai:m", base_url=server.url, attempts=2, **QUICK
        )
        with pytest.raises(
            TransientError, match=r"status 'paused'|status ''|has no status"
        ):
            run_beside(server, judge.ask(Rewrite("thing")))


def test_a_batch_that_the_server_forgot_is_sent_again_by_the_next_start(
    tmp_path: Path,
) -> None:
    class Forgetful(BatchServer):
        async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
            if scope["path"] == "/v1/batches/batch-0":
                await send_answer(
                    send, 404, b'{"error": {"message": "no such batch"}}', []
                )
                return
            await super().__call__(scope, receive, send)

    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(Forgetful()) as server:
        options: dict[str, Any] = {"base_url": server.url, **QUICK}
        judge = judges.judge("openai:m", answers=Answers(file), **options)
        with pytest.raises(TransientError, match="ended as gone"):
            run_beside(server, judge.ask(Rewrite("thing")))
        again = judges.judge("openai:m", answers=Answers(file), **options)
        assert run_beside(server, again.ask(Rewrite("thing"))) == "a phrase"
    file.close()


def test_a_servers_list_is_read_to_its_end_and_no_further(
    tmp_path: Path,
) -> None:
    class Counting(BatchServer):
        """Refuses to make a batch, and counts how often its list is asked for."""

        n_lists = 0

        def route(self, method: str, path: str, raw: bytes) -> Any:
            if (method, path) == ("POST", "/batches"):
                return {}
            if (method, path) == ("GET", "/batches"):
                self.n_lists += 1
            return super().route(method, path, raw)

    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(Counting()) as server:
        server.batches["other"] = {"metadata": {}, "looks": 0}
        server.batches["another"] = {"metadata": {}, "looks": 0}
        options: dict[str, Any] = {
            "base_url": server.url,
            "attempts": 1,
            **QUICK,
        }
        for _ in range(2):
            judge = judges.judge("openai:m", answers=Answers(file), **options)
            with pytest.raises(TransientError, match="has no id"):
                run_beside(server, rewrite_all(judge, 2))
        n_lists = server.n_lists
    file.close()
    assert n_lists % 2 == 0  # one batch a page, and two batches
    assert 0 < n_lists <= 4
