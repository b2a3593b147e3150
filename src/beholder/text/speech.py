"""Transcripts of speech: what a transcriber notes is no word of the speaker."""

from __future__ import annotations

import re

_MARK = re.compile(r"</?[A-Za-z]+(?:[ _-][A-Za-z]+)* ?/?>")


def without_marks(text: str) -> str:
    """A text without marks of speech, opening and closing: ``<noise>``, ``</noise>``, ``<pause/>``.

    Blanks take their place, as many as there were characters, so that a place in the cleaned text
    is the same place in the original. What stands between two marks was said and stays; so do
    braces and what they hold (``{scooter}``).
    """
    return _MARK.sub(lambda found: " " * len(found.group()), text)


def n_spoken(text: str) -> int:
    """Words between blanks; marks of speech are none."""
    return len(without_marks(text).split())
