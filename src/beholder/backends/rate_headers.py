"""The pause that a response's headers ask for."""

from __future__ import annotations

import email.utils
import math
import re
import time
from collections.abc import Mapping


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
