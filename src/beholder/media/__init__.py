"""Pictures: open safely, check, resize, encode, hash."""

from beholder.media.image import (
    JPEG_QUALITY,
    MAX_PIXELS,
    Picture,
    check_image,
    encode_jpeg,
    file_sha256,
    fit,
    load_image,
)

__all__ = [
    "JPEG_QUALITY",
    "MAX_PIXELS",
    "Picture",
    "check_image",
    "encode_jpeg",
    "file_sha256",
    "fit",
    "load_image",
]
