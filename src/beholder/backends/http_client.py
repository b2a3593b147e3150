"""The HTTP client of all served models: httpx2, bounded answers, the environment's proxy."""

from __future__ import annotations

import ipaddress
import logging
import ssl
import zlib
from collections.abc import Mapping
from functools import cache
from importlib.util import find_spec
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import httpx2

from beholder._version import __version__
from beholder.errors import ConfigError

_LOGGER = logging.getLogger("beholder.requests")
AGENT = f"beholder/{__version__}"

MAX_ERROR_BYTES = 64_000
"""Bytes of an error's body that are read."""

KEEPALIVE = 5.0
"""Seconds for which an idle connection is kept."""

_GZIP = zlib.MAX_WBITS + 16
"""Mark of a stream of gzip, for zlib."""

_ENCODINGS = ("gzip", "deflate", "identity", "")
_PROXY_SCHEMES = ("http", "https", "socks5", "socks5h")


class HttpResponse(NamedTuple):
    """The response to a request.

    Attributes:
        status: The HTTP status.
        headers: Values by name in lower case.
        body: The whole body, or its beginning if it is longer than was allowed.
        is_redirect: Whether it names another address.
    """

    status: int
    headers: Mapping[str, str]
    body: bytes
    is_redirect: bool = False

    @property
    def is_success(self) -> bool:
        """Return whether the status is 2xx."""
        return 200 <= self.status <= 299


class HttpClient:
    """Keep-alive connections to one server.

    Args:
        base_url: Address of the server; decides whether the environment's proxy is used.
        headers: Headers of every request.
        timeout: Seconds to connect, to read and to write.

    Attributes:
        proxy: Address of the proxy without its password, or None.

    Raises:
        ConfigError: The environment names a proxy that cannot be used.
    """

    def __init__(
        self, base_url: str, headers: Mapping[str, str], timeout: float
    ) -> None:
        proxy = _environment_proxy(base_url)
        self.proxy = None if proxy is None else _without_user(proxy)
        self._client = httpx2.AsyncClient(
            # Other encodings unpack to sizes that no reader bounds.
            headers={
                "accept-encoding": "gzip, deflate",
                "user-agent": AGENT,
                **headers,
            },
            timeout=timeout,
            # `AdaptiveLimit` bounds the number of calls, and so that of connections.
            limits=httpx2.Limits(
                max_connections=None,
                max_keepalive_connections=None,
                keepalive_expiry=KEEPALIVE,
            ),
            verify=trusted_certificates(),
            proxy=proxy,
            trust_env=False,
        )

    async def send(
        self, method: str, url: str, max_bytes: int, **parts: Any
    ) -> HttpResponse:
        """Send a request once, without following redirects.

        Args:
            method: ``GET`` or ``POST``.
            url: The whole address.
            max_bytes: Bytes of a successful body after which reading stops.
            parts: Keyword arguments of httpx2: ``content``, ``headers``, ``files``, ``data``.

        Raises:
            httpx2.TransportError: No response, or not all of it; a packed body must have its end.
            httpx2.InvalidURL: The address is not valid.
            httpx2.DecodingError: The body is compressed in a way that was not offered.
        """
        async with self._client.stream(method, url, **parts) as response:
            _LOGGER.debug("%s %s: HTTP %d", method, url, response.status_code)
            headers = {
                name.lower(): value for name, value in response.headers.items()
            }
            encoding = headers.get("content-encoding", "").lower()
            if encoding not in _ENCODINGS:
                raise httpx2.DecodingError(
                    "compressed in a way that was not offered"
                )
            limit = max_bytes if response.is_success else MAX_ERROR_BYTES
            body = bytearray()
            unpacker = _Unpacker(encoding)
            # Not ``aiter_bytes``: it takes a packed body for whole that has no stated length and
            # was cut.
            async for part in response.aiter_raw():
                body += unpacker.unpack(part, limit + 1 - len(body))
                if len(body) > limit:
                    break
            else:
                unpacker.check_end()
        return HttpResponse(
            response.status_code,
            headers,
            bytes(body),
            response.has_redirect_location,
        )

    async def close(self) -> None:
        """Close all connections."""
        await self._client.aclose()


class _Unpacker:
    """Unpacks the parts of a body.

    Args:
        encoding: Value of ``content-encoding``, in lower case.
    """

    def __init__(self, encoding: str) -> None:
        self._is_deflate = encoding == "deflate"
        self._is_packed = encoding in ("gzip", "deflate")
        self._stream = zlib.decompressobj(
            zlib.MAX_WBITS if self._is_deflate else _GZIP
        )
        self._has_begun = False

    def unpack(self, part: bytes, limit: int) -> bytes:
        """Return what is in the next part, at most ``limit`` bytes.

        Raises:
            httpx2.DecodingError: It is not packed as was said.
        """
        if not self._is_packed or not part:
            return part
        try:
            unpacked = self._stream.decompress(part, limit)
        except zlib.error as error:
            # Some servers send deflate without the header that the standard asks for.
            if not self._is_deflate or self._has_begun:
                raise httpx2.DecodingError(str(error)) from error
            self._is_deflate = False
            self._stream = zlib.decompressobj(-zlib.MAX_WBITS)
            return self.unpack(part, limit)
        self._has_begun = True
        return unpacked

    def check_end(self) -> None:
        """Refuse a packed body without its end; one without a byte is empty.

        Raises:
            httpx2.RemoteProtocolError: The body was cut.
        """
        if self._is_packed and self._has_begun and not self._stream.eof:
            raise httpx2.RemoteProtocolError("the packed body was cut")


def _environment_proxy(base_url: str) -> str | None:
    """Return the proxy that the environment names for an address, or None.

    Raises:
        ConfigError: It has a scheme or port that cannot be used.
    """
    target = urlsplit(base_url)
    proxies = getproxies()
    if proxy_bypass(
        target.netloc.rpartition("@")[2]
    ) or _is_in_excluded_network(target.hostname or "", proxies.get("no", "")):
        return None
    proxy = proxies.get(target.scheme) or proxies.get("all")
    if not proxy:
        return None
    address = proxy if "://" in proxy else f"http://{proxy}"
    _check_proxy(address, target.scheme)
    return address


def _is_in_excluded_network(host: str, no_proxy: str) -> bool:
    """Return whether ``NO_PROXY`` lists a network, such as 10.0.0.0/8, that contains the host.

    Python's ``proxy_bypass`` compares names alone.
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    for entry in no_proxy.split(","):
        try:
            network = ipaddress.ip_network(entry.strip(), strict=False)
        except ValueError:
            continue
        if address in network:
            return True
    return False


def _check_proxy(proxy: str, scheme: str) -> None:
    """Raise ConfigError if httpx2 cannot use a proxy."""
    try:
        parts = urlsplit(proxy)
        has_valid_address = bool(parts.hostname) and (
            parts.port is None or parts.port > 0
        )
    except ValueError:
        has_valid_address = False
    subject = (
        f"the environment's proxy for {scheme}:// ({_without_user(proxy)})"
    )
    if not has_valid_address:
        raise ConfigError(
            f"{subject} is not an address such as http://proxy.example:3128"
        )
    if parts.scheme not in _PROXY_SCHEMES:
        raise ConfigError(
            f"{subject} has the scheme {parts.scheme!r}; expected one of"
            f" {', '.join(_PROXY_SCHEMES)}; to go without it, add the server to NO_PROXY"
        )
    if parts.scheme.startswith("socks") and find_spec("socksio") is None:
        raise ConfigError(
            f"{subject} needs the package socksio: pip install socksio; to go without it, add the"
            " server to NO_PROXY"
        )


def _without_user(address: str) -> str:
    scheme, separator, location = address.rpartition("://")
    return f"{scheme}{separator}{location.rpartition('@')[2]}"


@cache
def trusted_certificates() -> ssl.SSLContext:
    """Return the system's certificates, cached: loading them takes longer than many a request."""
    return httpx2.create_ssl_context()
