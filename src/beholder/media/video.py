"""Pictures of a video by time: ``film.mp4#t=3.5`` is what it shows at 3.5 s (extra ``video``).

A file from anywhere is taken for hostile: only containers that hold their own data are opened (a
playlist would make the reader open what it names), and size, pixels and work have limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from PIL import Image

from beholder.base.optional import require
from beholder.errors import ItemError
from beholder.media.limits import regular, room_for

if TYPE_CHECKING:
    from av.container import InputContainer
    from av.video.frame import VideoFrame
    from av.video.stream import VideoStream

ENDINGS = (
    ".mp4",
    ".m4v",
    ".mov",
    ".webm",
    ".mkv",
    ".avi",
    ".mpg",
    ".mpeg",
    ".ts",
)
"""Endings of videos."""

MAX_BYTES = 20_000_000_000
"""Largest video file that is opened; what is not looked at is not read."""

MAX_DECODED = 20_000_000_000
"""Pixels that are decoded to come from the last whole picture of a video to the one that is wanted:
about a minute's work."""

_CONTAINERS = "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpeg,mpegts"
_TIME = r"(?:\d+:){0,2}\d+(?:\.\d+)?"
_PART = re.compile(
    rf"(.+)#t=({_TIME})(?:,({_TIME})(?:&fps=(\d+(?:\.\d+)?))?)?", re.DOTALL
)
_MOST_FPS = 24


class Moment(NamedTuple):
    """A picture of a video.

    Attributes:
        file: The video.
        seconds: From its first picture; exact, so that 0.3 is not before the picture at 3/10.
    """

    file: Path
    seconds: Fraction


class Section(NamedTuple):
    """A part of a video that is shown as a film: from a second to a second, at a frame rate."""

    file: Path
    start: float
    end: float
    fps: float


def moment(path: Path) -> Moment | None:
    """Parse ``FILE#t=SECONDS`` (also ``#t=M:S`` and ``#t=H:M:S``); None for other names.

    The moment of a ``section`` is its beginning.
    """
    match = _PART.fullmatch(str(path))
    return (
        None if match is None else Moment(Path(match[1]), _seconds(match[2]))
    )


def section(path: Path) -> Section | None:
    """Parse ``FILE#t=START,END`` (also with ``&fps=RATE``); None for other names.

    Raises:
        ItemError: It ends before it begins, or has no such frame rate.
    """
    match = _PART.fullmatch(str(path))
    if match is None or match[3] is None:
        return None
    start = float(_seconds(match[2]))
    end = float(_seconds(match[3]))
    fps = float(match[4] or 1)
    if end <= start or not 0 < fps <= _MOST_FPS:
        raise ItemError(
            f"{path}: expected an end after the start, and fps above 0 and at most {_MOST_FPS}"
        )
    return Section(
        file=Path(match[1]),
        start=start,
        end=end,
        fps=fps,
    )


def _seconds(time: str) -> Fraction:
    seconds = Fraction(0)
    for part in time.split(":"):
        seconds = 60 * seconds + Fraction(part)
    return seconds


def load_frame(moment: Moment, *, max_pixels: int) -> Image.Image:
    """Decode the picture of a video at a time: the last that began by then, upright, as RGB.

    Args:
        moment: The video and the time.
        max_pixels: Refuse larger pictures before decoding them.

    Raises:
        ItemError: The file is missing, no video, damaged or too large, or ends before the time.
        MissingExtraError: PyAV is not installed.
    """
    with _opened(moment.file, max_pixels) as (container, stream):
        context = stream.codec_context
        with room_for(context.width * context.height):
            frame = _frame_at(container, stream, moment)
            picture = Image.fromarray(frame.to_ndarray(format="rgb24"))
            return (
                picture.rotate(frame.rotation, expand=True)
                if frame.rotation
                else picture
            )


def frame_size(file: Path, *, max_pixels: int) -> tuple[int, int]:
    """Width and height of a video's pictures as the file says them; errors as ``load_frame``."""
    with _opened(file, max_pixels) as (_, stream):
        return stream.codec_context.width, stream.codec_context.height


def duration(file: Path, *, max_pixels: int) -> float:
    """Return the length of a video in seconds; errors as ``load_frame``.

    Raises:
        ItemError: Also where the file does not say it, as live recordings may not.
    """
    with _opened(file, max_pixels) as (container, stream):
        if stream.duration is not None and stream.time_base is not None:
            return float(stream.duration * stream.time_base)
        if container.duration is not None:
            return container.duration / 1_000_000
    raise ItemError(
        f"{file}: does not say how long it lasts; name its pictures by time, as #t=3.5"
    )


@contextmanager
def _opened(
    file: Path, max_pixels: int
) -> Iterator[tuple[InputContainer, VideoStream]]:
    av: Any = require(
        "av", extra="video", purpose=f"a picture of the video {file.name}"
    )
    with regular(file, MAX_BYTES) as raw:
        try:
            with av.open(
                raw, options={"format_whitelist": _CONTAINERS}
            ) as container:
                if not container.streams.video:
                    raise ItemError(f"{file}: contains no video")
                stream = container.streams.video[0]
                context = stream.codec_context
                if context.width * context.height > max_pixels:
                    raise ItemError(
                        f"{file}: {context.width} x {context.height} pixels are more than the"
                        f" {max_pixels} that are read; scale the video down first"
                    )
                context.options = {"max_pixels": str(max_pixels)}
                # Runs have processes enough.
                context.thread_count = 1
                yield container, stream
        except ItemError:
            raise
        except MemoryError as error:
            raise ItemError(
                f"{file}: too large for the memory of this machine"
            ) from error
        except Exception as error:
            # Readers of damaged files raise nearly anything.
            raise ItemError(
                f"{file}: cannot be read as a video, or is damaged ({error}); read are"
                f" {', '.join(ENDINGS)}"
            ) from error


def _frame_at(
    container: InputContainer, stream: VideoStream, moment: Moment
) -> VideoFrame:
    base = stream.time_base or Fraction(1, 1_000_000)
    first = stream.start_time or 0
    target = first + int(moment.seconds / base)
    container.seek(target, stream=stream)
    frame, ended = _last_until(container, stream, target, moment.file)
    # The index of some files points behind the picture that is asked for: decode from the start.
    if frame is None:
        container.seek(first, stream=stream)
        frame, ended = _last_until(container, stream, target, moment.file)
    if frame is None:
        raise ItemError(
            f"{moment.file}: has no picture at {float(moment.seconds):g} s that can be decoded"
        )
    if ended and frame.pts is not None:
        frame_duration = frame.duration or (
            1 / stream.average_rate / base if stream.average_rate else 0
        )
        end = frame.pts + frame_duration
        if target >= end:
            raise ItemError(
                f"{moment.file}: has no picture at {float(moment.seconds):g} s; it ends at"
                f" {float((end - first) * base):g} s"
            )
    return frame


def _last_until(
    container: InputContainer, stream: VideoStream, target: int, file: Path
) -> tuple[VideoFrame | None, bool]:
    """The last picture that begins by a time, and whether the video ends with it."""
    last_frame: VideoFrame | None = None
    n_pixels = 0
    for frame in container.decode(stream):
        if frame.pts is not None:
            if frame.pts > target:
                return last_frame, False
            last_frame = frame
        n_pixels += frame.width * frame.height
        if n_pixels > MAX_DECODED:
            raise ItemError(
                f"{file}: more than {MAX_DECODED:,} pixels lie between two whole pictures of the"
                " video; encode it again with more key frames"
            )
    return last_frame, True
