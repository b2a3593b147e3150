"""Limits of reading and decoding: regular files up to a size, and pixels at the same time."""

from __future__ import annotations

import io
import os
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from beholder.base.files import open_regular
from beholder.errors import ItemError


@contextmanager
def regular(path: Path, max_bytes: int) -> Iterator[io.BufferedReader]:
    """Open a regular file for reading; a pipe or a device may have no end.

    Raises:
        ItemError: It is missing, no regular file, has more than ``max_bytes``, or cannot be read.
    """
    try:
        with open_regular(path) as raw:
            if (size := os.fstat(raw.fileno()).st_size) > max_bytes:
                raise ItemError(
                    f"{path}: {size} bytes are more than the {max_bytes} read"
                )
            yield io.BufferedReader(raw)
    except FileNotFoundError:
        raise ItemError(f"{path}: there is no such file") from None
    except (OSError, ValueError) as error:
        words = getattr(error, "strerror", None) or str(error)
        raise ItemError(f"{path}: cannot be read ({words})") from error


MOST_PIXELS = 100_000_000
"""Pixels that are decoded at once: one picture of the largest size, or many small ones."""


class Room:
    """Decodings wait here, in order, until their pixels fit.

    Args:
        max_pixels: Pixels at once; a picture with more of them is decoded alone.
    """

    def __init__(self, max_pixels: int) -> None:
        self._most = max_pixels
        self._used = 0
        self._changed = threading.Condition()
        self._waiting: deque[object] = deque()

    @contextmanager
    def reserve(self, n_pixels: int) -> Iterator[None]:
        """Wait for the room of a picture and reserve it. Must not be nested."""
        ticket = object()
        with self._changed:
            self._waiting.append(ticket)
            try:
                self._changed.wait_for(
                    lambda: self._waiting[0] is ticket and self._fits(n_pixels)
                )
                self._used += n_pixels
            finally:
                self._waiting.remove(ticket)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._used -= n_pixels
                self._changed.notify_all()

    def _fits(self, n_pixels: int) -> bool:
        return not self._used or self._used + n_pixels <= self._most


_room = Room(MOST_PIXELS)


def _renew() -> None:
    """Make a new limit in a forked child, which has none of the threads that use the parent's."""
    global _room
    _room = Room(MOST_PIXELS)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)


def room_for(n_pixels: int) -> AbstractContextManager[None]:
    """Wait until a picture of this many pixels may be decoded here, and reserve its memory."""
    return _room.reserve(n_pixels)
