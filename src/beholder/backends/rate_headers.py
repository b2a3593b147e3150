"""What the headers of an answer say about when the next request may come."""

from __future__ import annotations

import email.utils
import math
import re
import time
from collections.abc import Mapping
from contextvars import ContextVar
from datetime import datetime
from typing import NamedTuple

answered: ContextVar[Mapping[str, str]] = ContextVar("answered")
"""Headers of the last answer that came in a task; whoever asks in it reads them."""

_FORMS = ("x-ratelimit-{field}-{what}", "anthropic-ratelimit-{what}-{field}")
_SAYS = "-ratelimit-"
_COUNTED = ("requests", "tokens", "input-tokens", "output-tokens")
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|[dhms]?)")
_UNITS = {"ms": 0.001, "": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_SLOWEST = 1 / 60
"""Calls a second at least: whatever a server says is left, it is asked again after a minute."""


class RoomLeft(NamedTuple):
    """Calls that may start now, and how many more may start each second."""

    calls: float
    rate: float


def room_left(headers: Mapping[str, str], tokens: int) -> RoomLeft | None:
    """How many calls a server still takes; None if it does not say, or makes no sense.

    Servers count by buckets that fill evenly, and ``reset`` is when a bucket is full again.

    Args:
        headers: Of an answer.
        tokens: Of a call, about.
    """
    found: list[RoomLeft] = []
    if not any(_SAYS in name for name in headers):
        return None
    for form in _FORMS:
        for what in _COUNTED:
            told = (headers.get(form.format(what=what, field=f)) for f in ("limit", "remaining"))
            try:
                most, left = (float(number) for number in told if number is not None)
                wait = _wait(headers[form.format(what=what, field="reset")], headers)
            except (ValueError, LookupError):
                continue
            each = 1 if what == "requests" else max(tokens, 1)
            if 0 <= left < most < math.inf and wait > 0:
                rate = max((most - left) / wait / each, _SLOWEST)
                found.append(RoomLeft(left / each, rate))
    return min(found, default=None)


def _wait(reset: str, headers: Mapping[str, str]) -> float:
    """Seconds until a moment, by the server's clock if it shows it, or of spans such as 6m0s."""
    if "T" in reset:
        now = headers.get("date")
        sent = time.time() if now is None else _moment(now)
        return datetime.fromisoformat(reset).timestamp() - sent
    spans = _SPAN.findall(reset)
    if not spans or "".join(number + unit for number, unit in spans) != reset:
        raise ValueError(reset)
    return sum(float(number) * _UNITS[unit] for number, unit in spans)


def _moment(date: str) -> float:
    return email.utils.parsedate_to_datetime(date).timestamp()


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that the server asks to wait: a number, also of milliseconds, or a date."""
    value = headers.get("retry-after-ms")
    try:
        if value is not None:
            seconds = float(value) / 1000
        else:
            value = headers["retry-after"]
            number = re.fullmatch(r"[-+.\w]*", value) is not None
            seconds = float(value) if number else _moment(value) - time.time()
    except (ValueError, LookupError, OverflowError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
