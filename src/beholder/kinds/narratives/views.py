"""What a judge gets of pictures: themselves, or captions of them, with date and place beside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from beholder.backends import Image
from beholder.errors import ItemError, TransientError
from beholder.judges.operations import JudgedFrame
from beholder.metrics.tools import Tools
from beholder.records import Frame, ItemFailure

Captions: TypeAlias = Mapping[str, str | ItemFailure]
"""Caption per frame id, or why there is none."""


async def by_sight(frame: Frame, tools: Tools, max_side: int) -> JudgedFrame:
    """A picture as it is shown.

    Raises:
        ItemError: There is none, or it cannot be read; names frame and file.
    """
    return JudgedFrame(image=await picture(frame, tools, max_side), note=known_data(frame) or None)


def by_caption(frame: Frame, captions: Captions) -> JudgedFrame:
    """A picture in words that were written before.

    Raises:
        ItemError: It has no caption; the reason is that of the caption.
    """
    caption = captions[frame.id]
    if isinstance(caption, ItemFailure):
        raise (TransientError if caption.transient else ItemError)(caption.message)
    return JudgedFrame(caption=caption, note=known_data(frame) or None)


async def picture(frame: Frame, tools: Tools, max_side: int) -> Image:
    """The picture of a frame as it is sent, its longer side of at most ``max_side`` pixels.

    Raises:
        ItemError: There is none, or it cannot be read; names frame and file.
    """
    if frame.image is None:
        raise ItemError(f"frame {frame.id!r} has no image")
    try:
        (image,) = await tools.pictures.read([frame.image], max_side)
    except ItemError as error:
        raise ItemError(f"frame {frame.id!r}: {error}") from error
    return image


def known_data(frame: Frame) -> str:
    """Date and place of a frame as one line; empty when neither is known."""
    date = None if frame.date is None else f"date: {frame.date}"
    place = None if frame.place is None else f"place: {frame.place}"
    return "; ".join(part for part in (date, place) if part)
