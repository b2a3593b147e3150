"""The page for pasted texts is bounded: in posts that wait, in texts, and in money."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from beholder.errors import ConfigError
from beholder.kinds.scores import trying
from beholder.kinds.scores.engine import ScoreConfig
from beholder.kinds.scores.limits import MOST_WAITING
from beholder.kinds.scores.trying import TryPage
from beholder.options import WorkOptions
from beholder.web import Settings
from beholder.web.app import make_app

FORM = {
    "text": "A dog runs.",
    "references": "A dog barks.",
    "metric": "length",
}


@pytest.fixture
def page() -> TryPage:
    return TryPage(())


def post(
    page: TryPage, *, form: Mapping[str, str] = FORM, is_gone: bool = False
) -> Response:
    """Answer a post as the page does behind the guard."""
    body = urlencode(form).encode()
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Any:
        if messages:
            return messages.pop()
        if is_gone:
            return {"type": "http.disconnect"}
        await asyncio.Event().wait()

    headers = [(b"content-type", b"application/x-www-form-urlencoded")]
    scope: dict[str, Any] = {
        "type": "http",
        "method": "POST",
        "path": "/try",
        "headers": headers,
    }
    scope |= {"app": Starlette()}
    scope |= {
        "state": {"csrf": ""},
        "query_string": b"",
        "server": ("x", 80),
        "scheme": "http",
    }
    return asyncio.run(page.page(Request(scope, receive)))


def test_posts_beyond_the_queue_are_refused_and_pages_are_answered(
    page: TryPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    n_scored = 0

    def score(fields: Mapping[str, str], chosen: Sequence[str]) -> Any:
        nonlocal n_scored
        release.wait()
        n_scored += 1
        raise ConfigError("scored")

    monkeypatch.setattr(page, "_score", score)
    app = make_app(
        [Route("/try", page.page, methods=["GET", "POST"])], Settings()
    )

    async def run() -> list[int]:
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 50000))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:8000"
        ) as web:
            try:
                mark = (
                    (await web.get("/try"))
                    .text.split('name="csrf" value="')[1]
                    .split('"')[0]
                )
                form = {**FORM, "csrf": mark}
                waiting = [
                    asyncio.create_task(web.post("/try", data=form))
                    for _ in range(MOST_WAITING)
                ]
                while page._n_waiting < MOST_WAITING:
                    await asyncio.sleep(0)
                refused = await web.post("/try", data=form)
                assert refused.status_code == 503
                assert "too many texts wait" in refused.text
                assert (await web.get("/try")).status_code == 200
            finally:
                release.set()
            return [
                answer.status_code for answer in await asyncio.gather(*waiting)
            ]

    assert asyncio.run(run()) == [400] * MOST_WAITING
    assert (n_scored, page._n_waiting) == (MOST_WAITING, 0)


def test_a_post_whose_browser_has_gone_is_not_scored(
    page: TryPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    scored = []

    def score(fields: Mapping[str, str], chosen: Sequence[str]) -> Any:
        scored.append(fields["text"])
        raise ConfigError("scored")

    monkeypatch.setattr(page, "_score", score)
    post(page, is_gone=True)
    assert (scored, page._n_waiting) == ([], 0)
    post(page)
    assert (scored, page._n_waiting) == (["A dog runs."], 0)


@pytest.mark.parametrize("is_gone", [False, True])
def test_pages_behind_the_guard_see_whether_the_browser_has_gone(
    is_gone: bool,
) -> None:
    async def handle(request: Request) -> Response:
        await request.body()
        return PlainTextResponse(str(await request.is_disconnected()))

    async def get_csrf(request: Request) -> Response:
        return PlainTextResponse(request.state.csrf)

    app = make_app(
        [Route("/", get_csrf), Route("/x", handle, methods=["POST"])],
        Settings(),
    )
    sent: list[Any] = []

    async def call(scope: Mapping[str, Any], body: bytes) -> bytes:
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> Any:
            if messages:
                return messages.pop()
            if is_gone:
                return {"type": "http.disconnect"}
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)

        sent.clear()
        await app(
            {"type": "http", "query_string": b"", "scheme": "http", **scope},
            receive,
            send,
        )
        return b"".join(message.get("body", b"") for message in sent)

    async def run() -> bytes:
        base: dict[str, Any] = {
            "client": ("127.0.0.1", 1),
            "headers": [(b"host", b"127.0.0.1")],
        }
        mark = await call({"method": "GET", "path": "/", **base}, b"")
        cookies = [
            value
            for name, value in sent[0]["headers"]
            if name == b"set-cookie"
        ]
        headers = [
            *base["headers"],
            (b"cookie", cookies[0].split(b";")[0]),
            (b"x-csrf-token", mark),
        ]
        return await call(
            {"method": "POST", "path": "/x", **base, "headers": headers}, b""
        )

    assert asyncio.run(run()) == str(is_gone).encode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        # with the full stop of the reference
        (
            ", " * 5_000,
            "5,001 characters outside words; this page takes up to 4,000",
        ),
        ("a" * 20_001, "have 20,013 characters; this page takes up to 20,000"),
        # 600 words and 600 commas, within the bounds of characters: 1,200 squared is 1,440,000
        ("dog, " * 600, "the longest sentence has 1,200 words and signs"),
        # 501 squared is 251,001
        ("a " * 500 + ".", "it takes one sentence of 500"),
        # six sentences of 250: 6 * 62,500 is 375,000
        (
            ("dog " * 249 + ". ") * 6,
            "the longest sentence has 250 words and signs",
        ),
        (" ", "expected a text"),
    ],
)
def test_texts_are_limited_by_the_time_that_parsing_takes(
    page: TryPage, text: str, message: str
) -> None:
    answer = post(page, form={**FORM, "text": text})
    assert answer.status_code == 400
    assert message in bytes(answer.body).decode()


def test_all_posts_together_stay_below_the_limit_on_cost(
    page: TryPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits: list[float | None] = []

    def run_scores(config: ScoreConfig, *more: object) -> None:
        limits.append(config.work.max_cost)
        raise ConfigError("scored")

    monkeypatch.setattr(trying, "run_scores", run_scores)
    monkeypatch.setattr(trying, "spent", lambda folder: 0.5)
    page = TryPage((), WorkOptions(max_cost=1.25))
    for _ in range(4):
        post(page)
    assert limits == [1.25, 0.75, 0.25, 0.0]
    limits.clear()
    post(TryPage(()))
    assert limits == [None]


def test_metrics_that_the_time_of_a_post_does_not_reach_are_named(
    page: TryPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = iter((0.0, trying.MOST_SECONDS - 1, trying.MOST_SECONDS + 1))
    clock = SimpleNamespace(monotonic=lambda: next(times))
    monkeypatch.setattr(trying, "time", clock)
    template, parts = page._score(FORM, ["length", "rouge", "chrf", "bleu"])
    assert template != "try.html.j2"
    assert parts["scored"] == ["length", "rouge"]
    assert [problem.partition(":")[0] for problem in parts["problems"]] == [
        "chrf",
        "bleu",
    ]
    assert all("was over" in problem for problem in parts["problems"])
