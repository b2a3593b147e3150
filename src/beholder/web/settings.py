"""Settings of a server: its address, who may use it, and the limits of requests."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from beholder.errors import ConfigError

OWNER = "owner"
"""Name of whoever has the token of the server, or uses loopback if it has no token."""

ACCESS = "beholder_access"
"""Beginning of the name of the cookie that contains a token."""

JOIN = "join"
"""Parameter of a link that everybody may open."""


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Settings for serving pages.

    Attributes:
        host: Address to listen at.
        port: Port; 0 lets the system choose a free one.
        token: Required from other machines. On loopback no token is required unless one is given;
            elsewhere one is made if none is given.
        names: Names besides addresses by which browsers may call the server from other machines.
        people: Returns the name that belongs to a personal token; None for an unknown token.
        invited: Returns a personal token for the parameters of a link that everybody may open, the
            address that opens it and the token that its browser has; None for other links.
        pictures_from: Address below which pages may also load pictures; empty for none.
        secret: Key of CSRF tokens. With the same key after a restart, open pages continue to work.
        max_body: Bytes of a request at most.
        body_seconds: Within which a request's body must arrive.
        header_seconds: Within which a request's header must arrive.
        most_waiting: Connections that have sent no whole header, at most.
        rate: Requests a second of one browser, in the long run.
        burst: Requests that it may send at once.
    """

    host: str = "127.0.0.1"
    port: int = 0
    token: str | None = None
    names: tuple[str, ...] = ()
    people: Callable[[str], str | None] = lambda _: None
    invited: Callable[[Mapping[str, str], str, str], str | None] = (
        lambda query, address, token: None
    )
    pictures_from: str = ""
    secret: bytes = field(
        default_factory=lambda: secrets.token_bytes(32), repr=False
    )
    max_body: int = 5_000_000
    body_seconds: float = 30.0
    header_seconds: float = 10.0
    most_waiting: int = 100
    rate: float = 50.0
    burst: int = 300

    def __post_init__(self) -> None:
        if not 0 <= self.port <= 65535:
            raise ConfigError(f"port {self.port}: expected 0 to 65535")
        if self.token is not None and len(self.token) < 16:
            raise ConfigError(
                "token: expected 16 characters or more, so that it cannot be guessed"
            )
        if self.token is None and not is_loopback(self.host):
            object.__setattr__(self, "token", secrets.token_urlsafe(24))

    @property
    def access_cookie(self) -> str:
        """Name of the cookie that holds a token.

        Browsers send the cookies of a host to all its ports, so that studies beside each other need
        names of their own.
        """
        digest = hashlib.sha256((self.token or "").encode()).hexdigest()
        return f"{ACCESS}_{digest[:12]}"

    @property
    def open_to_all(self) -> bool:
        """True if a request without a token counts as the owner's."""
        return self.token is None

    def who(self, token: str) -> str | None:
        """Return the name that belongs to a token, such as ``OWNER``; None for an unknown one."""
        # Compared in constant time, so that the time of an answer says nothing about the token.
        if self.token is not None and hmac.compare_digest(
            token.encode(), self.token.encode()
        ):
            return OWNER
        return self.people(token)

    def may_be_called(self, host: str) -> bool:
        """Return whether a ``Host`` header names this server.

        Another site may point its own name at this machine and read answers as its own (DNS
        rebinding). It cannot do so with an address or with ``localhost``.
        """
        # `[::1]` without a port ends with a bracket; its last colon belongs to the address.
        name = host
        if not host.endswith("]"):
            name = host.rsplit(":", 1)[0]
        name = name.removeprefix("[").removesuffix("]").lower()
        if is_loopback(self.host):
            return is_loopback(name)
        if name == "localhost" or name == self.host.lower():
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in {
                name_of_server.lower() for name_of_server in self.names
            }
        return True
