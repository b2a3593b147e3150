"""Requests to an OpenAI-compatible address, and what its errors mean.

Plain httpx2, the SDK's own client: the SDK's request records would cost more than all else we do
for a call (``benchmarks/judge_throughput.py``).
"""

from __future__ import annotations

import email.utils
import json
import os
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx2

from beholder.backends.calls import CallFailed
from beholder.backends.openai_probe import Refused
from beholder.backends.per_loop import PerLoop
from beholder.errors import ConfigError, RunError

HOSTED = "https://api.openai.com/v1"


class Connection:
    """One address with its key.

    Args:
        name: Whose address, for messages.
        base_url: Address up to ``/v1``.
        key_env: Environment variable that holds the key.
        timeout: Seconds for one request.
    """

    def __init__(self, name: str, base_url: str, key_env: str, timeout: float) -> None:
        self.name = name
        self.base_url = base_url.rstrip("/")
        self.key_env = key_env
        self._timeout = timeout
        self._reached = False
        self._clients = PerLoop(self._open)

    async def post(self, path: str, body: Mapping[str, Any]) -> Any:
        """The JSON answer to a JSON body; errors as in ``request``."""
        content = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
        headers = {"content-type": "application/json"}
        return await self.read("POST", path, content=content, headers=headers)

    async def read(self, method: str, path: str, **parts: Any) -> Any:
        """The JSON answer to a request; errors as in ``request``."""
        response = await self.request(method, path, **parts)
        try:
            return json.loads(response.content)
        except ValueError as error:
            raise CallFailed("the server's answer is broken (not JSON)") from error

    async def request(self, method: str, path: str, **parts: Any) -> httpx2.Response:
        """Send once.

        Args:
            method: ``GET`` or ``POST``.
            path: What follows the base address.
            parts: Keyword arguments of httpx2: ``content``, ``headers``, ``files``, ``data``.

        Raises:
            CallFailed: It may work later.
            Refused: The server will not take this request.
            ConfigError: No request can succeed: wrong address, key or model.
            RunError: The account has no quota left.
        """
        client = await self._clients.get()
        try:
            response = await client.request(method, self.base_url + path, **parts)
        except httpx2.TimeoutException as error:
            raise CallFailed("the server took too long", strain=True) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            cause = self._redacted(str(error) or type(error).__name__)
            wrong = isinstance(error, httpx2.InvalidURL | httpx2.UnsupportedProtocol)
            if wrong or (isinstance(error, httpx2.ConnectError) and not self._reached):
                raise ConfigError(
                    f"{self.name} cannot be reached ({cause}); is the server running, and is"
                    f" {public_address(self.base_url)} its address?"
                ) from None
            raise CallFailed(f"no connection ({cause})") from None
        self._reached = True
        if response.is_error:
            raise self._failure(response)
        return response

    def _failure(self, response: httpx2.Response) -> Exception:
        """What an HTTP error means."""
        status, reason = response.status_code, self._redacted(_reason(response))
        if status == 402 or (status == 429 and "insufficient_quota" in reason):
            return RunError(f"{self.name}: the account has no quota left: {reason}")
        if status in (401, 403):
            return ConfigError(f"{self.name} refused the key in {self.key_env}: {reason}")
        if status == 404:
            return ConfigError(f"{self.name} is not there: {reason}")
        if status in (408, 409, 425, 429) or status >= 500:
            wait = retry_after(response.headers)
            return CallFailed(
                f"HTTP {status}: {reason}", strain=status in (408, 429), retry_after=wait
            )
        return Refused(reason)

    def _redacted(self, text: str) -> str:
        key = os.environ.get(self.key_env)
        return (text.replace(key, "[key]") if key else text)[:500]

    async def _open(self) -> AsyncGenerator[httpx2.AsyncClient, None]:
        key = os.environ.get(self.key_env)
        if not key and self.base_url == HOSTED:
            raise ConfigError(
                f"{self.name} needs a key: set the environment variable {self.key_env}"
            )
        client = httpx2.AsyncClient(
            headers={"authorization": f"Bearer {key}"} if key else {},
            timeout=self._timeout,
            limits=httpx2.Limits(),  # how many calls run at once is the adaptive limit's business
            follow_redirects=True,
        )
        try:
            yield client
        finally:
            await client.aclose()


def public_address(base_url: str) -> str:
    """The address without any user name or password in it."""
    parts = urlsplit(base_url.rstrip("/"))
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _reason(response: httpx2.Response) -> str:
    """The server's words, with its code for the error; whatever it sent if it is none of these."""
    try:
        told = json.loads(response.content)
    except ValueError:
        return response.text
    if isinstance(told, dict):
        told = told.get("error", told)
    if not isinstance(told, dict):
        return str(told)
    words = told.get("message") or told.get("detail") or told
    codes = [str(told[name]) for name in ("type", "code") if told.get(name)]
    return f"{words} ({', '.join(codes)})" if codes else str(words)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: a number, or a date."""
    value = headers.get("retry-after")
    if value is None:
        return None
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return None
