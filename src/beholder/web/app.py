"""One guarded application of routes, and the server that listens for it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Sequence
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, StatelessLifespan
from uvicorn.protocols.http.h11_impl import H11Protocol

from beholder.errors import ConfigError
from beholder.web.guard import Guard
from beholder.web.pages import ERRORS, static_routes
from beholder.web.settings import Settings


def make_app(
    routes: Sequence[BaseRoute],
    settings: Settings,
    lifespan: StatelessLifespan[Starlette] | None = None,
) -> ASGIApp:
    """Return the guarded application of routes.

    Args:
        routes: Of the pages; style sheets and scripts are added.
        settings: Permitted users of the pages, and limits of requests.
        lifespan: Context manager that is open while the server runs.
    """
    app = Starlette(
        routes=[*routes, *static_routes()],
        exception_handlers=ERRORS,
        lifespan=lifespan,
    )
    return Guard(app, settings)


def address(settings: Settings, port: int) -> str:
    """Return the address that a person opens, with the token if one is required."""
    # IPv6 addresses are in brackets, so that their colons are not taken for that of the port.
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    query = f"?token={settings.token}" if settings.token else ""
    return f"http://{host}:{port}/{query}"


def serve(
    app: ASGIApp,
    settings: Settings,
    listening: Callable[[str], None],
) -> None:
    """Serve until interrupted.

    Args:
        app: The application from ``make_app``.
        settings: The settings that it was made with.
        listening: Called with the address once the server accepts connections.

    Raises:
        ConfigError: The address or the port is not available.
    """
    # The socket is opened here and not by uvicorn: a port that is taken is then an error of the
    # command, and the port that the system chose (port 0) is known for the printed address.
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((settings.host, settings.port))
        except OSError as error:
            raise ConfigError(
                f"cannot listen at {settings.host}:{settings.port} ({error.strerror or error});"
                " choose another with --host and --port"
            ) from error
        # A browser that connects before uvicorn accepts waits instead of being refused.
        listener.listen()
        listening(address(settings, listener.getsockname()[1]))
        uvicorn.Server(server_config(app, settings)).run(sockets=[listener])


def server_config(
    app: ASGIApp,
    settings: Settings,
    **options: Any,
) -> uvicorn.Config:
    """Return the configuration of uvicorn, with a limit on connections without a whole header.

    Without the limit, connections that send half a request could use up all sockets.

    Args:
        app: The application.
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
        """Start the timer; close the connection that waits longest if there are too many."""
        super().connection_made(transport)
        self._wait()
        if len(self.all_waiting) > self.limits.most_waiting:
            # A dict keeps the order of insertion: its first key waits longest.
            next(iter(self.all_waiting))._give_up()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop the timer of a connection that is gone."""
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Stop the timer when the header is complete; start it again between two requests."""
        super().data_received(data)
        # uvicorn makes a cycle once it has parsed a header.
        if self.cycle is None or self.cycle.response_complete:
            self._wait()
        else:
            self._wait_no_more()

    def _wait(self) -> None:
        if self not in self.all_waiting and not self.transport.is_closing():
            timer = self.loop.call_later(
                self.limits.header_seconds, self._give_up
            )
            self.all_waiting[self] = timer

    def _wait_no_more(self) -> None:
        timer = self.all_waiting.pop(self, None)
        if timer is not None:
            timer.cancel()

    def _give_up(self) -> None:
        self._wait_no_more()
        self.transport.abort()
