"""Files that may be packed, opened: what they unpack to is bounded."""

from __future__ import annotations

import gzip
import io
import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from beholder.errors import DataError
from beholder.remote import file_system, is_url

PACKED = (".gz", ".xz")
"""Endings of packed files."""

MAX_ROW_BYTES = 16 * 2**20
"""Longest row that is read: a longer one is a broken file, and would only fill the memory."""

MAX_UNPACKING = 200
"""How many times its size a file may unpack to, beyond ``MAX_ROW_BYTES``: texts give 3 to 20."""


@contextmanager
def opened(source: str | Path, name: str, packed: str | None) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked.

    Args:
        source: The file, or its URL.
        name: What messages call it.
        packed: One of ``PACKED``, or None.

    Raises:
        DataError: It cannot be read, is damaged, or unpacks to far more than its size.
    """
    try:
        with _plain(source) as plain, _unpacked(plain, packed, name) as stream:
            yield stream
    except (gzip.BadGzipFile, zlib.error, lzma.LZMAError, EOFError) as error:
        raise DataError(name, f"is damaged or not a {packed} file ({error})") from error
    except MemoryError as error:  # an .xz file says how much memory it wants
        raise DataError(name, "needs more memory to unpack than there is") from error
    except OSError as error:
        raise DataError(name, f"cannot be read: {error.strerror or error}") from error


@contextmanager
def _plain(source: str | Path) -> Iterator[IO[bytes]]:
    if is_url(source):
        files, path = file_system(str(source))
        with files.open_input_file(path) as far:
            yield io.BufferedReader(far, 2**20)
        return
    with Path(source).open("rb") as near:
        yield near


def check_unpacking(n_bytes: int, packed: int, name: str) -> None:
    """Refuse what unpacks to more than data of use do.

    Args:
        n_bytes: Bytes that a part of a file unpacks to.
        packed: Its size.
        name: What messages call the file.

    Raises:
        DataError: It is too much.
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
    whole: Any = lzma.LZMAFile(stream) if packed == ".xz" else gzip.GzipFile(fileobj=stream)  # noqa: SIM115
    return io.BufferedReader(_Measured(whole, stream, name), 2**20)


class _Measured(io.RawIOBase):
    """What a file unpacks to, as long as it is not too much."""

    def __init__(self, unpacked: IO[bytes], packed: IO[bytes], name: str) -> None:
        self._unpacked, self._packed, self._name = unpacked, packed, name
        self._n_bytes = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._unpacked.read(len(buffer))
        self._n_bytes += len(data)
        check_unpacking(self._n_bytes, self._packed.tell(), self._name)
        buffer[: len(data)] = data
        return len(data)
