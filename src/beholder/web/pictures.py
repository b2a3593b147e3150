"""Pictures for pages, those of a folder and those of a run: loaded, reduced and encoded again."""

from __future__ import annotations

import hashlib
import threading
from pathlib import Path
from typing import Any

from cachetools import LRUCache
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from beholder.errors import ItemError, MissingExtraError
from beholder.media import (
    encode_jpeg,
    file_below,
    file_of,
    inside,
    load_image,
)
from beholder.run import manifest
from beholder.run.subjects import KINDS
from beholder.run.thumbs import FOLDER, thumb
from beholder.web.items import RunView

SIDES = (240, 1200)
"""Pixels of the longer side: in a list, on a page of its own."""

_KEPT_BYTES = 64_000_000


class SmallPictures:
    """Small copies of the pictures below one folder; nothing outside it is read.

    Args:
        root: The folder.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._cache: LRUCache[tuple[Path, int, int], bytes] = LRUCache(
            _KEPT_BYTES, getsizeof=len
        )
        self._lock = threading.Lock()

    def jpeg(self, name: str, side: int) -> bytes:
        """Return a picture as JPEG bytes without metadata.

        Args:
            name: Its path, relative to the folder or absolute.
            side: Pixels of the longer side at most.

        Raises:
            ItemError: It is outside the folder, is missing or not a picture, or it is a frame of
                a video and the extra that reads videos is not installed.
        """
        # The time of the last change is part of the key: a picture that was replaced is read again.
        path = inside(self.root, name)
        file = self.file(name)
        try:
            key = (path, file.stat().st_mtime_ns, side)
        except OSError as error:
            raise ItemError(
                f"{name}: cannot be read ({error.strerror})"
            ) from error
        with self._lock:
            jpeg = self._cache.get(key)
        if jpeg is None:
            # Decoded without the lock: two requests may do the same work, but none waits.
            try:
                jpeg = encode_jpeg(load_image(path, max_side=side))
            except MissingExtraError as error:
                raise ItemError(str(error)) from error
            with self._lock:
                if len(jpeg) <= _KEPT_BYTES:
                    self._cache[key] = jpeg
        return jpeg

    def file(self, name: str) -> Path:
        """Return the file that contains a picture, such as the video of a frame.

        Raises:
            ItemError: It is outside the folder.
        """
        # Data may name pictures by absolute paths and through links. Pages serve them to other
        # machines, so here the file itself must be in the folder.
        return file_below(self.root, name)

    def response(self, request: Request, name: str, side: int) -> Response:
        """Return a picture as a response; 304 if the browser has the same.

        Raises:
            ItemError: As ``jpeg``.
        """
        data = self.jpeg(name, side)
        tag = f'"{hashlib.sha256(data).hexdigest()[:32]}"'
        headers = {"etag": tag, "cache-control": "private, max-age=300"}
        if request.headers.get("if-none-match") == tag:
            return Response(status_code=304, headers=headers)
        return Response(data, media_type="image/jpeg", headers=headers)


class RunPictures:
    """Pictures of one run: those of its data, or else the thumbnails in the run's folder.

    Args:
        view: The run.
        media_root: Base folder of paths; None for the folder of the data.
    """

    def __init__(self, view: RunView, media_root: Path | None) -> None:
        self._folder = view.folder
        self._one_a_subject = (
            view.kind != "narratives"
        )  # there, thumbnails are of all frames
        media_root = media_root or manifest.data_folder(view.folder)
        self._found = None if media_root is None else SmallPictures(media_root)
        self._kept = SmallPictures(view.folder / FOLDER)

    def has(
        self,
        kind: str,
        position: int,
        subject: Any,
        number: int = 0,
    ) -> bool:
        """Return whether a subject has a picture file; it is not opened, so it may be damaged."""
        return self._find(kind, position, subject, number) is not None

    def response(
        self,
        request: Request,
        kind: str,
        position: int,
        subject: Any,
        number: int,
    ) -> Response:
        """Return a picture of a subject; a small one if the query has ``small=1``.

        Raises:
            HTTPException: There is none, or it cannot be shown; says why (404).
        """
        place = self._find(kind, position, subject, number)
        if place is None:
            raise HTTPException(
                404,
                f"picture {number}: not found; say where pictures lie with --media-root",
            )
        pictures, name = place
        is_small = request.query_params.get("small") == "1"
        try:
            return pictures.response(request, name, SIDES[not is_small])
        except ItemError as error:
            raise HTTPException(404, str(error)) from error

    def frame(self, request: Request, number: int) -> Response:
        """Return the thumbnail of a frame of storylines, by its number in the run.

        Raises:
            HTTPException: There is none (404).
        """
        try:
            return self._kept.response(
                request, thumb(self._folder, number).name, SIDES[0]
            )
        except ItemError:
            raise HTTPException(
                404, f"the run keeps no picture of frame {number}"
            ) from None

    def _find(
        self,
        kind: str,
        position: int,
        subject: Any,
        number: int,
    ) -> tuple[SmallPictures, str] | None:
        """Return the folder and the name of a picture of the data, or of a thumbnail of the run."""
        images = tuple(KINDS[kind].pictures(subject))
        if number >= len(images):
            return None
        if self._found is not None:
            try:
                if file_of(self._found.root / images[number]).is_file():
                    return self._found, images[number]
            except (OSError, ValueError):
                # The name in the data is too long for a file, or contains a NUL.
                pass
        if number == 0 and (kind == "picture" or self._one_a_subject):
            path = thumb(self._folder, position)
            if path.is_file():
                return self._kept, path.name
        return None
