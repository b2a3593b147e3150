"""Bodies of requests, within bounds: of size, of time, and of memory for all of them together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope

SMALL = 65_536
"""Bytes up to which a body always has a place: all that a page of ours sends."""

MOST_HELD = 32_000_000
"""Bytes of all larger bodies together."""


class Bodies:
    """The bodies that are held at one moment.

    Args:
        most: Bytes of one.
        seconds: Within which one must arrive.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self.most = most
        self.seconds = seconds
        self.held = 0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[_Place]:
        """A place for a body, which is free again when the request is answered."""
        place = _Place(self)
        try:
            yield place
        finally:
            self.held -= place.n_held


class _Place:
    def __init__(self, bodies: Bodies) -> None:
        self._bodies = bodies
        self.n_held = 0

    async def read(self, scope: Scope, receive: Receive) -> bytes:
        """The body of a request.

        Raises:
            HTTPException: It is too large or too slow, broke off, or there are too many large ones.
        """
        told = Headers(scope=scope).get("content-length", "0")
        if not told.isdigit() or int(told) > self._bodies.most:
            raise self._too_large()
        try:
            async with asyncio.timeout(self._bodies.seconds):
                return await self._whole(receive)
        except TimeoutError:
            closing = {"connection": "close"}
            raise HTTPException(408, "the request took too long to arrive", closing) from None

    async def _whole(self, receive: Receive) -> bytes:
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise HTTPException(400, "the request broke off")
            body += message.get("body", b"")
            if len(body) > self._bodies.most:
                raise self._too_large()
            self._hold(len(body))
            if not message.get("more_body", False):
                return bytes(body)

    def _hold(self, n: int) -> None:
        more = n - self.n_held if n > SMALL else 0
        if self._bodies.held + more > MOST_HELD:
            later = {"retry-after": "5", "connection": "close"}
            raise HTTPException(503, "too many large requests at once; send it again", later)
        self._bodies.held += more
        self.n_held += more

    def _too_large(self) -> HTTPException:
        closing = {"connection": "close"}
        words = f"more than the {self._bodies.most:,} bytes that are taken at once"
        return HTTPException(413, words, closing)
