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
    fit,
    inside,
    load_image,
)

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
