"""Lines of a data file, in bounds; what every reader of rows shares."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import IO, Any, TypeAlias

from beholder.data.packed import MAX_ROW_BYTES
from beholder.errors import DataError

Row: TypeAlias = tuple[int, Any]
"""Row number, and the parsed row or the DataError that stands for it."""

MAX_BLANK_LINES = 1_000_000
"""Blank lines in a row that are passed over: more are a broken file, or a bomb."""


def lines(stream: IO[bytes], name: str) -> Iterator[tuple[int, str | DataError]]:
    """Lines of a text in UTF-8 with their numbers from 1; an error stands for one that is none.

    Raises:
        DataError: The text is in another encoding, or blank over many lines.
    """
    number, last = 0, 0
    while raw := stream.readline(MAX_ROW_BYTES + 1):
        number += 1
        if not raw.isspace():
            last = number
        elif number - last > MAX_BLANK_LINES:
            raise DataError(name, f"has {MAX_BLANK_LINES:,} blank lines in a row", line=number)
        if len(raw) > MAX_ROW_BYTES:
            while raw and not raw.endswith(b"\n"):  # go on behind the line without keeping it
                raw = stream.readline(2**20)
            yield number, too_long(name, number)
            continue
        if number == 1:
            if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise DataError(name, "is UTF-16; save it as UTF-8")
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        try:
            yield number, raw.decode("utf-8")
        except UnicodeDecodeError as error:
            yield number, DataError(name, f"is not UTF-8 at byte {error.start + 1}", line=number)


def too_long(name: str, number: int, what: str = "") -> DataError:
    """The error that stands for a row past the bound, or for what is the row's."""
    reason = f"{what} is longer than {MAX_ROW_BYTES >> 20} MiB".lstrip()
    return DataError(name, reason, line=number)


def strict_json(text: str) -> Any:
    """The value of a JSON text, in which NaN and Infinity are none.

    Raises:
        ValueError: It is not JSON.
        RecursionError: It is nested too deeply.
    """
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")
