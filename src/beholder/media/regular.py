"""Files as they may be read: regular ones, up to a size."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from beholder.errors import ItemError

_NO_WAITING = getattr(os, "O_NONBLOCK", 0)


@contextmanager
def regular(path: Path, max_bytes: int) -> Iterator[io.BufferedReader]:
    """A file open for reading, if it is one: a pipe or a device may have no end.

    Raises:
        ItemError: It is missing, no regular file, has more than ``max_bytes``, or cannot be read.
    """
    try:
        # Without O_NONBLOCK the opening of a pipe would wait for a writer.
        with io.FileIO(path, opener=lambda name, flags: os.open(name, flags | _NO_WAITING)) as raw:
            found = os.fstat(raw.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise ItemError(f"{path}: cannot be read (it is no regular file)")
            if found.st_size > max_bytes:
                raise ItemError(f"{path}: {found.st_size} bytes are more than the {max_bytes} read")
            yield io.BufferedReader(raw)
    except FileNotFoundError:
        raise ItemError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise ItemError(f"{path}: cannot be read ({words})") from error
