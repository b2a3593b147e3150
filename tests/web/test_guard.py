"""What a request must pass: host, access, forged posts, rate, size."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from typing import Any
from urllib.parse import urljoin

import httpx2 as httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from beholder.errors import ConfigError
from beholder.web import Settings, guard, make_app
from beholder.web.app import address
from beholder.web.guard import SESSION, Buckets, Guard, csrf

Client = Callable[[ASGIApp], TestClient]
Limited = Callable[..., AbstractContextManager[str]]
TOKEN = "a-token-of-more-than-16"


async def who(request: Request) -> Response:
    return JSONResponse({"who": request.state.who, "csrf": request.state.csrf})


async def take(request: Request) -> Response:
    async with request.form() as form:
        return JSONResponse(
            {
                name: str(value)
                for name, value in form.items()
                if name != "csrf"
            }
        )


async def size(request: Request) -> Response:
    return JSONResponse(len(await request.body()))


ROUTES = [
    Route("/", who),
    Route("/take", take, methods=["POST"]),
    Route("/size", size, methods=["POST"]),
]


def app(**settings: object) -> ASGIApp:
    return make_app(ROUTES, Settings(**settings))  # type: ignore[arg-type]


def test_requests_over_loopback_are_the_owner_s(client: Client) -> None:
    assert client(app()).get("/").json()["who"] == "owner"


@pytest.mark.parametrize(
    ("host", "called", "status"),
    [
        ("127.0.0.1", "127.0.0.1:8000", 200),
        ("127.0.0.1", "localhost:8000", 200),
        ("127.0.0.1", "LOCALHOST", 200),
        ("127.0.0.1", "[::1]:8000", 200),
        ("127.0.0.1", "evil.example:8000", 421),
        ("127.0.0.1", "localhost.evil.example", 421),
        ("127.0.0.1", "127.0.0.1.evil.example", 421),
        ("127.0.0.1", "192.168.1.2:8000", 421),
        ("127.0.0.1", "", 421),
        ("0.0.0.0", "192.168.1.2:8000", 401),
        ("0.0.0.0", "[fe80::1]:8000", 401),
        ("0.0.0.0", "lab.example:8000", 401),
        ("0.0.0.0", "evil.example:8000", 421),
    ],
)
def test_only_host_names_of_this_server_are_answered(
    client: Client, host: str, called: str, status: int
) -> None:
    browser = client(app(host=host, names=("lab.example",)))
    assert browser.get("/", headers={"host": called}).status_code == status


def test_other_addresses_need_a_token_and_get_one_that_cannot_be_guessed() -> (
    None
):
    assert Settings().token is None
    assert Settings(host="::1").token is None
    token = Settings(host="0.0.0.0").token
    assert token is not None
    assert len(token) >= 32
    assert token != Settings(host="0.0.0.0").token
    assert (
        address(Settings(host="0.0.0.0", token=TOKEN), 80)
        == f"http://0.0.0.0:80/?token={TOKEN}"
    )
    assert address(Settings(host="::1"), 80) == "http://[::1]:80/"
    with pytest.raises(ConfigError, match="16 characters"):
        Settings(token="short")
    with pytest.raises(ConfigError, match="port 70000"):
        Settings(port=70000)


def test_a_token_in_the_address_becomes_a_cookie_and_leaves_the_address(
    client: Client,
) -> None:
    browser = client(app(token=TOKEN))
    assert browser.get("/").status_code == 401
    answer = browser.get(f"/?token={TOKEN}&q=%22%3E%3Cscript%3E")
    assert answer.status_code == 200
    assert 'content="0;url=/?q=%22%3E%3Cscript%3E"' in answer.text
    name = Settings(token=TOKEN).access_cookie
    cookie = next(
        c
        for c in answer.headers.get_list("set-cookie")
        if c.startswith(f"{name}=")
    )
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert TOKEN not in answer.text
    assert browser.get("/").json()["who"] == "owner"


@pytest.mark.parametrize(
    "forged", ["", "x" * 24, TOKEN[:-1], TOKEN + "x", "ä", "\x00"]
)
def test_forged_tokens_open_nothing(client: Client, forged: str) -> None:
    browser = client(app(token=TOKEN))
    answer = browser.get("/", params={"token": forged})
    assert answer.status_code in (401, 403)
    assert "beholder_access" not in "".join(
        answer.headers.get_list("set-cookie")
    )
    raw = [
        (b"cookie", f"{Settings(token=TOKEN).access_cookie}={forged}".encode())
    ]
    assert browser.get("/", headers=raw).status_code == 401


def test_the_target_after_a_token_is_never_on_another_host(
    client: Client,
) -> None:
    answer = client(app(token=TOKEN)).get(
        f"http://127.0.0.1:8000//evil.example/?token={TOKEN}"
    )
    assert 'content="0;url=/evil.example/"' in answer.text


def test_a_path_cannot_leave_the_attribute_in_which_it_stands(
    client: Client,
) -> None:
    answer = client(app(token=TOKEN)).get(
        f"/%22%3E%3Cscript%3E&amp;?token={TOKEN}"
    )
    assert "<script" not in answer.text
    assert 'content="0;url=/%22%3E%3Cscript%3E%26amp%3B"' in answer.text


def test_wrong_tokens_may_be_tried_a_few_times_only(client: Client) -> None:
    browser = client(app(token=TOKEN))
    statuses = [browser.get("/?token=wrong").status_code for _ in range(30)]
    assert statuses[0] == 403
    assert statuses[-1] == 429
    assert browser.get(f"/?token={TOKEN}").status_code == 200, (
        "who shares the address gets in"
    )


def test_a_right_link_opens_whatever_others_of_the_address_ask(
    client: Client,
) -> None:
    settings = Settings(token=TOKEN, burst=5)
    guarded = Guard(Starlette(routes=ROUTES), settings, lambda: 0.0)
    statuses = [client(guarded).get("/").status_code for _ in range(7)]
    assert statuses == [401] * 5 + [429] * 2
    assert client(guarded).get(f"/?token={TOKEN}").status_code == 200


def test_servers_on_one_host_use_different_cookies(
    client: Client,
) -> None:
    tokens = [TOKEN, TOKEN[::-1]]
    browsers = [client(app(token=token)) for token in tokens]
    browsers[1].cookies = browsers[0].cookies  # a browser knows no ports
    for browser, token in zip(browsers, tokens, strict=True):
        assert browser.get("/", params={"token": token}).status_code == 200
    for browser in browsers:
        assert browser.get("/").json()["who"] == "owner"


PEOPLE = {"link-of-ann-0123456789": "Ann", "link-of-bo-01234567890": "B<o>"}


def test_a_link_of_somebody_else_is_confirmed_first(client: Client) -> None:
    browser = client(app(token=TOKEN, people=PEOPLE.get))
    ann, bo = PEOPLE
    assert browser.get("/", params={"token": ann}).status_code == 200
    page = browser.get("/", params={"token": bo, "q": "1"})
    assert (
        "You are signed in as <bdi>Ann</bdi>. This link belongs to <bdi>B&lt;o&gt;</bdi>"
        in (page.text)
    )
    assert browser.get("/").json()["who"] == "Ann"
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page.text))
    assert fields["to"] == "/?q=1"
    forged = {**fields, "csrf": "0" * 64}
    assert browser.post("/sign-in", data=forged).status_code == 403
    assert (
        browser.post("/sign-in", data={**fields, "token": "wrong"}).status_code
        == 403
    )
    foreign = {"origin": "http://evil.example"}
    assert (
        browser.post("/sign-in", data=fields, headers=foreign).status_code
        == 403
    )
    assert browser.get("/").json()["who"] == "Ann"
    gone = browser.post("/sign-in", data=fields)
    assert 'content="0;url=/?q=1"' in gone.text
    assert browser.get("/").json()["who"] == "B<o>"
    assert "Sign in as" not in browser.get("/", params={"token": bo}).text, (
        "it is his own link"
    )


def test_a_link_on_another_site_is_asked_for_again_with_the_cookies(
    client: Client,
) -> None:
    """A browser sends no cookies that are SameSite=Strict along with such a link."""
    ann, bo = PEOPLE
    browser = client(app(token=TOKEN, people=PEOPLE.get))
    assert browser.get("/", params={"token": ann}).status_code == 200
    without = client(browser.app)
    foreign = without.get(
        "/", params={"token": bo}, headers={"sec-fetch-site": "cross-site"}
    )
    assert f'content="0;url=/?token={bo}"' in foreign.text
    assert "set-cookie" not in foreign.headers
    again = browser.get(
        "/", params={"token": bo}, headers={"sec-fetch-site": "same-origin"}
    )
    assert "Sign in as" in again.text
    fresh = without.get(
        "/", params={"token": bo}, headers={"sec-fetch-site": "same-origin"}
    )
    assert 'content="0;url=/"' in fresh.text


def test_the_target_after_signing_in_is_on_this_host(client: Client) -> None:
    ann, bo = PEOPLE
    browser = client(app(token=TOKEN, people=PEOPLE.get))
    browser.get("/", params={"token": ann})
    page = browser.get("/", params={"token": bo})
    fields = dict(re.findall(r'name="(\w+)" value="([^"]*)"', page.text))
    for to in (
        "//evil.example/",
        "https://evil.example/",
        "/%2fevil.example",
        "\\\\evil.example",
    ):
        answer = browser.post("/sign-in", data={**fields, "to": to})
        target = answer.text.split('content="0;url=')[1].split('"')[0]
        assert urljoin("http://here.example/", target).startswith(
            "http://here.example/"
        )


def test_large_bodies_share_a_limit_and_small_ones_are_always_accepted(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "MOST_HELD", 150_000)

    async def two(body: bytes) -> tuple[int, int]:
        """The statuses of a request that its page holds, and of another meanwhile."""
        is_held, go = asyncio.Event(), asyncio.Event()

        async def wait(request: Request) -> Response:
            is_held.set()
            await go.wait()
            return Response()

        guarded = make_app(
            [Route("/wait", wait, methods=["POST"]), *ROUTES], Settings()
        )
        transport = httpx.ASGITransport(guarded)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1"
        ) as browser:
            mark = {"X-CSRF-Token": (await browser.get("/")).json()["csrf"]}
            first = asyncio.ensure_future(
                browser.post("/wait", content=b"x" * 100_000, headers=mark)
            )
            await is_held.wait()
            second = await browser.post("/size", content=body, headers=mark)
            go.set()
            answered = (await first).status_code, second.status_code
            after = await browser.post(
                "/size", content=b"x" * 100_000, headers=mark
            )
            assert after.status_code == 200, (
                "the place of the first is free again"
            )
            return answered

    with ThreadPoolExecutor(
        1
    ) as thread:  # the driver of the browser has a loop in this one
        assert thread.submit(asyncio.run, two(b"x" * 100_000)).result() == (
            200,
            503,
        )
        assert thread.submit(asyncio.run, two(b"x" * 60_000)).result() == (
            200,
            200,
        )


class Talk:
    """A connection to a server, byte by byte."""

    def __init__(self, address: str) -> None:
        host, port = address.removeprefix("http://").split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=60)

    def say(self, text: str) -> None:
        self.socket.sendall(text.encode())

    def hear(self) -> str:
        """All that comes until the server closes."""
        heard = b""
        with self.socket, suppress(ConnectionResetError):
            while part := self.socket.recv(65536):
                heard += part
        return heard.decode()


@pytest.fixture
def limited(
    server: Callable[[ASGIApp, Settings], AbstractContextManager[str]],
) -> Callable[..., AbstractContextManager[str]]:
    """Serves with limits: ``with limited(most_waiting=5) as address``."""

    def serve(**limits: Any) -> AbstractContextManager[str]:
        settings = Settings(**limits)
        return server(make_app(ROUTES, settings), settings)

    return serve


@pytest.mark.slow
def test_a_half_header_times_out(
    limited: Limited,
) -> None:
    with limited(header_seconds=0.2) as address:
        for begin in ("", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-", "GET"):
            talk = Talk(address)
            talk.say(begin)
            assert talk.hear() == ""
        slow = Talk(address)
        slow.say("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET / HTTP")
        heard = slow.hear()
    assert heard.count("HTTP/1.1 200") == 1, (
        "the second request of a connection never came"
    )


def test_a_half_body_times_out(
    limited: Limited,
) -> None:
    with limited(body_seconds=0.2) as address:
        talk = Talk(address)
        talk.say(
            "POST /size HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nhalf"
        )
        heard = talk.hear()
    assert heard.startswith("HTTP/1.1 408")
    assert "took too long" in heard


@pytest.mark.slow
def test_many_half_requests_do_not_block_others(limited: Limited) -> None:
    with limited(most_waiting=5, header_seconds=600) as address:
        talks = [Talk(address) for _ in range(40)]
        for talk in talks:
            with suppress(ConnectionError):
                talk.say("GET / HTTP/1.1\r\n")
        assert httpx.get(address).status_code == 200
        assert [talk.hear() for talk in talks[:30]] == [""] * 30
        for talk in talks[30:]:
            talk.socket.close()


def test_personal_tokens_name_their_people(client: Client) -> None:
    people = {"link-of-ann-0123456789": "Ann"}
    browser = client(app(token=TOKEN, people=people.get))
    assert browser.get("/?token=link-of-ann-0123456789").status_code == 200
    assert browser.get("/").json()["who"] == "Ann"


def test_a_post_needs_the_mark_of_its_session(client: Client) -> None:
    settings = Settings(secret=b"s" * 32)
    browser = client(make_app(ROUTES, settings))
    mark = browser.get("/").json()["csrf"]
    assert mark == csrf(b"s" * 32, browser.cookies[SESSION])
    assert browser.post("/take", data={"a": "1", "csrf": mark}).json() == {
        "a": "1"
    }
    assert (
        browser.post(
            "/size", content=b"12345", headers={"X-CSRF-Token": mark}
        ).json()
        == 5
    )
    assert (
        browser.post(
            "/take", files={"a": b"x"}, data={"csrf": mark}
        ).status_code
        == 200
    )
    for forged in (
        "",
        mark[:-1] + ("0" if mark[-1] != "0" else "1"),
        csrf(b"s" * 32, "other"),
    ):
        assert (
            browser.post("/take", data={"a": "1", "csrf": forged}).status_code
            == 403
        )
    assert browser.post("/take", data={"a": "1"}).status_code == 403
    assert browser.post(
        "/take", content=b"--", headers={"content-type": "multipart/form-data"}
    ).status_code in (400, 403)


def test_a_mark_outlives_a_restart_with_the_same_secret(
    client: Client,
) -> None:
    before = client(make_app(ROUTES, Settings(secret=b"k" * 32)))
    mark = before.get("/").json()["csrf"]
    after = client(make_app(ROUTES, Settings(secret=b"k" * 32)))
    after.cookies = before.cookies
    assert (
        after.post("/take", data={"a": "1", "csrf": mark}).status_code == 200
    )
    restarted = client(make_app(ROUTES, Settings()))
    restarted.cookies = before.cookies
    assert (
        restarted.post("/take", data={"a": "1", "csrf": mark}).status_code
        == 403
    )


def test_a_post_from_another_site_is_refused_even_with_the_mark(
    client: Client,
) -> None:
    browser = client(app())
    mark = browser.get("/").json()["csrf"]
    for origin, status in (
        ("http://evil.example", 403),
        ("null", 403),
        ("http://127.0.0.1:8000", 200),
    ):
        headers = {"origin": origin, "x-csrf-token": mark}
        assert browser.post("/size", headers=headers).status_code == status


def test_the_session_cookie_is_out_of_reach_of_scripts_and_other_sites(
    client: Client,
) -> None:
    browser = client(app())
    cookie = browser.get("/").headers["set-cookie"]
    assert cookie.startswith(SESSION)
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "set-cookie" not in browser.get("/").headers
    forged = {"cookie": f"{SESSION}=abc"}  # too short to be one of ours
    assert "set-cookie" in client(app()).get("/", headers=forged).headers


def test_bodies_beyond_the_limit_are_refused_with_or_without_a_length(
    client: Client,
) -> None:
    browser = client(app(max_body=1000))
    mark = {"X-CSRF-Token": browser.get("/").json()["csrf"]}
    assert (
        browser.post("/size", content=b"x" * 1000, headers=mark).json() == 1000
    )
    assert (
        browser.post("/size", content=b"x" * 1001, headers=mark).status_code
        == 413
    )
    pieces = (b"x" * 600 for _ in range(2))  # no length is told
    assert (
        browser.post("/size", content=pieces, headers=mark).status_code == 413
    )
    assert (
        browser.post(
            "/size", content=b"", headers=mark | {"content-length": "-1"}
        ).status_code
        == 413
    )


def test_a_bucket_fills_with_time() -> None:
    now = [0.0]
    buckets = Buckets(2.0, 3, lambda: now[0])
    assert [buckets.take("a") for _ in range(4)] == [True, True, True, False]
    assert buckets.take("b")
    now[0] = 0.5
    assert [buckets.take("a") for _ in range(2)] == [True, False]
    now[0] = 100.0
    assert [buckets.take("a") for _ in range(4)] == [True, True, True, False]


def test_a_browser_that_asks_too_fast_waits_and_others_do_not(
    client: Client,
) -> None:
    settings = Settings(token=TOKEN, burst=5, people={"y" * 20: "Bo"}.get)
    guarded = Guard(Starlette(routes=ROUTES), settings, lambda: 0.0)
    ann, bo = client(guarded), client(guarded)
    ann.cookies.set(settings.access_cookie, TOKEN)
    bo.cookies.set(settings.access_cookie, "y" * 20)
    assert [ann.get("/").status_code for _ in range(7)] == [200] * 5 + [
        429
    ] * 2
    assert bo.get("/").status_code == 200


def test_every_answer_has_the_policy(client: Client) -> None:
    browser = client(app())
    for path in ("/", "/nothing", "/static/page.css", "/static/htmx.min.js"):
        answer = browser.get(path)
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
    assert browser.get("/").headers["cache-control"] == "no-store"
    refused = browser.get("/", headers={"host": "evil.example"})
    assert "content-security-policy" in refused.headers


def test_a_long_address_is_refused(client: Client) -> None:
    browser = client(app())
    assert browser.get("/" + "9" * 1999).status_code == 404
    assert browser.get("/" + "9" * 2000).status_code == 414


@pytest.mark.parametrize(
    "method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"]
)
def test_other_methods_are_refused(client: Client, method: str) -> None:
    assert client(app()).request(method, "/").status_code == 405


@pytest.mark.parametrize(
    "path",
    ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd",
     "/static/%5c..%5capp.py", "/static/", "/static/../../../../etc/passwd"],
)  # fmt: skip
def test_static_files_do_not_lead_outside_their_folder(
    client: Client, path: str
) -> None:
    assert client(app()).get(path).status_code in (404, 405)
