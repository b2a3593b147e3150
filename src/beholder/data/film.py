"""Pictures of videos for rows that have none: evenly spaced, or one a part of a timed text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from beholder.data.row import RowError
from beholder.errors import ItemError
from beholder.media import MAX_PIXELS, inside, video
from beholder.options import Frames
from beholder.records import Item


def with_frames(item: Item, frames: Frames, root: Path) -> Item:
    """The item with pictures of its video, named by time; as it is if it has pictures or no video.

    Args:
        item: The item.
        frames: How many, in the middle of as many equal parts of the video; or ``cues``: one in the
            middle of each cue of ``meta["cues"]``, as ``.vtt`` and ``.srt`` give them.
        root: What the video's name is relative to.

    Raises:
        RowError: The video cannot be read, or the row has no cues.
    """
    if item.images or item.video is None:
        return item
    if frames == "cues":
        found = item.meta.get("cues")
        if not found:
            raise RowError(
                "has no cues in meta, as .vtt and .srt give them; --frames N takes pictures evenly"
            )
        times = [(start + end) / 2 for start, end, _ in found]
    else:
        try:
            length = video.duration(inside(root, item.video), max_pixels=MAX_PIXELS)
        except ItemError as error:
            raise RowError(str(error), "video") from error
        times = [length * (2 * n + 1) / (2 * frames) for n in range(frames)]
    return replace(item, images=_named(item.video, times))


def _named(name: str, times: Sequence[float]) -> tuple[str, ...]:
    return tuple(f"{name}#t={time:.3f}".rstrip("0").rstrip(".") for time in times)


def video_beside(file: Path) -> str | None:
    """The video of a timed text: ``film.mp4`` beside ``film.en.vtt``; None where there is none."""
    stem = file.name.partition(".")[0]
    names = (f"{stem}{ending}" for ending in video.ENDINGS)
    return next((name for name in names if (file.parent / name).is_file()), None)
