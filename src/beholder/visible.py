"""Untrusted text for the eyes: what moves a cursor or turns a line round is made visible."""

from __future__ import annotations

_PICTURES = {code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"}
_PICTURES |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
_TURNING = dict.fromkeys((*range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD)


def visible(text: str) -> str:
    """The text with control characters as pictures, character for character.

    Left as they are, they could move a terminal's cursor or hide other text.
    """
    return text.replace("\r\n", " \n").translate(_PICTURES)


def for_terminal(text: str) -> str:
    """The text as a terminal may be given it: also without what turns the direction of a line."""
    return visible(text).translate(_TURNING)


def for_xml(text: str) -> str:
    """As for a terminal, without the characters that XML does not allow."""
    shown = for_terminal(text)
    return "".join(one if one >= " " and one not in "\ufffe\uffff" else " " for one in shown)
