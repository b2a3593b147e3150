"""What servers say is left is respected: a run slows down and is refused nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest

from beholder.backends import Message, Request, backend
from beholder.backends.calls import Caller, CallFailed, Limits
from beholder.backends.rate_headers import RoomLeft, answered, retry_after, room_left
from servers.faults import FaultServer, completion, run_beside, serving
from servers.vendors import spoken
from toy.clock import now, run_in_fake_time

MIDDAY = datetime(2026, 11, 26, 12, tzinfo=UTC)
Write = Callable[[str, float, float, float], dict[str, str]]


def openai(what: str, most: float, left: float, seconds: float) -> dict[str, str]:
    """As OpenAI's guide on rate limits shows them."""
    minutes, rest = divmod(seconds, 60)
    spans = f"{minutes:.0f}m{rest:.3f}s" if minutes else f"{1000 * rest:.0f}ms"
    told = {"limit": f"{most:.0f}", "remaining": f"{left:.0f}", "reset": spans}
    return {f"x-ratelimit-{field}-{what}": value for field, value in told.items()}


def anthropic(what: str, most: float, left: float, seconds: float) -> dict[str, str]:
    """As Anthropic's page on rate limits shows them: the moment in RFC 3339."""
    reset = (MIDDAY + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")
    told = {"limit": f"{most:.0f}", "remaining": f"{left:.0f}", "reset": reset}
    named = {f"anthropic-ratelimit-{what}-{field}": value for field, value in told.items()}
    return {**named, "date": format_datetime(MIDDAY, usegmt=True)}


FORMS = pytest.mark.parametrize("write", [openai, anthropic])


@FORMS
@pytest.mark.parametrize(
    ("what", "tokens", "room"),
    [
        ("requests", 500, RoomLeft(40, 1)),  # 60 of 100 come back in 60 s
        ("tokens", 5, RoomLeft(8, 0.2)),  # five tokens a call
        ("input-tokens", 5, RoomLeft(8, 0.2)),
    ],
)
def test_what_is_left_is_counted_in_calls(
    write: Write, what: str, tokens: int, room: RoomLeft
) -> None:
    assert room_left(write(what, 100, 40, 60), tokens) == pytest.approx(room)


def test_the_narrowest_of_several_limits_counts() -> None:
    headers = {**openai("requests", 100, 40, 60), **openai("tokens", 1000, 30, 97)}
    assert room_left(headers, 10) == pytest.approx(RoomLeft(3, 1))  # 970 / 97 s / 10


def test_a_limit_of_a_day_holds_no_call_for_more_than_a_minute() -> None:
    assert room_left(openai("requests", 200, 0, 86_400), 1) == RoomLeft(0, 1 / 60)


GOOD = openai("requests", 100, 40, 60)


@pytest.mark.parametrize(
    "change",
    [
        {"x-ratelimit-limit-requests": None},
        {"x-ratelimit-remaining-requests": None},
        {"x-ratelimit-reset-requests": None},
        {"x-ratelimit-limit-requests": "many"},
        {"x-ratelimit-limit-requests": "inf"},
        {"x-ratelimit-remaining-requests": "nan"},
        {"x-ratelimit-remaining-requests": "-1"},
        {"x-ratelimit-remaining-requests": "101"},
        {"x-ratelimit-reset-requests": "soon"},
        {"x-ratelimit-reset-requests": "1s ago"},
        {"x-ratelimit-reset-requests": ""},
        {"x-ratelimit-reset-requests": "0s"},
        {"x-ratelimit-reset-requests": "2026-13-45T99:00:00Z"},
        {"x-ratelimit-reset-requests": "1999-01-01T00:00:00Z"},
    ],
)
def test_headers_that_make_no_sense_say_nothing(change: Mapping[str, str | None]) -> None:
    headers = {name: value for name, value in {**GOOD, **change}.items() if value is not None}
    assert room_left(headers, 1) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after-ms": "1500", "retry-after": "2"}, 1.5),
        ({"retry-after": "20"}, 20),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "2, 3"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after-ms": "soon"}, None),
        ({}, None),
    ],
)
def test_forms_in_which_a_wait_is_asked_for(
    headers: Mapping[str, str], seconds: float | None
) -> None:
    assert retry_after(headers) == seconds


class Bucket:
    """A server that takes ``most`` calls at once and ``rate`` a second; it refuses others."""

    def __init__(self, write: Write, most: int, rate: float, tokens: int = 0) -> None:
        self.write, self.most, self.rate = write, most, rate
        self.tokens = tokens  # of each call, or 0 if calls are counted
        self.level, self.at, self.n_refused = float(most), 0.0, 0

    async def ask(self) -> None:
        """Be asked once; takes a second."""
        self.level = min(self.most, self.level + self.rate * (now() - self.at))
        self.at = now()
        taken = self.level >= 1 - 1e-6
        self.level -= taken
        scale = self.tokens or 1
        wait = (self.most - self.level) / self.rate
        what = "tokens" if self.tokens else "requests"
        headers = self.write(what, scale * self.most, int(scale * max(self.level, 0)), wait)
        await asyncio.sleep(1)
        answered.set(headers)
        self.n_refused += not taken
        if not taken:
            raise CallFailed("HTTP 429", strain=True)


@FORMS
@pytest.mark.parametrize("tokens", [0, 700])
def test_a_run_slows_down_to_what_the_server_takes(write: Write, tokens: int) -> None:
    async def go() -> tuple[int, float]:
        caller, server = Caller(Limits(concurrency=32), "test"), Bucket(write, 20, 0.5, tokens)
        await asyncio.gather(*(caller.call(server.ask, tokens) for _ in range(80)))
        return server.n_refused, now()

    n_refused, seconds = run_in_fake_time(go())
    # Of 80 calls 20 find the bucket full and 60 wait for two seconds each.
    assert n_refused == 0
    assert 118 <= seconds <= 130


def test_without_such_headers_nothing_is_held() -> None:
    async def go() -> float:
        caller, server = Caller(Limits(concurrency=8), "test"), Bucket(openai, 10**6, 1.0)
        server.write = lambda *_: {}
        await asyncio.gather(*(caller.call(server.ask) for _ in range(80)))
        return now()

    assert run_in_fake_time(go()) == pytest.approx(10)


@pytest.mark.parametrize(
    ("kind", "write"), [("openai", openai), ("anthropic", anthropic)], ids=["openai", "anthropic"]
)
def test_the_headers_of_a_real_answer_are_read(kind: str, write: Write) -> None:
    """One call is left of two, and one comes back every 30 seconds."""

    class Telling(FaultServer):
        async def _answer(self, raw: bytes, scope: Any, receive: Any, send: Any) -> None:
            async def told(event: dict[str, Any]) -> None:
                if event["type"] == "http.response.start":
                    more = write("requests", 2, 0, 60).items()
                    event["headers"] = [
                        *event["headers"],
                        *((name.encode(), value.encode()) for name, value in more),
                    ]
                await send(event)

            await super()._answer(raw, scope, receive, told)

    async def go() -> list[float]:
        address = server.url if kind == "openai" else server.url.removesuffix("/v1")
        one = backend(kind, "m", base_url=address)
        await one.capabilities()
        times = []
        for i in range(2):
            await one.chat(Request((Message("user", (str(i),)),)))
            times.append(now())
        return times

    def reply(body: dict[str, Any]) -> dict[str, Any]:
        return completion("yes")

    with serving(Telling(reply if kind == "openai" else spoken(kind, reply))) as server:
        first, second = run_beside(server, go())
    assert second - first == pytest.approx(30)
    assert first >= 30  # the questions about what the server can do were answered before
