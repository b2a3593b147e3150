"""A PostgreSQL database by its address: one way to reach it, and no way to see its password."""

from __future__ import annotations

import os
import ssl
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from beholder.errors import ConfigError, RunError
from beholder.optional import require

if TYPE_CHECKING:
    from sqlalchemy import Connection

T = TypeVar("T")

PAUSES = (0.1, 0.5, 2.0, 5.0, 10.0)
"""Seconds before what was lost with its connection is done again, one after the other."""

_FORM = "postgresql://USER@HOST:PORT/NAME, its password in PGPASSWORD or in the address"
_SCHEMES = ("postgresql://", "postgres://")


def is_address(text: str) -> bool:
    """Whether a text names a PostgreSQL database."""
    return text.startswith(_SCHEMES)


class Database:
    """A database that any number of processes may use at once.

    Connections are made when they are needed and made again when they are lost.

    Args:
        address: ``postgresql://USER:PASSWORD@HOST:PORT/NAME``. ``PGPASSWORD`` is taken where the
            address holds no password; ``?host=FOLDER`` names the folder of a socket, and
            ``?sslmode=require`` or ``verify-full`` a connection that cannot be listened to.
        pause: Waits so many seconds.

    Attributes:
        name: The address as it may be shown, without a password.

    Raises:
        ConfigError: It is no such address; the message does not repeat it.
        MissingExtraError: The packages are not installed.
    """

    def __init__(self, address: str, *, pause: Callable[[float], None] = time.sleep) -> None:
        sa = self._sa = require("sqlalchemy", extra="postgres", purpose="a PostgreSQL database")
        require("pg8000", extra="postgres", purpose="a PostgreSQL database")
        if not is_address(address):
            raise ConfigError(f"no address of a PostgreSQL database: write {_FORM}")
        try:
            url = sa.make_url(address)
        except (sa.exc.ArgumentError, ValueError):
            raise ConfigError(f"an address that cannot be read: write {_FORM}") from None
        self._pause = pause
        query = dict(url.query)
        host, mode = query.pop("host", None), query.pop("sslmode", "disable")
        if query or not url.database:
            why = f"has {sorted(query)}, which is not known" if query else "names no database"
            raise ConfigError(f"the address of a PostgreSQL database {why}: write {_FORM}")
        plain = sa.URL.create("postgresql", url.username, None, url.host, url.port, url.database)
        self.name = str(plain if host is None else plain.set(query={"host": host}))
        connect: dict[str, Any] = {"timeout": 30, "ssl_context": _encryption(mode)}
        if host is not None:
            connect["unix_sock"] = f"{host}/.s.PGSQL.{url.port or 5432}"
        # Without the password: errors and logs of the packages below print what they are given.
        self._engine = sa.create_engine(
            plain.set(drivername="postgresql+pg8000"),
            connect_args={**connect, "password": url.password or os.environ.get("PGPASSWORD", "")},
            pool_pre_ping=True,
            hide_parameters=True,
        )

    def do(self, work: Callable[[Connection], T]) -> T:
        """The result of work in one transaction.

        Work whose connection is lost is done again, though it may have been written already: it
        must come to the same when it is done twice.

        Raises:
            RunError: The database cannot be reached, or refuses the work.
        """
        for pause in (*PAUSES, None):
            try:
                with self._engine.begin() as connection:
                    return work(connection)
            except self._sa.exc.DBAPIError as error:
                if not _is_lost(error) or pause is None:
                    raise RunError(
                        f"the database {self.name} {_said(error)}; what was kept before is kept,"
                        " so start the same command again when that is mended"
                    ) from None
            self._pause(pause)
        raise AssertionError("the last round returns or raises")

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def _encryption(mode: object) -> ssl.SSLContext | None:
    if mode == "disable":
        return None
    context = ssl.create_default_context()
    if mode == "require":  # as PostgreSQL's own programs understand it: encrypted, from anybody
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    elif mode != "verify-full":
        raise ConfigError(f"sslmode={mode!r}: expected disable, require or verify-full")
    return context


def _told(error: Any) -> dict[str, str]:
    """What the server said; empty where it said nothing.

    Where it ends the connection after its words, the driver may put an error of its own above them.
    """
    each = error.orig
    while each is not None:
        if each.args and isinstance(each.args[0], dict):
            return each.args[0]
        each = each.__context__
    return {}


def _is_lost(error: Any) -> bool:
    """Whether there was no connection, or it broke: the server is restarted, or the net is down."""
    code = _told(error).get("C", "")  # five characters that name an error
    return not code or code.startswith(("08", "57P"))


def _said(error: Any) -> str:
    said = _told(error).get("M") or error.orig.args[0]
    return f"cannot be reached: {said}" if _is_lost(error) else f"refuses: {said}"
