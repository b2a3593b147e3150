"""Addresses that a vendor's SDK asks: it makes the requests, and ``Connection`` sends them.

So bounds, redirects, masked keys and the meaning of errors are the same for every server. An SDK
never sees an answer: reading it into typed records costs more than all else we do for a call.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextvars import ContextVar
from typing import Any

import httpx2

from beholder.aio import PerLoop
from beholder.backends.batch_queue import MOST_RESULT_BYTES
from beholder.backends.calls import CallFailed, Refused
from beholder.backends.openai_http import MOST_BYTES, Connection
from beholder.errors import BeholderError

_OURS = ("accept-encoding", "connection", "content-length", "host")
"""Headers that our client writes."""

_answer: ContextVar[list[bytes]] = ContextVar("answer")


class SDKConnection(Connection):
    """One address with its key, asked by an SDK; see ``Connection``."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._sdks = PerLoop(self._open_sdk)

    @abstractmethod
    def _make_sdk(self, key: str, client: httpx2.AsyncClient) -> Any:
        """The SDK's client, which sends by ours and tries nothing again."""

    @abstractmethod
    async def _ask(self, sdk: Any, path: str, body: Mapping[str, Any]) -> object:
        """Have the SDK post a body."""

    async def instead(self, model: str) -> str:
        """See ``Connection``; what vendors list is named in their documentation."""
        return ""

    async def sent(self, ask: Callable[[Any], Awaitable[object]]) -> bytes:
        """The body of the answer to what an SDK asks; errors as in ``request``."""
        sdk = await self._sdks.get()
        bodies: list[bytes] = []
        token = _answer.set(bodies)
        try:
            await ask(sdk)
        except Exception as error:
            ours = (CallFailed, Refused, BeholderError)
            if not isinstance(error, ours) and isinstance(error.__cause__, ours):
                raise error.__cause__ from None  # as it was before the SDK wrapped it
            raise
        finally:
            _answer.reset(token)
        return bodies[-1]

    async def _send(self, path: str, body: Mapping[str, Any], most: int) -> bytes:
        return await self.sent(lambda sdk: self._ask(sdk, path, body))

    def _key_headers(self, key: str) -> dict[str, str]:
        return {}  # the SDK writes them

    async def _open_sdk(self) -> AsyncGenerator[Any, None]:
        await self._lines.get()  # refuses a wrong key in our words
        client = httpx2.AsyncClient(transport=_Through(self), follow_redirects=False)
        yield self._make_sdk(self._key() or "none", client)


class _Through(httpx2.AsyncBaseTransport):
    """Sends what an SDK made, keeps the answer, and gives the SDK an empty one."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        path = str(request.url).removeprefix(self._connection.base_url)
        headers = {name: said for name, said in request.headers.items() if name not in _OURS}
        most = MOST_RESULT_BYTES if "/batches/" in path else MOST_BYTES
        content = await request.aread()
        body = await self._connection.request(
            request.method, path, most=most, content=content, headers=headers
        )
        _answer.get().append(body)
        return httpx2.Response(200, json={}, request=request)
