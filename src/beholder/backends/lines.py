"""Connections to one address, each with a request at a time.

httpcore2, on which httpx2 is built, speaks HTTP over them, through proxies too. Its pool and the
records of httpx2 would take as much processor time as all else we do for a call
(``benchmarks/judge_throughput.py``).
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpcore2
import httpx2
from cachetools import LRUCache

from beholder._version import __version__
from beholder.backends.rate_headers import answered
from beholder.backends.sockets import Sockets

_LOGGER = logging.getLogger("beholder.requests")
AGENT = f"beholder/{__version__}"

NO_CONNECTION = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.UnsupportedProtocol,
    httpx2.DecodingError,
    httpx2.InvalidURL,
    UnicodeError,
)
"""What ``Lines.ask`` raises beside ``httpcore2.TimeoutException``."""

_MOST_OF_ERROR = 64_000
_IDLE = 5.0
"""Seconds for which a connection is kept without a request."""

_KNOWN_URLS = 64
_PACKED = ("gzip", "deflate")
_ENCODINGS = (*_PACKED, "identity", "")
_REDIRECTS = (301, 302, 303, 307, 308)


class Received(NamedTuple):
    """What a server answered.

    Attributes:
        status: The HTTP status.
        headers: By their names in lower case.
        body: All of it, or its beginning: hardly more than was asked for.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        """Whether the server did what was asked."""
        return 200 <= self.status <= 299

    @property
    def is_redirect(self) -> bool:
        """Whether it names another address."""
        return self.status in _REDIRECTS and "location" in self.headers


class Lines:
    """Connections to one address. A request has one to itself, and leaves it to the next.

    A pool of many would look at all of them for every request. How many there are is the adaptive
    limit's business.

    Args:
        base_url: The address; a proxy of the environment is used as Python's own library does.
        headers: Of every request.
        timeout: Seconds to connect, to read and to write.
    """

    def __init__(self, base_url: str, headers: Mapping[str, str], timeout: float) -> None:
        # What other encodings unpack to has no bound that is worth the name.
        self._headers = {"accept-encoding": "gzip, deflate", "user-agent": AGENT, **headers}
        self._times = {"timeout": httpx2.Timeout(timeout).as_dict()}
        self._base_url = base_url
        self._pool: httpcore2.AsyncConnectionPool | None = None
        self._urls = LRUCache[str, tuple[httpcore2.URL, bytes]](_KNOWN_URLS)
        self._free: list[httpcore2.AsyncConnectionInterface] = []

    async def ask(
        self,
        method: str,
        url: str,
        most: int,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes = b"",
        **form: Any,
    ) -> Received:
        """The response to a request.

        Args:
            method: ``GET`` or ``POST``.
            url: The whole address.
            most: Bytes of the body that are read at most, if it is no error.
            headers: Further ones, and others than are sent with every request.
            content: The body.
            form: Another body, as keyword arguments of httpx2: ``files``, ``data``.

        Raises:
            httpcore2.TimeoutException: The server took too long.
            Exception: Any of ``NO_CONNECTION``.
        """
        known = self._urls.get(url)
        if known is None:
            known = self._urls[url] = _address(url)
        target, host = known
        own = {**self._headers, **(headers or {})}
        body: bytes | AsyncIterable[bytes] = content
        if form:
            made = httpx2.Request(method, url, headers=own, **form)
            assert isinstance(made.stream, httpx2.AsyncByteStream)
            raw, body = made.headers.raw, made.stream
        else:
            raw = [(name.encode("ascii"), said.encode("ascii")) for name, said in own.items()]
            raw.insert(0, (b"Host", host))
            if content or method == "POST":
                raw.append((b"Content-Length", b"%d" % len(content)))
        request = httpcore2.Request(
            method, target, headers=raw, content=body, extensions=self._times
        )
        line = await self._line(target.origin)
        try:
            answer = await line.handle_async_request(request)
            _LOGGER.debug("%s %s: HTTP %d", method, url, answer.status)
            try:
                told = _decoded(answer.headers)
                answered.set(told)
                success = 200 <= answer.status <= 299
                read = await _read(answer, told, most if success else _MOST_OF_ERROR)
            finally:
                await answer.aclose()
        finally:
            if line.is_available():
                self._free.append(line)
            else:
                await line.aclose()
        return Received(answer.status, told, read)

    async def _line(self, origin: httpcore2.Origin) -> httpcore2.AsyncConnectionInterface:
        """A free connection that the server did not close, or else a new one."""
        while self._free:
            line = self._free.pop()
            if not line.has_expired():
                return line
            await line.aclose()
        if self._pool is None:
            self._pool = _pool(self._base_url)
        return self._pool.create_connection(origin)

    async def close(self) -> None:
        """Close all of them."""
        while self._free:
            await self._free.pop().aclose()


def _pool(base_url: str) -> httpcore2.AsyncConnectionPool:
    """What makes connections to an address. As a pool it is not used: it keeps none of them."""
    proxy = None
    told = _proxy(base_url)
    if told is not None:
        given = httpx2.Proxy(told)
        proxy = httpcore2.Proxy(_core_url(given.url), auth=given.raw_auth)
    return httpcore2.AsyncConnectionPool(
        ssl_context=_certificates(),
        proxy=proxy,
        keepalive_expiry=_IDLE,
        network_backend=Sockets(),
    )


def _proxy(url: str) -> str | None:
    """The proxy that the environment names for an address."""
    parts = urlsplit(url)
    if proxy_bypass(parts.hostname or ""):
        return None
    known = getproxies()
    found = known.get(parts.scheme) or known.get("all")
    return f"http://{found}" if found and "://" not in found else found


@cache
def _certificates() -> ssl.SSLContext:
    """The system's certificates; reading them takes longer than many a request."""
    return httpx2.create_ssl_context()


def _address(url: str) -> tuple[httpcore2.URL, bytes]:
    """An address, and the value of its header ``Host``."""
    read = httpx2.URL(url)
    if not read.scheme:
        raise httpcore2.UnsupportedProtocol(
            "Request URL is missing an 'http://' or 'https://' protocol."
        )
    if read.scheme not in ("http", "https"):
        raise httpcore2.UnsupportedProtocol(
            f"Request URL has an unsupported protocol '{read.scheme}://'."
        )
    return _core_url(read), read.netloc


def _core_url(url: httpx2.URL) -> httpcore2.URL:
    return httpcore2.URL(
        scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path
    )


def _decoded(headers: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    """Headers by their names in lower case; those that came several times are joined."""
    told: dict[str, str] = {}
    for raw, value in headers:
        name = raw.decode("ascii").lower()
        try:
            said = value.decode("utf-8")
        except UnicodeDecodeError:
            said = value.decode("latin-1")
        told[name] = f"{told[name]}, {said}" if name in told else said
    return told


async def _read(answer: httpcore2.Response, headers: Mapping[str, str], most: int) -> bytes:
    """The body of an answer, or its beginning: hardly more than ``most`` bytes."""
    encoding = headers.get("content-encoding", "").lower()
    if encoding not in _ENCODINGS:
        raise httpx2.DecodingError("packed in a way that was not asked for")
    assert isinstance(answer.stream, AsyncIterable)
    parts = answer.stream
    if encoding in _PACKED:
        packed = httpx2.Response(200, headers=answer.headers, stream=_Packed(parts))
        parts = packed.aiter_bytes()
    body = bytearray()
    async for part in parts:
        body += part
        if len(body) > most:
            break
    return bytes(body)


class _Packed(httpx2.AsyncByteStream):
    """The body as it comes, for httpx2 to unpack."""

    def __init__(self, parts: AsyncIterable[bytes]) -> None:
        self._parts = parts

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._parts:
            yield part
