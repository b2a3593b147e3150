"""Pictures from files, as models get them."""

from __future__ import annotations

import io
import warnings
from pathlib import Path

from PIL import Image as PILImage
from PIL import ImageOps

from beholder.backends.base import Image
from beholder.errors import ItemError

_SENT_AS_IS = {"JPEG": "image/jpeg", "PNG": "image/png", "WEBP": "image/webp"}
_ROTATION = 0x0112  # the EXIF tag for orientation


def load_image(path: str | Path, longest_side: int | None = None) -> Image:
    """Read a picture.

    A JPEG, PNG or WebP file that stands upright and is small enough is sent byte for byte.
    Anything else is turned upright, scaled down and written as JPEG.

    Args:
        path: The file.
        longest_side: Pixels at most on the longer side; None keeps the size.

    Raises:
        ItemError: The file is missing, broken, no picture, or too large to open safely.
    """
    try:
        data = Path(path).read_bytes()
        with warnings.catch_warnings():
            warnings.simplefilter("error", PILImage.DecompressionBombWarning)
            with PILImage.open(io.BytesIO(data)) as picture:
                kind = _SENT_AS_IS.get(picture.format or "")
                picture.load()  # a file that is cut off shows only here
                fits = longest_side is None or max(picture.size) <= longest_side
                upright = picture.getexif().get(_ROTATION, 1) == 1
                still = getattr(picture, "n_frames", 1) == 1
                if kind and fits and upright and still and picture.mode in ("RGB", "L", "RGBA"):
                    return Image(data, kind)
                return Image(_as_jpeg(picture, longest_side), "image/jpeg")
    except (OSError, SyntaxError, ValueError, Warning, PILImage.DecompressionBombError) as error:
        raise ItemError(f"the picture {path} cannot be read: {error}") from error


def _as_jpeg(picture: PILImage.Image, longest_side: int | None) -> bytes:
    upright = ImageOps.exif_transpose(picture).convert("RGB")
    if longest_side is not None:
        upright.thumbnail((longest_side, longest_side), PILImage.Resampling.LANCZOS)
    data = io.BytesIO()
    upright.save(data, "JPEG", quality=92)
    return data.getvalue()
