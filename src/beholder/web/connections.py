"""Connections that send no request are closed after a while, or when there are too many."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from beholder.web.settings import Settings


def server_config(app: ASGIApp, settings: Settings, **options: Any) -> uvicorn.Config:
    """How uvicorn serves an application: without a limit, half requests keep everybody out.

    Args:
        app: What is served.
        settings: Its limits.
        options: Further options of uvicorn.
    """
    waiting: dict[_TimedProtocol, asyncio.TimerHandle] = {}

    class ServerProtocol(_TimedProtocol):
        """A connection of this server."""

        all_waiting = waiting
        limits = settings

    return uvicorn.Config(
        app,
        http=ServerProtocol,
        ws="none",
        backlog=settings.most_waiting,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        **options,
    )


class _TimedProtocol(H11Protocol):
    """HTTP/1.1 with a limit on the time until a request's header is there.

    uvicorn itself limits the time between requests alone.
    """

    all_waiting: dict[_TimedProtocol, asyncio.TimerHandle]
    limits: Settings

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait; who has waited longest goes when too many do."""
        super().connection_made(transport)
        self._wait()
        if len(self.all_waiting) > self.limits.most_waiting:
            next(iter(self.all_waiting))._give_up()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Look whether the header is whole now."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._wait()
        else:
            self._wait_no_more()

    def _wait(self) -> None:
        if self not in self.all_waiting and not self.transport.is_closing():
            later = self.loop.call_later(self.limits.header_seconds, self._give_up)
            self.all_waiting[self] = later

    def _wait_no_more(self) -> None:
        timer = self.all_waiting.pop(self, None)
        if timer is not None:
            timer.cancel()

    def _give_up(self) -> None:
        self._wait_no_more()
        self.transport.abort()
