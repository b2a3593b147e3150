"""Lines of a data file, in bounds; what every reader of rows shares."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, TypeAlias, TypeVar

from beholder.base.files import decode_json, file_system, is_url
from beholder.errors import DataError

T = TypeVar("T")

PACKED = (".gz", ".xz")
"""Endings of packed files."""

MAX_ROW_BYTES = 16 * 2**20
"""Longest row that is read: a longer one is a broken file, and would only fill the memory."""

AS_UTF8 = (
    'save it as UTF-8 (in a spreadsheet: "CSV UTF-8" among the types of files; a text of Windows or'
    " Latin 1: iconv -f WINDOWS-1252 -t UTF-8 FILE)"
)
"""Advice for a text in another encoding."""

MAX_UNPACKING = 200
"""The highest ratio of unpacked to packed size, beyond ``MAX_ROW_BYTES``: texts give 3 to 20."""


@contextmanager
def opened(
    source: str | Path, name: str, packed: str | None
) -> Iterator[IO[bytes]]:
    """Open a file for reading, unpacked.

    Args:
        source: The file, or its URL.
        name: Name of the file in messages.
        packed: One of ``PACKED``, or None.

    Raises:
        DataError: The file cannot be read, is damaged, or unpacks to far more than its size.
    """
    try:
        with _plain(source) as file, _unpacked(file, packed, name) as stream:
            yield stream
    except (gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError) as error:
        raise DataError(
            name, f"is damaged or not a {packed} file ({error})"
        ) from error
    except MemoryError as error:  # an .xz file says how much memory it wants
        raise DataError(
            name, "needs more memory to unpack than there is"
        ) from error
    except OSError as error:
        raise DataError(
            name, f"cannot be read: {error.strerror or error}"
        ) from error


def _plain(source: str | Path) -> IO[bytes]:
    if not is_url(source):
        return Path(source).open("rb")
    files, path = file_system(str(source))
    return io.BufferedReader(files.open_input_file(path), 2**20)


def check_unpacking(n_bytes: int, packed: int, name: str) -> None:
    """Check that a file does not unpack to far more than its size, as an archive bomb does.

    Args:
        n_bytes: Bytes that a part of a file unpacks to.
        packed: Size of the part.
        name: Name of the file in messages.

    Raises:
        DataError: The bytes are too many.
    """
    if n_bytes > MAX_ROW_BYTES and n_bytes > MAX_UNPACKING * packed:
        raise DataError(
            name,
            f"unpacks to more than {MAX_UNPACKING} times its size; if that is right, unpack it"
            " first: .jsonl, .csv and .tsv may have any size",
        )


def _unpacked(stream: IO[bytes], packed: str | None, name: str) -> IO[bytes]:
    if packed is None:
        return stream
    unpacked: Any = (
        lzma.LZMAFile(stream)  # noqa: SIM115
        if packed == ".xz"
        else gzip.GzipFile(fileobj=stream)
    )
    return io.BufferedReader(_Measured(unpacked, stream, name), 2**20)


class _Measured(io.RawIOBase):
    """Stream of an unpacked file, which stops if it gets too long."""

    def __init__(
        self, unpacked: IO[bytes], packed: IO[bytes], name: str
    ) -> None:
        self._unpacked, self._packed, self._name = unpacked, packed, name
        self._n_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._unpacked.read(len(buffer))
        self._n_bytes += len(data)
        # Checked while it is read: the size of what is inside cannot be
        # trusted.
        check_unpacking(self._n_bytes, self._packed.tell(), self._name)
        buffer[: len(data)] = data
        return len(data)


def with_line_feeds(stream: IO[bytes]) -> IO[bytes]:
    """Return a stream whose lines end with line feeds; old spreadsheets write returns alone."""
    # A page of bytes is enough to see how lines end.
    head = stream.peek(1) if hasattr(stream, "peek") else b""
    if b"\r" not in head or b"\n" in head:
        return stream
    return io.BufferedReader(_LineFeeds(stream), 2**16)


class _LineFeeds(io.RawIOBase):
    """Stream in which returns are line feeds."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._stream.read(len(buffer)).replace(b"\r", b"\n")
        buffer[: len(data)] = data
        return len(data)


Row: TypeAlias = tuple[int, Any]
"""Row number, and the parsed row or the DataError that stands for it."""

MAX_BLANK_LINES = 1_000_000
"""Blank lines in a row that are skipped: more are a broken file, or a bomb."""


def lines(
    stream: IO[bytes], name: str
) -> Iterator[tuple[int, str | DataError]]:
    """Yield the lines of a UTF-8 text with their numbers from 1; an error stands for a wrong one.

    Raises:
        DataError: The text is in another encoding, or blank over many lines.
    """
    # ``last`` is the last line that is not blank. A file of blank lines packs
    # to almost nothing, so their number is limited.
    number, last = 0, 0
    while raw := stream.readline(MAX_ROW_BYTES + 1):
        number += 1
        if not raw.isspace():
            last = number
        elif number - last > MAX_BLANK_LINES:
            raise DataError(
                name,
                f"has {MAX_BLANK_LINES:,} blank lines in a row",
                line=number,
            )
        if len(raw) > MAX_ROW_BYTES:
            while raw and not raw.endswith(
                b"\n"
            ):  # continue behind the line without keeping it
                raw = stream.readline(2**20)
            yield number, too_long(name, number)
            continue
        if number == 1:
            # A byte order mark: of UTF-16, or of UTF-8, which spreadsheets
            # write.
            if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                raise DataError(name, f"is UTF-16; {AS_UTF8}")
            if b"\x00" in raw[:2]:
                raise DataError(name, f"is UTF-16; {AS_UTF8}")
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        try:
            yield number, raw.decode("utf-8")
        except UnicodeDecodeError as error:
            reason = f"is not UTF-8 at byte {error.start + 1}; {AS_UTF8}"
            yield number, DataError(name, reason, line=number)


def read_jsonl(stream: IO[bytes], name: str) -> Iterator[Row]:
    """Yield the rows of a file with a JSON value on each line; blank lines are skipped.

    Raises:
        DataError: The file is one JSON value over several lines.
    """
    for number, line in lines(stream, name):
        if (
            # An opening bracket alone is how indented JSON begins.
            number == 1
            and isinstance(line, str)
            and line.strip() in ("[", "{")
        ):
            raise DataError(
                name,
                "is one JSON value over several lines, and not a row a line: call it .json",
            )
        if isinstance(line, DataError):
            yield number, line
        elif line.strip():
            try:
                yield number, strict_json(line)
            except (ValueError, RecursionError) as error:
                reason = f"is not JSON: {error}"
                yield number, DataError(name, reason, line=number)


def parse_json(data: bytes, name: str) -> Any:
    """Return the value of a JSON file.

    Raises:
        DataError: It is not JSON in UTF-8.
    """
    try:
        return strict_json(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise DataError(
            name, f"is not UTF-8 at byte {error.start + 1}; {AS_UTF8}"
        ) from error
    except (ValueError, RecursionError) as error:
        raise DataError(name, f"is not JSON: {error}") from error


def read_records(path: Path, kind: type[T], expected: str = "") -> Iterator[T]:
    """Yield the rows of a JSONL file as records; blank lines are skipped.

    Args:
        path: The file; only a line feed ends a line, as texts may contain U+2028 and others.
        kind: The type of the records; fields that it does not have are ignored.
        expected: Fields of a row, for the message.

    Raises:
        DataError: The file cannot be read, or a line is not such a record; names the line.
    """
    name = str(path)
    with opened(path, name, None) as stream:
        for number, line in lines(stream, name):
            if isinstance(line, DataError):
                raise line
            if not line.strip():
                continue
            try:
                yield decode_json(line, kind)
            except ValueError as error:
                advice = f"; expected {expected}" if expected else ""
                raise DataError(
                    name, f"{error}{advice}", line=number
                ) from None


def too_long(name: str, number: int, what: str = "") -> DataError:
    """Return the error of a row over ``MAX_ROW_BYTES``, or of a named part of it."""
    reason = f"{what} is longer than {MAX_ROW_BYTES >> 20} MiB".lstrip()
    return DataError(name, reason, line=number)


def strict_json(text: str) -> Any:
    """Parse a JSON text, in which NaN and Infinity are not valid.

    Raises:
        ValueError: The text is not JSON.
        RecursionError: The text is nested too deeply.
    """
    # Python accepts NaN and Infinity, which are not JSON.
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(constant: str) -> None:
    raise ValueError(f"{constant} is not a JSON number")
