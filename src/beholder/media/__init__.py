"""Pictures: open safely, check, resize, encode, hash."""

from beholder.media.image import (
    FORMATS,
    JPEG_QUALITY,
    MAX_BYTES,
    MAX_PIXELS,
    Picture,
    check_image,
    encode_jpeg,
    file_bytes,
    file_of,
    file_sha256,
    inside,
    load_image,
)
from beholder.media.pixels import fit

__all__ = [
    "FORMATS",
    "JPEG_QUALITY",
    "MAX_BYTES",
    "MAX_PIXELS",
    "Picture",
    "check_image",
    "encode_jpeg",
    "file_bytes",
    "file_of",
    "file_sha256",
    "fit",
    "inside",
    "load_image",
]
