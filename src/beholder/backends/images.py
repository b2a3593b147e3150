"""Pictures from files, as models get them. Every picture that is sent comes from here."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from cachetools import LRUCache

from beholder.backends.base import Image
from beholder.errors import ItemError
from beholder.media import check_image, encode_jpeg, file_bytes, inside, load_image

SENT_SIDE = 1536
"""Pixels of the longer side at which pictures are shown to a judge, where nobody says otherwise: a
camera's picture has ten times what models look at, and is paid for by size."""

KEPT_BYTES = 256 << 20
"""Bytes of encoded pictures that one data set keeps."""

_SENT_AS_IS = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}


def for_model(path: Path, max_side: int | None = None) -> Image:
    """A picture as it is sent: what ``media.load_image`` sees in the file, and nothing else.

    A JPEG, PNG or WebP file that is small enough and of which every reader sees the same (RGB or
    grey, opaque, upright, one frame) is sent byte for byte. Anything else is sent as the JPEG of
    the upright RGB image.

    Args:
        path: The file.
        max_side: Pixels of the longer side at most; None keeps the size.

    Raises:
        ItemError: It is missing, damaged, no picture, or too large; names file and reason.
    """
    file = check_image(path)
    image = load_image(path, max_side=max_side)  # a file that is cut off shows only here
    kind = _SENT_AS_IS.get(file.format)
    plain = file.mode in ("RGB", "L") and not file.notes
    if kind and plain and (max_side is None or max(file.width, file.height) <= max_side):
        return Image(file_bytes(path), kind)
    return Image(encode_jpeg(image), "image/jpeg")


class Pictures:
    """The pictures of a data set; the last ones read are kept, as several questions show one.

    Args:
        folder: What the names of pictures are relative to; None takes the current directory.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path()
        self._kept: LRUCache[tuple[Path, int | None], Image] = LRUCache(
            KEPT_BYTES, getsizeof=lambda image: len(image.data)
        )

    def files(self, names: Sequence[str]) -> list[Path]:
        """The files of pictures as an item names them.

        Raises:
            ItemError: A picture is named by a web address, or a link leads out of the folder.
        """
        for name in names:
            if "://" in name or name.startswith("data:"):
                raise ItemError(f"the picture {name[:80]!r} is no file; fetch it and name the file")
        return [inside(self._folder, name) for name in names]

    async def read(self, names: Sequence[str], max_side: int | None = SENT_SIDE) -> list[Image]:
        """Pictures as models get them, in order; see ``for_model``.

        Raises:
            ItemError: A picture is no file, missing or cannot be read.
        """
        return [await self._one(file, max_side) for file in self.files(names)]

    async def _one(self, file: Path, max_side: int | None) -> Image:
        known = self._kept.get((file, max_side))
        if known is None:
            known = await asyncio.to_thread(for_model, file, max_side)
            if len(known.data) <= KEPT_BYTES:
                self._kept[file, max_side] = known
        return known
