"""Checks of every request before a page sees it, and headers of every response.

In this order: the host is ours, the browser is not too fast, the request is small enough, someone
is known to us, and a request that changes something comes from a page of ours.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import re
import secrets
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl, quote, unquote, urlencode

from cachetools import LRUCache
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from beholder.errors import ConfigError
from beholder.web.pages import TEMPLATE
from beholder.web.settings import JOIN, OWNER, Settings

SESSION = "beholder_session"
FIELD = "csrf"
HEADER = "x-csrf-token"
"""The CSRF token is a field of a form (``FIELD``) or a header of a request (``HEADER``)."""

SIGN_IN = "/sign-in"
"""Address to which the page posts that asks whether to continue as someone else."""

_OPENED = "opened"
"""Parameter that our own page adds to a link that everybody may open."""

_SAFE = frozenset({"GET", "HEAD"})
_ALLOWED = _SAFE | {"POST"}
_LONGEST_PATH = 2000
_SESSION_FORM = re.compile(r"[\w-]{20,64}\Z")
_HEADERS = {
    "content-security-policy": (
        "default-src 'none'; img-src 'self' data:{0}; media-src 'self'; style-src 'self';"
        " script-src 'self'; connect-src 'self'{0}; form-action 'self'; base-uri 'none';"
        " frame-ancestors 'none'"
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
"""Attempts of an address that sends wrong tokens: at once, and per second in the long run."""


class Buckets:
    """Token buckets, one per name: they limit how many requests each browser may send.

    Args:
        rate: Tokens that are added per second.
        burst: Tokens of a full bucket.
        clock: Returns the time in seconds.
    """

    def __init__(
        self,
        rate: float,
        burst: int,
        clock: Callable[[], float],
    ) -> None:
        self._rate, self._burst, self._clock = rate, burst, clock
        self._left: LRUCache[str, tuple[float, float]] = LRUCache(
            _KEPT_BUCKETS
        )

    def take(self, name: str) -> bool:
        """Take a token from the bucket of a name; return False if it is empty."""
        n_tokens, now = self._now(name)
        self._left[name] = (n_tokens - 1 if n_tokens >= 1 else n_tokens, now)
        return n_tokens >= 1

    def _now(self, name: str) -> tuple[float, float]:
        now = self._clock()
        n_tokens, since = self._left.get(name, (float(self._burst), now))
        return min(self._burst, n_tokens + (now - since) * self._rate), now


def csrf(secret: bytes, session: str) -> str:
    """Return the CSRF token of a session: HMAC-SHA256 of its id, in hexadecimal digits."""
    return hmac.new(secret, session.encode(), hashlib.sha256).hexdigest()


class Guard:
    """ASGI middleware with all checks of a request before an application sees it.

    Pages find ``who`` and ``csrf`` in ``request.state``.

    Args:
        app: The application.
        settings: Permitted users, and limits.
        clock: Returns the time in seconds.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._settings = settings
        self._pace = Buckets(settings.rate, settings.burst, clock)
        self._tries = Buckets(_TRIES_PER_SECOND, _TRIES, clock)
        self._bodies = Bodies(settings.max_body, settings.body_seconds)
        elsewhere = settings.pictures_from and f" {settings.pictures_from}"
        self._headers = {
            name: value.format(elsewhere) for name, value in _HEADERS.items()
        }

    async def __call__(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer a request by the application, or refuse it."""
        # Plan: give the browser a session; refuse or sign in (`_refusal`); pass safe requests on;
        # of a POST read the whole body, check its origin and CSRF token, and replay the body.
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # no page of ours uses web sockets
            return
        headers, cookies = Headers(scope=scope), Request(scope).cookies
        cookie = cookies.get(SESSION, "")
        session = (
            cookie
            if _SESSION_FORM.match(cookie)
            else secrets.token_urlsafe(24)
        )
        scope.setdefault("state", {})["csrf"] = csrf(
            self._settings.secret, session
        )
        answer = self._refusal(scope, cookies)
        # A link on another site brings no cookies (SameSite=Strict). The browser may have a
        # session nonetheless, so the answer must not replace it by a new one.
        lost = (
            answer is not None
            and headers.get("sec-fetch-site") == "cross-site"
        )
        new_session = None if lost or session == cookie else session
        finish = _WithHeaders(send, new_session, self._headers)
        if answer is not None:
            await answer(scope, receive, finish)
            return
        if scope["method"] in _SAFE:
            await self._app(scope, receive, finish)
            return
        try:
            _check_origin(headers)
            async with self._bodies.collect(scope, receive) as body:
                await _check_mark(scope, body)
                app = (
                    await self._sign_in(scope, body)
                    if scope["path"] == SIGN_IN
                    else self._app
                )
                await app(scope, _replay(body, receive), finish)
        except HTTPException as error:
            refusal = _text(error.status_code, error.detail, error.headers)
            await refusal(scope, receive, finish)

    def _refusal(
        self,
        scope: Scope,
        cookies: dict[str, str],
    ) -> Response | None:
        """Return the answer if the request must not reach a page; None if it may.

        A request that may pass has ``who`` in its state.
        """
        # Cheap checks come first: no token is looked up for a wrong host or a long address.
        headers = Headers(scope=scope)
        if not self._settings.may_be_called(headers.get("host", "")):
            return _text(
                421,
                "the host name of this address is not known here; use the address that was"
                " printed, or allow the name with --name",
            )
        if len(scope["path"]) > _LONGEST_PATH:
            return _text(
                414, f"an address has at most {_LONGEST_PATH:,} characters"
            )
        address = scope["client"][0] if scope.get("client") else ""
        # Someone's browsers share an address; each token has its own rate.
        token = cookies.get(self._settings.access_cookie, "")
        who = self._settings.who(token) if token else None
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        offered = query.get("token")
        offered_name = None if offered is None else self._settings.who(offered)
        valid_token = _first_valid([(token, who), (offered, offered_name)])
        if not self._pace.take(valid_token or address):
            return _text(
                429,
                "too many requests at once; wait a moment",
                {"retry-after": "1"},
            )
        if scope["method"] not in _ALLOWED:
            return _text(405, f"expected GET or POST, got {scope['method']}")
        if offered is None and scope["method"] in _SAFE and JOIN in query:
            invited = self._invited(scope, query, address, token)
            if isinstance(invited, Response):
                return invited
            if invited is not None:
                offered, offered_name = invited, self._settings.who(invited)
        if offered is not None and scope["method"] in _SAFE:
            if offered_name is None:
                return self._refuse_token(address)
            return self._let_in(scope, offered, offered_name, who)
        if who is None and self._settings.open_to_all:
            who = OWNER
        if who is None:
            return _text(
                401,
                "open the address with ?token=... that was printed when the server started",
            )
        scope["state"]["who"] = who
        return None

    def _invited(
        self,
        scope: Scope,
        query: Mapping[str, str],
        address: str,
        token: str,
    ) -> Response | str | None:
        """Return the personal token for a join link, or the answer; None for other links."""
        if _OPENED not in query:
            # Asked again by a page of ours, the browser brings the cookie of its place also after
            # a link on another site; and a preview of the link takes no place.
            query_string = scope["query_string"].decode("latin-1")
            return _go_on(
                _target(scope["path"], f"{query_string}&{_OPENED}=1")
            )
        try:
            offered = self._settings.invited(query, address, token)
        except ConfigError as error:
            return _text(403, str(error))
        if offered is not None:
            scope["query_string"] = urlencode({"token": offered}).encode()
        return offered

    def _refuse_token(self, address: str) -> Response:
        """Return the answer to an invalid token, rate-limited per address.

        Valid tokens are never limited here: many annotators may share one address.
        """
        if not self._tries.take(address):
            return _text(
                429, "too many tries; wait a minute", {"retry-after": "60"}
            )
        return _text(
            403,
            "this address is not valid (any more); open the one that the command printed",
        )

    def _let_in(
        self,
        scope: Scope,
        token: str,
        name: str,
        who: str | None,
    ) -> Response:
        """Move a token from the address into a cookie.

        A browser that is signed in under another name is asked first: anybody may have sent the
        link, to have someone work under another name without noticing.
        """
        if Headers(scope=scope).get("sec-fetch-site") == "cross-site":
            # A link on another site brings no cookies: asked again by this page, they come along.
            target_parts = (
                scope["path"],
                scope["query_string"].decode("latin-1"),
            )
            return _go_on(_target(*target_parts))
        query = parse_qsl(scope["query_string"].decode("latin-1"))
        query_without_token = urlencode(
            [(name, value) for name, value in query if name != "token"]
        )
        target = _target(scope["path"], query_without_token)
        if who is not None and who != name:
            fields = {
                FIELD: scope["state"]["csrf"],
                "token": token,
                "to": target,
            }
            return _page(
                "sign_in.html.j2",
                fields=fields,
                address=SIGN_IN,
                who=who,
                named=name,
                owner=OWNER,
            )
        return self._keep(token, target)

    async def _sign_in(self, scope: Scope, body: bytes) -> Response:
        """Sign in as someone else, once the page that asks has been confirmed.

        Raises:
            HTTPException: The token is not valid any more (403).
        """
        form = await _form(scope, body)
        token = form.get("token", "")
        if self._settings.who(token) is None:
            raise HTTPException(
                403,
                "this link is not valid any more; open the one that the command printed",
            )
        path, _, query = form.get("to", "/").partition("?")
        return self._keep(token, _target(unquote(path), query))

    def _keep(self, token: str, target: str) -> Response:
        # A page that leads on instead of a redirect: a redirect belongs to the navigation that a
        # link in a mail began, and a SameSite=Strict cookie is not sent in that.
        page = _go_on(target)
        name = self._settings.access_cookie
        page.set_cookie(
            name, token, httponly=True, samesite="strict", max_age=90 * 86400
        )
        return page


def _first_valid(
    tokens: Sequence[tuple[str | None, str | None]],
) -> str | None:
    """Return the first of (token, name) that belongs to a name; None if none does."""
    for token, name in tokens:
        if token and name:
            return token
    return None


async def _check_mark(scope: Scope, body: bytes) -> None:
    """Check that a post carries the CSRF token of its session.

    Raises:
        HTTPException: It does not, so it was not sent by a page of ours (403).
    """
    mark = Headers(scope=scope).get(HEADER)
    if mark is None:
        mark = (await _form(scope, body)).get(FIELD, "")
    expected = scope["state"]["csrf"]
    if not hmac.compare_digest(mark.encode(), expected.encode()):
        raise HTTPException(
            403,
            "this page is too old, or was made elsewhere; reload it and send again",
        )


def _check_origin(headers: Headers) -> None:
    """Check that a post comes from a page of this server; browsers name it in ``Origin``.

    Raises:
        HTTPException: It comes from another site (403).
    """
    # Clients that are no browsers send no Origin; the CSRF token is still required of them.
    origin = headers.get("origin")
    if origin is not None and origin.split("://", 1)[-1] != headers.get(
        "host"
    ):
        raise HTTPException(403, "this was sent by a page of another site")


def _target(path: str, query: str) -> str:
    """Return an address on this server from a decoded path and an encoded query."""
    # `//host` and `/\host` would lead to another host.
    path = "/" + quote(path.lstrip("/\\"))
    return path + (f"?{query}" if query else "")


def _go_on(target: str) -> HTMLResponse:
    """Return a page that leads to another at once."""
    return _page("go_on.html.j2", target=target)


def _page(template: str, **context: object) -> HTMLResponse:
    return HTMLResponse(TEMPLATE.get_template(template).render(context))


def _text(
    status: int,
    words: str,
    headers: Mapping[str, str] | None = None,
) -> Response:
    return PlainTextResponse(f"{words}\n", status, headers)


async def _form(scope: Scope, body: bytes) -> dict[str, str]:
    """Parse a form; return its text fields, without files.

    Raises:
        HTTPException: The form cannot be parsed (400).
    """
    try:
        async with Request(scope, _replay(body)).form() as form:
            return {
                name: value
                for name, value in form.items()
                if isinstance(value, str)
            }
    except MultiPartException as error:
        raise HTTPException(
            400, f"the form cannot be read ({error.message})"
        ) from error


def _replay(body: bytes, later: Receive | None = None) -> Receive:
    """Return a ``receive`` that yields a body once more.

    Args:
        body: The body.
        later: Receives later messages, such as the browser's disconnection.
    """
    parts: list[Message] = [
        {"type": "http.request", "body": body, "more_body": False}
    ]

    async def receive() -> Message:
        if parts:
            return parts.pop()
        return {"type": "http.disconnect"} if later is None else await later()

    return receive


class _WithHeaders:
    """A ``send`` that adds the security headers and the session cookie to every response."""

    def __init__(
        self,
        send: Send,
        session: str | None,
        headers: Mapping[str, str],
    ) -> None:
        self._send, self._session, self._headers = send, session, headers

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in self._headers.items():
                headers[name] = value
            # Pages are private; style sheets and pictures set their own header.
            headers.setdefault("cache-control", "no-store")
            if self._session is not None:
                headers.append(
                    "set-cookie",
                    f"{SESSION}={self._session}; HttpOnly; Path=/; SameSite=Strict",
                )
        await self._send(message)


SMALL = 65_536
"""Bytes up to which a body is always accepted; all that our own pages send is smaller."""

MOST_HELD = 32_000_000
"""Bytes of all larger bodies together."""


class Bodies:
    """Limits on the bodies that are in memory at the same time.

    Args:
        max_bytes: Bytes of one.
        seconds: Within which one must arrive.
    """

    def __init__(self, max_bytes: int, seconds: float) -> None:
        self.max_bytes = max_bytes
        self.seconds = seconds
        self.n_held_bytes = 0

    @asynccontextmanager
    async def collect(
        self,
        scope: Scope,
        receive: Receive,
    ) -> AsyncIterator[bytes]:
        """Receive the body of a request and reserve its bytes until the request is answered.

        Raises:
            HTTPException: It is too large (413), too slow (408), not complete (400), or there are
                too many large bodies (503).
        """
        # The announced length is checked first, so that a body that is too large is not read at
        # all; bytes are counted as they arrive, because the announcement may be wrong.
        length = Headers(scope=scope).get("content-length", "0")
        if not length.isdigit() or int(length) > self.max_bytes:
            raise self._too_large()
        body = bytearray()
        n_held = 0
        try:
            try:
                async with asyncio.timeout(self.seconds):
                    has_more = True
                    while has_more:
                        message = await receive()
                        if message["type"] == "http.disconnect":
                            raise HTTPException(400, "the request broke off")
                        body += message.get("body", b"")
                        n_held += self._hold(len(body), n_held)
                        has_more = message.get("more_body", False)
            except TimeoutError:
                closing = {"connection": "close"}
                raise HTTPException(
                    408, "the request took too long to arrive", closing
                ) from None
            yield bytes(body)
        finally:
            self.n_held_bytes -= n_held

    def _hold(self, n: int, n_held: int) -> int:
        """Reserve bytes for a body of which ``n`` have arrived; return how many were added.

        Raises:
            HTTPException: The body is too large (413), or there are too many large ones (503).
        """
        if n > self.max_bytes:
            raise self._too_large()
        n_new = n - n_held if n > SMALL else 0
        if self.n_held_bytes + n_new > MOST_HELD:
            retry_headers = {"retry-after": "5", "connection": "close"}
            raise HTTPException(
                503,
                "too many large requests at once; send it again",
                retry_headers,
            )
        self.n_held_bytes += n_new
        return n_new

    def _too_large(self) -> HTTPException:
        closing = {"connection": "close"}
        words = f"a request has at most {self.max_bytes:,} bytes; send less at once"
        return HTTPException(413, words, closing)
