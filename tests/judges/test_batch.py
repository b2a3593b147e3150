"""Batch mode against a server that keeps batches like the hosted one."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from beholder import judges
from beholder.errors import ItemError, TransientError
from beholder.judges import AnswerFile, Answers, Budget, Judge
from beholder.judges.operations import Rewrite
from servers.faults import completion, run_beside, serving

QUICK: dict[str, Any] = {"batch": True, "batch_quiet": 0.05, "batch_poll": 0.02}


class BatchServer:
    """Takes files and batches; a batch is done after it was looked at a few times."""

    def __init__(self, looks: int = 2, final: str = "completed") -> None:
        self.looks = looks
        self.final = final
        self.url = ""
        self.hanging: set[str] = set()
        self.files: dict[str, str] = {}
        self.batches: dict[str, dict[str, Any]] = {}
        self.n_probes = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raw = b""
        while True:
            event = await receive()
            raw += event.get("body", b"")
            if not event.get("more_body"):
                break
        answer = self.route(scope["method"], scope["path"].removeprefix("/v1"), raw)
        body = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
        kind = b"text/plain" if isinstance(answer, str) else b"application/json"
        headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def route(self, method: str, path: str, raw: bytes) -> Any:
        if path == "/chat/completions":
            self.n_probes += 1
            return completion("ready")
        if path == "/files":
            name = f"file-{len(self.files)}"
            self.files[name] = "\n".join(re.findall(r'^\{"custom_id".*$', raw.decode(), re.M))
            return {"id": name, "object": "file"}
        if path == "/batches":
            name = f"batch-{len(self.batches)}"
            self.batches[name] = {"input": json.loads(raw)["input_file_id"], "looks": 0}
            return {"id": name, "object": "batch", "status": "validating"}
        if path.startswith("/batches/"):
            return self.look(path.removeprefix("/batches/"))
        return self.files[path.removeprefix("/files/").removesuffix("/content")]

    def look(self, name: str) -> dict[str, Any]:
        batch = self.batches[name]
        batch["looks"] += 1
        shown: dict[str, Any] = {"id": name, "object": "batch", "status": "in_progress"}
        if batch["looks"] < self.looks:
            return shown
        rows = []
        for line in self.files[batch["input"]].splitlines():
            request = json.loads(line)
            bad = "refuse me" in str(request["body"]["messages"])
            response: dict[str, Any] = {"status_code": 200, "body": completion("a phrase")}
            if bad:
                response = {"status_code": 400, "body": {"error": {"message": "no"}}}
            rows.append(json.dumps({"custom_id": request["custom_id"], "response": response}))
        self.files[f"out-{name}"] = "\n".join(rows)
        output = f"out-{name}" if self.final == "completed" else None
        return {**shown, "status": self.final, "output_file_id": output, "error_file_id": None}


async def rewrite_all(judge: Judge, n: int) -> list[str]:
    return list(await asyncio.gather(*(judge.ask(Rewrite(f"thing {i}")) for i in range(n))))


def test_requests_of_one_time_go_into_one_batch_at_half_the_price(tmp_path: Path) -> None:
    prices = tmp_path / "p.json"
    prices.write_text('{"models": {"served-1": {"input": 1000, "cached": 1000, "output": 0}}}')
    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(BatchServer()) as server:
        options: dict[str, Any] = {"base_url": server.url, "prices": str(prices), **QUICK}
        budget = Budget()
        judge = judges.judge("openai:m", answers=Answers(file), budget=budget, **options)
        assert run_beside(server, rewrite_all(judge, 30)) == ["a phrase"] * 30
        assert len(server.batches) == 1
    # 100 prompt tokens each at 1000 per million, half of it; and the probe, which is no batch.
    assert budget.spent == pytest.approx(30 * 100 * 1000 / 1e6 / 2 + 100 * 1000 / 1e6)
    file.close()


def test_killed_run_finds_its_batch_again_and_sends_nothing_twice(tmp_path: Path) -> None:
    file = AnswerFile(tmp_path / "run.sqlite")
    with serving(BatchServer(looks=10_000)) as server:
        options: dict[str, Any] = {"base_url": server.url, **QUICK}
        judge = judges.judge("openai:m", answers=Answers(file), **options)
        with pytest.raises(TimeoutError):
            run_beside(server, asyncio.wait_for(rewrite_all(judge, 10), timeout=1))
        assert len(server.batches) == 1
        server.looks = 1
        again = judges.judge("openai:m", answers=Answers(file), **options)
        assert run_beside(server, rewrite_all(again, 12)) == ["a phrase"] * 12
        sent = [
            json.loads(line)["custom_id"]
            for b in server.batches.values()
            for line in server.files[b["input"]].splitlines()
        ]
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
