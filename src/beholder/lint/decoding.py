"""Bytes of a page to its text."""

from __future__ import annotations

import re

from beholder.errors import DataError

_MARKS = {
    b"\xef\xbb\xbf": "utf-8",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_DECLARED = re.compile(
    rb"<meta[^>]{0,200}charset=[\"']?\s*([\w-]{2,40})", re.I
)


def decode_text(data: bytes, name: str) -> str:
    """The text of a page or other file: by its mark, its declaration, as UTF-8, or as cp1252.

    Args:
        data: The bytes.
        name: What messages call it.

    Raises:
        DataError: It is binary, or UTF-16 without a mark.
    """
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            return data.decode(encoding, "replace").lstrip("\ufeff")
    if b"\0" in data[:1024]:
        raise DataError(
            name, "is binary, or UTF-16 without a mark; save it as UTF-8"
        )
    declaration = _DECLARED.search(data[:1024])
    label = declaration[1].decode("ascii").lower() if declaration else ""
    if label:
        if label in ("iso-8859-1", "latin1", "us-ascii", "ascii", "latin-1"):
            label = "cp1252"
        if not label.startswith(("utf", "unicode")):
            try:
                return data.decode(label, "replace")
            except (LookupError, UnicodeError):  # no encoding of texts
                pass
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("utf-8" if label else "cp1252", "replace")
