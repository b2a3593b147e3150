"""What every request must pass before a page sees it, and what every answer carries.

In this order: the host is ours, the browser is not too fast, the request is small enough, somebody
is known to us, and a request that changes something comes from a page of ours.
"""

from __future__ import annotations

import hashlib
import hmac
import html
import re
import secrets
import time
from collections.abc import Callable
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qsl, quote, urlencode

from cachetools import LRUCache
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beholder.web.settings import OWNER, Settings

ACCESS = "beholder_access"
SESSION = "beholder_session"
FIELD = "csrf"
HEADER = "x-csrf-token"
"""The mark against forged posts is a field of a form or a header of a request."""

_SAFE = frozenset({"GET", "HEAD"})
_ALLOWED = _SAFE | {"POST"}
_LONGEST_PATH = 2000
_SESSION_FORM = re.compile(r"[\w-]{20,64}\Z")
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; img-src 'self' data:; style-src 'self'; script-src 'self';"
        " connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # `no-referrer` would also blank the Origin of our own posts.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}
_KEPT_BUCKETS = 10_000
_TRIES, _TRIES_PER_SECOND = 20, 0.5
"""Of an address that brings wrong tokens."""


class Buckets:
    """How much each browser may still ask for: a bucket of tokens that fills up with time."""

    def __init__(self, rate: float, burst: int, clock: Callable[[], float]) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._left: LRUCache[str, tuple[float, float]] = LRUCache(_KEPT_BUCKETS)

    def may(self, name: str) -> bool:
        """Whether one more is allowed."""
        return self._now(name)[0] >= 1

    def take(self, name: str) -> bool:
        """Whether one more is allowed; if so it is taken."""
        left, now = self._now(name)
        self._left[name] = (left - 1 if left >= 1 else left, now)
        return left >= 1

    def _now(self, name: str) -> tuple[float, float]:
        now = self._clock()
        left, since = self._left.get(name, (float(self._burst), now))
        return min(self._burst, left + (now - since) * self._rate), now


def csrf(secret: bytes, session: str) -> str:
    """The mark that pages of a session put into their posts."""
    return hmac.new(secret, session.encode(), hashlib.sha256).hexdigest()


class Guard:
    """The application behind all checks. Pages find ``who`` and ``csrf`` in ``request.state``."""

    def __init__(
        self, app: ASGIApp, settings: Settings, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._app = app
        self._settings = settings
        self._pace = Buckets(settings.rate, settings.burst, clock)
        self._tries = Buckets(_TRIES_PER_SECOND, _TRIES, clock)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or say why not."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no page of ours speaks over web sockets
            return
        cookies = _cookies(Headers(scope=scope))
        known = cookies.get(SESSION, "")
        session = known if _SESSION_FORM.match(known) else secrets.token_urlsafe(24)
        answer = self._refusal(scope, cookies)
        app: ASGIApp
        if answer is not None:
            app = answer
        else:
            scope.setdefault("state", {})["csrf"] = csrf(self._settings.secret, session)
            try:
                receive = await self._checked(scope, receive, session)
                app = self._app
            except HTTPException as error:
                app = _text(error.status_code, error.detail)
        await app(scope, receive, _Finish(send, session if session != known else None))

    def _refusal(self, scope: Scope, cookies: dict[str, str]) -> Response | None:
        """What is answered instead of a page, or None."""
        headers = Headers(scope=scope)
        if not self._settings.may_be_called(headers.get("host", "")):
            return _text(421, "this server is not called so; use its address")
        if len(scope["path"]) > _LONGEST_PATH:
            return _text(414, f"an address has at most {_LONGEST_PATH:,} characters")
        address = scope["client"][0] if scope.get("client") else ""
        # Somebody's browsers share an address; who has a token has a pace of his own.
        token = cookies.get(ACCESS, "")
        who = self._settings.who(token) if token else None
        if not self._pace.take(token if who else address):
            return _text(429, "too many requests at once; wait a moment", {"retry-after": "1"})
        if scope["method"] not in _ALLOWED:
            return _text(405, f"expected GET or POST, got {scope['method']}")
        offered = dict(parse_qsl(scope["query_string"].decode("latin-1"))).get("token")
        if offered is not None and scope["method"] in _SAFE:
            return self._let_in(scope, address, offered)
        if who is None and self._settings.open_to_all:
            who = OWNER
        if who is None:
            return _text(
                401, "open the address with ?token=... that was printed when the server started"
            )
        scope.setdefault("state", {})["who"] = who
        return None

    def _let_in(self, scope: Scope, address: str, token: str) -> Response:
        """Keep a token from the address line in a cookie, and go on without it in the address."""
        # Wrong tokens alone count: a whole class may open its links from one address at once.
        if not self._tries.may(address):
            return _text(429, "too many tries; wait a minute", {"retry-after": "60"})
        if self._settings.who(token) is None:
            self._tries.take(address)
            return _text(403, "nobody has this token; see what the server printed at its start")
        query = parse_qsl(scope["query_string"].decode("latin-1"))
        rest = urlencode([(name, value) for name, value in query if name != "token"])
        path = "/" + quote(scope["path"].lstrip("/\\"))  # never the start of another host
        target = html.escape(path + (f"?{rest}" if rest else ""), quote=True)
        # No redirect: a cookie that is SameSite=Strict would not come along on one that a link in
        # a letter began.
        page = HTMLResponse(
            '<!doctype html><html lang="en"><title>beholder</title><link rel="icon" href="data:,">'
            f'<meta http-equiv="refresh" content="0;url={target}"><a href="{target}">Go on</a>'
        )
        page.set_cookie(ACCESS, token, httponly=True, samesite="strict", max_age=90 * 86400)
        return page

    async def _checked(self, scope: Scope, receive: Receive, session: str) -> Receive:
        """The body, read within the limit; a post must carry the mark of its session.

        Raises:
            HTTPException: It is too large, or was not sent by a page of ours.
        """
        if scope["method"] in _SAFE:
            return receive
        headers = Headers(scope=scope)
        origin = headers.get("origin")
        if origin is not None and origin.split("://", 1)[-1] != headers.get("host"):
            raise HTTPException(403, "this was sent by a page of another site")
        body = await _read(headers, receive, self._settings.max_body)
        mark = headers.get(HEADER)
        if mark is None:
            mark = await _field(scope, body)
        if not hmac.compare_digest(mark.encode(), csrf(self._settings.secret, session).encode()):
            raise HTTPException(
                403, "this page is too old, or was made elsewhere; reload it and send again"
            )
        return _replay(body)


def _cookies(headers: Headers) -> dict[str, str]:
    try:
        return {name: one.value for name, one in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}


def _text(status: int, words: str, headers: dict[str, str] | None = None) -> Response:
    return PlainTextResponse(f"{words}\n", status, headers)


async def _read(headers: Headers, receive: Receive, limit: int) -> bytes:
    too_large = HTTPException(413, f"more than the {limit:,} bytes that are taken at once")
    told = headers.get("content-length", "0")
    if not told.isdigit() or int(told) > limit:
        raise too_large
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise HTTPException(400, "the request broke off")
        body += message.get("body", b"")
        if len(body) > limit:
            raise too_large
        if not message.get("more_body", False):
            return bytes(body)


async def _field(scope: Scope, body: bytes) -> str:
    """The mark in a form; empty where there is none."""
    try:
        async with Request(scope, _replay(body)).form() as form:
            found = form.get(FIELD)
    except MultiPartException as error:
        raise HTTPException(400, f"the form cannot be read ({error.message})") from error
    return found if isinstance(found, str) else ""


def _replay(body: bytes) -> Receive:
    """A body that was read, to be read again."""
    parts: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        return parts.pop() if parts else {"type": "http.disconnect"}

    return receive


class _Finish:
    """Puts what every answer carries upon it."""

    def __init__(self, send: Send, session: str | None) -> None:
        self._send, self._session = send, session

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _HEADERS.items():
                headers[name] = value
            headers.setdefault("cache-control", "no-store")
            if self._session is not None:
                headers.append(
                    "set-cookie", f"{SESSION}={self._session}; HttpOnly; Path=/; SameSite=Strict"
                )
        await self._send(message)
