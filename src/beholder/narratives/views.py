"""How a judge sees a sequence: as pictures, or as captions of them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, Protocol, TypeAlias

from beholder.backends import Image
from beholder.backends.images import for_model
from beholder.errors import ItemError, TransientError
from beholder.judges import Judge
from beholder.judges.operations import Caption, JudgedFrame
from beholder.media import inside
from beholder.records import Frame, ItemFailure

Method: TypeAlias = Literal["captions", "sight"]

_KEPT_BYTES = 256 << 20


class View(Protocol):
    """Turns frames into what a judge gets."""

    async def shots(self, frames: Sequence[Frame]) -> list[JudgedFrame]:
        """One shot per frame, in order.

        Raises:
            ItemError: Names the frame that cannot be shown, and why.
        """


class Sight:
    """Pictures, scaled down, in order, with date and place beside them.

    Args:
        root: Folder that images are relative to.
        max_side: Pixels of the longer side; the shape is kept.
    """

    def __init__(self, root: Path, *, max_side: int = 512) -> None:
        self._root = root
        self._max_side = max_side
        self._kept: OrderedDict[str, Image] = OrderedDict()
        self._bytes = 0

    async def shots(self, frames: Sequence[Frame]) -> list[JudgedFrame]:
        """See ``View.shots``."""
        return [JudgedFrame(image=await self.image(f), note=known_data(f) or None) for f in frames]

    async def image(self, frame: Frame) -> Image:
        """The encoded picture of a frame.

        Raises:
            ItemError: There is none, or it cannot be read; names frame and file.
        """
        if frame.image is None:
            raise ItemError(f"frame {frame.id!r} has no image")
        if frame.image in self._kept:
            self._kept.move_to_end(frame.image)
            return self._kept[frame.image]
        try:
            file = inside(self._root, frame.image)
            image = await asyncio.to_thread(for_model, file, self._max_side)
        except ItemError as error:
            raise ItemError(f"frame {frame.id!r}: {error}") from error
        if frame.image not in self._kept:
            self._kept[frame.image] = image
            self._bytes += len(image.data)
        while self._bytes > _KEPT_BYTES:
            self._bytes -= len(self._kept.popitem(last=False)[1].data)
        return image


class Captioner:
    """Writes captions of pictures; one that the data brings comes first.

    Args:
        judge: Writes the captions, or None when all frames have one.
        sight: Shows it the pictures.
        context: What the collection is.
        words: Fewest and most words of a caption.
        language: Language to write in.
    """

    def __init__(
        self,
        judge: Judge | None,
        sight: Sight,
        *,
        context: str = "",
        words: tuple[int, int] = (150, 200),
        language: str = "English",
    ) -> None:
        self._judge = judge
        self._sight = sight
        self._context = context
        self._words = words
        self._language = language

    async def caption(self, frame: Frame) -> str:
        """The caption of a frame.

        Raises:
            ItemError: There is none and none can be made; names the frame.
        """
        if frame.caption:
            return frame.caption
        if self._judge is None:
            raise ItemError(f"frame {frame.id!r} has no caption, and no judge to write one")
        try:
            question = Caption(
                [await self._sight.image(frame)],
                language=self._language,
                min_words=self._words[0],
                max_words=self._words[1],
                context=self._context,
                note=known_data(frame),
            )
            return await self._judge.ask(question)
        except ItemError as error:
            named = str(error).startswith("frame ")
            raise type(error)(str(error) if named else f"frame {frame.id!r}: {error}") from error


class Words:
    """Captions that were written before, with date and place beside them.

    Args:
        captions: Caption per frame id, or why there is none.
    """

    def __init__(self, captions: Mapping[str, str | ItemFailure]) -> None:
        self._captions = captions

    async def shots(self, frames: Sequence[Frame]) -> list[JudgedFrame]:
        """See ``View.shots``."""
        return [
            JudgedFrame(caption=self._caption(frame), note=known_data(frame) or None)
            for frame in frames
        ]

    def _caption(self, frame: Frame) -> str:
        caption = self._captions[frame.id]
        if isinstance(caption, str):
            return caption
        raise (TransientError if caption.transient else ItemError)(caption.message)


def known_data(frame: Frame) -> str:
    """Date and place of a frame as one line; empty when neither is known."""
    date = None if frame.date is None else f"date: {frame.date}"
    place = None if frame.place is None else f"place: {frame.place}"
    return "; ".join(part for part in (date, place) if part)
