"""Untrusted text for the eyes: cut, with what moves a cursor or turns a line made visible."""

from __future__ import annotations

import re

_PICTURES = {
    code: 0x2400 + code for code in range(0x20) if chr(code) not in "\n\t"
}
_PICTURES |= {0x7F: 0x2421} | dict.fromkeys(range(0x80, 0xA0), 0xFFFD)
_DIRECTION_MARKS = dict.fromkeys(
    (*range(0x202A, 0x202F), *range(0x2066, 0x206A)), 0xFFFD
)
# An invisible character that keeps GitHub from making a link of the text around it.
_JOINER = "\N{WORD JOINER}"
_SPECIAL = {ord(mark): f"&#{ord(mark)};" for mark in "\\`*_{}[]<>|~$&:!"}
_SPECIAL |= {ord("@"): f"&#64;{_JOINER}", ord("#"): f"&#35;{_JOINER}"}
_WWW = re.compile(r"(www)\.", re.IGNORECASE)
_BLOCK = re.compile(r"^(\d*)(?!\.\d)([-+=.)])")
"""The beginnings of a list, a rule or a heading; a number such as 0.5 is none."""


def cut_text(text: str, limit: int, ending: str = "…") -> str:
    """Return a text of at most ``limit`` characters; a longer one is cut and gets an ending."""
    if len(text) <= limit:
        return text
    return text[: limit - len(ending)] + ending


def make_visible(text: str) -> str:
    """The text with control characters as pictures, character for character.

    Left as they are, they could move a terminal's cursor or hide other text.
    """
    return text.replace("\r\n", " \n").translate(_PICTURES)


def for_terminal(text: str) -> str:
    """Return the text safe for a terminal, also without marks of text direction."""
    return make_visible(text).translate(_DIRECTION_MARKS)


def for_xml(text: str) -> str:
    """As for a terminal, without the characters that XML does not allow."""
    safe_text = for_terminal(text)
    return "".join(
        character
        if character >= " " and character not in "\ufffe\uffff"
        else " "
        for character in safe_text
    )


def for_markdown(text: str) -> str:
    """Any text on one line, read by GitHub as nothing but text.

    Marks of Markdown and HTML are written as entities; mentions, references to issues, emoji and
    addresses stay words.
    """
    line = " ".join(for_terminal(text).split()).translate(_SPECIAL)
    line = _WWW.sub(r"\1&#46;", line)
    return _BLOCK.sub(lambda match: f"{match[1]}&#{ord(match[2])};", line)
