"""Attributes as they are written in a tag of HTML or XML."""

from __future__ import annotations

import html
import re

ATTRIBUTE = re.compile(
    r"[\s/]+([^\s=>/\"']+)(?:\s*=\s*(\"[^\"]*\"|'[^']*'|[^\s>\"']+))?"
)
"""Blanks or slashes, the name (1), and the value (2) with its quotation marks, if it has one."""


def unquote_value(written: str | None) -> str:
    """Return a value without quotation marks and escapes; empty if the attribute has none."""
    value = written or ""
    return html.unescape(value[1:-1] if value[:1] in ('"', "'") else value)
