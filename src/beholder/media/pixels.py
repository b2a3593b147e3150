"""Decoded pixels become upright RGB, in bands of rows, so that no second whole copy is made."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator

import numpy as np
from PIL import ExifTags, Image, ImageOps, _imaging

LARGE = 24_000_000
"""Pixels from which a picture that is shown smaller is scaled down before it is turned upright."""

BAND_PIXELS = 1_000_000
"""Pixels that are scaled at once, which bounds the memory."""
# LANCZOS looks at so many pixels of the result to each side of one of its pixels.
_TAPS = 3

if "PILLOW_BLOCK_SIZE" not in os.environ:
    # Pixels lie in blocks of 16 MiB, which the C library keeps for the thread that gave them back;
    # blocks beyond 32 MiB go back to the system at once.
    _imaging.set_block_size(64 << 20)


def upright_rgb(image: Image.Image, max_side: int | None) -> Image.Image:
    """The picture as upright RGB, at most ``max_side`` long.

    Transparent parts become white; 16-bit grey is scaled to 8 bits.

    Args:
        image: Decoded; its pixels are given up.
        max_side: Pixels of the longer side; None keeps the size.

    Raises:
        ValueError: The pixels have no agreed meaning as RGB.
    """
    if image.mode == "F":
        raise ValueError(
            "floating-point pixels have no agreed range; save it as 8-bit"
        )
    if max_side is None or image.width * image.height <= LARGE:
        ImageOps.exif_transpose(image, in_place=True)
        upright = (
            image
            if image.mode == "RGB" and _is_opaque(image)
            else _by_bands(image)
        )
        return upright if max_side is None else fit(upright, max_side)
    orientation = image.getexif().get(ExifTags.Base.Orientation, 1)
    small = _scaled_by_bands(image, max_side)
    small.getexif()[ExifTags.Base.Orientation] = orientation
    ImageOps.exif_transpose(small, in_place=True)
    return small


def fit(image: Image.Image, max_side: int) -> Image.Image:
    """The image scaled down, shape kept, until its longer side has at most ``max_side`` pixels."""
    size = _fitted(image.size, max_side)
    return (
        image
        if size == image.size
        else image.resize(size, Image.Resampling.LANCZOS)
    )


def _fitted(size: tuple[int, int], max_side: int) -> tuple[int, int]:
    scale = min(1.0, max_side / max(size))
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def _by_bands(image: Image.Image) -> Image.Image:
    rgb = Image.new("RGB", image.size)
    for top, bottom in _bands(image.height, image.width):
        rgb.paste(_band(image, top, bottom), (0, top))
    if _is_opaque(image) and not image.mode.startswith("I"):
        # As conversion by Pillow keeps it.
        rgb.info = image.info.copy()
    return rgb


def _scaled_by_bands(image: Image.Image, max_side: int) -> Image.Image:
    """Return the same picture as ``fit``, scaled band by band.

    Each band is cut with the rows around it that the filter looks at.
    """
    width, height = _fitted(image.size, max_side)
    scale = image.height / height
    margin = math.ceil(_TAPS * max(1.0, scale)) + 1
    small = Image.new("RGB", (width, height))
    for first, last in _bands(height, math.ceil(image.width * scale)):
        top = max(0, math.floor(first * scale) - margin)
        bottom = min(image.height, math.ceil(last * scale) + margin)
        box = (
            0.0,
            first * scale - top,
            float(image.width),
            min(last * scale, bottom) - top,
        )
        band = _band(image, top, bottom)
        part = band.resize(
            (width, last - first), Image.Resampling.LANCZOS, box
        )
        small.paste(part, (0, first))
    return small


def _bands(height: int, pixels_per_row: int) -> Iterator[tuple[int, int]]:
    step = max(1, BAND_PIXELS // pixels_per_row)
    for top in range(0, height, step):
        yield top, min(height, top + step)


def _band(image: Image.Image, top: int, bottom: int) -> Image.Image:
    rows = image.crop((0, top, image.width, bottom))
    if rows.mode.startswith("I"):
        tones = np.asarray(rows)
        if tones.min() < 0 or tones.max() > 65535:
            raise ValueError("its grey values do not fit 16 bits")
        rows = Image.fromarray((tones >> 8).astype(np.uint8))
    elif not _is_opaque(rows):
        rgba = rows.convert("RGBA")
        rows = Image.alpha_composite(
            Image.new("RGBA", rgba.size, "white"), rgba
        )
    return rows.convert("RGB")


def _is_opaque(image: Image.Image) -> bool:
    return not image.has_transparency_data
