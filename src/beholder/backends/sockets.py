"""What httpcore2 reads from and writes to: sockets of asyncio.

Its own backend goes through anyio, which takes as much processor time for a request as HTTP itself.
"""

from __future__ import annotations

import asyncio
import select
import socket
import ssl
from collections.abc import Iterable
from typing import Any

import httpcore2

_AT_ONCE = 64 * 1024
"""Bytes of a request that wait for the rest of it; most are sent in one piece."""

_UNREAD = 256 * 1024
"""Bytes of an answer that may wait until they are read."""

_NEXT_ADDRESS = 0.25
"""Seconds until another address of a host is tried beside the first (RFC 8305)."""


class Sockets(httpcore2.AsyncNetworkBackend):
    """Connects by asyncio."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """A connection to a host."""
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                try:
                    _, stream = await loop.create_connection(
                        Stream, host, port, happy_eyeballs_delay=_NEXT_ADDRESS
                    )
                except socket.gaierror as error:
                    raise httpcore2.ConnectError(error) from error
                except OSError as error:
                    raise httpcore2.ConnectError("All connection attempts failed") from error
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(error) from error
        return stream


class Stream(httpcore2.AsyncNetworkStream, asyncio.Protocol):
    """A connection. What is written is sent, if it is not long, when the answer is read."""

    _transport: asyncio.Transport

    def __init__(self) -> None:
        self._unsent: list[bytes] = []
        self._n_unsent = 0
        self._unread = bytearray()
        self._held_up = False
        self._ended = False
        self._error: Exception | None = None
        self._waiter: asyncio.Future[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """See ``asyncio.Protocol``."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """See ``asyncio.Protocol``."""
        self._unread += data
        if len(self._unread) > _UNREAD:
            self._transport.pause_reading()
        self._wake()

    def eof_received(self) -> None:
        """See ``asyncio.Protocol``."""
        self._ended = True
        self._wake()

    def connection_lost(self, exc: Exception | None) -> None:
        """See ``asyncio.Protocol``."""
        self._ended = True
        self._error = exc
        self._wake()

    def pause_writing(self) -> None:
        """See ``asyncio.Protocol``."""
        self._held_up = True

    def resume_writing(self) -> None:
        """See ``asyncio.Protocol``."""
        self._held_up = False
        self._wake()

    async def read(
        self,
        max_bytes: int,
        timeout: float | None = None,
    ) -> bytes:
        """Some bytes; none at the end."""
        self._send()
        while not self._unread and not self._ended:
            await self._change(timeout, httpcore2.ReadTimeout)
        if not self._unread and self._error is not None:
            raise httpcore2.ReadError from self._error
        data = bytes(self._unread[:max_bytes])
        del self._unread[:max_bytes]
        self._transport.resume_reading()
        return data

    async def write(
        self,
        buffer: bytes,
        timeout: float | None = None,
    ) -> None:
        """Send bytes, now or when the answer is read."""
        self._unsent.append(buffer)
        self._n_unsent += len(buffer)
        if self._n_unsent > _AT_ONCE:
            self._send()
            while self._held_up and not self._ended:
                await self._change(timeout, httpcore2.WriteTimeout)

    async def aclose(self) -> None:
        """Close it, whatever is under way."""
        self._transport.abort()
        await asyncio.sleep(0)  # the socket is closed by then

    async def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """The encrypted stream inside this one."""
        inside = Stream()
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                try:
                    transport = await loop.start_tls(
                        self._transport,
                        inside,
                        ssl_context,
                        server_hostname=server_hostname,
                        ssl_handshake_timeout=timeout,
                    )
                except OSError as error:
                    raise httpcore2.ConnectError(error) from error
        except TimeoutError as error:
            raise httpcore2.ConnectTimeout(error) from error
        if transport is None:
            raise httpcore2.ConnectError
        inside.connection_made(transport)
        return inside

    def get_extra_info(self, info: str) -> Any:
        """What httpcore2 asks for."""
        if info != "is_readable":
            return self._transport.get_extra_info(info)
        return self._ended or bool(self._unread) or _has_come(self._transport)

    def _send(self) -> None:
        if self._unsent and not self._ended:
            self._transport.write(b"".join(self._unsent))
        self._unsent.clear()
        self._n_unsent = 0

    async def _change(self, timeout: float | None, late: type[Exception]) -> None:
        """Wait until something has come, was sent, or has ended."""
        self._waiter = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(timeout):
                await self._waiter
        except TimeoutError as error:
            raise late(error) from error
        finally:
            self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


def _has_come(transport: asyncio.Transport) -> bool:
    """Whether the socket has something to read, if only the end, that the loop did not see yet."""
    found = transport.get_extra_info("socket")
    if found is None or found.fileno() < 0:
        return True
    if not hasattr(select, "poll"):
        return bool(select.select([found], [], [], 0)[0])
    look = select.poll()
    look.register(found, select.POLLIN)
    return bool(look.poll(0))
