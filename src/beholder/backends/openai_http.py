"""Requests to an address with a key, and the meaning of its errors. No vendor's SDK is used."""

from __future__ import annotations

import base64
import email.utils
import json
import math
import os
import re
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit, urlunsplit

import httpx2

from beholder.aio import PerLoop
from beholder.backends.base import JsonObject
from beholder.backends.calls import (
    SURELY_TOO_LONG,
    CallFailed,
    Forbidden,
    Refused,
)
from beholder.backends.http_client import HttpClient, HttpResponse
from beholder.errors import (
    BeholderError,
    ConfigError,
    RunError,
    TransientError,
)

HOSTED = "https://api.openai.com/v1"
KEY = "OPENAI_API_KEY"

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
"""HTTP statuses for the names of errors that arrive with HTTP 200."""

_NO_QUOTA = {"insufficient_quota", "billing_error", "billing_not_active"}
_NO_ACCESS = {"API_KEY_INVALID", "FAILED_PRECONDITION", "authentication_error"}
_DAILY_QUOTA = re.compile(r"PerDay")
"""Marks ids of Google's quotas that only the next day renews."""

_DELAY = re.compile(r"(\d+(?:\.\d+)?)s")
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
        key_env: Environment variable with the key; None takes the vendor's variable for
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
            self.key_env = (
                self.home[1]
                if is_official(self.base_url, self.home[0])
                else ""
            )
        parts = urlsplit(self.base_url.rstrip("/"))
        self._user = (
            unquote(parts.username or ""),
            unquote(parts.password or ""),
        )
        self.base_url = urlunsplit(
            parts._replace(netloc=parts.netloc.rpartition("@")[2])
        )
        public_address(self.base_url)  # refuses what is not an address
        self._reached = False
        self._clients = PerLoop(self._open)

    async def post(
        self, path: str, body: JsonObject, *, max_bytes: int = MOST_BYTES
    ) -> Any:
        """The JSON answer, of ``max_bytes`` bytes, to a JSON body; errors as in ``request``."""
        answer = await self.read_json(
            "POST", path, max_bytes=max_bytes, json=body
        )
        # Some servers send an `error` of null or a warning beside an answer: the answer counts.
        has_answer = (
            isinstance(answer, dict)
            and {"choices", "content", "candidates", "answers"} & answer.keys()
        )
        if isinstance(answer, dict) and answer.get("error") and not has_answer:
            raise self._wrapped(answer["error"])
        return answer

    async def read_json(self, method: str, path: str, **parts: Any) -> Any:
        """Return the JSON answer to a request; errors as in ``request``."""
        return self.parse(await self.request(method, path, **parts))

    def parse(self, body: bytes) -> Any:
        """Return the value of a JSON text; a key that the server repeats in it is masked.

        Raises:
            CallFailed: It is not JSON, or nested too deep.
        """
        try:
            value = json.loads(body)
            secrets = [
                secret
                for secret in self._secrets()
                if len(secret) >= _KEY_LENGTH
            ]
            return _masked(value, secrets) if secrets else value
        except (ValueError, RecursionError) as error:
            raise CallFailed(
                "the server's answer is broken (not JSON)", charged=True
            ) from error

    async def request(
        self,
        method: str,
        path: str,
        *,
        max_bytes: int = MOST_BYTES,
        **parts: Any,
    ) -> bytes:
        """Send a request once, and return the body of the answer.

        Args:
            method: ``GET`` or ``POST``.
            path: Path after the base address.
            max_bytes: Bytes of the answer that are read at most.
            parts: Keyword arguments of httpx2, such as ``json`` or ``content``.

        Returns:
            The body of the answer.

        Raises:
            CallFailed: It may work later.
            Refused: The server will not take this request.
            ConfigError: No request can succeed: wrong address, key or model.
            RunError: The account has no quota left.
        """
        # The first request decides whether the address is right: before any response, a failure to
        # connect is an error of the configuration; afterwards it may pass.
        client = await self._clients.get()
        try:
            response = await client.send(
                method, self.base_url + path, max_bytes, **parts
            )
        except (
            httpx2.TransportError,
            httpx2.DecodingError,
            httpx2.InvalidURL,
        ) as error:
            raise self._without_response(error, client.proxy) from error
        except UnicodeError as error:  # a host that is not valid IDNA
            raise self._unreachable(str(error)) from None
        if response.is_redirect:
            raise self._redirected(response)
        self._reached = True
        if not response.is_success:
            raise self._failure(
                response.status, response.headers, response.body
            )
        if len(response.body) > max_bytes:
            raise CallFailed(
                f"the server's answer has more than {max_bytes} bytes",
                charged=True,
            )
        return response.body

    def _without_response(
        self, error: Exception, proxy: str | None
    ) -> Exception:
        """Return the failure of a request that got no whole response."""
        if isinstance(error, httpx2.TimeoutException):
            is_sent = not isinstance(
                error, httpx2.ConnectTimeout | httpx2.PoolTimeout
            )
            return CallFailed(
                "the server took too long", strain=True, charged=is_sent
            )
        cause = self._redacted(str(error) or type(error).__name__)
        if isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol):
            return self._unreachable(cause)
        # Neither a refused connection nor a proxy's refusal lets the request out.
        is_unsent = isinstance(error, httpx2.ConnectError | httpx2.ProxyError)
        if is_unsent and not self._reached:
            return self._unreachable(cause, proxy)
        return CallFailed(f"no connection ({cause})", charged=not is_unsent)

    def _unreachable(
        self, cause: str, proxy: str | None = None
    ) -> ConfigError:
        if proxy is not None:
            return ConfigError(
                f"{self.name} cannot be reached through the environment's proxy {proxy} ({cause});"
                " is the proxy running? To go without it, add the server to NO_PROXY"
            )
        return ConfigError(
            f"{self.name} cannot be reached ({cause}); is the server running, and is"
            f" {public_address(self.base_url)} its address?"
        )

    def _redirected(self, response: HttpResponse) -> Exception:
        """Return the error of a redirect: following it would send texts to an unnamed address."""
        target = self._redacted(
            response.headers["location"].rpartition("@")[2]
        )
        try:
            httpx2.URL(response.headers["location"])
        except httpx2.InvalidURL:
            return CallFailed(
                f"a redirect to {target}, which is not an address",
                charged=True,
            )
        if self._reached:
            return TransientError(  # not tried again at once: a redirect does not pass by itself
                f"{self.name}: HTTP {response.status}: a redirect to {target}, "
                "to which no text is sent"
            )
        return ConfigError(
            f"{self.name} sends everything on to {target} (HTTP {response.status}); no text"
            " goes there unless you name that address yourself, as --base-url or base_url"
        )

    def _failure(
        self, status: int, headers: Mapping[str, str], body: bytes
    ) -> Exception:
        """Return the meaning of an HTTP error.

        Decisions that end a run rest on the status and the error's codes alone: its message may
        repeat words of the texts that were sent.
        """
        # From the certain to the general: quotas and keys end the run, a request that the server
        # refuses ends one item, a server that is busy or broken is asked again.
        error = _parse_error(body)
        reason = self._redacted(error.reason)
        has_no_quota = error.codes & _NO_QUOTA or any(
            map(_DAILY_QUOTA.search, error.quotas)
        )
        if status == 402 or (status in (400, 429) and has_no_quota):
            return RunError(
                f"{self.name}: the account has no quota left: {reason}"
            )
        if status == 403 and _FLAGGED.search(reason):
            return Refused(reason)
        if status in (401, 403) or (
            status == 400 and error.codes & _NO_ACCESS
        ):
            kind = Forbidden if status == 403 else ConfigError
            return kind(f"{self.name} {self._refused_key()}: {reason}")
        if status == 404:
            return NotThere(f"{self.name} is not there: {reason}")
        if status >= 500 and SURELY_TOO_LONG.search(reason):
            return Refused(reason)
        if status >= 500 and headers.get("x-should-retry") == "false":
            return TransientError(f"{self.name}: HTTP {status}: {reason}")
        if status in (408, 409, 425, 429) or status >= 500:
            return CallFailed(
                f"HTTP {status}: {reason}",
                strain=status in (408, 429, 529),
                retry_after=retry_after(headers)
                if error.delay is None
                else error.delay,
                status=status,
            )
        return Refused(reason)

    def _wrapped(self, error: object) -> Exception:
        """Return the meaning of an error that came with HTTP 200, as some proxies send it."""
        fields = error if isinstance(error, dict) else {}
        code = fields.get("code") or _STATUS.get(str(fields.get("type")))
        status = code if isinstance(code, int) and 400 <= code <= 599 else 502
        failure = self._failure(
            status, {}, json.dumps({"error": error}).encode()
        )
        if isinstance(failure, CallFailed):
            failure.charged = True  # the server does not say whether it is
        return failure

    async def suggest_models(self, model: str) -> str:
        """Return a hint at the models that the server has, as the end of a message."""
        try:
            response = await self.read_json("GET", "/models")
        except (BeholderError, CallFailed, Refused):
            response = None
        models = response.get("data") if isinstance(response, dict) else None
        ids = [m.get("id") for m in models or () if isinstance(m, dict)]
        names = [name for name in ids if isinstance(name, str)]
        if names:
            close = get_close_matches(model, names, n=_SUGGESTED, cutoff=0.0)
            return f"; the server has {', '.join(map(self._redacted, close))}"
        path = urlsplit(self.base_url).path
        return (
            ""
            if path
            else f"; most addresses end in /v1: {public_address(self.base_url)}/v1"
        )

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
        """Return the texts that no message may repeat: the key, and the address's password."""
        password = self._user[1]
        basic_token = (
            base64.b64encode(":".join(self._user).encode()).decode()
            if password
            else ""
        )
        secrets = (self._key(), password, basic_token)
        return [secret for secret in secrets if secret]

    def _key(self) -> str:
        return self.key or os.environ.get(self.key_env or "", "")

    def _key_headers(self, key: str) -> dict[str, str]:
        return {"authorization": f"Bearer {key}"} if key else {}

    async def _open(self) -> AsyncGenerator[HttpClient, None]:
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
        client = HttpClient(self.base_url, headers, self.timeout)
        try:
            yield client
        finally:
            await client.close()


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds until the next try: of ``retry-after-ms`` or ``retry-after``.

    ``retry-after`` is a number of seconds or a date. None if neither is there or readable.
    """
    milliseconds = headers.get("retry-after-ms")
    try:
        if milliseconds is not None:
            seconds = float(milliseconds) / 1000
        else:
            value = headers["retry-after"]
            is_number = re.fullmatch(r"[-+.\w]*", value) is not None
            moment = (
                None if is_number else email.utils.parsedate_to_datetime(value)
            )
            seconds = (
                float(value)
                if moment is None
                else moment.timestamp() - time.time()
            )
    except (ValueError, LookupError, OverflowError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def is_official(base_url: str, home: str = HOSTED) -> bool:
    """Return whether an address is the vendor's own."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    official = urlsplit(home).hostname or ""
    return parts.scheme == "https" and (
        host == official or host.endswith(f".{official}")
    )


def public_address(base_url: str) -> str:
    """Return the address without user name and password.

    Raises:
        ConfigError: It is not an http or https address.
    """
    try:
        parts = urlsplit(base_url.rstrip("/"))
        # `port` raises ValueError above 65535, which the socket would turn into a traceback.
        if (
            parts.scheme in ("http", "https")
            and parts.hostname
            and parts.port != 0
        ):
            host = parts.netloc.rpartition("@")[2]
            return urlunsplit((parts.scheme, host, parts.path, "", ""))
    except (ValueError, AttributeError):
        pass
    raise ConfigError(
        f"base_url: {str(base_url).rpartition('@')[2]!r} is not an address such as"
        " http://localhost:8000/v1"
    )


def _masked(value: Any, secrets: Sequence[str]) -> Any:
    """Return a JSON value in which secrets are replaced."""
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, "[key]")
        return value
    if isinstance(value, list):
        return [_masked(each, secrets) for each in value]
    if isinstance(value, dict):
        return {
            _masked(name, secrets): _masked(each, secrets)
            for name, each in value.items()
        }
    return value


class _ServerError(NamedTuple):
    """The error in a response body.

    Attributes:
        reason: The message with the error's codes, or the body itself.
        codes: ``code``, ``type`` and ``status`` of the error, and the reasons in its details.
        quotas: Ids of the quotas that were passed (Google).
        delay: Seconds to wait (Google), or None.
    """

    reason: str
    codes: frozenset[str] = frozenset()
    quotas: tuple[str, ...] = ()
    delay: float | None = None


def _parse_error(body: bytes) -> _ServerError:
    """Read the error of OpenAI's, Anthropic's or Google's form; any other body is the reason."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return _ServerError(body.decode("utf-8", "replace"))
    if isinstance(value, list) and value and isinstance(value[0], dict):
        value = value[0]
    if isinstance(value, dict):
        value = value.get("error", value)
    if not isinstance(value, dict):
        return _ServerError(str(value))
    message = value.get("message") or value.get("detail") or value
    codes = [
        str(value[name])
        for name in ("type", "code", "status")
        if value.get(name)
    ]
    reason = f"{message} ({', '.join(codes)})" if codes else str(message)
    # Google puts reasons, quotas and the delay into a list of details of several types.
    details = value.get("details")
    details = details if isinstance(details, list) else []
    quotas: list[str] = []
    delay = None
    for detail in details:
        if not isinstance(detail, dict):
            continue
        codes.append(str(detail.get("reason")))
        violations = detail.get("violations")
        for violation in violations if isinstance(violations, list) else ():
            if isinstance(violation, dict):
                quotas.append(str(violation.get("quotaId")))
        seconds = _DELAY.fullmatch(str(detail.get("retryDelay")))
        if seconds is not None:
            delay = float(seconds[1])
    return _ServerError(reason, frozenset(codes), tuple(quotas), delay)
