"""Requests to an OpenAI-compatible address, and what its errors mean.

None goes through an SDK: its request records would cost more than all else we do for a call
(``benchmarks/judge_throughput.py``).
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any
from urllib.parse import unquote, urlsplit, urlunsplit

import httpcore2
import httpx2

from beholder.aio import PerLoop
from beholder.backends.calls import SURELY_TOO_LONG, CallFailed, Forbidden, Refused
from beholder.backends.lines import NO_CONNECTION, Lines, Received
from beholder.backends.rate_headers import retry_after
from beholder.errors import BeholderError, ConfigError, RunError, TransientError

HOSTED = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"
JSON = {"content-type": "application/json"}

MOST_BYTES = 8_000_000
"""Of one answer; some hundred times the longest that is asked for."""

_STATUS = {
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "rate_limit_error": 429,
    "overloaded_error": 529,
}
"""What the names of errors mean that come with HTTP 200."""

_WAIT = re.compile(rb'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')
_NO_QUOTA = re.compile(r"insufficient_quota|credit balance|PerDay")
_NO_ACCESS = re.compile(r"API_KEY_INVALID|FAILED_PRECONDITION|API key not valid")
_FLAGGED = re.compile(
    r"moderation|content[ _-]?policy|(input|prompt|content|message|request)\b.{0,40}\bflagged"
    r"|flagged.{0,40}\b(input|prompt|content|message|request)\b",
    re.IGNORECASE | re.DOTALL,
)
"""Finds in the words of an HTTP 403 that they are about what was asked, and not about who asks."""

_KEY = re.compile(r"[!-~]+")
_KEY_LENGTH = 12
"""Characters from which on a key is masked in answers: shorter ones, such as ``none``, are
placeholders, and may be words of the answer."""
_SUGGESTED = 5
"""Models of a server that a message names."""


class NotThere(ConfigError):
    """The server knows nothing under an address (HTTP 404)."""


@dataclass(eq=False, repr=False)
class Connection:
    """One address with its key.

    Args:
        name: Whose address, for messages.
        base_url: Address up to ``/v1``. A name and password in it go into a header of each request
            instead of any key, and are in no address that is requested: addresses are logged.
        key_env: Environment variable that holds the key; None takes the vendor's variable for
            the vendor's own address and sends no key to any other.
        timeout: Seconds for one request.
        key: The key itself, where a program gives it; None takes the variable's.
        home: The vendor's own address, and the variable of its key.
    """

    name: str
    base_url: str
    key_env: str | None
    timeout: float
    key: str | None = None
    home: tuple[str, str] = (HOSTED, KEY)

    def __post_init__(self) -> None:
        if self.key_env is None:
            self.key_env = self.home[1] if is_official(self.base_url, self.home[0]) else ""
        parts = urlsplit(self.base_url.rstrip("/"))
        self._user = unquote(parts.username or ""), unquote(parts.password or "")
        self.base_url = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
        self._reached = False
        self._lines = PerLoop(self._open)

    async def post(self, path: str, body: Mapping[str, Any], *, most: int = MOST_BYTES) -> Any:
        """The JSON answer, of ``most`` bytes, to a JSON body; errors as in ``request``."""
        answer = self.parse(await self._send(path, body, most))
        holds = isinstance(answer, dict) and {"choices", "content", "candidates"} & answer.keys()
        if isinstance(answer, dict) and answer.get("error") and not holds:
            raise self._wrapped(answer["error"])
        return answer

    async def _send(self, path: str, body: Mapping[str, Any], most: int) -> bytes:
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
        return await self.request("POST", path, most=most, content=content, headers=JSON)

    async def read(self, method: str, path: str, **parts: Any) -> Any:
        """The JSON answer to a request; errors as in ``request``."""
        return self.parse(await self.request(method, path, **parts))

    def parse(self, body: bytes) -> Any:
        """The value of a JSON text; a key that the server repeats in it is masked.

        Raises:
            CallFailed: It is no JSON, or nested too deep.
        """
        try:
            value = json.loads(body)
            told = [secret for secret in self._secrets() if len(secret) >= _KEY_LENGTH]
            return _masked(value, told) if told else value
        except (ValueError, RecursionError) as error:
            raise CallFailed("the server's answer is broken (not JSON)", charged=True) from error

    async def request(
        self, method: str, path: str, *, most: int = MOST_BYTES, **parts: Any
    ) -> bytes:
        """Send once.

        Args:
            method: ``GET`` or ``POST``.
            path: What follows the base address.
            most: Bytes of the answer that are read at most.
            parts: Keyword arguments of httpx2: ``content``, ``headers``, ``files``, ``data``.

        Returns:
            The body of the answer.

        Raises:
            CallFailed: It may work later.
            Refused: The server will not take this request.
            ConfigError: No request can succeed: wrong address, key or model.
            RunError: The account has no quota left.
        """
        lines = await self._lines.get()
        try:
            response = await lines.ask(method, self.base_url + path, most, **parts)
        except httpcore2.TimeoutException as error:
            sent = not isinstance(error, httpcore2.ConnectTimeout | httpcore2.PoolTimeout)
            raise CallFailed("the server took too long", strain=True, charged=sent) from error
        except NO_CONNECTION as error:
            cause = self._redacted(str(error) or type(error).__name__)
            wrong = isinstance(
                error, httpx2.InvalidURL | httpcore2.UnsupportedProtocol | UnicodeError
            )
            unreached = isinstance(error, httpcore2.ConnectError)
            if wrong or (unreached and not self._reached):
                raise ConfigError(
                    f"{self.name} cannot be reached ({cause}); is the server running, and is"
                    f" {public_address(self.base_url)} its address?"
                ) from None
            raise CallFailed(f"no connection ({cause})", charged=not unreached) from None
        if response.is_redirect:
            raise self._redirected(response)
        self._reached = True
        if not response.is_success:
            raise self._failure(response.status, response.headers, response.body)
        if len(response.body) > most:
            raise CallFailed(f"the server's answer has more than {most} bytes", charged=True)
        return response.body

    def _redirected(self, response: Received) -> Exception:
        """No redirect is followed: it would carry the texts to an address that you did not name."""
        where = self._redacted(response.headers["location"].rpartition("@")[2])
        try:
            httpx2.URL(response.headers["location"])
        except httpx2.InvalidURL:
            return CallFailed(f"a redirect to {where}, which is no address", charged=True)
        if self._reached:
            return TransientError(  # not tried again at once: a redirect does not pass by itself
                f"{self.name}: HTTP {response.status}: a redirect to {where}, where no text goes"
            )
        return ConfigError(
            f"{self.name} sends everything on to {where} (HTTP {response.status}); no text"
            " goes there unless you name that address yourself, as --base-url or base_url"
        )

    def _failure(self, status: int, headers: Mapping[str, str], body: bytes) -> Exception:
        """What an HTTP error means."""
        reason = self._redacted(_reason(body))
        told = body.decode("utf-8", "replace") if status in (400, 429) else ""
        if status == 402 or _NO_QUOTA.search(told):
            return RunError(f"{self.name}: the account has no quota left: {reason}")
        if status == 403 and _FLAGGED.search(reason):
            return Refused(reason)
        if status in (401, 403) or _NO_ACCESS.search(told):
            kind = Forbidden if status == 403 else ConfigError
            return kind(f"{self.name} {self._refused_key()}: {reason}")
        if status == 404:
            return NotThere(f"{self.name} is not there: {reason}")
        if status >= 500 and SURELY_TOO_LONG.search(reason):
            return Refused(reason)
        if status >= 500 and headers.get("x-should-retry") == "false":
            return TransientError(f"{self.name}: HTTP {status}: {reason}")
        if status in (408, 409, 425, 429) or status >= 500:
            delay = _WAIT.search(body)
            return CallFailed(
                f"HTTP {status}: {reason}",
                strain=status in (408, 429, 529),
                retry_after=retry_after(headers) if delay is None else float(delay[1]),
                status=status,
            )
        return Refused(reason)

    def _wrapped(self, error: object) -> Exception:
        """What an error means that came with HTTP 200, as some go-betweens send it."""
        told = error if isinstance(error, dict) else {}
        code = told.get("code") or _STATUS.get(str(told.get("type")))
        status = code if isinstance(code, int) and 400 <= code <= 599 else 502
        failure = self._failure(status, {}, json.dumps({"error": error}).encode())
        if isinstance(failure, CallFailed):
            failure.charged = True  # the server does not say whether it is
        return failure

    async def instead(self, model: str) -> str:
        """What may be meant by a model that the server does not know, as the end of a message."""
        try:
            listed = await self.read("GET", "/models")
        except (BeholderError, CallFailed, Refused):
            listed = None
        found = listed.get("data") if isinstance(listed, dict) else None
        known = [m.get("id") for m in found or () if isinstance(m, dict)]
        names = [name for name in known if isinstance(name, str)]
        if names:
            close = get_close_matches(model, names, n=_SUGGESTED, cutoff=0.0)
            return f"; the server has {', '.join(map(self._redacted, close))}"
        path = urlsplit(self.base_url).path
        return "" if path else f"; most addresses end in /v1: {public_address(self.base_url)}/v1"

    def _refused_key(self) -> str:
        if self.key:
            return "refused the key"
        if self.key_env:
            return f"refused the key in {self.key_env}"
        return (
            "needs a key, and none is sent to your own server unless you name its variable:"
            " --key-env NAME, or key_env='NAME' in Python and in a spec"
        )

    def _redacted(self, text: str) -> str:
        return _masked(text, self._secrets())[:500]  # type: ignore[no-any-return]

    def _secrets(self) -> list[str]:
        """What must not be repeated: the key, and what stands before the host in the address."""
        password = self._user[1]
        sent = base64.b64encode(":".join(self._user).encode()).decode() if password else ""
        known = (self._key(), password, sent)
        return [secret for secret in known if secret]

    def _key(self) -> str:
        return self.key or os.environ.get(self.key_env or "", "")

    def _key_headers(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

    async def _open(self) -> AsyncGenerator[Lines, None]:
        key = self._key()
        if key and not _KEY.fullmatch(key):
            raise ConfigError(
                f"{self.name}: the key in the environment variable {self.key_env} holds a blank, a"
                " line break or another character that no key has; set it again"
            )
        if not key and self.key_env:
            raise ConfigError(
                f"{self.name} needs a key: set the environment variable {self.key_env}"
            )
        headers = self._key_headers(key)
        if any(self._user):
            packed = base64.b64encode(":".join(self._user).encode()).decode()
            headers = {"authorization": f"Basic {packed}"}
        lines = Lines(self.base_url, headers, self.timeout)
        try:
            yield lines
        finally:
            await lines.close()


def is_official(base_url: str, home: str = HOSTED) -> bool:
    """Whether an address is the vendor's own."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    official = urlsplit(home).hostname or ""
    return parts.scheme == "https" and (host == official or host.endswith(f".{official}"))


def public_address(base_url: str) -> str:
    """The address without any user name or password in it.

    Raises:
        ConfigError: It is none.
    """
    try:
        parts = urlsplit(base_url.rstrip("/"))
        if parts.scheme in ("http", "https") and parts.hostname:
            host = parts.netloc.rpartition("@")[2]
            return urlunsplit((parts.scheme, host, parts.path, "", ""))
    except (ValueError, AttributeError):
        pass
    raise ConfigError(
        f"base_url: {str(base_url).rpartition('@')[2]!r} is no address such as"
        " http://localhost:8000/v1"
    )


def _masked(value: Any, secrets: Sequence[str]) -> Any:
    """A JSON value without secrets."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, "[key]")
        return value
    if isinstance(value, list):
        return [_masked(each, secrets) for each in value]
    if isinstance(value, dict):
        return {_masked(name, secrets): _masked(each, secrets) for name, each in value.items()}
    return value


def _reason(body: bytes) -> str:
    """The server's words, with its code for the error; whatever it sent if it is none of these."""
    try:
        told = json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")
    if isinstance(told, list) and told and isinstance(told[0], dict):
        told = told[0]
    if isinstance(told, dict):
        told = told.get("error", told)
    if not isinstance(told, dict):
        return str(told)
    words = told.get("message") or told.get("detail") or told
    codes = [str(told[name]) for name in ("type", "code", "status") if told.get(name)]
    return f"{words} ({', '.join(codes)})" if codes else str(words)
