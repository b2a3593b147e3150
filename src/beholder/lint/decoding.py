"""Decode the bytes of a page."""

from __future__ import annotations

import re

from beholder.errors import DataError

_MARKS = {
    b"\xef\xbb\xbf": "utf-8",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
_DECLARED = re.compile(
    rb"\A\s*<\?xml\s[^>]{0,200}?\bencoding\s*=\s*[\"']([\w-]{2,40})[\"']"
    rb"|<meta[^>]{0,200}charset=[\"']?\s*([\w-]{2,40})",
    re.I,
)
"""The encoding in the declaration of XML or in a ``meta`` element."""


def decode_text(data: bytes, name: str) -> str:
    """Decode a page or other file by its mark, its declaration, as UTF-8, or as cp1252.

    Args:
        data: The bytes.
        name: Name of the file in messages.

    Raises:
        DataError: The file is binary, or UTF-16 without a mark.
    """
    # In the order of the HTML standard: byte order mark, declaration, then
    # UTF-8 or the usual encoding of old pages.
    for mark, encoding in _MARKS.items():
        if data.startswith(mark):
            return data.decode(encoding, "replace").lstrip("\ufeff")
    if b"\0" in data[:1024]:
        raise DataError(
            name, "is binary, or UTF-16 without a mark; save it as UTF-8"
        )
    declaration = _DECLARED.search(data[:1024])
    label = ""
    if declaration:
        label = (declaration[1] or declaration[2]).decode("ascii").lower()
    if label:
        # The HTML standard reads these labels as cp1252.
        if label in ("iso-8859-1", "latin1", "us-ascii", "ascii", "latin-1"):
            label = "cp1252"
        # The declaration was read byte by byte, so it is not in UTF-16,
        # whatever it says; the standard takes UTF-8.
        if not label.startswith(("utf", "unicode")):
            try:
                return data.decode(label, "replace")
            except (LookupError, UnicodeError):  # no encoding of texts
                pass
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("utf-8" if label else "cp1252", "replace")
