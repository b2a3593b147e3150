"""Where the pages are served and what a browser may do there."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from beholder.errors import ConfigError

OWNER = "owner"
"""Who comes with the token of the server, or over loopback if none is asked for."""

ACCESS = "beholder_access"
"""What the name of the cookie begins with that holds a token."""

JOIN = "join"
"""Parameter of a link that everybody may open."""


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How pages are served.

    Attributes:
        host: Address to listen at.
        port: Port; 0 lets the system choose a free one.
        token: Required from other machines. On loopback no token is required unless one is given;
            elsewhere one is made if none is given.
        names: Names besides addresses by which browsers may call the server from other machines.
        people: Gives the name of whoever holds a personal token, or None: annotators' links.
        invited: Gives a personal token for the parameters of a link that everybody may open, the
            address that opens it and the token that its browser has; None for other links.
        pictures_from: Address below which pages may also load pictures; empty for none.
        secret: Key of the marks against forged posts. One that is kept lets a page that was open
            before a restart continue.
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
        """Whether a request without a token is the owner's."""
        return self.token is None

    def who(self, token: str) -> str | None:
        """Whose a token is: ``OWNER``, a name, or None for no one's."""
        if self.token is not None and hmac.compare_digest(
            token.encode(), self.token.encode()
        ):
            return OWNER
        return self.people(token)

    def may_be_called(self, host: str) -> bool:
        """Whether a ``Host`` header names this server.

        Another site may point its own name at this machine and read answers as its own (DNS
        rebinding). It cannot do so with an address or with ``localhost``.
        """
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
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
