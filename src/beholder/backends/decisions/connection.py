"""Connections to servers of decision models: headers, envelopes and the words of their failures."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, ClassVar

from beholder.backends.base import JsonDict, JsonObject
from beholder.backends.calls import CallFailed, Refused
from beholder.backends.decisions.servers import server_at
from beholder.backends.openai_http import MOST_BYTES, Connection, retry_after
from beholder.errors import RunError

_SAYS_TOO_MUCH = re.compile(
    r"too (many|long|large|big)|at most|maximum|max_tokens|exceed|limit"
    r"|longer than|context",
    re.IGNORECASE,
)
"""Finds in a server's refusal that fewer questions could pass."""
_DAILY_QUOTA, _NO_ROOM = 3036, 3040
"""Cloudflare's codes: no quota left today, and no room at the moment."""


class TooMuch(Refused):
    """The server refused a request for its size, so that fewer questions could pass."""


class DecisionConnection(Connection):
    """An address of a server of decision models."""

    KIND: ClassVar[str]

    def _key_headers(self, key: str) -> dict[str, str]:
        server = server_at(self.base_url, self.KIND)
        if server.key_header == "authorization":
            headers = super()._key_headers(key)
        else:
            headers = {server.key_header: key} if key else {}
        return headers | dict(server.headers)

    async def post(
        self, path: str, body: JsonObject, *, max_bytes: int = MOST_BYTES
    ) -> Any:
        """Return the JSON answer; an envelope that reports a failure is an error."""
        answer = await super().post(path, body, max_bytes=max_bytes)
        if isinstance(answer, dict) and answer.get("success") is False:
            raise self._failure(502, {}, json.dumps(answer).encode())
        return answer

    def _failure(
        self, status: int, headers: Mapping[str, str], body: bytes
    ) -> Exception:
        codes = _error_codes(body)
        if _DAILY_QUOTA in codes:
            return RunError(f"{self.name}: the day's quota is used up")
        if _NO_ROOM in codes:
            return CallFailed(
                "the server has no room",
                strain=True,
                retry_after=retry_after(headers),
                status=status,
            )
        failure = super()._failure(status, headers, body)
        if isinstance(failure, Refused) and (
            status == 413 or _SAYS_TOO_MUCH.search(failure.reason)
        ):
            return TooMuch(failure.reason, broke=failure.broke)
        return failure

    async def suggest_models(self, model: str) -> str:
        """Return nothing: vendors list their models in their documentation."""
        return ""


class OpenAIConnection(DecisionConnection):
    """An address that takes the forms of OpenAI and Google."""

    KIND = "decisions"


class SystemOneConnection(DecisionConnection):
    """An address that takes TypeSafe's form."""

    KIND = "systemone"


def _error_codes(body: bytes) -> set[object]:
    """Return the codes in the envelope ``{"errors": [{"code": ...}]}``."""
    try:
        errors = json.loads(body)["errors"]
        return {error["code"] for error in errors}
    except (ValueError, LookupError, TypeError, RecursionError):
        return set()


def unwrap(data: object) -> JsonDict:
    """Return the response out of the envelope that some servers put around it."""
    if not isinstance(data, dict):
        raise CallFailed("the server's answer is not a JSON object")
    for name in ("result", "response"):
        content = data.get(name)
        if "answers" not in data and isinstance(content, dict):
            return content
    return data
