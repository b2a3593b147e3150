"""A PostgreSQL database by its address: one way to reach it, and no way to see its password."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from beholder.base.optional import require
from beholder.errors import ConfigError, RunError

if TYPE_CHECKING:
    import ssl

    from sqlalchemy import Connection, Engine

T = TypeVar("T")

RETRY_PAUSES = (0.1, 0.5, 2.0, 5.0, 10.0)
"""Seconds before each retry after a lost connection."""

TABLES_LOCK = "SELECT pg_advisory_xact_lock(7240917)"
"""Statement before those that create tables: PostgreSQL may fail if two transactions create the
same table at once, so each waits for the one before."""

# SQLAlchemy logs connections that it cannot close, which are lost anyhow; without a handler Python
# would print each with its traceback to the terminal.
logging.getLogger("sqlalchemy.pool").addHandler(logging.NullHandler())

_MODES = ("disable", "require", "verify-full")
_SCHEMES = ("postgresql://", "postgres://")
_FORM = (
    "write postgresql://USER@HOST:PORT/NAME, with the password in PGPASSWORD or as USER:PASSWORD"
    " (@ / : ? # % in it as %40 %2F %3A %3F %23 %25), and ?host=FOLDER for a socket or"
    " ?sslmode=require for encryption"
)


def is_address(text: str) -> bool:
    """Return whether a text begins like the address of a PostgreSQL database."""
    return text.startswith(_SCHEMES)


@dataclass(frozen=True)
class Address:
    """The address of a database; its text is the same address, without the password.

    Attributes:
        user: Name of the database user.
        host: Name of the machine, or None for a socket here.
        port: Port of the server.
        database: Name of the database.
        socket: Folder of the server's socket, or None.
        sslmode: ``disable``, ``require`` (encrypted) or ``verify-full`` (and with whom is proved).
        password: Of the user; None takes ``PGPASSWORD`` when a connection is made.
    """

    user: str | None
    host: str | None
    port: int
    database: str
    socket: str | None = None
    sslmode: str = "disable"
    password: str | None = field(default=None, repr=False)

    @classmethod
    def parse(cls, text: str) -> Address:
        """The address that a text names.

        Raises:
            ConfigError: It names none; the message repeats nothing of it.
        """
        try:
            parts = urlsplit(text)
            query = dict(
                parse_qsl(parts.query, strict_parsing=bool(parts.query))
            )
            port = parts.port or 5432
        except ValueError:
            raise ConfigError(
                f"an address that cannot be read: {_FORM}"
            ) from None
        socket, sslmode = (
            query.pop("host", None),
            query.pop("sslmode", "disable"),
        )
        database = unquote(parts.path[1:])
        # Characters that were not encoded end in another part: an @ or / of a password in the
        # database, a # in the fragment. The message must not repeat them.
        problems = {
            "an address of another kind": not is_address(text),
            "an address that names no database": not database,
            "an address that cannot be read": bool(parts.fragment)
            or bool({"@", "/"} & {*database}),
            "an option of an address that is not known": bool(query),
            "another sslmode than disable, require and verify-full": sslmode
            not in _MODES,
        }
        for problem, is_present in problems.items():
            if is_present:
                raise ConfigError(f"{problem}: {_FORM}")
        user, password = (
            None if part is None else unquote(part)
            for part in (parts.username, parts.password)
        )
        return cls(
            user, parts.hostname, port, database, socket, sslmode, password
        )

    def __str__(self) -> str:
        user = "" if self.user is None else f"{quote(self.user, safe='')}@"
        host = self.host or ""
        # An IPv6 address needs brackets, because a port follows after a colon.
        if ":" in host:
            host = f"[{host}]"
        port = "" if self.host is None else f":{self.port}"
        options = (
            {"sslmode": self.sslmode} if self.sslmode != "disable" else {}
        )
        options |= {"host": self.socket} if self.socket else {}
        query = f"?{urlencode(options, safe='/')}" if options else ""
        return f"postgresql://{user}{host}{port}/{quote(self.database, safe='')}{query}"


def create_engine(address: Address, **options: Any) -> Engine:
    """SQLAlchemy's engine of a database; what it shows and logs holds no password.

    Args:
        address: Address of the database.
        options: Of ``sqlalchemy.create_engine``.

    Raises:
        MissingExtraError: The packages are not installed.
    """
    sa = require(
        "sqlalchemy", extra="postgres", purpose="a PostgreSQL database"
    )
    require("pg8000", extra="postgres", purpose="a PostgreSQL database")
    connect_args: dict[str, Any] = {
        "timeout": 30,
        "ssl_context": _ssl_context(address.sslmode),
    }
    if address.socket is not None:
        connect_args["unix_sock"] = f"{address.socket}/.s.PGSQL.{address.port}"
    # Without the password: errors and logs of the packages below show what they are given.
    url = sa.URL.create(
        "postgresql+pg8000",
        username=address.user,
        host=address.host,
        port=address.port,
        database=address.database,
    )
    password = address.password
    connect_args["password"] = (
        os.environ.get("PGPASSWORD", "") if password is None else password
    )
    database_engine: Engine = sa.create_engine(
        url, connect_args=connect_args, hide_parameters=True, **options
    )
    return database_engine


class Database:
    """A database that any number of processes may use at once.

    Connections are made when they are needed and made again when they are lost.

    Args:
        address: Address of the database.
        autocommit: Whether each statement is a transaction of its own, which spares two ways to the
            server and back.
        pause: Waits so many seconds.

    Attributes:
        name: The address as it may be shown.

    Raises:
        MissingExtraError: The packages are not installed.
    """

    def __init__(
        self,
        address: Address,
        *,
        autocommit: bool = False,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._sa = require(
            "sqlalchemy", extra="postgres", purpose="a PostgreSQL database"
        )
        self._pause = pause
        self.name = str(address)
        self._engine = create_engine(
            address,
            isolation_level="AUTOCOMMIT" if autocommit else "READ COMMITTED",
        )

    def do(self, work: Callable[[Connection], T]) -> T:
        """The result of work in one transaction, if its statements are not each ``alone``.

        If the connection is lost, the work is retried, though it may have been written already: it
        must be idempotent.

        Raises:
            RunError: The database cannot be reached, or refuses the work.
        """
        for pause in (*RETRY_PAUSES, None):
            try:
                with self._engine.begin() as connection:
                    return work(connection)
            # The driver lets some errors of the net through as they are.
            except (self._sa.exc.DBAPIError, OSError) as error:
                if not _is_lost(error) or pause is None:
                    raise RunError(
                        f"the database {self.name} {_describe_error(error)}; what was"
                        " kept before is kept, so start the same command again when that is fixed"
                    ) from None
            # The other connections of the pool are lost, too.
            self._engine.dispose()
            self._pause(pause)
        raise AssertionError("the last round returns or raises")

    def close(self) -> None:
        """Close all connections."""
        self._engine.dispose()


def _ssl_context(sslmode: str) -> ssl.SSLContext | None:
    if sslmode == "disable":
        return None
    import ssl  # every command imports this module, and few reach a database

    context = ssl.create_default_context()
    # As in PostgreSQL's own programs, ``require`` accepts any certificate.
    if sslmode == "require":
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _server_fields(error: Any) -> dict[str, str]:
    """Return the fields of the server's error message; empty if the server sent none.

    Where it ends the connection after the message, the driver may raise another error from it.
    """
    cause = getattr(error, "orig", error)
    while cause is not None:
        if cause.args and isinstance(cause.args[0], dict):
            return cause.args[0]
        cause = cause.__context__
    return {}


def _is_lost(error: Any) -> bool:
    """Return whether there was no connection, or it broke: a restart, or no network."""
    # SQLSTATE, five characters: class 08 are connection errors, 57P shutdowns of the server.
    code = _server_fields(error).get("C", "")
    return not code or code.startswith(("08", "57P"))


def _describe_error(error: Any) -> str:
    reason = _server_fields(error).get("M") or getattr(error, "orig", error)
    return (
        f"cannot be reached: {reason}"
        if _is_lost(error)
        else f"refuses: {reason}"
    )
