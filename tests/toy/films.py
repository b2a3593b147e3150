"""Tiny videos: the picture that begins at second n/10 is a plain grey of tone 8 n."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import cast

import av
import numpy as np

RATE = 10


def write_film(
    file: Path,
    n: int = 30,
    *,
    codec: str = "libx264",
    size: tuple[int, int] = (64, 48),
    whole_every: int = 10,
    begins: int = 0,
    options: dict[str, str] | None = None,
    left_white: bool = False,
) -> Path:
    """Write a video.

    Args:
        file: Its ending says the container.
        n: Pictures, ten a second.
        codec: How they are encoded.
        size: Width and height.
        whole_every: Pictures from one whole picture to the next.
        begins: Place in time of the first picture, in pictures.
        options: Of the encoder.
        left_white: Draw the left half white.
    """
    with av.open(str(file), "w") as container:
        stream = cast(
            av.VideoStream,
            container.add_stream(codec, rate=RATE, options=options or {}),
        )
        stream.width, stream.height = size
        stream.pix_fmt = "yuv420p"
        stream.gop_size = whole_every
        stream.bit_rate = 4_000_000  # far more than a plain grey takes
        for place in range(n):
            pixels = np.full((size[1], size[0], 3), 8 * place, np.uint8)
            if left_white:
                pixels[:, : size[0] // 2] = 255
            frame = av.VideoFrame.from_ndarray(pixels, format="rgb24")
            frame.pts, frame.time_base = begins + place, Fraction(1, RATE)
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return file
