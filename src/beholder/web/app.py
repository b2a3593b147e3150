"""One guarded application of routes, and the server that listens for it."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence

from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, StatelessLifespan

from beholder.errors import ConfigError
from beholder.web.guard import Guard
from beholder.web.pages import ERRORS, static_routes
from beholder.web.settings import Settings


def make_app(
    routes: Sequence[BaseRoute],
    settings: Settings,
    lifespan: StatelessLifespan[Starlette] | None = None,
) -> ASGIApp:
    """The application that serves routes.

    Args:
        routes: Of the pages; style sheets and scripts are added.
        settings: Who may come, how fast, with how much.
        lifespan: What runs beside it while it serves.
    """
    app = Starlette(
        routes=[*routes, *static_routes()], exception_handlers=ERRORS, lifespan=lifespan
    )
    return Guard(app, settings)


def address(settings: Settings, port: int) -> str:
    """What a person opens, with the token where one is asked for."""
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    asked = f"?token={settings.token}" if settings.token else ""
    return f"http://{host}:{port}/{asked}"


def serve(app: ASGIApp, settings: Settings, listening: Callable[[str], None]) -> None:
    """Serve until interrupted.

    Args:
        app: Of ``make_app``.
        settings: Those that it was made with.
        listening: Is told the address once, when browsers can come.

    Raises:
        ConfigError: The address or port cannot be listened at.
    """
    import uvicorn

    from beholder.web.connections import server_config

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
        listener.listen()  # who comes before uvicorn does waits instead of being turned away
        listening(address(settings, listener.getsockname()[1]))
        uvicorn.Server(server_config(app, settings)).run(sockets=[listener])
