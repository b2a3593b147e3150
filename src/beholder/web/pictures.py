"""Pictures for pages: loaded, reduced and encoded again."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path

from cachetools import LRUCache
from starlette.requests import Request
from starlette.responses import Response

from beholder.errors import ItemError, MissingExtraError
from beholder.media import encode_jpeg, file_of, inside, load_image

SIDES = (240, 1200)
"""Pixels of the longer side: in a list, on a page of its own."""

_KEPT_BYTES = 64_000_000


class SmallPictures:
    """Small copies of the pictures below one folder; nothing outside it is ever read."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._made: LRUCache[tuple[Path, int, int], bytes] = LRUCache(_KEPT_BYTES, getsizeof=len)
        self._lock = threading.Lock()

    def jpeg(self, name: str, side: int) -> bytes:
        """A picture as JPEG bytes without metadata.

        Args:
            name: Its path, relative to the folder or absolute.
            side: Pixels of the longer side at most.

        Raises:
            ItemError: It lies outside the folder, is missing, is no picture, or one of a video and
                what reads videos is not installed.
        """
        path = inside(self.root, name)
        # An absolute name is the data's word; here it must lie in the folder, too.
        file = file_of(path)
        if not file.resolve().is_relative_to(self.root.resolve()):
            raise ItemError(f"{name}: lies outside {self.root}")
        try:
            key = (path, file.stat().st_mtime_ns, side)
        except OSError as error:
            raise ItemError(f"{name}: cannot be read ({error.strerror})") from error
        with self._lock:
            found = self._made.get(key)
        if found is None:
            try:
                found = encode_jpeg(load_image(path, max_side=side))
            except MissingExtraError as error:
                raise ItemError(str(error)) from error
            with self._lock:
                if len(found) <= _KEPT_BYTES:
                    self._made[key] = found
        return found

    def response(self, request: Request, name: str, side: int) -> Response:
        """A picture as an answer; 304 when the browser has it. Raises as ``jpeg``."""
        data = self.jpeg(name, side)
        tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
        headers = {"etag": tag, "cache-control": "private, max-age=300"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(data, media_type="image/jpeg", headers=headers)
